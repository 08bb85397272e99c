# SPDX-License-Identifier: Apache-2.0
# numba/kernels/control.py — loops, branches, and variables that they change.
from numba import cuda


@cuda.jit
def collatz(x, out):
    i = cuda.grid(1)
    if i < x.size:
        n = x[i]
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        out[i] = steps


@cuda.jit
def first_above(x, limit, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        found = -1
        for j in range(x.shape[1]):
            if x[i, j] > limit:
                found = j
                break
        out[i] = found


@cuda.jit
def skip_negative(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        total = 0.0
        for j in range(x.shape[1]):
            if x[i, j] < 0:
                continue
            total += x[i, j]
        out[i] = total


@cuda.jit
def count_down(out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(10, i, -2):
            total = total * 3 + k
        out[i] = total


@cuda.jit
def changing_step(out):
    i = cuda.grid(1)
    if i < out.size:
        step = i - 3
        if step == 0:
            step = 5
        total = 0
        for k in range(i, 20 * step, step):
            total += k
        out[i] = total


@cuda.jit
def loop_variable_after(out):
    i = cuda.grid(1)
    if i < out.size:
        k = 100
        for k in range(i):
            pass
        out[i] = k


@cuda.jit
def nested(out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for a in range(i):
            for b in range(a, i):
                if (a + b) % 3 == 0:
                    total += a * b
        out[i] = total


@cuda.jit
def fibonacci(out):
    i = cuda.grid(1)
    if i < out.size:
        a, b = 0, 1
        for k in range(i):
            a, b = b, a + b
        out[i] = a


@cuda.jit
def bisect(x, wanted, out):
    i = cuda.grid(1)
    if i < wanted.size:
        low = 0
        high = x.size
        while low < high:
            middle = (low + high) // 2
            if x[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@cuda.jit
def mandelbrot(out, limit):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        cr = -2.0 + 3.0 * i / out.shape[0]
        ci = -1.0 + 2.0 * j / out.shape[1]
        zr = 0.0
        zi = 0.0
        n = 0
        while zr * zr + zi * zi <= 4.0 and n < limit:
            t = zr * zr - zi * zi + cr
            zi = 2.0 * zr * zi + ci
            zr = t
            n += 1
        out[i, j] = n


@cuda.jit
def retyped(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = i
        w = v // 2
        v = x[i]
        out[i] = v + w


@cuda.jit
def insertion_sort(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        for j in range(1, x.shape[1]):
            value = x[i, j]
            k = j - 1
            while k >= 0 and x[i, k] > value:
                x[i, k + 1] = x[i, k]
                k -= 1
            x[i, k + 1] = value


@cuda.jit
def both_at_once(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        p = i
        v += 1
        v, p = v * 2, int(v) + p
        out[i] = v * 100 + p


@cuda.jit
def literals_of_64_bits(out):
    i = cuda.grid(1)
    if i < out.size:
        a = 1 if i > 3 else 2
        out[i] = (1 if i > 3 else 2) * 3000000000 + abs(-7) ** i + (1 << (i + 30)) + a * 100000 * 100000


@cuda.jit
def changes_counter(out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(6):
            k += 10
            total = total * 2 + k
        for i in range(3):
            total += i
        out[cuda.grid(1)] = total
