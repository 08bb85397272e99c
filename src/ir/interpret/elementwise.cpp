// SPDX-License-Identifier: Apache-2.0
// ir/interpret/elementwise.cpp — arithmetic, comparison, selection and conversion, one kind of op
// at a time over whole tiles.
#include "ir/interpret/elementwise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

bool is_unsigned(DType dtype) { return !is_signed(dtype); }
std::uint64_t bits_of(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// ---- Integers: computed on 64 bits, wrapped by the caller.

std::int64_t divide(DType dtype, std::int64_t a, std::int64_t b) {
  if (b == 0) return -1;
  if (is_unsigned(dtype)) return static_cast<std::int64_t>(bits_of(a) / bits_of(b));
  return b == -1 ? static_cast<std::int64_t>(-bits_of(a)) : a / b;
}

std::int64_t remainder(DType dtype, std::int64_t a, std::int64_t b) {
  if (b == 0) return a;
  if (is_unsigned(dtype)) return static_cast<std::int64_t>(bits_of(a) % bits_of(b));
  return b == -1 ? 0 : a % b;
}

std::int64_t multiply_high(DType dtype, std::int64_t a, std::int64_t b) {
  const int width = static_cast<int>(size_of(dtype)) * 8;
  if (is_unsigned(dtype))
    return static_cast<std::int64_t>((static_cast<unsigned __int128>(bits_of(a)) * bits_of(b)) >>
                                     width);
  return static_cast<std::int64_t>((static_cast<__int128>(a) * b) >> width);
}

std::int64_t shift_left(DType dtype, std::int64_t a, std::int64_t amount) {
  const auto width = size_of(dtype) * 8;
  return bits_of(amount) >= width ? 0 : static_cast<std::int64_t>(bits_of(a) << amount);
}

std::int64_t shift_right(DType dtype, std::int64_t a, std::int64_t amount) {
  const auto width = size_of(dtype) * 8;
  if (is_unsigned(dtype))
    return bits_of(amount) >= width ? 0 : static_cast<std::int64_t>(bits_of(a) >> amount);
  return a >> std::min<std::uint64_t>(bits_of(amount), 63);
}

bool less(DType dtype, std::int64_t a, std::int64_t b) {
  return is_unsigned(dtype) ? bits_of(a) < bits_of(b) : a < b;
}

std::int64_t integer_binary(const Op& op, DType dtype, std::int64_t a, std::int64_t b) {
  switch (elementwise_op(op.kind)) {
    case ElementwiseOp::Add:
      return static_cast<std::int64_t>(bits_of(a) + bits_of(b));
    case ElementwiseOp::Subtract:
      return static_cast<std::int64_t>(bits_of(a) - bits_of(b));
    case ElementwiseOp::Multiply:
      return static_cast<std::int64_t>(bits_of(a) * bits_of(b));
    case ElementwiseOp::MultiplyHigh:
      return multiply_high(dtype, a, b);
    case ElementwiseOp::Divide:
      if (op.number("divisor_from", 0) > 0 && b <= 0)
        throw UserError(fmt::format(
            "a divisor is {}, and must be above 0 where neighbours are found by the quotient", b));
      return divide(dtype, a, b);
    case ElementwiseOp::Remainder:
      return remainder(dtype, a, b);
    case ElementwiseOp::Minimum:
      return less(dtype, a, b) ? a : b;
    case ElementwiseOp::Maximum:
      return less(dtype, a, b) ? b : a;
    case ElementwiseOp::And:
      return a & b;
    case ElementwiseOp::Or:
      return a | b;
    case ElementwiseOp::Xor:
      return a ^ b;
    case ElementwiseOp::ShiftLeft:
      return shift_left(dtype, a, b);
    case ElementwiseOp::ShiftRight:
      return shift_right(dtype, a, b);
    case ElementwiseOp::Negate:
    case ElementwiseOp::Absolute:
    case ElementwiseOp::Fma:
    case ElementwiseOp::Compare:
    case ElementwiseOp::Select:
    case ElementwiseOp::Cast:
    case ElementwiseOp::Bitcast:
    case ElementwiseOp::InlineAsm:
    case ElementwiseOp::Math:
    case ElementwiseOp::Offset:
      break;
  }
  TW_UNREACHABLE("'{}' is no integer op of two operands", op.facts().name);
}

// ---- Floats: computed in double, rounded by the caller. Sum, difference, product, quotient and
// root of two floats of at most 24 bits round to the same float through double as directly.

// A NaN loses, a signalling one too, of which the C library makes a NaN. -0 is below 0, which the C
// library leaves open.
double larger(double a, double b) {
  if (std::isnan(a)) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return b > a ? b : a;
}
double smaller(double a, double b) { return -larger(-a, -b); }

double float_binary(const Op& op, double a, double b) {
  const bool propagates = op.text("nan") == "propagate" && (std::isnan(a) || std::isnan(b));
  switch (elementwise_op(op.kind)) {
    case ElementwiseOp::Add:
      return a + b;
    case ElementwiseOp::Subtract:
      return a - b;
    case ElementwiseOp::Multiply:
      return a * b;
    case ElementwiseOp::Divide:
      return a / b;
    case ElementwiseOp::Remainder:
      return std::fmod(a, b);
    case ElementwiseOp::Minimum:
      return propagates ? std::numeric_limits<double>::quiet_NaN() : smaller(a, b);
    case ElementwiseOp::Maximum:
      return propagates ? std::numeric_limits<double>::quiet_NaN() : larger(a, b);
    case ElementwiseOp::MultiplyHigh:
    case ElementwiseOp::And:
    case ElementwiseOp::Or:
    case ElementwiseOp::Xor:
    case ElementwiseOp::ShiftLeft:
    case ElementwiseOp::ShiftRight:
    case ElementwiseOp::Negate:
    case ElementwiseOp::Absolute:
    case ElementwiseOp::Fma:
    case ElementwiseOp::Compare:
    case ElementwiseOp::Select:
    case ElementwiseOp::Cast:
    case ElementwiseOp::Bitcast:
    case ElementwiseOp::InlineAsm:
    case ElementwiseOp::Math:
    case ElementwiseOp::Offset:
      break;
  }
  TW_UNREACHABLE("'{}' is no float op of two operands", op.facts().name);
}

// One rounding: in the type itself where C++ has it; a product of two short floats is exact in
// double, and then the sum is rounded to odd by way of its error term before the caller rounds it
// to the type.
double fused(DType dtype, double a, double b, double c) {
  if (dtype == DType::Float64) return std::fma(a, b, c);
  if (dtype == DType::Float32)
    return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  const double product = a * b;
  const double sum = product + c;
  const double back = sum - product;
  const double error = (product - (sum - back)) + (c - back);
  if (error == 0 || std::isinf(sum) || std::isnan(sum)) return sum;
  std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  if ((error > 0) != (sum > 0)) --bits;
  return std::bit_cast<double>(bits | 1u);
}

bool compare(std::string_view is, bool less_than, bool equal, bool unordered) {
  if (is == "ne") return !equal || unordered;
  if (unordered) return false;
  if (is == "eq") return equal;
  if (is == "lt") return less_than;
  if (is == "le") return less_than || equal;
  if (is == "gt") return !less_than && !equal;
  return !less_than;
}

// ---- Conversions

Element cast(const Op& op, const Type& from, const Type& to, Element value, bool float64) {
  if (from.is_pointer || to.is_pointer) {
    if (from.is_pointer && !to.is_pointer)
      return {.i = static_cast<std::int64_t>(TaggedPointer::address(value.i))};
    return value;  // between pointers the buffer stays; from an integer it is unknown and found by
                   // its address
  }
  if (to.is_bool())
    return {.i = from.is_float() ? value.f != 0 || std::isnan(value.f) : value.i != 0};
  if (from.is_float() && to.is_float()) {
    if (float64) return value;
    const std::string_view rounding = op.text("rounding");
    if (rounding == "rtz") return {.f = round_toward_zero(to.dtype, value.f)};
    if (rounding == "saturate") return {.f = round_saturating(to.dtype, value.f)};
    return {.f = round_to(to.dtype, value.f)};
  }
  if (from.is_float()) return {.i = float_to_int(to.dtype, value.f)};
  if (!to.is_float()) return {.i = wrap(to.dtype, value.i)};
  if (float64 || to.dtype == DType::Float64) return {.f = int_to_float(from.dtype, value.i)};
  if (to.dtype ==
      DType::Float32)  // directly: by way of double, a 64-bit integer would be rounded twice
    return {.f = from.dtype == DType::UInt64 ? static_cast<float>(bits_of(value.i))
                                             : static_cast<float>(value.i)};
  return {.f = round_to(to.dtype, int_to_float(from.dtype, value.i))};
}

Element bitcast(const Type& from, const Type& to, Element value) {
  if (from.is_pointer && to.is_pointer) return value;
  unsigned char bytes[8] = {};
  if (from.is_pointer) std::memcpy(bytes, &value.i, 8);
  else write_element(from.dtype, value, bytes);
  if (!to.is_pointer) return read_element(to.dtype, bytes);
  std::memcpy(&value.i, bytes, 8);
  return value;
}

// ---- Over whole tiles

template <class Function>
Tile map(const Type& result, std::span<const Tile* const> operands, const Function& function) {
  std::size_t count = 1;
  for (const Tile* operand : operands) count = std::max(count, operand->size());
  Tile out{result, std::vector<Element>(count)};
  for (std::size_t i = 0; i < count; ++i) out.elements[i] = function(i);
  return out;
}

Tile binary(const Op& op, const Type& result, const Tile& a, const Tile& b, bool float64) {
  const Tile* operands[] = {&a, &b};
  const DType dtype = result.dtype;
  if (!result.is_float())
    return map(result, operands, [&](std::size_t i) -> Element {
      return {.i = wrap(dtype, integer_binary(op, dtype, a.at(i).i, b.at(i).i))};
    });
  return map(result, operands, [&](std::size_t i) -> Element {
    const double value = float_binary(op, a.at(i).f, b.at(i).f);
    return {.f = float64 ? value : round_to(dtype, value)};
  });
}

Tile unary(const Op& op, const Type& result, const Tile& a, bool) {
  const Tile* operands[] = {&a};
  const bool negates = op.kind == OpKind::Negate;
  if (result.is_float())
    return map(result, operands, [&](std::size_t i) -> Element {
      return {.f = negates ? -a.at(i).f : std::fabs(a.at(i).f)};
    });
  return map(result, operands, [&](std::size_t i) -> Element {
    const std::int64_t value = a.at(i).i;
    const bool flips = negates || (value < 0 && is_signed(result.dtype));
    return {.i = wrap(result.dtype, flips ? static_cast<std::int64_t>(-bits_of(value)) : value)};
  });
}

Tile compared(const Op& op, const Type& result, const Tile& a, const Tile& b) {
  const Tile* operands[] = {&a, &b};
  const std::string_view is = op.text("is");
  return map(result, operands, [&](std::size_t i) -> Element {
    if (a.type.is_float()) {
      const double x = a.at(i).f, y = b.at(i).f;
      return {.i = compare(is, x < y, x == y, std::isnan(x) || std::isnan(y))};
    }
    const bool by_bits = a.type.is_pointer || is_unsigned(a.type.dtype);
    const std::int64_t x = a.at(i).i, y = b.at(i).i;
    return {.i = compare(is, by_bits ? bits_of(x) < bits_of(y) : x < y, x == y, false)};
  });
}

Tile moved(const Type& result, const Tile& pointers, const Tile& offsets) {
  const Tile* operands[] = {&pointers, &offsets};
  const auto size = static_cast<std::int64_t>(size_of(result.dtype));
  return map(result, operands, [&](std::size_t i) -> Element {
    const std::int64_t pointer = pointers.at(i).i;
    const std::uint64_t address = TaggedPointer::address(pointer) + bits_of(offsets.at(i).i * size);
    return {.i = TaggedPointer::make(TaggedPointer::buffer(pointer), address)};
  });
}

Tile math(const Op& op, const Type& result, std::span<const Tile* const> operands, bool float64) {
  const std::string_view function = op.text("function");
  const DType dtype = operands[0]->type.dtype;
  return map(result, operands, [&](std::size_t i) -> Element {
    Element values[3];
    for (std::size_t k = 0; k < operands.size(); ++k) values[k] = operands[k]->at(i);
    const Element value = math_value(function, dtype, {values, operands.size()});
    if (!result.is_float()) return {.i = wrap(result.dtype, value.i)};
    return {.f = float64 ? value.f : round_to(result.dtype, value.f)};
  });
}

}  // namespace

