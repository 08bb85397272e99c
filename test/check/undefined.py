# test/check/undefined.py — results of masked-off elements of loads without `other`
# Each kernel with a line "finds:" has that finding there and no other; its twin *_right has none.
import triton
import triton.language as tl


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def sum_of_a_row(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i, mask=i < n)  # finds: undefined
    tl.store(out, tl.sum(v))


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def sum_of_a_row_right(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out, tl.sum(v))


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def maximum_of_a_row(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i, mask=i < n)  # finds: undefined
    tl.store(out, tl.max(v))


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def maximum_of_a_row_right(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i, mask=i < n, other=float("-inf"))
    tl.store(out, tl.max(v))


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def stored_without_mask(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i, mask=i < n)  # finds: undefined
    tl.store(out + i, v * 2)


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def stored_without_mask_right(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(i < n, v * 2, 0.0))


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def variance(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i, mask=i < n)  # finds: undefined
    mean = tl.sum(tl.where(i < n, v, 0.0)) / n
    tl.store(out, tl.sum((v - mean) * (v - mean)) / n)


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def variance_right(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i, mask=i < n)
    mean = tl.sum(tl.where(i < n, v, 0.0)) / n
    d = tl.where(i < n, v - mean, 0.0)
    tl.store(out, tl.sum(d * d) / n)


# check: --grid 1 x=randn:f32[16] idx=zeros:i32[20] out=zeros:f32[32] n=20
@triton.jit
def index(x, idx, out, n):
    i = tl.arange(0, 32)
    k = tl.load(idx + i, mask=i < n)  # finds: undefined
    tl.store(out + i, tl.load(x + k))


# check: --grid 1 x=randn:f32[16] idx=zeros:i32[20] out=zeros:f32[32] n=20
@triton.jit
def index_right(x, idx, out, n):
    i = tl.arange(0, 32)
    k = tl.load(idx + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + k))


# check: --grid 1 x=randn:f32[4] out=zeros:f32[1] n=0
@triton.jit
def branch(x, out, n):
    v = tl.load(x, mask=n > 0)  # finds: undefined
    if v > 1:
        tl.store(out, 1.0)


# check: --grid 1 x=randn:f32[4] out=zeros:f32[1] n=0
@triton.jit
def branch_right(x, out, n):
    v = tl.load(x, mask=n > 0, other=0.0)
    if v > 1:
        tl.store(out, 1.0)


# check: --grid 1 a=randn:f32[16,16] b=randn:f32[16,16] out=zeros:f32[16,16] k=12
@triton.jit
def product(a, b, out, k):
    i = tl.arange(0, 16)
    m = i[:, None]
    n = i[None, :]
    x = tl.load(a + m * 16 + n, mask=n < k, other=0.0)
    y = tl.load(b + m * 16 + n, mask=m < k)  # finds: undefined
    tl.store(out + m * 16 + n, tl.dot(x, y))


# check: --grid 1 a=randn:f32[16,16] b=randn:f32[16,16] out=zeros:f32[16,16] k=12
@triton.jit
def product_right(a, b, out, k):
    i = tl.arange(0, 16)
    m = i[:, None]
    n = i[None, :]
    x = tl.load(a + m * 16 + n, mask=n < k, other=0.0)
    y = tl.load(b + m * 16 + n, mask=m < k, other=0.0)
    tl.store(out + m * 16 + n, tl.dot(x, y))


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def running_sum(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + 31 - i, mask=31 - i < n)  # finds: undefined
    tl.store(out + i, tl.cumsum(v))


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def running_sum_right(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + 31 - i, mask=31 - i < n, other=0.0)
    tl.store(out + i, tl.cumsum(v))


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def carried_by_a_loop(x, out, n):
    i = tl.arange(0, 16)
    acc = tl.zeros([16], tl.float32)
    for k in range(0, n, 16):
        acc += tl.load(x + k + i, mask=k + i < n)  # finds: undefined
    tl.store(out, tl.sum(acc))


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def carried_by_a_loop_right(x, out, n):
    i = tl.arange(0, 16)
    acc = tl.zeros([16], tl.float32)
    for k in range(0, n, 16):
        acc += tl.load(x + k + i, mask=k + i < n, other=0.0)
    tl.store(out, tl.sum(acc))


# check: --grid 1 x=randn:f32[10,16] out=zeros:f32[1] m=10
@triton.jit
def block_pointer_without_padding(x, out, m):
    p = tl.make_block_ptr(x, (m, 16), (16, 1), (0, 0), (16, 16), (1, 0))
    v = tl.load(p, boundary_check=(0,))  # finds: undefined
    tl.store(out, tl.sum(v))


# check: --grid 1 x=randn:f32[10,16] out=zeros:f32[1] m=10
@triton.jit
def block_pointer_without_padding_right(x, out, m):
    p = tl.make_block_ptr(x, (m, 16), (16, 1), (0, 0), (16, 16), (1, 0))
    v = tl.load(p, boundary_check=(0,), padding_option="zero")
    tl.store(out, tl.sum(v))


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def mask_of_a_store(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i, mask=i < n)  # finds: undefined
    tl.store(out + i, 1.0, mask=v > 0)


# check: --grid 1 x=randn:f32[20] out=zeros:f32[32] n=20
@triton.jit
def mask_of_a_store_right(x, out, n):
    i = tl.arange(0, 32)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, 1.0, mask=(i < n) & (v > 0))
