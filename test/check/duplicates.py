# test/check/duplicates.py — one store that writes an element twice
# Each kernel with a line "finds:" has that finding there and no other; its twin *_right has none.
import triton
import triton.language as tl


# check: --grid 1 out=zeros:i32[32]
@triton.jit
def halved_index(out):
    i = tl.arange(0, 32)
    tl.store(out + i // 2, i)  # finds: duplicate-store


# check: --grid 1 out=zeros:i32[32]
@triton.jit
def halved_index_right(out):
    i = tl.arange(0, 32)
    tl.store(out + i // 2, i, mask=i % 2 == 0)


# check: --grid 1 out=zeros:i32[8] x=randint:i32[64]=0..8
@triton.jit
def scatter(x, out):
    i = tl.arange(0, 64)
    tl.store(out + tl.load(x + i), i)  # finds: duplicate-store


# check: --grid 1 out=zeros:i32[8] x=randint:i32[64]=0..8
@triton.jit
def scatter_right(x, out):
    i = tl.arange(0, 64)
    tl.atomic_max(out + tl.load(x + i), i)


# check: --grid 1 out=zeros:i32[16,16] stride=0
@triton.jit
def stride_zero(out, stride):
    r = tl.arange(0, 16)
    tl.store(out + r[:, None] * stride + r[None, :], r[:, None] + r[None, :])  # finds: duplicate-store


# check: --grid 1 out=zeros:i32[16,16] stride=0
@triton.jit
def stride_zero_right(out, stride):
    r = tl.arange(0, 16)
    tl.store(out + r[:, None] * 16 + r[None, :], r[:, None] + r[None, :])


# check: --grid 1 out=zeros:i32[16,16]
@triton.jit
def strides_that_overlap(out):
    r = tl.arange(0, 16)
    tl.store(out + r[:, None] * 8 + r[None, :], r[:, None] + r[None, :])  # finds: duplicate-store


# check: --grid 1 out=zeros:i32[16,16]
@triton.jit
def strides_that_overlap_right(out):
    r = tl.arange(0, 16)
    tl.store(out + r[:, None] * 16 + r[None, :], r[:, None] + r[None, :])


# check: --grid 1 out=zeros:i32[32]
@triton.jit
def wraps_around(out):
    i = tl.arange(0, 32)
    tl.store(out + i % 20, i)  # finds: duplicate-store


# check: --grid 1 out=zeros:i32[32]
@triton.jit
def wraps_around_right(out):
    i = tl.arange(0, 32)
    tl.store(out + i % 32, i)
