# SPDX-License-Identifier: Apache-2.0
# bench/int8_product.py — a product of int8 with sums of int32, for Triton and for Tilewright: tutorial 03 adds floats.
import triton
import triton.language as tl


@triton.jit
def int8_product(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bn, stride_cm, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr,
                 BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr):
    """C[M, N] = A[M, K] B[N, K]^T; sizes are multiples of the blocks."""
    tiles_n = tl.cdiv(N, BLOCK_SIZE_N)
    group = tl.program_id(0) // (GROUP_SIZE_M * tiles_n)
    height = min(tl.cdiv(M, BLOCK_SIZE_M) - group * GROUP_SIZE_M, GROUP_SIZE_M)
    within = tl.program_id(0) % (GROUP_SIZE_M * tiles_n)
    m = (group * GROUP_SIZE_M + within % height) * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    n = within // height * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + m[:, None] * stride_am + k[None, :]
    b_ptrs = b_ptr + n[None, :] * stride_bn + k[:, None]
    c = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.int32)
    for _ in range(0, K, BLOCK_SIZE_K):
        c = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), c, out_dtype=tl.int32)
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += BLOCK_SIZE_K
    tl.store(c_ptr + m[:, None] * stride_cm + n[None, :], c)
