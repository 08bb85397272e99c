// SPDX-License-Identifier: Apache-2.0
// conformance/case.cpp — the values that buffers hold before a launch.
#include "case.h"

#include <cmath>
#include <limits>
#include <random>

#include "ir/interpret/tile.h"

namespace tilewright::conformance {
namespace {

constexpr unsigned char output_byte = 0xC7;

double float_value(Fill fill, std::mt19937& random, std::int64_t index) {
  const double unit = static_cast<double>(random() % 100001) / 100000;  // [0, 1]
  switch (fill) {
    case Fill::Normal:
      return 4 * unit - 2;
    case Fill::Positive:
      return (1 + 31 * unit) / 16;
    case Fill::Unit:
      return 2 * unit - 1;
    case Fill::Small:
      return static_cast<double>(random() % 19) - 9;
    case Fill::Index:
      return static_cast<double>(index);
    default:
      return 0;
  }
}

double float_edge(std::mt19937& random) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double odd[] = {0.0,   -0.0,   inf,     -inf,   std::nan(""), 1.0,   -1.0,   0.5,
                            1.5,   2.5,    -2.5,    127.5,  -128.5,       255.0, 256.0,  448.0,
                            464.0, 57344., 65504.0, 65520., 2147483648.,  -3e9,  3e38,   -1e300,
                            1e-8,  6e-8,   -6e-5,   1e-40,  1e-45,        4.3e9, 9.3e18, 1.9e19};
  if (random() % 2 == 0) return odd[random() % std::size(odd)];
  const double mantissa = static_cast<double>(random() % 2000001) / 1000000 - 1;
  return std::ldexp(mantissa, static_cast<int>(random() % 40) - 20);
}

std::int64_t integer_value(DType dtype, Fill fill, std::mt19937& random, std::int64_t index) {
  const auto any = static_cast<std::int64_t>(std::uint64_t{random()} << 32 | random());
  constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  const int bits = static_cast<int>(8 * size_of(dtype));
  const std::int64_t edges[] = {0, 1, -1, 2, limit >> (64 - bits), ~(limit >> (64 - bits))};
  const auto some = static_cast<std::int64_t>(random());
  switch (fill) {
    case Fill::Positive:
      return 1 + some % 99;
    case Fill::Small:
      return is_signed(dtype) ? some % 19 - 9 : some % 19;
    case Fill::Index:
      return index;
    case Fill::Edges:
      return some % 2 == 0 ? edges[some / 2 % 6] : any;
    case Fill::Zero:
      return 0;
    default:
      return any;
  }
}

}  // namespace

std::vector<unsigned char> fill_bytes(const BufferSpec& spec, unsigned seed) {
  const std::size_t width = size_of(spec.dtype);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(spec.count) * width, output_byte);
  if (spec.fill == Fill::Output && spec.dtype == DType::Bool) bytes.assign(bytes.size(), 1);
  if (spec.fill == Fill::Output) return bytes;
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < spec.count; ++i) {
    ir::Element element;
    if (is_floating(spec.dtype))
      element.f =
          ir::round_to(spec.dtype, spec.fill == Fill::Edges ? float_edge(random)
                                                            : float_value(spec.fill, random, i));
    else if (spec.dtype == DType::Bool) element.i = static_cast<std::int64_t>(random() % 2);
    else element.i = ir::wrap(spec.dtype, integer_value(spec.dtype, spec.fill, random, i));
    ir::write_element(spec.dtype, element, &bytes[static_cast<std::size_t>(i) * width]);
  }
  return bytes;
}

}  // namespace tilewright::conformance
