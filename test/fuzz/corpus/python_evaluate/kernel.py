import triton
import triton.language as tl
from .helpers import scale as s

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)

@triton.autotune(configs=[triton.Config({'BLOCK': b}, num_warps=w) for b in [64, 128] for w in (2, 4)], key=['n'])
@triton.heuristics({'MASKED': lambda args: args['n'] % args['BLOCK'] != 0})
@triton.jit(do_not_specialize=['n'])
def soft(x_ptr, y_ptr, n, BLOCK: tl.constexpr, MASKED: tl.constexpr = True):
    """Row by row."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=-float("inf"))
    if MASKED and not n == 1:
        x = tl.where(mask, x, -1e30)
    elif n > 0x10:
        x -= tl.max(x, axis=0)
    acc = tl.zeros((BLOCK, 1), dtype=tl.float32)[:, None]
    for i in range(0, n, BLOCK):
        acc += x[:, None] * (1.5 if i > 0 else 2.0)
    tl.static_assert(BLOCK >= 16, f"BLOCK={BLOCK!r:>{4}} of {n}")
    tl.store(y_ptr + cols, x / tl.sum(x), mask=mask)
