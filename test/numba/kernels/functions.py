# SPDX-License-Identifier: Apache-2.0
# numba/kernels/functions.py — functions of math and numpy.
import math

import numpy as np
from numba import cuda


@cuda.jit
def trigonometry(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sin(x[i]) + math.cos(x[i]) * math.tan(x[i])


@cuda.jit
def inverse(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i] / 10
        out[i] = math.asin(v) + math.acos(v) + math.atan(v) + math.atan2(v, 2.0)


@cuda.jit
def hyperbolic(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i] / 4
        out[i] = math.sinh(v) + math.cosh(v) + math.tanh(v) + math.asinh(v)


@cuda.jit
def exponentials(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = abs(x[i]) + 1
        out[i] = math.exp(-v) + math.log(v) + math.log2(v) + math.log10(v) + math.log1p(v) + math.expm1(-v)


@cuda.jit
def roots(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sqrt(math.fabs(x[i])) + math.hypot(x[i], 3.0) + math.pow(2.0, x[i])


@cuda.jit
def rounding(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.floor(x[i]) * 100 + math.ceil(x[i]) * 10 + math.trunc(float(x[i]))


@cuda.jit
def classes(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.isnan(x[i]) + 2 * math.isinf(x[i]) + 4 * math.isfinite(x[i])


@cuda.jit
def special(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.erf(x[i]) + math.erfc(x[i]) * 2 + math.lgamma(abs(x[i]) + 1.5) + math.gamma(2.5)


@cuda.jit
def signs(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.copysign(2.0, x[i]) + math.fmod(x[i], 1.5) + math.degrees(x[i]) + math.radians(x[i])


@cuda.jit
def constants(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * math.pi + math.e


@cuda.jit
def smallest(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = min(x[i], y[i], 2.5) + max(x[i], y[i])


@cuda.jit
def parts(x, out):
    i = cuda.grid(1)
    if i < x.size:
        f, w = math.modf(x[i])
        m, e = math.frexp(x[i])
        out[i] = f + 10 * w + 100 * m + 1000 * e + math.ldexp(0.5, 3)
