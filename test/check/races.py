# test/check/races.py — programs that touch the same elements
# Each kernel with a line "finds:" has that finding there and no other; its twin *_right has none.
import triton
import triton.language as tl


# check: --grid 4 x=arange:f32[64] out=zeros:f32[4]
@triton.jit
def all_write_one(x, out):
    pid = tl.program_id(0)
    s = tl.sum(tl.load(x + pid * 16 + tl.arange(0, 16)))
    tl.store(out, s)  # finds: race


# check: --grid 4 x=arange:f32[64] out=zeros:f32[4]
@triton.jit
def all_write_one_right(x, out):
    pid = tl.program_id(0)
    s = tl.sum(tl.load(x + pid * 16 + tl.arange(0, 16)))
    tl.store(out + pid, s)


# check: --grid 4 x=arange:f32[64] out=zeros:f32[1]
@triton.jit
def read_modify_write(x, out):
    pid = tl.program_id(0)
    s = tl.sum(tl.load(x + pid * 16 + tl.arange(0, 16)))
    old = tl.load(out)  # finds: race
    tl.store(out, old + s)  # finds: race


# check: --grid 4 x=arange:f32[64] out=zeros:f32[1]
@triton.jit
def read_modify_write_right(x, out):
    pid = tl.program_id(0)
    s = tl.sum(tl.load(x + pid * 16 + tl.arange(0, 16)))
    tl.atomic_add(out, s)


# check: --grid 4 x=arange:f32[64] out=zeros:f32[64]
@triton.jit
def overlapping_blocks(x, out):
    i = tl.program_id(0) * 12 + tl.arange(0, 16)
    tl.store(out + i, i + tl.program_id(0))  # finds: race


# check: --grid 4 x=arange:f32[64] out=zeros:f32[64]
@triton.jit
def overlapping_blocks_right(x, out):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    tl.store(out + i, i + tl.program_id(0))


# check: --grid 4 x=arange:f32[64]
@triton.jit
def shift_in_place(x):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    v = tl.load(x + i + 1, mask=i < 63, other=0.0)
    tl.store(x + i, v)  # finds: race


# check: --grid 4 x=arange:f32[64]
@triton.jit
def shift_in_place_right(x):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    v = tl.load(x + i)
    tl.store(x + i, v + 1)


# check: --grid 4 x=arange:f32[64] out=zeros:f32[8]
@triton.jit
def atomic_and_plain_store(x, out):
    pid = tl.program_id(0)
    tl.atomic_add(out + 1, 1.0)  # finds: race
    if pid == 1:
        tl.store(out + 1, 7.0)  # finds: race


# check: --grid 4 x=arange:f32[64] out=zeros:f32[8]
@triton.jit
def atomic_and_plain_store_right(x, out):
    pid = tl.program_id(0)
    tl.atomic_add(out + 1, 1.0)
    if pid == 1:
        tl.store(out + 2, 7.0)


# check: --grid 4 part=zeros:f32[4] flag=zeros:i32[1] out=zeros:f32[1]
@triton.jit
def last_block_without_order(part, flag, out):
    pid = tl.program_id(0)
    tl.store(part + pid, pid + 1.0)
    n = tl.atomic_add(flag, 1, sem="relaxed")
    if n == 3:
        v = tl.load(part + tl.arange(0, 4))  # finds: race
        tl.store(out, tl.sum(v))


# check: --grid 4 part=zeros:f32[4] flag=zeros:i32[1] out=zeros:f32[1]
@triton.jit
def last_block_without_order_right(part, flag, out):
    pid = tl.program_id(0)
    tl.store(part + pid, pid + 1.0)
    n = tl.atomic_add(flag, 1)
    if n == 3:
        v = tl.load(part + tl.arange(0, 4))
        tl.store(out, tl.sum(v))


# check: --grid 4 lock=zeros:i32[1] out=zeros:f32[1]
@triton.jit
def unlocked_too_early(lock, out):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    v = tl.load(out)  # finds: race
    tl.atomic_xchg(lock, 0)
    tl.store(out, v + tl.program_id(0) + 1)  # finds: race


# check: --grid 4 lock=zeros:i32[1] out=zeros:f32[1]
@triton.jit
def unlocked_too_early_right(lock, out):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    v = tl.load(out)
    tl.store(out, v + tl.program_id(0) + 1)
    tl.atomic_xchg(lock, 0)


# check: --grid 2,2 x=arange:f32[64] out=zeros:f32[64]
@triton.jit
def second_axis_forgotten(x, out):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i) + tl.program_id(1))  # finds: race


# check: --grid 2,2 x=arange:f32[64] out=zeros:f32[64]
@triton.jit
def second_axis_forgotten_right(x, out):
    i = (tl.program_id(1) * 2 + tl.program_id(0)) * 16 + tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i) + tl.program_id(1))


# check: --grid 4 out=zeros:i32[1]
@triton.jit
def same_value(out):
    tl.store(out, 5)  # finds: same-value


# check: --grid 4 out=zeros:i32[1]
@triton.jit
def same_value_right(out):
    if tl.program_id(0) == 0:
        tl.store(out, 5)


# check: --grid 4 out=zeros:i32[64]
@triton.jit
def same_values_at_borders(out):
    i = tl.program_id(0) * 12 + tl.arange(0, 16)
    tl.store(out + i, i)  # finds: same-value


# check: --grid 4 out=zeros:i32[64]
@triton.jit
def same_values_at_borders_right(out):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    tl.store(out + i, i)


# check: --grid 4 count=zeros:i32[1]
@triton.jit
def atomic_of_a_block(count):
    tl.atomic_add(count, 1, scope="cta")  # finds: atomic-scope


# check: --grid 4 count=zeros:i32[1]
@triton.jit
def atomic_of_a_block_right(count):
    tl.atomic_add(count, 1, scope="gpu")


# check: --grid 4 best=zeros:i32[4] x=arange:i32[64]
@triton.jit
def maximum_of_a_block(x, best):
    v = tl.load(x + tl.program_id(0) * 16 + tl.arange(0, 16))
    tl.atomic_max(best + 2, tl.max(v), scope="cta")  # finds: atomic-scope


# check: --grid 4 best=zeros:i32[4] x=arange:i32[64]
@triton.jit
def maximum_of_a_block_right(x, best):
    v = tl.load(x + tl.program_id(0) * 16 + tl.arange(0, 16))
    tl.atomic_max(best + 2, tl.max(v))
