# SPDX-License-Identifier: Apache-2.0
# bench/kernels/tile_matmul.py — c = a @ b as tutorials write it: rows and columns beyond the end wrap around, programs in groups
# that share operands.
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    program = tl.program_id(0)
    across = GROUP * tl.cdiv(n, BLOCK_N)
    first = program // across * GROUP
    height = min(tl.cdiv(m, BLOCK_M) - first, GROUP)
    tile_m = first + program % across % height
    tile_n = program % across // height

    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    inner = tl.arange(0, BLOCK_K)
    a_at = a_ptr + (rows[:, None] * a_row + inner[None, :] * a_column)
    b_at = b_ptr + (inner[:, None] * b_row + columns[None, :] * b_column)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        a = tl.load(a_at, mask=inner[None, :] < k - step * BLOCK_K, other=0.0)
        b = tl.load(b_at, mask=inner[:, None] < k - step * BLOCK_K, other=0.0)
        total = tl.dot(a, b, total)
        a_at += BLOCK_K * a_column
        b_at += BLOCK_K * b_row

    c_rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    c_columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_at = c_ptr + c_row * c_rows[:, None] + c_column * c_columns[None, :]
    tl.store(c_at, total.to(c_ptr.dtype.element_ty), mask=(c_rows[:, None] < m) & (c_columns[None, :] < n))
