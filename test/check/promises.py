# test/check/promises.py — what a kernel promises the compiler
# Each kernel with a line "finds:" has that finding there and no other; its twin *_right has none.
import triton
import triton.language as tl


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def multiple_of_a_number(x, out, n):
    n = tl.multiple_of(n, 16)  # finds: promise
    i = tl.program_id(0) * n + tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def multiple_of_a_number_right(x, out, n):
    n = tl.multiple_of(n, 4)
    i = tl.program_id(0) * n + tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def multiple_of_a_tile(x, out, n):
    i = tl.program_id(0) * n + tl.arange(0, 16)
    i = tl.multiple_of(i, 16)  # finds: promise
    tl.store(out + i, tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def multiple_of_a_tile_right(x, out, n):
    i = tl.program_id(0) * 32 + tl.arange(0, 16)
    i = tl.multiple_of(i, 16)
    tl.store(out + i, tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def contiguous_steps(x, out, n):
    i = tl.arange(0, 16) * 2
    i = tl.max_contiguous(i, 16)  # finds: promise
    tl.store(out + i + tl.program_id(0), tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def contiguous_steps_right(x, out, n):
    i = tl.arange(0, 16)
    i = tl.max_contiguous(i, 16)
    tl.store(out + i + tl.program_id(0) * 16, tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def contiguous_and_wrapped(x, out, n):
    i = (tl.program_id(0) * 16 + tl.arange(0, 16)) % n
    i = tl.max_contiguous(i, 16)  # finds: promise
    tl.store(out + tl.program_id(0) * 16 + tl.arange(0, 16), tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def contiguous_and_wrapped_right(x, out, n):
    i = (tl.program_id(0) * 16 + tl.arange(0, 16)) % 32
    i = tl.max_contiguous(i, 16)
    tl.store(out + tl.program_id(0) * 16 + tl.arange(0, 16), tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def constant_runs(x, out, n):
    i = tl.arange(0, 16) // 2
    i = tl.max_constancy(i, 4)  # finds: promise
    tl.store(out + tl.program_id(0) * 16 + tl.arange(0, 16), tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def constant_runs_right(x, out, n):
    i = tl.arange(0, 16) // 4
    i = tl.max_constancy(i, 4)
    tl.store(out + tl.program_id(0) * 16 + tl.arange(0, 16), tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def assumption(x, out, n):
    tl.assume(n % 16 == 0)  # finds: promise
    i = tl.program_id(0) * n + tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def assumption_right(x, out, n):
    tl.assume(n % 4 == 0)
    i = tl.program_id(0) * n + tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def assertion(x, out, n):
    i = tl.program_id(0) * n + tl.arange(0, 16)
    tl.device_assert(i < 32, "outside")  # finds: assertion
    tl.store(out + i, tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def assertion_right(x, out, n):
    i = tl.program_id(0) * n + tl.arange(0, 16)
    tl.device_assert(i < 64, "outside")
    tl.store(out + i, tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def assertion_of_a_number(x, out, n):
    tl.device_assert(n > 32, "too small")  # finds: assertion
    i = tl.program_id(0) * n + tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i))


# check: --grid 2 x=arange:f32[64] out=zeros:f32[64] n=20
@triton.jit
def assertion_of_a_number_right(x, out, n):
    tl.device_assert(n > 16, "too small")
    i = tl.program_id(0) * n + tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i))
