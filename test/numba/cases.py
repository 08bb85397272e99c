# SPDX-License-Identifier: Apache-2.0
# numba/cases.py — each kernel of kernels/ with a launch: grid, block and arguments. Numba's simulator (oracle.py) says
# what the arrays hold afterwards.
import numpy as np


def values(dtype, *shape, low=-9, high=9, seed=1):
    """Small numbers with halves and quarters, so that sums of floats are exact."""
    count = int(np.prod(shape)) if shape else 1
    numbers = (np.arange(count) * 7919 + seed * 104729) % 1009
    if np.dtype(dtype).kind == "f":
        data = low + (numbers % ((high - low) * 4)) / 4
    else:
        data = low + numbers % (high - low)
    return data.astype(dtype).reshape(shape)


def f32(*shape, **more):
    return values(np.float32, *shape, **more)


def f16(*shape, **more):
    return values(np.float16, *shape, **more)


def f64(*shape, **more):
    return values(np.float64, *shape, **more)


def i32(*shape, **more):
    return values(np.int32, *shape, **more)


def i64(*shape, **more):
    return values(np.int64, *shape, **more)


def zeros(dtype, *shape):
    return np.zeros(shape, dtype)


H, F, D, I, L = np.float16, np.float32, np.float64, np.int32, np.int64


def nonzero(array):
    array[array == 0] = 3
    return array


def specials():
    return np.array([0, 1.5, np.inf, -np.inf, np.nan, -2], F)


