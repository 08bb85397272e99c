# SPDX-License-Identifier: Apache-2.0
# grouped_matmul.py — products of different heights in one launch, as a mixture of experts needs
# them: rows [starts[g], starts[g + 1]) of A are multiplied by weight g. A fixed number of programs
# shares the tiles of all groups.
import triton
import triton.language as tl


@triton.jit
def grouped_matmul_kernel(a_ptr, weight_ptr, c_ptr, starts_ptr, groups, n, k,
                          BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tiles_n = tl.cdiv(n, BLOCK_N)
    tile = tl.program_id(0)
    first_tile = 0  # of the group
    for group in range(groups):
        start = tl.load(starts_ptr + group)
        end = tl.load(starts_ptr + group + 1)
        tiles = tl.cdiv(end - start, BLOCK_M) * tiles_n
        while tile < first_tile + tiles:
            within = tile - first_tile
            rows = start + within // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
            cols = within % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
            total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for step in range(0, k, BLOCK_K):
                inner = step + tl.arange(0, BLOCK_K)
                a = tl.load(a_ptr + rows[:, None] * k + inner[None, :],
                            mask=(rows[:, None] < end) & (inner[None, :] < k), other=0.0)
                w = tl.load(weight_ptr + (group * k + inner[:, None]) * n + cols[None, :],
                            mask=(inner[:, None] < k) & (cols[None, :] < n), other=0.0)
                total = tl.dot(a, w, total, input_precision="ieee")
            tl.store(c_ptr + rows[:, None] * n + cols[None, :], total.to(c_ptr.dtype.element_ty),
                     mask=(rows[:, None] < end) & (cols[None, :] < n))
            tile += tl.num_programs(0)
        first_tile += tiles
