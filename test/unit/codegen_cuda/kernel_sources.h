// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/kernel_sources.h — kernels that several tests look at.
#pragma once

namespace tilewright {

inline constexpr const char* add_source = R"(
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
)";

inline constexpr const char* gelu_source = R"(
@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + offsets, y, mask=mask)
)";

inline constexpr const char* softmax_source = R"(
@triton.jit
def softmax_kernel(out_ptr, x_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float('inf'))
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    tl.store(out_ptr + row * stride + columns, e / tl.sum(e, axis=0), mask=mask)
)";

inline constexpr const char* norm_source = R"(
@triton.jit
def norm_kernel(x_ptr, weight_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / n + 1e-5)
    weight = tl.load(weight_ptr + columns, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * n + columns, centred * scale * weight, mask=mask)
)";

inline constexpr const char* column_sums_source = R"(
@triton.jit
def column_sums_kernel(x_ptr, sums_ptr, rows, stride, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.program_id(0) * N + tl.arange(0, N)
    total = tl.zeros((N,), dtype=tl.float32)
    for start in range(0, rows, M):
        mask = (start + m)[:, None] < rows
        x = tl.load(x_ptr + (start + m)[:, None] * stride + n[None, :], mask=mask, other=0.0)
        total += tl.sum(x, axis=0)
    tl.atomic_add(sums_ptr + n, total, sem="relaxed")
)";

// Matrices come from slots of buffers, a round ahead, and the result goes through shared memory.
inline constexpr const char* product_source = R"(
@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, k, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    c = tl.zeros((N, N), dtype=tl.float32)
    for step in range(0, k):
        a = tl.load(a_ptr + step * N * N + at)
        b = tl.load(b_ptr + step * N * N + at)
        c = tl.dot(a, b, c)
    tl.store(c_ptr + at, c.to(tl.float16))
)";

// Tiles in a loop of the kernel's own, counted twice; nothing is said of strides.
inline constexpr const char* looping_product_source = R"(
@triton.jit
def looping_product(a, b, c, m, n, k, sa, sb, sc, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    start = tl.program_id(0)
    rows = tl.cdiv(m, BM)
    stored = start - PROGRAMS
    for tile in tl.range(start, rows * tl.cdiv(n, BN), PROGRAMS, flatten=True):
        i = (tile % rows) * BM + tl.arange(0, BM)
        j = (tile // rows) * BN + tl.arange(0, BN)
        i = tl.where(i < m, i, 0)
        j = tl.where(j < n, j, 0)
        acc = tl.zeros([BM, BN], tl.float32)
        for r in range(tl.cdiv(k, BK)):
            d = r * BK + tl.arange(0, BK)
            x = tl.load(a + i[:, None] * sa + d[None, :], mask=d[None, :] < k, other=0.0)
            y = tl.load(b + d[:, None] + j[None, :] * sb, mask=d[:, None] < k, other=0.0)
            acc = tl.dot(x, y, acc)
        stored += PROGRAMS
        ci = (stored % rows) * BM + tl.arange(0, BM)
        cj = (stored // rows) * BN + tl.arange(0, BN)
        tl.store(c + ci[:, None] * sc + cj[None, :], acc.to(tl.float16), mask=(ci[:, None] < m) & (cj[None, :] < n))
)";

inline constexpr const char* masked_product_source = R"(
@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    columns = tl.cdiv(N, BN)
    rm = (pid // columns) * BM + tl.arange(0, BM)
    rn = (pid % columns) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + rm[:, None] * N + rn[None, :], total.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))
)";

inline constexpr const char* attention_source = R"(
@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, keys, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    q = tl.load(q_ptr + at)
    top = tl.full((N,), float("-inf"), dtype=tl.float32)
    sums = tl.zeros((N,), dtype=tl.float32)
    out = tl.zeros((N, N), dtype=tl.float32)
    for first in range(0, keys, N):
        k = tl.load(k_ptr + first * N + at)
        v = tl.load(v_ptr + first * N + at)
        scores = tl.dot(q, tl.trans(k))
        higher = tl.maximum(top, tl.max(scores, axis=1))
        shrink = tl.exp2(top - higher)
        weights = tl.exp2(scores - higher[:, None])
        sums = sums * shrink + tl.sum(weights, axis=1)
        out = tl.dot(weights.to(tl.float16), v, out * shrink[:, None])
        top = higher
    tl.store(out_ptr + at, (out / sums[:, None]).to(tl.float16))
)";

// Attention by descriptors; causal: columns before the rows of a program in one loop, those beside
// them, masked, in another one.
inline constexpr const char* descriptor_attention_source = R"(
@triton.jit
def rounds(acc, sums, top, q, k_desc, v_desc, row, begin, end, rows, BN: tl.constexpr, MASKED: tl.constexpr):
    at = row + begin
    for start in range(begin, end, BN):
        k = k_desc.load([at, 0])
        s = tl.dot(q, k.T)
        if MASKED:
            s = s * 1.5 + tl.where(rows[:, None] >= start + tl.arange(0, BN)[None, :], 0, -1.0e6)
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.math.exp2(s - higher[:, None])
        shrink = tl.math.exp2(top - higher)
        acc = acc * shrink[:, None]
        v = v_desc.load([at, 0])
        acc = tl.dot(p.to(tl.float16), v, acc)
        sums = sums * shrink + tl.sum(p, 1)
        top = higher
        at += BN
    return acc, sums, top

@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, heads, keys, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    count = heads * keys
    q_desc = tl.make_tensor_descriptor(q_ptr, [count, D], [D, 1], [BM, D])
    k_desc = tl.make_tensor_descriptor(k_ptr, [count, D], [D, 1], [BN, D])
    v_desc = tl.make_tensor_descriptor(v_ptr, [count, D], [D, 1], [BN, D])
    out_desc = tl.make_tensor_descriptor(out_ptr, [count, D], [D, 1], [BM, D])
    first = tl.program_id(0) * BM
    row = tl.program_id(1) * keys
    rows = first + tl.arange(0, BM)
    q = q_desc.load([row + first, 0])
    top = tl.full((BM,), float("-inf"), dtype=tl.float32)
    sums = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    if CAUSAL:
        acc, sums, top = rounds(acc, sums, top, q, k_desc, v_desc, row, 0, first, rows, BN, False)
        acc, sums, top = rounds(acc, sums, top, q, k_desc, v_desc, row, first, first + BM, rows, BN, True)
    else:
        acc, sums, top = rounds(acc, sums, top, q, k_desc, v_desc, row, 0, keys, rows, BN, False)
    out_desc.store([row + first, 0], (acc / sums[:, None]).to(tl.float16))
)";

// One product; which dimension of an operand is contiguous is a constant.
inline constexpr const char* one_product = R"(
@triton.jit
def product(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
            A_M: tl.constexpr, A_K: tl.constexpr, B_K: tl.constexpr, B_N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * A_M + k[None, :] * A_K)
    b = tl.load(b_ptr + k[:, None] * B_K + n[None, :] * B_N)
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(a, b))
)";

}  // namespace tilewright