Tile interpret_elementwise(const Op& op, const Type& result, std::span<const Tile* const> in,
                           bool float64) {
  if (op.facts().maps(Same)) return map(result, in, [&](std::size_t i) { return in[0]->at(i); });
  switch (elementwise_op(op.kind)) {
    case ElementwiseOp::Negate:
    case ElementwiseOp::Absolute:
      return unary(op, result, *in[0], float64);
    case ElementwiseOp::Compare:
      return compared(op, result, *in[0], *in[1]);
    case ElementwiseOp::Select:
      return map(result, in,
                 [&](std::size_t i) { return in[0]->at(i).i ? in[1]->at(i) : in[2]->at(i); });
    case ElementwiseOp::Cast:
      return map(result, in, [&](std::size_t i) {
        return cast(op, in[0]->type, result, in[0]->at(i), float64);
      });
    case ElementwiseOp::Bitcast:
      return map(result, in,
                 [&](std::size_t i) { return bitcast(in[0]->type, result, in[0]->at(i)); });
    case ElementwiseOp::Offset:
      return moved(result, *in[0], *in[1]);
    case ElementwiseOp::Math:
      return math(op, result, in, float64);
    case ElementwiseOp::InlineAsm:
      throw ArgumentError(
          "inline PTX (tl.inline_asm_elementwise) is run by NVIDIA GPUs alone; write it with tl "
          "functions for the interpreter");
    case ElementwiseOp::Fma:
      return map(result, in, [&](std::size_t i) -> Element {
        if (!result.is_float())
          return {.i = wrap(result.dtype, static_cast<std::int64_t>(bits_of(in[0]->at(i).i) *
                                                                        bits_of(in[1]->at(i).i) +
                                                                    bits_of(in[2]->at(i).i)))};
        const DType dtype = float64 ? DType::Float64 : result.dtype;
        return {.f = round_to(dtype, fused(dtype, in[0]->at(i).f, in[1]->at(i).f, in[2]->at(i).f))};
      });
    case ElementwiseOp::Add:
    case ElementwiseOp::Subtract:
    case ElementwiseOp::Multiply:
    case ElementwiseOp::MultiplyHigh:
    case ElementwiseOp::Divide:
    case ElementwiseOp::Remainder:
    case ElementwiseOp::Minimum:
    case ElementwiseOp::Maximum:
    case ElementwiseOp::And:
    case ElementwiseOp::Or:
    case ElementwiseOp::Xor:
    case ElementwiseOp::ShiftLeft:
    case ElementwiseOp::ShiftRight:
      break;
  }
  return binary(op, result, *in[0], *in[1], float64);
}

}  // namespace tilewright::ir
