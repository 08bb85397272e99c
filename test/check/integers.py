# test/check/integers.py — index arithmetic that overflows, and division by zero
# Each kernel with a line "finds:" has that finding there and no other; its twin *_right has none.
import triton
import triton.language as tl


# check: --grid 1 x=arange:f32[64] out=zeros:f32[64] row=4096 stride=1048576
@triton.jit
def product(x, out, row, stride):
    v = tl.load(x + row * stride)  # finds: index-overflow
    tl.store(out, v)


# check: --grid 1 x=arange:f32[64] out=zeros:f32[64] row=4096 stride=1048576
@triton.jit
def product_right(x, out, row, stride):
    at = row.to(tl.int64) * stride
    v = tl.load(x + at, mask=at < 64, other=0.0)
    tl.store(out, v)


# check: --grid 1 x=arange:f32[64] out=zeros:f32[64] row=65536 n=65536
@triton.jit
def tile_of_offsets(x, out, row, n):
    i = tl.arange(0, 64)
    at = row * n + i  # finds: index-overflow
    tl.store(out + i, tl.load(x + at, mask=at < 64))


# check: --grid 1 x=arange:f32[64] out=zeros:f32[64] row=65536 n=65536
@triton.jit
def tile_of_offsets_right(x, out, row, n):
    i = tl.arange(0, 64)
    at = row.to(tl.int64) * n + i
    tl.store(out + i, tl.load(x + at, mask=at < 64, other=0.0))


# check: --grid 1 x=arange:f32[64] out=zeros:f32[64] base=2147483647
@triton.jit
def sum(x, out, base):
    i = tl.arange(0, 64)
    at = (base + 1) & 63 | i
    k = base + 1  # finds: index-overflow
    tl.store(out + i, tl.load(x + at) + tl.load(x + k - (-2147483647 - 1)))


# check: --grid 1 x=arange:f32[64] out=zeros:f32[64] base=2147483647
@triton.jit
def sum_right(x, out, base):
    i = tl.arange(0, 64)
    at = (base + 1) & 63 | i
    k = base.to(tl.int64) + 1
    tl.store(out + i, tl.load(x + at) + tl.load(x + (k - 2147483648)))


# check: --grid 40 x=arange:f32[64] out=zeros:f32[64] stride=67108864
@triton.jit
def program_times_stride(x, out, stride):
    pid = tl.program_id(0)
    at = pid * stride  # finds: index-overflow
    tl.store(out + pid, tl.load(x + at, mask=at < 64, other=0.0))


# check: --grid 40 x=arange:f32[64] out=zeros:f32[64] stride=67108864
@triton.jit
def program_times_stride_right(x, out, stride):
    pid = tl.program_id(0)
    at = pid.to(tl.int64) * stride
    tl.store(out + pid, tl.load(x + at, mask=at < 64, other=0.0))


# check: --grid 1 x=arange:f32[64] out=zeros:f32[64] n=50000
@triton.jit
def stored_there(x, out, n):
    i = tl.arange(0, 16)
    at = (i - i + n) * n * 0 + (n * n) * 0 + (n * 50000 - n * 50000) + i  # finds: index-overflow
    tl.store(out + at, tl.load(x + i))


# check: --grid 1 x=arange:f32[64] out=zeros:f32[64] n=50000
@triton.jit
def stored_there_right(x, out, n):
    i = tl.arange(0, 16)
    at = (n.to(tl.int64) * 50000 - n.to(tl.int64) * 50000) + i
    tl.store(out + at, tl.load(x + i))


# check: --grid 1 x=arange:i32[32] out=zeros:i32[32] n=0
@triton.jit
def quotient(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i) // n  # finds: division-by-zero
    tl.store(out + i, v)


# check: --grid 1 x=arange:i32[32] out=zeros:i32[32] n=0
@triton.jit
def quotient_right(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i) // tl.maximum(n, 1)
    tl.store(out + i, v)


# check: --grid 1 x=arange:i32[32] out=zeros:i32[32] n=0
@triton.jit
def remainder_as_index(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i % n)  # finds: division-by-zero
    tl.store(out + i, v)


# check: --grid 1 x=arange:i32[32] out=zeros:i32[32] n=0
@triton.jit
def remainder_as_index_right(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i % tl.maximum(n, 1))
    tl.store(out + i, v)


# check: --grid 1 x=arange:i32[32] out=zeros:i32[32] n=0
@triton.jit
def divisor_from_memory(x, out, n):
    i = tl.arange(0, 32)
    v = 100 // tl.load(x + i)  # finds: division-by-zero
    tl.store(out + i, v)


# check: --grid 1 x=arange:i32[32] out=zeros:i32[32] n=0
@triton.jit
def divisor_from_memory_right(x, out, n):
    i = tl.arange(0, 32)
    d = tl.load(x + i)
    tl.store(out + i, tl.where(d == 0, 0, 100 // d))


# check: --grid 1 x=arange:i32[32] out=zeros:i32[32] n=0
@triton.jit
def branch_on_quotient(x, out, n):
    q = tl.load(x + 5) // n  # finds: division-by-zero
    if q > 3:
        tl.store(out, q)


# check: --grid 1 x=arange:i32[32] out=zeros:i32[32] n=0
@triton.jit
def branch_on_quotient_right(x, out, n):
    q = tl.load(x + 5) // tl.maximum(n, 2)
    if q > 3:
        tl.store(out, q)
