# test/check/bounds.py — accesses outside of their tensors
# Each kernel with a line "finds:" has that finding there and no other; its twin *_right has none.
import triton
import triton.language as tl


# check: --grid cdiv(n,B) x=randn:f32[n] out=empty:f32[n] n=100 B=32
@triton.jit
def load_without_mask(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)  # finds: out-of-bounds
    tl.store(out + i, v, mask=i < n)


# check: --grid cdiv(n,B) x=randn:f32[n] out=empty:f32[n] n=100 B=32
@triton.jit
def load_without_mask_right(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v, mask=i < n)


# check: --grid cdiv(n,B) x=randn:f32[n] out=empty:f32[n] n=100 B=32
@triton.jit
def store_without_mask(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v)  # finds: out-of-bounds


# check: --grid cdiv(n,B) x=randn:f32[n] out=empty:f32[n] n=100 B=32
@triton.jit
def store_without_mask_right(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v, mask=i < n)


# check: --grid cdiv(n,B) x=randn:f32[n] out=empty:f32[n] n=100 B=32
@triton.jit
def mask_off_by_one(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v, mask=i <= n)  # finds: out-of-bounds


# check: --grid cdiv(n,B) x=randn:f32[n] out=empty:f32[n] n=100 B=32
@triton.jit
def mask_off_by_one_right(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v, mask=i <= n - 1)


# check: --grid 4 x=randn:f32[4,20] out=empty:f32[4,20] n=20 B=32
@triton.jit
def rows_run_into_each_other(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=row * n + i < 4 * n + 1, other=0.0)  # finds: out-of-bounds
    tl.store(out + row * n + i, v, mask=i < n)


# check: --grid 4 x=randn:f32[4,20] out=empty:f32[4,20] n=20 B=32
@triton.jit
def rows_run_into_each_other_right(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0)
    tl.store(out + row * n + i, v, mask=i < n)


# check: --grid cdiv(n,B) x=randn:f32[n] out=empty:f32[n] n=100 B=32
@triton.jit
def negative_index(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i - 1, mask=i < n, other=0.0)  # finds: out-of-bounds
    tl.store(out + i, v, mask=i < n)


# check: --grid cdiv(n,B) x=randn:f32[n] out=empty:f32[n] n=100 B=32
@triton.jit
def negative_index_right(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i - 1, mask=(i > 0) & (i < n), other=0.0)
    tl.store(out + i, v, mask=i < n)


# check: --grid 1 x=randn:f32[16] idx=full:i32[16]=20 out=empty:f32[16] B=16
@triton.jit
def index_from_memory(x, idx, out, B: tl.constexpr):
    i = tl.arange(0, B)
    k = tl.load(idx + i)
    v = tl.load(x + k)  # finds: out-of-bounds
    tl.store(out + i, v)


# check: --grid 1 x=randn:f32[16] idx=full:i32[16]=20 out=empty:f32[16] B=16
@triton.jit
def index_from_memory_right(x, idx, out, B: tl.constexpr):
    i = tl.arange(0, B)
    k = tl.load(idx + i)
    v = tl.load(x + k, mask=k < B, other=0.0)
    tl.store(out + i, v)


# check: --grid 1 hist=zeros:i32[8] x=randint:i32[64]=0..12
@triton.jit
def histogram_bin(x, hist):
    v = tl.load(x + tl.arange(0, 64))
    tl.atomic_add(hist + v, 1)  # finds: out-of-bounds


# check: --grid 1 hist=zeros:i32[8] x=randint:i32[64]=0..12
@triton.jit
def histogram_bin_right(x, hist):
    v = tl.load(x + tl.arange(0, 64))
    tl.atomic_add(hist + v, 1, mask=v < 8)


# check: --grid 1 x=randn:f32[10,16] out=empty:f32[16,16] m=10
@triton.jit
def block_pointer_unchecked(x, out, m):
    p = tl.make_block_ptr(x, (m, 16), (16, 1), (0, 0), (16, 16), (1, 0))
    v = tl.load(p)  # finds: out-of-bounds
    o = tl.make_block_ptr(out, (16, 16), (16, 1), (0, 0), (16, 16), (1, 0))
    tl.store(o, v)


# check: --grid 1 x=randn:f32[10,16] out=empty:f32[16,16] m=10
@triton.jit
def block_pointer_unchecked_right(x, out, m):
    p = tl.make_block_ptr(x, (m, 16), (16, 1), (0, 0), (16, 16), (1, 0))
    v = tl.load(p, boundary_check=(0,), padding_option="zero")
    o = tl.make_block_ptr(out, (16, 16), (16, 1), (0, 0), (16, 16), (1, 0))
    tl.store(o, v)


# check: --grid 1 x=randn:f32[10,16] out=empty:f32[16,16] m=10
@triton.jit
def descriptor_beyond_its_base(x, out, m):
    d = tl.make_tensor_descriptor(x, [m + 2, 16], [16, 1], [16, 16])
    v = d.load([0, 0])  # finds: out-of-bounds
    i = tl.arange(0, 16)
    tl.store(out + i[:, None] * 16 + i[None, :], v)


# check: --grid 1 x=randn:f32[10,16] out=empty:f32[16,16] m=10
@triton.jit
def descriptor_beyond_its_base_right(x, out, m):
    d = tl.make_tensor_descriptor(x, [m, 16], [16, 1], [16, 16])
    v = d.load([0, 0])
    i = tl.arange(0, 16)
    tl.store(out + i[:, None] * 16 + i[None, :], v)


# check: --grid 1 x=randn:f32[20,16] out=zeros:f32[16] m=20
@triton.jit
def loop_runs_too_far(x, out, m):
    i = tl.arange(0, 16)
    acc = tl.zeros([16], tl.float32)
    for r in range(0, m + 1):
        acc += tl.load(x + r * 16 + i)  # finds: out-of-bounds
    tl.store(out + i, acc)


# check: --grid 1 x=randn:f32[20,16] out=zeros:f32[16] m=20
@triton.jit
def loop_runs_too_far_right(x, out, m):
    i = tl.arange(0, 16)
    acc = tl.zeros([16], tl.float32)
    for r in range(0, m):
        acc += tl.load(x + r * 16 + i)
    tl.store(out + i, acc)
