# test/check/unwritten.py — memory that nobody wrote
# Each kernel with a line "finds:" has that finding there and no other; its twin *_right has none.
import triton
import triton.language as tl


# check: --grid 1 x=arange:f32[16] out=empty:f32[16]
@triton.jit
def adds_to_empty(x, out):
    i = tl.arange(0, 16)
    tl.store(out + i, tl.load(out + i) + tl.load(x + i))  # finds: unwritten


# check: --grid 1 x=arange:f32[16] out=empty:f32[16]
@triton.jit
def adds_to_empty_right(x, out):
    i = tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i))
    tl.store(out + i, tl.load(out + i) + tl.load(x + i))


# check: --grid 4 x=arange:f32[64] out=empty:f32[1]
@triton.jit
def atomic_on_empty(x, out):
    v = tl.load(x + tl.program_id(0) * 16 + tl.arange(0, 16))
    tl.atomic_add(out, tl.sum(v))  # finds: unwritten


# check: --grid 4 x=arange:f32[64] out=zeros:f32[1]
@triton.jit
def atomic_on_empty_right(x, out):
    v = tl.load(x + tl.program_id(0) * 16 + tl.arange(0, 16))
    tl.atomic_add(out, tl.sum(v))


# check: --grid 1 tmp=empty:f32[32] out=empty:f32[32]
@triton.jit
def half_a_scratch(tmp, out):
    i = tl.arange(0, 32)
    tl.store(tmp + i, i.to(tl.float32), mask=i < 16)
    tl.store(out + i, tl.load(tmp + i))  # finds: unwritten


# check: --grid 1 tmp=empty:f32[32] out=empty:f32[32]
@triton.jit
def half_a_scratch_right(tmp, out):
    i = tl.arange(0, 32)
    tl.store(tmp + i, i.to(tl.float32))
    tl.store(out + i, tl.load(tmp + i))


# check: --grid 1 idx=empty:i32[16] x=arange:f32[16] out=empty:f32[16]
@triton.jit
def index_of_empty(idx, x, out):
    i = tl.arange(0, 16)
    k = tl.load(idx + i) & 15  # finds: unwritten
    tl.store(out + i, tl.load(x + k))


# check: --grid 1 idx=empty:i32[16] x=arange:f32[16] out=empty:f32[16]
@triton.jit
def index_of_empty_right(idx, x, out):
    i = tl.arange(0, 16)
    k = i ^ 3
    tl.store(out + i, tl.load(x + k))


# check: --grid 1 lock=empty:i32[1] out=zeros:f32[1]
@triton.jit
def lock_of_empty(lock, out):
    tl.atomic_xchg(lock, 0)  # finds: unwritten
    tl.store(out, 1.0)


# check: --grid 1 lock=zeros:i32[1] out=zeros:f32[1]
@triton.jit
def lock_of_empty_right(lock, out):
    tl.atomic_xchg(lock, 0)
    tl.store(out, 1.0)
