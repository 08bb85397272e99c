// SPDX-License-Identifier: Apache-2.0
// frontend/python/outside_modules.cpp — the functions that PyTorch's Inductor calls in the kernels
// that it writes.
#include "frontend/python/outside_modules.h"

namespace tilewright::python {
namespace {

constexpr std::string_view inductor_helpers = R"(
import triton
import triton.language as tl
from triton.language import math
from triton.language.extra import libdevice


@triton.jit
def promote_to_tensor(x):
    return x + tl.full((1,), 0, tl.int1)


@triton.jit
def is_floating(x):
    return promote_to_tensor(x).dtype.is_floating()


@triton.jit
def div_floor_integer(a, b):
    quotient = a // b
    is_below = ((a < 0) != (b < 0)) & (a % b != 0)
    return tl.where(is_below, quotient - 1, quotient)


@triton.jit
def remainder_integer(a, b):
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@triton.jit
def _times(a, b):
    return a * b


@triton.jit
def _or(a, b):
    return a | b


@triton.jit
def prod(input, axis):
    return tl.reduce(input, axis, _times)


@triton.jit
def any(a, dim):
    return tl.reduce(a, dim, _or)


# NaN is larger and smaller than everything.
@triton.jit
def minimum(a, b):
    return tl.minimum(a, b, tl.PropagateNan.ALL)


@triton.jit
def maximum(a, b):
    return tl.maximum(a, b, tl.PropagateNan.ALL)


@triton.jit
def min2(a, dim):
    return tl.reduce(a, dim, minimum)


@triton.jit
def max2(a, dim):
    return tl.reduce(a, dim, maximum)


# The first of a and b, where `before` tells which one is wanted of two numbers.
@triton.jit
def _first(before, a, a_index, b, b_index):
    takes_a = before
    is_equal = a == b
    if is_floating(a):
        a_is_nan = a != a
        b_is_nan = b != b
        takes_a = takes_a | (a_is_nan & (b_is_nan == 0))
        is_equal = is_equal | (a_is_nan & b_is_nan)
    takes_a = takes_a | (is_equal & (a_index < b_index))
    return tl.where(takes_a, a, b), tl.where(takes_a, a_index, b_index)


@triton.jit
def minimum_with_index(a_value, a_index, b_value, b_index):
    return _first(a_value < b_value, a_value, a_index, b_value, b_index)


@triton.jit
def maximum_with_index(a_value, a_index, b_value, b_index):
    return _first(a_value > b_value, a_value, a_index, b_value, b_index)


@triton.jit
def min_with_index(value, index, dim):
    return tl.reduce((value, index), dim, minimum_with_index)


@triton.jit
def max_with_index(value, index, dim):
    return tl.reduce((value, index), dim, maximum_with_index)


@triton.jit
def exp(x, use_fast_math: tl.constexpr = False):
    return tl.exp(x)


@triton.jit
def online_softmax_combine(lhs_max, lhs_sum, rhs_max, use_fast_math: tl.constexpr = False):
    out_max = maximum(lhs_max, rhs_max)
    is_empty = out_max == float("-inf")
    lhs_scale = tl.where(is_empty, 1.0, tl.exp(lhs_max - out_max))
    rhs_scale = tl.where(is_empty, 1.0, tl.exp(rhs_max - out_max))
    return out_max, lhs_sum * lhs_scale + rhs_scale


@triton.jit
def online_softmax_reduce(lhs_max, lhs_sum, dim, use_fast_math: tl.constexpr = False):
    out_max = max2(lhs_max, dim)
    row_max = tl.expand_dims(out_max, dim)
    distance = tl.where(row_max == float("-inf"), 0.0, lhs_max - row_max)
    return out_max, tl.sum(lhs_sum * tl.exp(distance), dim)


@triton.jit
def welford_reduce(value, mean, m2, weight, first_iteration=False):
    if first_iteration:
        new_weight = tl.full(weight.shape, 1, weight.dtype)
        new_mean = value
        new_m2 = tl.zeros_like(m2)
    else:
        delta = value - mean
        new_weight = weight + 1
        new_mean = mean + delta / new_weight
        new_m2 = m2 + delta * (value - new_mean)
    return new_mean, new_m2, new_weight


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    delta = mean_2 - mean_1
    weight = weight_1 + weight_2
    share = tl.where(weight == 0.0, 0.0, weight_2 / weight)
    return mean_1 + delta * share, m2_1 + m2_2 + delta * delta * weight_1 * share, weight


@triton.jit
def welford(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, welford_combine)


@triton.jit
def device_assert_then(cond, msg, r):
    tl.device_assert(cond, msg)
    return r


@triton.jit
def randint64(seed, offset, low, high):
    r0, r1, r2, r3 = tl.randint4x(seed, offset)
    result = r0.to(tl.uint64) | (r1.to(tl.uint64) << 32)
    size = (high - low).to(tl.uint64)
    return (result % size).to(tl.int64) + low
)";

}  // namespace

std::string_view outside_module(std::string_view dotted) {
  if (dotted == "torch._inductor.runtime.triton_helpers" ||
      dotted == "torch._inductor.triton_helpers")
    return inductor_helpers;
  return {};
}

}  // namespace tilewright::python
