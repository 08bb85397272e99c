# SPDX-License-Identifier: Apache-2.0
# block_sparse_matmul.py — C = S B, where S has few blocks that are not zero: for each row of
# blocks, a list of the columns where they stand (as in CSR) and the blocks themselves.
import triton
import triton.language as tl


@triton.jit
def block_sparse_matmul_kernel(blocks_ptr, starts_ptr, columns_ptr, b_ptr, c_ptr, n,
                               BLOCK: tl.constexpr, BLOCK_N: tl.constexpr):
    block_row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = cols[None, :] < n
    total = tl.zeros((BLOCK, BLOCK_N), dtype=tl.float32)
    for entry in range(tl.load(starts_ptr + block_row), tl.load(starts_ptr + block_row + 1)):
        block = tl.load(blocks_ptr + entry * BLOCK * BLOCK + at[:, None] * BLOCK + at[None, :])
        rows = tl.load(columns_ptr + entry) * BLOCK + at
        b = tl.load(b_ptr + rows[:, None] * n + cols[None, :], mask=inside, other=0.0)
        total = tl.dot(block, b, total, input_precision="ieee")
    rows = block_row * BLOCK + at
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], total, mask=inside)
