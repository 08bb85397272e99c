# SPDX-License-Identifier: Apache-2.0
# numba/kernels/arithmetic.py — Python's operators on integers and floats.
from numba import cuda, int32, uint32


@cuda.jit
def floor_divide(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] // b[i]


@cuda.jit
def modulo(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] % b[i]


@cuda.jit
def true_divide(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] / b[i]


@cuda.jit
def float_modulo(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] % b[i] + a[i] // b[i]


@cuda.jit
def powers(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] ** 2 + x[i] ** 3 - x[i] ** 0.5


@cuda.jit
def integer_powers(x, n, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] ** n[i] + 2 ** 5


@cuda.jit
def negative_power(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] ** -2


@cuda.jit
def bits(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = ((a[i] & b[i]) | (a[i] ^ 5)) + (~b[i])


@cuda.jit
def shifts(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = (a[i] << 3) - (a[i] >> 2)


@cuda.jit
def widens(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = int(a[i]) * 100000 * 100000


@cuda.jit
def negation(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = -a[i] + abs(a[i]) - (+a[i])


@cuda.jit
def compares(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = (a[i] < b[i]) + 2 * (a[i] <= b[i]) + 4 * (a[i] == b[i]) + 8 * (a[i] != b[i])


@cuda.jit
def chained(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = 1 if -2 < a[i] <= 3 else 0


@cuda.jit
def logic(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        if (a[i] > 0 and b[i] > 0) or not (a[i] < b[i]):
            out[i] = 1
        else:
            out[i] = 2


@cuda.jit
def divides(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        q, r = divmod(a[i], b[i])
        out[i] = q * 1000 + r


@cuda.jit
def unsigned_hash(x, out):
    i = cuda.grid(1)
    if i < x.size:
        h = uint32(x[i])
        h = uint32((h ^ (h >> 16)) & 0xffff)
        h = uint32((h * 40503) & 0xffff)
        out[i] = h


@cuda.jit
def augmented(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = int(x[i])
        v += 3
        v *= 2
        v -= 1
        v //= 3
        v %= 7
        v <<= 2
        v |= 1
        out[i] = v


@cuda.jit
def unsigned_parts(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] // b[i] + a[i] % b[i] + i // cuda.blockDim.x + i % cuda.gridDim.x


@cuda.jit
def literal_first(a, out):
    i = cuda.grid(1)
    if i < a.size:
        t = cuda.threadIdx.x + 1
        out[i] = 1000000000 * cuda.threadIdx.x + (2147483647 + cuda.threadIdx.x) - (2000000000 - t) * (-2000000000)
