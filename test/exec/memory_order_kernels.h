// SPDX-License-Identifier: Apache-2.0
// exec/memory_order_kernels.h — kernels whose result depends on the order of memory accesses of one
// program: each has come out wrong on a device. The interpreter says what they mean.
#pragma once

namespace tilewright {

inline constexpr const char* memory_order_kernels = R"py(
import triton
import triton.language as tl


# ---- Stores and loads of one argument

@triton.jit
def store_store(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(y + i, v)
    tl.store(y + (BLOCK - 1 - i), v + 1000)


@triton.jit
def late_reload(x, y, BLOCK: tl.constexpr):
    # `v` is needed after a sum, and overwritten before that in the order of the schedule
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    m = tl.sum(tl.load(y + i), axis=0)
    s = tl.sum(v * m, axis=0)
    tl.store(x + i, 5)
    tl.store(y, s)


@triton.jit
def late_store(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    m = tl.sum(tl.load(y + BLOCK + i), axis=0)
    tl.store(y + i, v * m)
    tl.store(x + i, 5)


@triton.jit
def add_transposed(x, y, BLOCK: tl.constexpr):
    r = tl.arange(0, 16)[:, None]
    c = tl.arange(0, 16)[None, :]
    p = x + r * 16 + c
    v = tl.load(p)
    tl.store(p, v + 2 * tl.trans(v))


@triton.jit
def reload_transposed(x, y, BLOCK: tl.constexpr):
    # the load goes through a view of the tile that is stored last: what a thread reads of x is not
    # what it has written
    r = tl.arange(0, 32)[:, None]
    c = tl.arange(0, 32)[None, :]
    i = r * 32 + c
    tl.store(x + i, tl.load(y + i) * 3 + 1)
    tl.store(y + i, tl.trans(tl.load(x + i)))


@triton.jit
def narrow_step(x, y, BLOCK: tl.constexpr):
    # k is 0 and 128 in turn: a sum of 8 bits wraps, so that every other round is at the same place
    i = tl.arange(0, BLOCK)
    k = tl.load(x).to(tl.uint8)
    for t in range(8):
        p = x + k.to(tl.int32) + 512
        tl.store(y + t * BLOCK + i, tl.load(p) + i)
        if t % 4 == 0:
            tl.store(p, 100 + t)
        k = k + 128


@triton.jit
def old_beside_store(x, y, BLOCK: tl.constexpr):
    # one loop writes x, and y from what x was before
    i = tl.arange(0, 16)
    w = tl.load(x + 16)
    first = tl.load(x + 512 + 15 - i)
    old = tl.load(x + i[:, None] * w + i[None, :])
    p = x + i[:, None] * w + i[None, :]
    v = tl.load(p)
    tl.store(p, v + 2 * tl.sum(v, axis=1)[:, None])
    tl.store(y + i[:, None] * w + i[None, :], old)
    tl.store(y + 512 + i, first)


@triton.jit
def narrow_sum(x, y, BLOCK: tl.constexpr):
    # 248 apart, but for a sum of 8 bits, which is 8 apart
    i = tl.arange(0, BLOCK)
    k = (tl.load(x) + 3).to(tl.uint8)
    tl.store(x + (k + 5).to(tl.int32) + i, i * 3)
    tl.store(y + i, tl.load(x + (k + 253).to(tl.int32) + i))


@triton.jit
def narrow_sign(x, y, BLOCK: tl.constexpr):
    # both begin at element 255: -1 is 255 without its sign
    i = tl.arange(0, BLOCK)
    k = (tl.load(x) - 1).to(tl.int8)
    tl.store(x + k.to(tl.int32) + 256 + i, i * 3)
    tl.store(y + i, tl.load(x + k.to(tl.uint8).to(tl.int32) + i))


@triton.jit
def count_up(x, y, BLOCK: tl.constexpr):
    # addresses that stand in the tile twice: all loads come before the stores
    i = tl.arange(0, BLOCK)
    p = x + i // 4
    tl.store(p, tl.load(p) + 1)


# ---- Pointers that are carried, chosen, gathered or cast

@triton.jit
def carried_pointer(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x
    for r in range(3):
        v = tl.load(x + r * BLOCK + (BLOCK - 1 - i))
        tl.store(p + i, v + 1)
        p += BLOCK


@triton.jit
def carried_stores(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x
    for r in range(3):
        s = tl.sum(i * (r + 1), axis=0)
        tl.store(p + i, s + i)
        tl.store(x + r * BLOCK + i, i + 7)
        p += BLOCK


@triton.jit
def carried_gather(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x + i
    for r in range(3):
        v = tl.load(p)
        p = x + (i * 7 + r) % BLOCK
        tl.store(p, v + 1)


@triton.jit
def if_pointer(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if tl.load(y) >= 0:
        p = x
    else:
        p = y
    v = tl.load(x + (BLOCK - 1 - i))
    tl.store(p + i, v + 1)


@triton.jit
def where_pointer(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + (BLOCK - 1 - i))
    tl.store(tl.where(i % 2 == 0, y + i, x + i), v + 1)


@triton.jit
def cast_pointer(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x.to(tl.int64).to(tl.pointer_type(tl.int32))
    v = tl.load(x + (BLOCK - 1 - i))
    tl.store(p + i, v + 1)


# ---- Over the back edge of a loop

@triton.jit
def while_reversed(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    r = 0
    while r < 3:
        v = tl.load(x + r * BLOCK + (BLOCK - 1 - i))
        tl.store(x + (r + 1) * BLOCK + i, v + 1)
        r += 1


@triton.jit
def if_in_loop(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for r in range(4):
        if r % 2 == 0:
            v = tl.load(x + (BLOCK - 1 - i))
            tl.store(x + BLOCK + i, v + r)
        else:
            v = tl.load(x + BLOCK + (BLOCK - 1 - i))
            tl.store(x + i, v + r)


@triton.jit
def empty_loop(x, y, BLOCK: tl.constexpr):
    # the barrier inside of the loop does not come where the loop has no rounds
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(y + i) + 3)
    for r in range(tl.load(y) * 0):
        tl.debug_barrier()
    tl.store(y + i, tl.load(x + (BLOCK - 1 - i)))


@triton.jit
def scalar_atomic(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(x, 5)
    tl.store(y + i, tl.load(x + i * 0))


# ---- Tiles in registers and in shared memory

@triton.jit
def previous(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    prev = tl.load(x + i)
    for t in range(2):
        curr = prev
        prev = tl.load(x + (t + 1) * BLOCK + i)
        tl.store(y + t * BLOCK + i, prev * 3 - curr)


@triton.jit
def load_ahead(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for t in tl.range(3, num_stages=3):
        v = tl.load(x + t * BLOCK + i)
        tl.store(y + t * BLOCK + i, v * 2)


@triton.jit
def lost_barrier(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))
    w = tl.load(y + (BLOCK - 1 - i))
    tl.store(y + BLOCK + i, tl.cumsum(w, axis=0) + tl.sort(w))


@triton.jit
def sums_in_turn(x, y, BLOCK: tl.constexpr):
    # two sums over warps whose scratch lies in the same place
    k = tl.arange(0, 64)
    v = tl.arange(0, 32)
    h = tl.zeros([64, 32], tl.int32)
    for t in range(3):
        a = tl.load(x + t * 64 + k)
        s = tl.sum(h * a[:, None], axis=0)
        h += a[:, None] * (1 - s)[None, :] % 17
        o = tl.sum(h * tl.load(x + 256 + t * 64 + k)[:, None], axis=0)
        tl.store(y + t * 32 + v, o)


@triton.jit
def transposed_sum(x, y, BLOCK: tl.constexpr):
    # threads hold copies of the result, which is carried in shared memory
    r = tl.arange(0, 16)
    c = tl.arange(0, 16)
    total = tl.zeros([16, 16], tl.float32)
    for t in range(3):
        a = tl.load(x + t * 256 + (255 - (r[:, None] * 16 + c[None, :]))) % 16
        b = tl.load(x + 3 + r[:, None] * 16 + c[None, :]) % 16
        total += tl.dot(a.to(tl.float16), b.to(tl.float16))
    tl.store(y + r[:, None] * 16 + c[None, :], tl.trans(total).to(tl.int32))


# ---- Others

@triton.jit
def sort_and_atomic(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.sort(tl.load(x + i))
    tl.store(y + i, v)
    tl.atomic_add(y + BLOCK + i, v)


@triton.jit
def last_of_ties(x, y, BLOCK: tl.constexpr):
    # threads that disagree about a scalar part at the branch
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    k = tl.argmax(((i * i * 5 + i * 3) % 11).to(tl.float32), axis=0, tie_break_left=False)
    s = tl.sum(v, axis=0)
    if k % 2 == 0:
        s += tl.sum(tl.cumsum(v, axis=0), axis=0)
    tl.store(y + i, s)


@triton.jit
def reshaped_index(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    r = tl.arange(0, 4)[:, None]
    c = tl.arange(0, BLOCK // 4)[None, :]
    tl.store(y + r * (BLOCK // 4) + c, tl.reshape((i * 2 + 4) % 61, [4, BLOCK // 4]))


# ---- Tiles that a region hands on after the array of the loop's tile has been written again

@triton.jit
def initial_handed_on(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    first = tl.load(x + (i ^ 3))
    now = first
    kept = i
    for t in range(3):
        kept = first
        next = tl.load(x + ((i * 13 + t) % BLOCK))
        tl.store(y + t * BLOCK + i, next * 3 - now)
        now = next
    tl.store(x + i, now + 7 * kept)


@triton.jit
def carried_handed_on(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    now = i
    for t in range(3):
        next = tl.load(x + (i ^ t))
        tl.store(y + t * BLOCK + i, next)
        if t % 2 == 1:
            v = now
        else:
            v = i
        tl.store(y + (3 + t) * BLOCK + i, v)
        now = next


@triton.jit
def accumulator_handed_on(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, 16)
    at = i[:, None] * 16 + i[None, :]
    kept = tl.zeros([16, 16], tl.float32)
    ones = tl.full([16, 16], 1, tl.float16)
    for t in range(3):
        tl.store(y + t * BLOCK + at, kept.to(tl.int32))
        c = tl.load(x + t * BLOCK + at).to(tl.float32)
        tl.store(y + (3 + t) * BLOCK + at, tl.dot(ones, ones, c).to(tl.int32))
        kept = c



# ---- An element of a tile as a scalar, which is used behind a store to where it comes from

@triton.jit
def only_element(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    one = tl.load(x + 5 + tl.arange(0, 1))
    tl.store(x + i, i)
    tl.store(y + i, i + tl.reshape(one, ()))


@triton.jit
def only_pointer(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = tl.reshape(x + 5 + tl.arange(0, 1), ())
    before = tl.load(p)
    tl.store(x + i, i)
    tl.store(y + i, i + before * 10 + tl.load(p))


@triton.jit
def only_halves(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    low, high = tl.split(tl.load(x + 6 + tl.arange(0, 2)))
    tl.store(x + i, i)
    tl.store(y + i, i + low * 10 + high)


@triton.jit
def only_in_rounds(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    first = tl.arange(0, 1)
    one = tl.load(x + 7 + first[:, None] + first[None, :])
    carried = tl.load(x + 9 + first)
    total = tl.reshape(one, ())
    for k in range(3):
        now = tl.load(x + k + first) * 2 + carried
        total += tl.reshape(now, ()) * (k + 1) + tl.reshape(carried, ())
        tl.store(x + k + 1 + first, now)
        carried = carried * 2 + k
    tl.store(y + i, i + total)

# ---- Two arguments, which the test gives one memory too

@triton.jit
def shift(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) + 1)


@triton.jit
def reverse(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + (BLOCK - 1 - i), tl.load(x + i) + 1)


@triton.jit
def transpose(x, y, BLOCK: tl.constexpr):
    r = tl.arange(0, 16)[:, None]
    c = tl.arange(0, 16)[None, :]
    tl.store(y + c * 16 + r, tl.load(x + r * 16 + c))


@triton.jit
def reload(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(y + i, v + 1)
    w = tl.load(x + i)
    tl.store(y + BLOCK + i, v * 1000 + w)


@triton.jit
def stores(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x + BLOCK + i), axis=0)
    tl.store(x + i, s + i)
    tl.store(y + i, i + 7)
)py";

}  // namespace tilewright
