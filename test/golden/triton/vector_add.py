# SPDX-License-Identifier: Apache-2.0
# lower: add_kernel x_ptr=*f32:16 y_ptr=*f32:16 out_ptr=*f32:16 n=i32 BLOCK=1024
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The sum of two vectors."""
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
