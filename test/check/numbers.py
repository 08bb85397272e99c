# test/check/numbers.py — where NaN and infinity begin
# Each kernel with a line "finds:" has that finding there and no other; its twin *_right has none.
import triton
import triton.language as tl


# check: --grid 1 x=full:f32[32]=-1 out=zeros:f32[32]
@triton.jit
def log_of_negative(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, tl.log(v))  # finds: nan


# check: --grid 1 x=full:f32[32]=-1 out=zeros:f32[32]
@triton.jit
def log_of_negative_right(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, tl.log(tl.maximum(v, 1e-6)))


# check: --grid 1 x=zeros:f32[32] out=zeros:f32[32]
@triton.jit
def zero_by_zero(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, v / tl.sum(v))  # finds: nan


# check: --grid 1 x=zeros:f32[32] out=zeros:f32[32]
@triton.jit
def zero_by_zero_right(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, v / (tl.sum(v) + 1e-6))


# check: --grid 1 x=full:f32[32]=-4 out=zeros:f32[32]
@triton.jit
def root_of_negative(x, out):
    i = tl.arange(0, 32)
    v = tl.sqrt(tl.load(x + i))  # finds: nan
    tl.store(out + i, v + 1)


# check: --grid 1 x=full:f32[32]=-4 out=zeros:f32[32]
@triton.jit
def root_of_negative_right(x, out):
    i = tl.arange(0, 32)
    v = tl.sqrt(tl.abs(tl.load(x + i)))
    tl.store(out + i, v + 1)


# check: --grid 1 x=randn:f32[32] out=zeros:f32[32]
@triton.jit
def masked_row_of_softmax(x, out):
    i = tl.arange(0, 32)
    v = tl.where(i < 0, tl.load(x + i), float("-inf"))
    e = tl.exp(v - tl.max(v))  # finds: nan
    tl.store(out + i, e / tl.sum(e))


# check: --grid 1 x=randn:f32[32] out=zeros:f32[32]
@triton.jit
def masked_row_of_softmax_right(x, out):
    i = tl.arange(0, 32)
    v = tl.where(i < 9, tl.load(x + i), float("-inf"))
    e = tl.exp(v - tl.max(v))
    tl.store(out + i, e / tl.sum(e))


# check: --grid 1 x=zeros:f32[32] out=zeros:f32[32]
@triton.jit
def inverse_of_zero(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, 1.0 / v)  # finds: infinity


# check: --grid 1 x=zeros:f32[32] out=zeros:f32[32]
@triton.jit
def inverse_of_zero_right(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, tl.where(v == 0, 0.0, 1.0 / v))


# check: --grid 1 x=full:f32[32]=100 out=zeros:f32[32]
@triton.jit
def exponential(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, tl.exp(v))  # finds: infinity


# check: --grid 1 x=full:f32[32]=100 out=zeros:f32[32]
@triton.jit
def exponential_right(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, tl.exp(v - tl.max(v)))


# check: --grid 1 x=full:f32[32]=100 out=zeros:f32[32]
@triton.jit
def softmax_without_maximum(x, out):
    i = tl.arange(0, 32)
    e = tl.exp(tl.load(x + i))
    s = tl.sum(e)
    tl.store(out + i, e / s)  # finds: nan


# check: --grid 1 x=full:f32[32]=100 out=zeros:f32[32]
@triton.jit
def softmax_without_maximum_right(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    e = tl.exp(v - tl.max(v))
    s = tl.sum(e)
    tl.store(out + i, e / s)


# check: --grid 1 x=full:f32[32]=100000 out=zeros:f16[32]
@triton.jit
def cast_to_half(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i).to(tl.float16)  # finds: infinity
    tl.store(out + i, v)


# check: --grid 1 x=full:f32[32]=100000 out=zeros:f16[32]
@triton.jit
def cast_to_half_right(x, out):
    i = tl.arange(0, 32)
    v = tl.minimum(tl.load(x + i), 65504.0).to(tl.float16)
    tl.store(out + i, v)


# check: --grid 1 x=full:f16[32]=3000 out=zeros:f16[1]
@triton.jit
def sum_in_half(x, out):
    v = tl.load(x + tl.arange(0, 32))
    tl.store(out, tl.sum(v))  # finds: infinity


# check: --grid 1 x=full:f16[32]=3000 out=zeros:f16[1]
@triton.jit
def sum_in_half_right(x, out):
    v = tl.load(x + tl.arange(0, 32)).to(tl.float32)
    tl.store(out, tl.sum(v) / 32)


# check: --grid 1 x=zeros:f32[32] out=zeros:f32[32]
@triton.jit
def root_of_zero(x, out):
    i = tl.arange(0, 32)
    v = tl.rsqrt(tl.load(x + i))  # finds: infinity
    tl.store(out + i, v * 2)


# check: --grid 1 x=zeros:f32[32] out=zeros:f32[32]
@triton.jit
def root_of_zero_right(x, out):
    i = tl.arange(0, 32)
    v = tl.rsqrt(tl.load(x + i) + 1e-5)
    tl.store(out + i, v * 2)


# check: --grid 1 x=full:f32[32]=1e30 out=zeros:f32[32]
@triton.jit
def power(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, v * v)  # finds: infinity


# check: --grid 1 x=full:f32[32]=1e30 out=zeros:f32[32]
@triton.jit
def power_right(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, (v * 1e-20) * (v * 1e-20))
