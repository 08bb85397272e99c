# SPDX-License-Identifier: Apache-2.0
# differential/kernels/shapes.py — block pointers, moved elements, and small products.
import triton
import triton.language as tl


@triton.jit
def transpose_blocks(x, out, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(x, (m, n), (n, 1), (tl.program_id(0) * M, tl.program_id(1) * N), (M, N), (1, 0))
    target = tl.make_block_ptr(out, (n, m), (m, 1), (tl.program_id(1) * N, tl.program_id(0) * M), (N, M), (1, 0))
    tl.store(target, tl.trans(tl.load(source, boundary_check=(0, 1))), boundary_check=(0, 1))


@triton.jit
def advance_blocks(x, out, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(x, (m, n), (n, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0))
    total = tl.zeros([M, N], tl.float32)
    for _ in range(0, tl.cdiv(n, N)):
        total += tl.load(source, boundary_check=(0, 1), padding_option="zero")
        source = tl.advance(source, (0, N))
    rows = tl.program_id(0) * M + tl.arange(0, M)
    tl.store(out + rows, tl.sum(total, 1), mask=rows < m)


@triton.jit
def reshape_permute(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A * B * C)
    cube = tl.reshape(tl.load(x + i), (A, B, C))
    moved = tl.permute(cube, (2, 0, 1))
    tl.store(out + i, tl.reshape(moved, (A * B * C,)))
    tl.store(out + A * B * C + i, tl.ravel(tl.trans(cube, (1, 0, 2))))
    tl.store(out + 2 * A * B * C + i, tl.reshape(tl.broadcast_to(tl.sum(cube, 1, keep_dims=True), (A, B, C)), (A * B * C,)))


@triton.jit
def join_split(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    b = tl.load(y + i)
    wide = tl.arange(0, 2 * N)
    tl.store(out + wide, tl.interleave(a, b))
    pairs = tl.join(a, b)
    left, right = tl.split(pairs)
    tl.store(out + 2 * N + i, left - right)
    tl.store(out + 3 * N + wide, tl.reshape(tl.trans(pairs), (2 * N,)))
    low, high = tl.split(tl.reshape(a, (N // 2, 2)))
    half = tl.arange(0, N // 2)
    tl.store(out + 5 * N + half, low * 2 + high)


@triton.jit
def gather_rows(x, index, out, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + i, tl.gather(tl.load(x + i), tl.load(index + i), 1))


@triton.jit
def flip_and_histogram(x, flipped, counts, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(flipped + i, tl.flip(value, 0))
    tl.store(counts + tl.arange(0, BINS), tl.histogram(value, BINS))


@triton.jit
def small_dot(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        inner = start + tl.arange(0, K)
        left = tl.load(a + rows[:, None] * k + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0)
        right = tl.load(b + inner[:, None] * n + columns[None, :], mask=(inner[:, None] < k) & (columns[None, :] < n), other=0)
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def integer_dot(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + rows[:, None] * K + inner[None, :])
    right = tl.load(b + inner[:, None] * N + columns[None, :])
    tl.store(c + rows[:, None] * N + columns[None, :], tl.dot(left, right))


@triton.jit
def strided_3d(x, out, s0, s1, s2, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """Rank 3 with strides of the caller; rank 1 aligns to the last axis."""
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)
    tile = tl.load(x + a * s0 + b * s1 + c * s2)
    tl.store(out + (a * B + b) * C + c, tile + c * 100 - b)
