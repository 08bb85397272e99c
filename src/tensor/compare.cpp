// SPDX-License-Identifier: Apache-2.0
// tensor/compare.cpp — how far two tensors are apart.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "tensor/host_convert.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

constexpr std::int64_t chunk = 1024;

bool is_wide_integer(DType dtype) { return dtype == DType::Int64 || dtype == DType::UInt64; }

// Elements `begin` to `begin + count` of a contiguous host tensor as numbers. All but 64-bit
// integers are float64 values.
template <class Number>
void load_numbers(const Tensor& tensor, std::int64_t begin, std::int64_t count, Number* out) {
  const auto bytes = static_cast<std::ptrdiff_t>(size_of(tensor.dtype()));
  const std::byte* const first = static_cast<const std::byte*>(tensor.data()) + begin * bytes;
  if (tensor.dtype() == DType::Int64) {
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = static_cast<Number>(tensor.data<std::int64_t>()[begin + i]);
  } else if (tensor.dtype() == DType::UInt64) {
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = static_cast<Number>(tensor.data<std::uint64_t>()[begin + i]);
  } else {
    double numbers[chunk];
    convert_row(DType::Float64, tensor.dtype())(reinterpret_cast<std::byte*>(numbers),
                                                sizeof(double), first, bytes, count);
    std::copy(numbers, numbers + count, out);
  }
}

// Calls look(x, y) for every pair of elements until it returns false.
template <class Number, class Look>
void for_numbers(const Tensor& a, const Tensor& b, const Look& look) {
  Number x[chunk];
  Number y[chunk];
  for (std::int64_t begin = 0; begin < a.numel(); begin += chunk) {
    const std::int64_t count = std::min(chunk, a.numel() - begin);
    load_numbers(a, begin, count, x);
    load_numbers(b, begin, count, y);
    for (std::int64_t i = 0; i < count; ++i)
      if (!look(x[i], y[i])) return;
  }
}

template <class Look>
void for_pairs(const char* name, const Tensor& a, const Tensor& b, const Look& look) {
  if (a.shape() != b.shape())
    throw ArgumentError(fmt::format("{} needs tensors of the same shape, got {} and {}", name,
                                    shape_text(a.shape()), shape_text(b.shape())));
  if (traced_of(b)) throw_traced(name, b);
  const Looking looking(name, a);
  const Tensor x = a.cpu().contiguous();
  const Tensor y = b.cpu().contiguous();
  // A long double holds every 64-bit integer on x86, a double does not; but it is slow.
  if (is_wide_integer(x.dtype()) || is_wide_integer(y.dtype()))
    for_numbers<long double>(x, y, look);
  else for_numbers<double>(x, y, look);
}

}  // namespace

bool allclose(const Tensor& a, const Tensor& b, Tolerance tolerance) {
  bool is_close = true;
  for_pairs("allclose", a, b, [&](auto x, auto y) {
    using Number = decltype(x);
    if (std::isnan(x) || std::isnan(y))
      is_close = tolerance.equal_nan && std::isnan(x) && std::isnan(y);
    else if (std::isinf(x) || std::isinf(y)) is_close = x == y;
    else
      is_close = std::abs(x - y) <= static_cast<Number>(tolerance.absolute) +
                                        static_cast<Number>(tolerance.relative) * std::abs(y);
    return is_close;
  });
  return is_close;
}

double max_abs_error(const Tensor& a, const Tensor& b) {
  double worst = 0;
  for_pairs("max_abs_error", a, b, [&](auto x, auto y) {
    if (std::isnan(x) && std::isnan(y)) return true;
    if (x == y) return true;
    const double error = static_cast<double>(std::abs(x - y));
    worst = std::isnan(error) ? error : std::max(worst, error);
    return !std::isnan(error);
  });
  return worst;
}

}  // namespace tilewright
