# SPDX-License-Identifier: Apache-2.0
# attention.py — attention without the matrix of scores: forward keeps a running maximum and sum
# per query, backward computes the scores again. Tensors are (batch * heads, length, DIM).
import triton
import triton.language as tl


@triton.jit
def block_of(ptr, length, first, DIM: tl.constexpr, ROWS: tl.constexpr):
    return tl.make_block_ptr(ptr, (length, DIM), (DIM, 1), (first, 0), (ROWS, DIM), (1, 0))


@triton.jit
def attention_rounds(out, total, largest, q, k_block, v_block, rows, begin, end, length, scale,
                     BLOCK_N: tl.constexpr, MASKED: tl.constexpr, CAUSAL: tl.constexpr):
    """Keys and values from `begin` on, BLOCK_N at a time. The scale must be positive: the largest
    score is found before it is scaled."""
    factor = scale * 1.4426950408889634  # log2(e), so that exp2 serves
    for start in range(begin, end, BLOCK_N):
        k = tl.load(k_block, boundary_check=(0,), padding_option="zero")
        v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
        s = tl.dot(q, tl.trans(k), input_precision="ieee")
        if MASKED:
            cols = start + tl.arange(0, BLOCK_N)
            seen = cols[None, :] < length
            if CAUSAL:
                seen = seen & (rows[:, None] >= cols[None, :])
            s = tl.where(seen, s, -float("inf"))
        now = tl.maximum(largest, tl.max(s, axis=1) * factor)
        shrink = tl.exp2(largest - now)
        p = tl.exp2(s * factor - now[:, None])
        total = total * shrink + tl.sum(p, axis=1)
        out = tl.dot(p.to(v.dtype), v, out * shrink[:, None], input_precision="ieee")
        largest = now
        k_block = tl.advance(k_block, (BLOCK_N, 0))
        v_block = tl.advance(v_block, (BLOCK_N, 0))
    return out, total, largest, k_block, v_block


