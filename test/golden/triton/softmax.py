# SPDX-License-Identifier: Apache-2.0
# lower: softmax_kernel out_ptr=*f32:16 in_ptr=*f32:16 in_stride=i32:16 out_stride=i32:16 rows=i32 cols=i32 BLOCK=128 STAGES=2
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, rows, cols, BLOCK: tl.constexpr,
                   STAGES: tl.constexpr):
    first = tl.program_id(0)
    for row in tl.range(first, rows, tl.num_programs(0), num_stages=STAGES):
        offsets = tl.arange(0, BLOCK)
        mask = offsets < cols
        x = tl.load(in_ptr + row * in_stride + offsets, mask=mask, other=-float("inf"))
        numerator = tl.exp(x - tl.max(x, axis=0))
        y = numerator / tl.sum(numerator, axis=0)
        tl.store(out_ptr + row * out_stride + offsets, y, mask=mask)
