# SPDX-License-Identifier: Apache-2.0
# matmul.py — C = A B, one tile of C per program; programs that share rows of A or columns of B run
# close together, so that the L2 cache serves them.
import triton
import triton.language as tl


@triton.jit
def tile_of(program, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    """The tile of C that a program makes: GROUP rows of tiles are walked column by column."""
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    group = program // (GROUP * tiles_n)
    first = group * GROUP
    height = min(tiles_m - first, GROUP)
    within = program % (GROUP * tiles_n)
    return first + within % height, within // height


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, m, n, k, a_row, a_col, b_row, b_col, c_row, c_col,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                  GROUP: tl.constexpr):
    tile_m, tile_n = tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * a_row + inner[None, :] * a_col
    b_ptrs = b_ptr + inner[:, None] * b_row + cols[None, :] * b_col
    inside_m = rows[:, None] < m
    inside_n = cols[None, :] < n

    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for first in range(0, k, BLOCK_K):
        left = k - first
        a = tl.load(a_ptrs, mask=inside_m & (inner[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(inner[:, None] < left) & inside_n, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
        a_ptrs += BLOCK_K * a_col
        b_ptrs += BLOCK_K * b_row

    c_ptrs = c_ptr + rows[:, None] * c_row + cols[None, :] * c_col
    tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=inside_m & inside_n)
