# SPDX-License-Identifier: Apache-2.0
# numba/kernels/atomics.py — atomic operations.
from numba import cuda, int32


@cuda.jit
def histogram(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, x[i] % out.size, 1)


@cuda.jit
def sum_all(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, x[i])


@cuda.jit
def sum_2d(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        cuda.atomic.add(out, (i % 2, j % 2), x[i, j])


@cuda.jit
def subtract(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.sub(out, i % 3, x[i])


@cuda.jit
def largest(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(out, 0, x[i])
        cuda.atomic.min(out, 1, x[i])


@cuda.jit
def shared_histogram(x, out):
    counts = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        counts[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i] & 7, 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, counts[t])


@cuda.jit
def compare_and_swap(out, winners):
    i = cuda.grid(1)
    old = cuda.atomic.compare_and_swap(out, -1, 7)
    if old == -1:
        cuda.atomic.add(winners, 0, 1)


@cuda.jit
def bitwise(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.or_(out, 0, x[i])
        cuda.atomic.and_(out, 1, x[i] | 8)
        cuda.atomic.xor(out, 2, x[i])


@cuda.jit
def count_up(out):
    cuda.atomic.inc(out, 0, 9)
    cuda.atomic.dec(out, 1, 9)


@cuda.jit
def tickets(seen, counter):
    ticket = cuda.atomic.add(counter, 0, 1)
    seen[ticket] = 1


@cuda.jit
def exchange(out):
    i = cuda.grid(1)
    cuda.atomic.exch(out, i, i + 100)
