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

}  // namespace tilewright