@triton.jit
def attention_forward(q_ptr, k_ptr, v_ptr, out_ptr, log_sum_ptr, length, scale, DIM: tl.constexpr,
                      BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * length
    first = tl.program_id(0) * BLOCK_M
    rows = first + tl.arange(0, BLOCK_M)
    q = tl.load(block_of(q_ptr + head * DIM, length, first, DIM, BLOCK_M), boundary_check=(0,),
                padding_option="zero")
    largest = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    out = tl.zeros((BLOCK_M, DIM), dtype=tl.float32)
    k_block = block_of(k_ptr + head * DIM, length, 0, DIM, BLOCK_N)
    v_block = block_of(v_ptr + head * DIM, length, 0, DIM, BLOCK_N)
    end = tl.minimum(first + BLOCK_M, length) if CAUSAL else length
    # Blocks of keys that all queries see whole come first and need no mask.
    whole = (first if CAUSAL else length) // BLOCK_N * BLOCK_N
    out, total, largest, k_block, v_block = attention_rounds(
        out, total, largest, q, k_block, v_block, rows, 0, whole, length, scale, BLOCK_N, False, CAUSAL)
    out, total, largest, k_block, v_block = attention_rounds(
        out, total, largest, q, k_block, v_block, rows, whole, end, length, scale, BLOCK_N, True, CAUSAL)
    out = out / total[:, None]
    tl.store(block_of(out_ptr + head * DIM, length, first, DIM, BLOCK_M),
             out.to(out_ptr.dtype.element_ty), boundary_check=(0,))
    tl.store(log_sum_ptr + head + rows, largest + tl.log2(total), mask=rows < length)


@triton.jit
def attention_delta(out_ptr, d_out_ptr, delta_ptr, total_rows, DIM: tl.constexpr,
                    BLOCK_M: tl.constexpr):
    """Row sums of out * d_out, which the gradient of softmax subtracts."""
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    at = rows[:, None] * DIM + tl.arange(0, DIM)[None, :]
    inside = rows[:, None] < total_rows
    out = tl.load(out_ptr + at, mask=inside, other=0.0).to(tl.float32)
    d_out = tl.load(d_out_ptr + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(delta_ptr + rows, tl.sum(out * d_out, axis=1), mask=rows < total_rows)


@triton.jit
def gradient_rounds(d_k, d_v, k, v, q_ptr, d_out_ptr, log_sum_ptr, delta_ptr, d_q_ptr, cols, begin,
                    end, length, scale, DIM: tl.constexpr, BLOCK_M: tl.constexpr,
                    AT_END: tl.constexpr, DIAGONAL: tl.constexpr):
    """Queries from `begin` on, BLOCK_M at a time. Scores are made with keys as rows, so that what
    the sums of keys and values multiply is at hand; those of the queries are added by atomics."""
    factor = scale * 1.4426950408889634  # log2(e), so that exp2 serves
    for start in range(begin, end, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        inside = rows < length
        q = tl.load(block_of(q_ptr, length, start, DIM, BLOCK_M), boundary_check=(0,),
                    padding_option="zero")
        d_out = tl.load(block_of(d_out_ptr, length, start, DIM, BLOCK_M), boundary_check=(0,),
                        padding_option="zero")
        if AT_END:  # p is 0 behind the last query
            log_sum = tl.load(log_sum_ptr + rows, mask=inside, other=float("inf"))
            delta = tl.load(delta_ptr + rows, mask=inside, other=0.0)
        else:
            log_sum = tl.load(log_sum_ptr + rows)
            delta = tl.load(delta_ptr + rows)
        s = tl.dot(k, tl.trans(q), input_precision="ieee")
        d_p = tl.dot(v, tl.trans(d_out), input_precision="ieee")
        p = tl.exp2(s * factor - log_sum[None, :])
        if DIAGONAL:
            p = tl.where(rows[None, :] >= cols[:, None], p, 0.0)
        d_v = tl.dot(p.to(d_out.dtype), d_out, d_v, input_precision="ieee")
        d_s = p * (d_p - delta[None, :])
        # Scaled by itself: one of the two is read where its threads hold it, the other one turned.
        d_q = tl.dot(tl.trans((d_s * scale).to(q.dtype)), k, input_precision="ieee")
        d_k = tl.dot(d_s.to(q.dtype), q, d_k, input_precision="ieee")
        at = rows[:, None] * DIM + tl.arange(0, DIM)[None, :]
        if AT_END:
            tl.atomic_add(d_q_ptr + at, d_q, mask=inside[:, None], sem="relaxed")
        else:
            tl.atomic_add(d_q_ptr + at, d_q, sem="relaxed")
    return d_k, d_v


@triton.jit
def attention_backward(q_ptr, k_ptr, v_ptr, d_out_ptr, log_sum_ptr, delta_ptr, d_q_ptr, d_k_ptr,
                       d_v_ptr, length, scale, DIM: tl.constexpr, BLOCK_M: tl.constexpr,
                       BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    """The gradients of BLOCK_N keys and values, and their part of those of the queries."""
    head = tl.program_id(1).to(tl.int64) * length
    first = tl.program_id(0) * BLOCK_N
    cols = first + tl.arange(0, BLOCK_N)
    k = tl.load(block_of(k_ptr + head * DIM, length, first, DIM, BLOCK_N), boundary_check=(0,),
                padding_option="zero")
    v = tl.load(block_of(v_ptr + head * DIM, length, first, DIM, BLOCK_N), boundary_check=(0,),
                padding_option="zero")
    d_k = tl.zeros((BLOCK_N, DIM), dtype=tl.float32)
    d_v = tl.zeros((BLOCK_N, DIM), dtype=tl.float32)
    q_ptr += head * DIM
    d_out_ptr += head * DIM
    d_q_ptr += head * DIM
    log_sum_ptr += head
    delta_ptr += head
    # Queries that see some of the keys, those that see all of them, and the last few.
    begin = first // BLOCK_M * BLOCK_M if CAUSAL else 0
    seen = begin + tl.cdiv(first + BLOCK_N - begin, BLOCK_M) * BLOCK_M if CAUSAL else 0
    whole = length // BLOCK_M * BLOCK_M
    if CAUSAL:
        d_k, d_v = gradient_rounds(d_k, d_v, k, v, q_ptr, d_out_ptr, log_sum_ptr, delta_ptr, d_q_ptr,
                                   cols, begin, tl.minimum(seen, length), length, scale, DIM, BLOCK_M,
                                   True, True)
    d_k, d_v = gradient_rounds(d_k, d_v, k, v, q_ptr, d_out_ptr, log_sum_ptr, delta_ptr, d_q_ptr, cols,
                               seen, whole, length, scale, DIM, BLOCK_M, False, False)
    d_k, d_v = gradient_rounds(d_k, d_v, k, v, q_ptr, d_out_ptr, log_sum_ptr, delta_ptr, d_q_ptr, cols,
                               tl.maximum(seen, whole), length, length, scale, DIM, BLOCK_M, True,
                               False)
    tl.store(block_of(d_k_ptr + head * DIM, length, first, DIM, BLOCK_N),
             (d_k * scale).to(d_k_ptr.dtype.element_ty), boundary_check=(0,))
    tl.store(block_of(d_v_ptr + head * DIM, length, first, DIM, BLOCK_N),
             d_v.to(d_v_ptr.dtype.element_ty), boundary_check=(0,))
