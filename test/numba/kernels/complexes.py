# SPDX-License-Identifier: Apache-2.0
# numba/kernels/complexes.py — complex numbers inside of kernels.
from numba import cuda


@cuda.jit(device=True)
def escapes(x, y, most):
    c = complex(x, y)
    z = 0.0j
    for i in range(most):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return i
    return most


@cuda.jit
def mandelbrot_complex(image, most):
    column, row = cuda.grid(2)
    if row < image.shape[0] and column < image.shape[1]:
        image[row, column] = escapes(-2.0 + column * 0.4, -1.0 + row * 0.3, most)


@cuda.jit(device=True)
def turned(z, by):
    return z * by


@cuda.jit
def complex_parts(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        z = complex(x[i], y[i])
        w = 2 * z - 1j + z.conjugate() * 0.5
        w = turned(w, 1 - 2j)
        q = w / complex(1.5, -2.0) + (-z) ** 2
        out[0, i] = q.real
        out[1, i] = q.imag
        out[2, i] = abs(z)
        out[3, i] = 1 if z == complex(x[i], y[i]) and z != w else 0
        r = z if x[i] > 0 else w
        r += 1
        r *= r
        out[4, i] = r.real + r.imag
