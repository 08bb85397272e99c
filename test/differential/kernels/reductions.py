# SPDX-License-Identifier: Apache-2.0
# differential/kernels/reductions.py — sums, extremes, their indices, user functions, scans, sorts.
import triton
import triton.language as tl


@triton.jit
def reduce_rows(x, sums, highs, lows, M: tl.constexpr, N: tl.constexpr):
    """Axis 1, axis 0 (kept) and all of a tile, one after another in the outputs."""
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    tile = tl.load(x + rows[:, None] * N + columns[None, :])
    tl.store(sums + rows, tl.sum(tile, axis=1))
    tl.store(highs + rows, tl.max(tile, axis=1))
    tl.store(lows + rows, tl.min(tile, axis=1))
    tl.store(sums + M + columns[None, :], tl.sum(tile, axis=0, keep_dims=True))
    tl.store(highs + M + columns, tl.max(tile, 0))
    tl.store(lows + M + columns, tl.min(tile, 0))
    tl.store(sums + M + N, tl.sum(tile))
    tl.store(highs + M + N, tl.max(tile))
    tl.store(lows + M + N, tl.min(tile))


@triton.jit
def count_true(x, out, limit, N: tl.constexpr):
    value = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.sum((value > limit).to(tl.int32)))
    tl.store(out + 1, tl.sum(value > limit))


@triton.jit
def extreme_indices(x, values, indices, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    tile = tl.load(x + rows[:, None] * N + tl.arange(0, N)[None, :])
    high, where = tl.max(tile, axis=1, return_indices=True)
    tl.store(values + rows, high)
    tl.store(indices + rows, where)
    tl.store(indices + M + rows, tl.argmax(tile, axis=1))
    tl.store(indices + 2 * M + rows, tl.argmin(tile, axis=1))


@triton.jit
def _welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    delta = mean_b - mean_a
    share = n_b / n
    return mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share, n


@triton.jit
def user_reduce(x, mean_out, var_out, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    tile = tl.load(x + rows[:, None] * N + tl.arange(0, N)[None, :])
    mean, m2, n = tl.reduce((tile, tl.zeros_like(tile), tl.full([M, N], 1.0, tl.float32)), 1, _welford)
    tl.store(mean_out + rows, mean)
    tl.store(var_out + rows, m2 / n)


@triton.jit
def _multiply(a, b):
    return a * b


@triton.jit
def _decay(a, x, b, y):
    return a * b, x * b + y


@triton.jit
def scans(x, y, out, M: tl.constexpr, N: tl.constexpr):
    """Sums forwards and backwards, products, and a linear recurrence along both axes."""
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(x + i)
    b = tl.load(y + i)
    tl.store(out + i, tl.cumsum(a, axis=1))
    tl.store(out + M * N + i, tl.cumsum(a, axis=0, reverse=True))
    tl.store(out + 2 * M * N + i, tl.associative_scan(b, 1, _multiply))
    _, state = tl.associative_scan((b, a), 0, _decay)
    tl.store(out + 3 * M * N + i, state)


@triton.jit
def integer_scan(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(out + i, tl.cumsum(value, 0))
    tl.store(out + N + i, tl.cumsum((value > 0).to(tl.int32), 0, reverse=True))


@triton.jit
def sort_rows(x, out, M: tl.constexpr, N: tl.constexpr, DESCENDING: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + i, tl.sort(tl.load(x + i), descending=DESCENDING))


@triton.jit
def softmax_rows(x, out, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * stride + i, mask=i < columns, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * stride + i, value / tl.sum(value, axis=0), mask=i < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    """Passes over the row in blocks: a loop that carries tiles."""
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
        total += value
        squares += value * value
    mean = tl.sum(total) / columns
    scale = 1 / tl.sqrt(tl.sum(squares) / columns - mean * mean + eps)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        mask = i < columns
        value = tl.load(x + row * columns + i, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(weight + i, mask=mask)
        b = tl.load(bias + i, mask=mask)
        tl.store(out + row * columns + i, (value - mean) * scale * w + b, mask=mask)
