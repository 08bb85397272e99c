// SPDX-License-Identifier: Apache-2.0
// conformance/compare.cpp — bits for integers and moved data, errors against float64 for floats.
#include "compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "ir/interpret/tile.h"

namespace tilewright::conformance {
namespace {

struct FloatFormat {
  int mantissa_bits;      // without the hidden one
  int smallest_exponent;  // of a normal number
};

FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return {52, -1022};
    case DType::Float32:
      return {23, -126};
    case DType::Float16:
      return {10, -14};
    case DType::BFloat16:
      return {7, -126};
    case DType::Float8E4M3:
      return {3, -6};
    default:
      return {2, -14};
  }
}

double ulp(DType dtype, double value) {
  const FloatFormat format = format_of(dtype);
  const int exponent =
      value == 0 ? format.smallest_exponent : std::max(std::ilogb(value), format.smallest_exponent);
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

class Buffer {
 public:
  Buffer(DType dtype, Bytes bytes) : dtype_(dtype), bytes_(bytes) {}
  std::size_t count() const { return bytes_.size() / size_of(dtype_); }
  const unsigned char* address(std::size_t i) const { return &bytes_[i * size_of(dtype_)]; }
  bool same_bits(const Buffer& other, std::size_t i) const {
    return std::memcmp(address(i), other.address(i), size_of(dtype_)) == 0;
  }
  double number(std::size_t i) const { return ir::read_element(dtype_, address(i)).f; }
  std::string text(std::size_t i) const {
    const ir::Element element = ir::read_element(dtype_, address(i));
    return is_floating(dtype_) ? fmt::format("{:.9g}", element.f) : fmt::format("{}", element.i);
  }

 private:
  DType dtype_;
  Bytes bytes_;
};

// The largest error of the plain interpreter, absolute and in ulp of the element.
struct OwnError {
  double absolute = 0;
  double in_ulps = 0;
};

OwnError own_error(DType dtype, const Buffer& plain, const Buffer& reference) {
  OwnError own;
  for (std::size_t i = 0; i < plain.count(); ++i) {
    const double error = std::fabs(plain.number(i) - reference.number(i));
    if (!std::isfinite(error)) continue;
    own.absolute = std::max(own.absolute, error);
    own.in_ulps = std::max(own.in_ulps, error / ulp(dtype, reference.number(i)));
  }
  return own;
}

bool within(double got, double plain, double reference, const OwnError& own, double unit,
            double slack) {
  if (got == plain || (std::isnan(got) && std::isnan(plain))) return true;
  if (!std::isfinite(plain) || !std::isfinite(reference)) return false;
  return std::fabs(got - reference) <= 2 * std::min(own.absolute, own.in_ulps * unit) + slack;
}

}  // namespace

std::string difference(const Judged& judged, Bytes got_bytes, double ulps, double magnitude) {
  const DType dtype = judged.spec.dtype;
  const Buffer initial(dtype, judged.initial);
  const Buffer plain(dtype, judged.plain);
  const Buffer got(dtype, got_bytes);
  const bool by_error = is_floating(dtype) && !judged.reference.empty();
  const Buffer reference(dtype, by_error ? judged.reference : judged.plain);
  const OwnError own = by_error ? own_error(dtype, plain, reference) : OwnError{};
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < got.count(); ++i) {
    if (got.same_bits(plain, i)) continue;
    const bool left_alone = judged.spec.fill == Fill::Output && plain.same_bits(initial, i);
    if (!left_alone && is_floating(dtype)) {
      if (std::isnan(got.number(i)) && std::isnan(plain.number(i))) continue;
      const double unit = ulp(dtype, reference.number(i));
      const double slack = ulps * std::max(unit, ulp(dtype, magnitude));
      if (by_error && within(got.number(i), plain.number(i), reference.number(i), own, unit, slack))
        continue;
    }
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return {};
  return fmt::format("{} of {} elements of {} differ, first [{}]: {} instead of {}{}", wrong,
                     got.count(), name_of(dtype), first, got.text(first), plain.text(first),
                     by_error ? fmt::format(" (float64: {}, {:.2g} ulp away; own error {:.2g} ulp)",
                                            reference.text(first),
                                            std::fabs(got.number(first) - reference.number(first)) /
                                                ulp(dtype, reference.number(first)),
                                            own.in_ulps)
                              : "");
}

}  // namespace tilewright::conformance
