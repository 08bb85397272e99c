import math, triton, itertools
A = [i * j for i in range(4) for j in (1, 2.5) if i % 2 == 0]
B = {**{'k': A[::2]}, 'm': max(A), 'n': sorted(A, key=lambda v: -v)}
C = f"{B['m']:.2f}|{A[0]!r}|{len(A):>{4}}"
D = 2 ** 10 // -3 % 7 << 2 | ~5 & 0xff
E = None if not A else (A[1:-1], 'abc'[-1], C in 'x', 1 < D <= 9 != 3)
F = list(itertools.product([1, 2], repeat=2)) + [(triton.cdiv(7, 2), math.sqrt(2))]
G = []
for g in range(3):
    G.append(triton.Config({'BLOCK': 1 << g}, num_warps=g))
G += [1] * 3
def f(meta, k=3):
    total = 0
    while k > 0:
        for i, v in enumerate(meta):
            total += i if v else k
            if total > 10: break
        k -= 1
    try:
        return total, meta.get('n', [])
    finally:
        pass
def grid(META): return (triton.cdiv(META['n'], 2), min(META['n'], 4), 1)
def r(n): return r(n)
