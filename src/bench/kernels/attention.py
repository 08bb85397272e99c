# SPDX-License-Identifier: Apache-2.0
# bench/kernels/attention.py — softmax(q k^T / sqrt(d)) v of each head, one block of queries per program, keys in turn; those behind
# the last whole block of keys are masked apart.
import triton
import triton.language as tl


@triton.jit
def block_of(ptr, length, first, HEAD: tl.constexpr, ROWS: tl.constexpr):
    return tl.make_block_ptr(ptr, (length, HEAD), (HEAD, 1), (first, 0), (ROWS, HEAD), (1, 0))


@triton.jit
def rounds(result, total, top, q, k_block, v_block, begin, end, length, scale, BLOCK_N: tl.constexpr, MASKED: tl.constexpr):
    factor = scale * 1.4426950408889634  # log2(e), so that exp2 serves; it is positive
    for first in range(begin, end, BLOCK_N):
        k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
        v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
        scores = tl.dot(q, tl.trans(k))
        if MASKED:
            scores = tl.where((first + tl.arange(0, BLOCK_N))[None, :] < length, scores, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, axis=1) * factor)
        power = tl.exp2(scores * factor - higher[:, None])
        shrink = tl.exp2(top - higher)
        total = total * shrink + tl.sum(power, axis=1)
        result = tl.dot(power.to(v.dtype), v, result * shrink[:, None])
        top = higher
        k_block = tl.advance(k_block, (BLOCK_N, 0))
        v_block = tl.advance(v_block, (BLOCK_N, 0))
    return result, total, top, k_block, v_block


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, length, scale, HEAD: tl.constexpr,
                     BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * length * HEAD
    first = tl.program_id(0) * BLOCK_M
    q = tl.load(block_of(q_ptr + head, length, first, HEAD, BLOCK_M), boundary_check=(0,), padding_option="zero")
    top = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    result = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
    k_block = block_of(k_ptr + head, length, 0, HEAD, BLOCK_N)
    v_block = block_of(v_ptr + head, length, 0, HEAD, BLOCK_N)
    whole = length // BLOCK_N * BLOCK_N
    result, total, top, k_block, v_block = rounds(result, total, top, q, k_block, v_block, 0, whole, length, scale, BLOCK_N, False)
    result, total, top, k_block, v_block = rounds(result, total, top, q, k_block, v_block, whole, length, length, scale, BLOCK_N, True)
    tl.store(block_of(out_ptr + head, length, first, HEAD, BLOCK_M), (result / total[:, None]).to(out_ptr.dtype.element_ty),
             boundary_check=(0,))
