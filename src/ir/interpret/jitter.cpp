// SPDX-License-Identifier: Apache-2.0
// ir/interpret/jitter.cpp — how far devices may be off, op by op.
#include "ir/interpret/jitter.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ir/interpret/elementwise.h"
#include "ir/interpret/shapes.h"

namespace tilewright::ir {
namespace {

constexpr std::string_view exact_functions[] = {"copysign", "nextafter", "floor", "ceil",
                                                "trunc",    "round",     "rint"};

// Their error does not shrink with the result where that crosses 0.
constexpr std::string_view absolute_functions[] = {"log", "log2", "log10", "sin",
                                                   "cos", "tan",  "erfc",  "lgamma"};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(names, names + N, name) != names + N;
}

// Of the accumulator's type; tensor cores add up products of one byte with 13 bits.
double product_share(const Type& operand, const Type& result) {
  if (size_of(operand.dtype) == 1) return std::ldexp(1.0, -12);
  return result.dtype == DType::Float64 ? std::ldexp(1.0, -50) : std::ldexp(1.0, -21);
}

Tile magnitudes(Tile tile) {
  for (Element& element : tile.elements) element.f = std::fabs(element.f);
  return tile;
}

}  // namespace

double Jitter::chance() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return static_cast<double>(state_ >> 11) * 0x1p-52 - 1;
}

std::uint64_t Jitter::seed_of(std::uint64_t seed, const std::array<std::int64_t, 3>& program) {
  if (seed == 0) return 0;
  for (const std::int64_t part : program)
    seed = seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(part) + 1;
  return seed | 1;
}

bool Jitter::applies(const Op& op, const Type& result) {
  if (!result.is_float()) return false;
  if (op.kind == OpKind::Math) return !is_one_of(exact_functions, op.text("function"));
  return op.facts().has(Inexact);
}

Tile Jitter::elementwise(const Op& op, const Type& result, std::span<const Tile* const> operands) {
  Tile tile = interpret_elementwise(op, result, operands, true);
  const bool is_wide = result.dtype == DType::Float64;
  const bool is_function = op.kind == OpKind::Math;
  const double share = std::ldexp(is_function ? 2.0 : 1.0, is_wide ? -51 : -22);
  const bool is_absolute = is_function && is_one_of(absolute_functions, op.text("function"));
  for (Element& element : tile.elements) {
    const double error = share * (std::fabs(element.f) + (is_absolute ? 0.5 : 0));
    const double moved = element.f + error * chance();
    element.f = round_to(result.dtype, std::isfinite(moved) ? moved : element.f);
  }
  return tile;
}

Tile Jitter::with_operands_rounded(Tile tile, double share) {
  for (Element& element : tile.elements) element.f *= 1 + share * chance();
  return tile;
}

Tile Jitter::dot(const Op& op, const Type& result, const Tile& a, const Tile& b,
                 const Tile& accumulator) {
  const bool is_tf32 = a.type.dtype == DType::Float32 && op.text("precision") == "tf32";
  const double tf32_share = std::ldexp(1.0, -10);
  Tile tile = is_tf32 ? dot_tiles(with_operands_rounded(a, tf32_share),
                                  with_operands_rounded(b, tf32_share), accumulator, result, true)
                      : dot_tiles(a, b, accumulator, result, true);
  const Tile scale = dot_tiles(magnitudes(a), magnitudes(b), magnitudes(accumulator), result, true);
  const double share = product_share(a.type, result);
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const double moved = tile.elements[i].f + share * scale.elements[i].f * chance();
    tile.elements[i].f = round_to(result.dtype, std::isfinite(moved) ? moved : tile.elements[i].f);
  }
  return tile;
}

}  // namespace tilewright::ir
