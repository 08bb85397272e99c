# SPDX-License-Identifier: Apache-2.0
# batched_matmul.py — one product per entry of a batch, by block pointers and rank-3 tiles: a
# program makes the same tile of BATCH neighbouring products at once.
import triton
import triton.language as tl


@triton.jit
def batched_matmul_kernel(a_ptr, b_ptr, c_ptr, batch, m, n, k, BATCH: tl.constexpr,
                          BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    entry = tl.program_id(2) * BATCH
    row = tl.program_id(1) * BLOCK_M
    col = tl.program_id(0) * BLOCK_N
    a_block = tl.make_block_ptr(a_ptr, (batch, m, k), (m * k, k, 1), (entry, row, 0),
                                (BATCH, BLOCK_M, BLOCK_K), (2, 1, 0))
    b_block = tl.make_block_ptr(b_ptr, (batch, k, n), (k * n, n, 1), (entry, 0, col),
                                (BATCH, BLOCK_K, BLOCK_N), (2, 1, 0))
    total = tl.zeros((BATCH, BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, k, BLOCK_K):
        a = tl.load(a_block, boundary_check=(0, 1, 2), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1, 2), padding_option="zero")
        total = tl.dot(a, b, total, input_precision="ieee")
        a_block = tl.advance(a_block, (0, 0, BLOCK_K))
        b_block = tl.advance(b_block, (0, BLOCK_K, 0))
    c_block = tl.make_block_ptr(c_ptr, (batch, m, n), (m * n, n, 1), (entry, row, col),
                                (BATCH, BLOCK_M, BLOCK_N), (2, 1, 0))
    tl.store(c_block, total.to(c_ptr.dtype.element_ty), boundary_check=(0, 1, 2))
