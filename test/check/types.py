# test/check/types.py — float64 that nobody asked for, and strides that fit no tensor
# Each kernel with a line "finds:" has that finding there and no other; its twin *_right has none.
import triton
import triton.language as tl


# check: --grid 1 x=arange:f32[32] out=zeros:f32[32] alpha=0.5:f64
@triton.jit
def scale_by_argument(x, out, alpha):
    i = tl.arange(0, 32)
    tl.store(out + i, tl.load(x + i) * alpha)  # finds: float64


# check: --grid 1 x=arange:f32[32] out=zeros:f32[32] alpha=0.5:f64
@triton.jit
def scale_by_argument_right(x, out, alpha):
    i = tl.arange(0, 32)
    tl.store(out + i, tl.load(x + i) * alpha.to(tl.float32))


# check: --grid 1 x=arange:f32[32] out=zeros:f32[32]
@triton.jit
def constant_tile(x, out):
    i = tl.arange(0, 32)
    half = tl.full([32], 0.5, tl.float64)
    tl.store(out + i, tl.load(x + i) * half)  # finds: float64


# check: --grid 1 x=arange:f32[32] out=zeros:f32[32]
@triton.jit
def constant_tile_right(x, out):
    i = tl.arange(0, 32)
    half = tl.full([32], 0.5, tl.float32)
    tl.store(out + i, tl.load(x + i) * half)


# check: --grid 1 x=arange:f32[32] out=zeros:f32[32] eps=1e-5:f64
@triton.jit
def epsilon(x, out, eps):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, v / (tl.sum(v * v) + eps).to(tl.float32))  # finds: float64


# check: --grid 1 x=arange:f32[32] out=zeros:f32[32] eps=1e-5:f64
@triton.jit
def epsilon_right(x, out, eps):
    i = tl.arange(0, 32)
    v = tl.load(x + i).to(tl.float64)
    tl.store(out + i, (v / (tl.sum(v * v) + eps)).to(tl.float32))


# check: --grid 4 x=randn:f32[4,16] out=empty:f32[4,16]@strides(20,1) stride_x=15 stride_out=20
@triton.jit
def stride_of_no_tensor(x, out, stride_x, stride_out):
    row = tl.program_id(0)
    i = tl.arange(0, 16)
    tl.store(out + row * stride_out + i, tl.load(x + row * stride_x + i))  # finds: stride


# check: --grid 4 x=randn:f32[4,16] out=empty:f32[4,16]@strides(20,1) stride_x=16 stride_out=20
@triton.jit
def stride_of_no_tensor_right(x, out, stride_x, stride_out):
    row = tl.program_id(0)
    i = tl.arange(0, 16)
    tl.store(out + row * stride_out + i, tl.load(x + row * stride_x + i))


# check: --grid 4 x=randn:f32[4,16] out=empty:f32[4,16]@strides(20,1) stride_x=16 stride_out=18
@triton.jit
def stride_of_the_result(x, out, stride_x, stride_out):
    row = tl.program_id(0)
    i = tl.arange(0, 16)
    tl.store(out + row * stride_out + i, tl.load(x + row * stride_x + i))  # finds: stride


# check: --grid 4 x=randn:f32[4,16] out=empty:f32[4,16]@strides(20,1) stride_x=16 stride_out=20
@triton.jit
def stride_of_the_result_right(x, out, stride_x, stride_out):
    row = tl.program_id(0)
    i = tl.arange(0, 16)
    tl.store(out + row * stride_out + i, tl.load(x + row * stride_x + i))


# The stride of the other tensor, which is also one that the launch has; through a pointer that a loop carries.
# check: --grid 4 x=randn:f32[64,16] out=empty:f32[4,16,24] stride_x=24 stride_out=384
@triton.jit
def stride_of_the_other(x, out, stride_x, stride_out):
    i = tl.arange(0, 16)
    at = x + tl.program_id(0) * stride_x + i  # finds: stride
    total = tl.zeros([16], tl.float32)
    for r in range(0, 2):
        total += tl.load(at)
        at += stride_x
    tl.store(out + tl.program_id(0) * stride_out + i, total)


# check: --grid 4 x=randn:f32[64,16] out=empty:f32[4,16,24] stride_x=16 stride_out=384
@triton.jit
def stride_of_the_other_right(x, out, stride_x, stride_out):
    i = tl.arange(0, 16)
    at = x + tl.program_id(0) * stride_x + i
    total = tl.zeros([16], tl.float32)
    for r in range(0, 2):
        total += tl.load(at)
        at += stride_x
    tl.store(out + tl.program_id(0) * stride_out + i, total)