# kernels/FILE.py: KERNEL, grid, block, arguments
CASES = [
    ("elementwise", "numba_square", 3, 8, lambda: [f32(21), zeros(F, 21)]),
    ("elementwise", "add", 3, 8, lambda: [f32(20), f32(20, seed=2), zeros(F, 20)]),
    ("elementwise", "axpy", 2, 4, lambda: [2.5, f64(21), f64(21, seed=3)]),
    ("elementwise", "gelu", 3, 8, lambda: [f32(24), zeros(F, 24)]),
    ("elementwise", "relu", 3, 8, lambda: [f32(20), zeros(F, 20)]),
    ("elementwise", "clamp", 3, 8, lambda: [f64(20), -2.0, 3.5, zeros(D, 20)]),
    ("elementwise", "polynomial", 3, 8, lambda: [f32(20), zeros(F, 20)]),
    ("elementwise", "polynomial", 3, 8, lambda: [i32(20), zeros(L, 20)]),
    ("elementwise", "sign_of", 3, 8, lambda: [f32(20), zeros(I, 20)]),
    ("elementwise", "reverse", 3, 8, lambda: [i32(20), zeros(I, 20)]),
    ("elementwise", "from_the_end", 3, 8, lambda: [i32(20), zeros(I, 20)]),
    ("elementwise", "to_int", 3, 8, lambda: [f32(20), zeros(I, 20)]),
    ("elementwise", "mean_of_two", 3, 8, lambda: [i32(20), i32(20, seed=5), zeros(D, 20)]),
    ("dimensions", "square2", (2, 3), (4, 4), lambda: [f32(7, 10), zeros(F, 7, 10)]),
    ("dimensions", "increment_a_2d_array", (2, 3), (4, 4), lambda: [f32(7, 10)]),
    ("dimensions", "transpose", (2, 3), (4, 4), lambda: [f32(7, 10), zeros(F, 10, 7)]),
    ("dimensions", "transpose", (3, 2), (4, 4), lambda: [f32(7, 10).T, zeros(F, 7, 10)]),
    ("dimensions", "add3", (2, 2, 2), (2, 2, 2),
     lambda: [f32(3, 4, 3), f32(3, 4, 3, seed=4), zeros(F, 3, 4, 3)]),
    ("dimensions", "matmul_naive", (2, 2), (4, 4), lambda: [f32(5, 6), f32(6, 7, seed=2), zeros(F, 5, 7)]),
    ("dimensions", "strided_sum", 1, 8, lambda: [f32(6, 10)[:, ::2], zeros(D, 6)]),
    ("dimensions", "facts", 1, 4, lambda: [f32(6, 10), zeros(L, 7)]),
    ("dimensions", "facts", 1, 4, lambda: [f32(6, 10)[::2, 1:5], zeros(L, 7)]),
    ("dimensions", "grid_facts", (2, 3), (2, 2), lambda: [zeros(L, 4, 6)]),
    ("dimensions", "last_dimension", (2, 3), (4, 4), lambda: [i32(7, 10), zeros(I, 7, 10)]),
    ("dimensions", "laplace", (2, 3), (4, 4), lambda: [f64(7, 10), zeros(D, 7, 10)]),
    ("arithmetic", "floor_divide", 3, 8, lambda: [i32(24), nonzero(i32(24, seed=6)), zeros(L, 24)]),
    ("arithmetic", "modulo", 3, 8, lambda: [i32(24), nonzero(i32(24, seed=6)), zeros(L, 24)]),
    ("arithmetic", "true_divide", 3, 8, lambda: [i32(24), nonzero(i32(24, seed=6)), zeros(D, 24)]),
    ("arithmetic", "true_divide", 3, 8, lambda: [f32(24), nonzero(f32(24, seed=6)), zeros(F, 24)]),
    ("arithmetic", "float_modulo", 3, 8, lambda: [f64(24), nonzero(f64(24, seed=6)), zeros(D, 24)]),
    ("arithmetic", "powers", 3, 8, lambda: [f64(24, low=0), zeros(D, 24)]),
    ("arithmetic", "integer_powers", 3, 8, lambda: [i64(24), i64(24, low=0, high=7), zeros(L, 24)]),
    ("arithmetic", "negative_power", 3, 8, lambda: [nonzero(f32(24)), zeros(F, 24)]),
    ("arithmetic", "bits", 3, 8, lambda: [i32(24), i32(24, seed=9), zeros(L, 24)]),
    ("arithmetic", "shifts", 3, 8, lambda: [i64(24), zeros(L, 24)]),
    ("arithmetic", "widens", 3, 8, lambda: [i32(24), zeros(L, 24)]),
    ("arithmetic", "literal_first", 3, 8, lambda: [i32(24), zeros(L, 24)]),
    ("arithmetic", "negation", 3, 8, lambda: [i32(24), zeros(L, 24)]),
    ("arithmetic", "negation", 3, 8, lambda: [f32(24), zeros(F, 24)]),
    ("arithmetic", "compares", 3, 8, lambda: [i32(24), f32(24, seed=9), zeros(L, 24)]),
    ("arithmetic", "chained", 3, 8, lambda: [i32(24), zeros(L, 24)]),
    ("arithmetic", "logic", 3, 8, lambda: [i32(24), i32(24, seed=9), zeros(L, 24)]),
    ("arithmetic", "divides", 3, 8, lambda: [i64(24), nonzero(i64(24, seed=9)), zeros(L, 24)]),
    ("arithmetic", "unsigned_hash", 3, 8, lambda: [i32(24, low=0, high=1000), zeros(L, 24)]),
    ("arithmetic", "unsigned_parts", 3, 8,
     lambda: [values(np.uint32, 24, low=0, high=99), values(np.uint32, 24, low=1, high=9), zeros(L, 24)]),
    ("arithmetic", "augmented", 3, 8, lambda: [i32(24), zeros(L, 24)]),
    ("functions", "trigonometry", 3, 8, lambda: [f32(24), zeros(F, 24)]),
    ("functions", "trigonometry", 3, 8, lambda: [f64(24), zeros(D, 24)]),
    ("functions", "inverse", 3, 8, lambda: [f64(24), zeros(D, 24)]),
    ("functions", "hyperbolic", 3, 8, lambda: [f32(24), zeros(F, 24)]),
    ("functions", "exponentials", 3, 8, lambda: [f32(24), zeros(F, 24)]),
    ("functions", "exponentials", 3, 8, lambda: [f64(24), zeros(D, 24)]),
    ("functions", "roots", 3, 8, lambda: [f64(24), zeros(D, 24)]),
    ("functions", "rounding", 3, 8, lambda: [f32(24), zeros(L, 24)]),
    ("functions", "classes", 1, 8, lambda: [specials(), zeros(I, 6)]),
    ("functions", "special", 3, 8, lambda: [f64(24, low=-2, high=2), zeros(D, 24)]),
    ("functions", "signs", 3, 8, lambda: [f64(24), zeros(D, 24)]),
    ("functions", "constants", 3, 8, lambda: [f32(24), zeros(F, 24)]),
    ("functions", "smallest", 3, 8, lambda: [f64(24), f64(24, seed=3), zeros(D, 24)]),
    ("functions", "parts", 3, 8, lambda: [f64(24), zeros(D, 24)]),
    ("control", "collatz", 3, 8, lambda: [i64(20, low=1, high=40), zeros(I, 20)]),
    ("control", "first_above", 1, 8, lambda: [f32(6, 9), 5, zeros(I, 6)]),
    ("control", "skip_negative", 1, 8, lambda: [f32(6, 9), zeros(D, 6)]),
    ("control", "count_down", 2, 8, lambda: [zeros(L, 14)]),
    ("control", "changing_step", 1, 8, lambda: [zeros(L, 8)]),
    ("control", "loop_variable_after", 1, 8, lambda: [zeros(L, 8)]),
    ("control", "nested", 2, 8, lambda: [zeros(L, 12)]),
    ("control", "fibonacci", 3, 8, lambda: [zeros(L, 20)]),
    ("control", "bisect", 2, 8, lambda: [np.arange(30, dtype=I) * 3, i32(16, low=-5, high=100), zeros(I, 16)]),
    ("control", "mandelbrot", (2, 2), (4, 4), lambda: [zeros(I, 8, 8), 30]),
    ("control", "retyped", 2, 8, lambda: [f32(14), zeros(F, 14)]),
    ("control", "both_at_once", 1, 8, lambda: [f64(8), zeros(D, 8)]),
    ("control", "literals_of_64_bits", 1, 8, lambda: [zeros(L, 8)]),
    ("control", "changes_counter", 1, 8, lambda: [zeros(L, 8)]),
    ("control", "insertion_sort", 1, 4, lambda: [i32(3, 9)]),
    ("device", "call_twice", 2, 8, lambda: [f32(14), zeros(F, 14)]),
    ("device", "call_power", 2, 8, lambda: [f32(14), zeros(F, 14)]),
    ("device", "call_minmax", 2, 8, lambda: [i32(14), i32(14, seed=4), zeros(I, 14), zeros(I, 14)]),
    ("device", "call_row_sum", 1, 8, lambda: [f32(6, 5), zeros(F, 6)]),
    ("device", "call_store", 2, 8, lambda: [f32(14), zeros(F, 14)]),
    ("device", "call_gcd", 2, 8, lambda: [i64(14, low=1, high=90), i64(14, low=1, high=90, seed=3), zeros(L, 14)]),
    ("device", "call_sigmoid", 2, 8, lambda: [f64(14), zeros(D, 14)]),
    ("device", "pass_functions", 2, 8, lambda: [f32(14), zeros(F, 14)]),
    ("device", "pass_shape", 2, 8, lambda: [f32(14), zeros(F, 14)]),
    ("device", "pass_flags", 2, 8, lambda: [f32(14), zeros(F, 14)]),
    ("device", "call_scaled", 2, 8, lambda: [i32(14), zeros(L, 14)]),
    ("shared", "fast_matmul", (2, 2), (8, 8), lambda: [f32(9, 12), f32(12, 10, seed=2), zeros(F, 9, 10)]),
    ("shared", "block_sum", 2, 32, lambda: [f32(50), zeros(F, 2)]),
    ("shared", "block_max", 2, 32, lambda: [i32(64), zeros(I, 2)]),
    ("shared", "array_reverse", 1, 32, lambda: [f32(32)]),
    ("shared", "transpose_tile", (2, 2), (8, 8), lambda: [f32(9, 11), zeros(F, 11, 9)]),
    ("shared", "softmax", 2, 32, lambda: [f32(2, 45), zeros(F, 2, 45)]),
    ("shared", "inclusive_scan", 1, 32, lambda: [i32(32), zeros(I, 32)]),
    ("shared", "neighbours", 2, 32, lambda: [f32(64), zeros(F, 64)]),
    ("shared", "votes", 1, 16, lambda: [i32(16), zeros(I, 16)]),
    ("atomics", "histogram", 2, 16, lambda: [i32(30, low=0, high=99), zeros(I, 5)]),
    ("atomics", "sum_all", 2, 16, lambda: [f32(30), zeros(F, 1)]),
    ("atomics", "sum_all", 2, 16, lambda: [f64(30), zeros(D, 1)]),
    ("atomics", "sum_all", 2, 16, lambda: [i64(30), zeros(L, 1)]),
    ("atomics", "sum_2d", (2, 2), (4, 4), lambda: [f32(7, 6), zeros(F, 2, 2)]),
    ("atomics", "subtract", 2, 16, lambda: [i32(30), zeros(I, 3)]),
    ("atomics", "largest", 2, 16, lambda: [f32(30), zeros(F, 2)]),
    ("atomics", "largest", 2, 16, lambda: [i64(30), zeros(L, 2)]),
    ("atomics", "shared_histogram", 2, 16, lambda: [i32(30, low=0, high=99), zeros(I, 8)]),
    ("atomics", "compare_and_swap", 2, 8, lambda: [np.full(1, -1, I), zeros(I, 1)]),
    ("atomics", "bitwise", 2, 16, lambda: [i32(30, low=0, high=99), np.array([0, 127, 0], I)]),
    ("atomics", "count_up", 2, 8, lambda: [np.array([3, 5], np.uint32)]),
    ("atomics", "tickets", 2, 8, lambda: [zeros(I, 16), zeros(I, 1)]),
    ("atomics", "exchange", 2, 8, lambda: [zeros(L, 16)]),
    ("views", "row_of", 1, 8, lambda: [f32(6, 5), zeros(D, 6)]),
    ("views", "column_of", 1, 8, lambda: [f32(6, 5), zeros(D, 5)]),
    ("views", "every_second", 2, 8, lambda: [f32(21), zeros(F, 10)]),
    ("views", "between", 2, 8, lambda: [f32(21), zeros(F, 16)]),
    ("views", "fill_rows", 1, 8, lambda: [f32(6, 5)]),
    ("views", "copy_row", 1, 8, lambda: [f32(6, 5), zeros(F, 6, 5)]),
    ("views", "local_array", 2, 8, lambda: [f32(12), zeros(F, 12)]),
    ("views", "local_2d", 2, 8, lambda: [zeros(L, 12)]),
    ("views", "weighted", 3, 8, lambda: [f64(21), zeros(D, 21)]),
    ("views", "shape_by_index", 1, 4, lambda: [f32(3, 4, 5), zeros(I, 3)]),
    ("views", "unpack_shape", (2, 2), (4, 4), lambda: [f32(6, 5), zeros(F, 30)]),
    ("views", "over_tuple", 1, 8, lambda: [zeros(L, 8)]),
    ("views", "tuple_of_itself", 1, 8, lambda: [zeros(L, 8)]),
    ("views", "ping_pong", 2, 8, lambda: [i32(14), i32(14, seed=3), zeros(I, 14)]),
    ("typed", "truncates", 2, 8, lambda: [i32(14), zeros(L, 14)]),
    ("typed", "single", 2, 8, lambda: [f64(14), zeros(D, 14)]),
    ("typed", "bytes_to_gray", (2, 2), (4, 4),
     lambda: [values(np.uint8, 6, 5, 3, low=0, high=255), zeros(np.uint8, 6, 5)]),
    ("typed", "with_signature", 2, 8, lambda: [f32(14), zeros(F, 14), 14]),
    ("typed", "with_types", 2, 8, lambda: [i32(14), zeros(I, 14)]),
    ("typed", "booleans", 2, 8, lambda: [i32(14), zeros(np.bool_, 14)]),
    ("typed", "select_by_flag", 2, 8, lambda: [i32(14) > 0, f32(14), zeros(F, 14)]),
    ("typed", "scalars", 2, 8, lambda: [I(3), 1.5, True, zeros(D, 14)]),
    ("typed", "small_integers", 2, 8,
     lambda: [values(np.int8, 14), values(np.uint16, 14, low=0, high=900), zeros(L, 14)]),
    ("typed", "doubles", 2, 8, lambda: [f64(14), zeros(D, 14)]),
    ("halves", "half_add", 2, 8, lambda: [f16(14), f16(14, seed=4), zeros(H, 14)]),
    ("halves", "half_divide", 2, 8, lambda: [f16(14), nonzero(f16(14, seed=4)), zeros(H, 14)]),
    ("halves", "half_to_single", 2, 8, lambda: [f16(14), zeros(F, 14)]),
    ("halves", "single_to_half", 2, 8, lambda: [f32(14) / F(3), zeros(H, 14)]),
    ("halves", "half_choices", 3, 8, lambda: [f16(24), zeros(H, 24)]),
    ("halves", "half_functions", 2, 8, lambda: [f16(14), zeros(H, 14)]),
    ("halves", "half_shared", 1, 16, lambda: [f16(16), zeros(H, 16)]),
    ("complexes", "mandelbrot_complex", (2, 2), (4, 4), lambda: [zeros(I, 7, 8), 20]),
    ("complexes", "complex_parts", 2, 8, lambda: [f64(14), f64(14, seed=6), zeros(D, 5, 14)]),
    ("constants", "smooth", 2, 8, lambda: [f64(14), zeros(D, 14)]),
    ("constants", "lookup", 2, 8, lambda: [i32(14, low=0, high=50), zeros(I, 14)]),
    ("constants", "lookup_by_function", 3, 8, lambda: [zeros(F, 21)]),
    ("constants", "zip_arrays", 1, 8, lambda: [f64(9), f64(6, seed=5), zeros(D, 8)]),
    ("constants", "enumerate_array", 1, 8, lambda: [i32(12), zeros(I, 8)]),
    ("constants", "enumerate_tuple", 1, 8, lambda: [zeros(L, 8)]),
    ("constants", "zip_enumerate", 1, 8, lambda: [i64(7), i64(9, seed=3), zeros(L, 8)]),
    ("constants", "zip_range", 1, 8, lambda: [i64(7), zeros(L, 8)]),
    ("constants", "bits_of_floats", 2, 8, lambda: [f32(14), zeros(I, 14)]),
    ("constants", "bytes_of_integers", 4, 16, lambda: [i32(14), zeros(I, 56)]),
    ("constants", "rounds_to_digits", 2, 8, lambda: [f64(14), zeros(D, 14)]),
]
