# SPDX-License-Identifier: Apache-2.0
# bench/kernels/attention.py — softmax(q k^T / sqrt(d)) v of each head, one block of queries per program, keys in turn.
import triton
import triton.language as tl


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, length, scale, HEAD: tl.constexpr,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    start = tl.program_id(1).to(tl.int64) * length * HEAD
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, HEAD)
    queries = start + m[:, None] * HEAD + d[None, :]
    q = tl.load(q_ptr + queries, mask=m[:, None] < length, other=0.0)
    top = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    result = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
    for first in range(0, length, BLOCK_N):
        n = first + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + start + n[None, :] * HEAD + d[:, None], mask=n[None, :] < length, other=0.0)
        scores = tl.where(n[None, :] < length, tl.dot(q, k) * scale, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, axis=1))
        power = tl.exp(scores - higher[:, None])
        shrink = tl.exp(top - higher)
        total = total * shrink + tl.sum(power, axis=1)
        v = tl.load(v_ptr + start + n[:, None] * HEAD + d[None, :], mask=n[:, None] < length, other=0.0)
        result = tl.dot(power.to(v.dtype), v, result * shrink[:, None])
        top = higher
    tl.store(out_ptr + queries, result / total[:, None], mask=m[:, None] < length)
