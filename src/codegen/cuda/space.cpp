// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/space.cpp — runs of bits become shifts, masks and products.
#include "codegen/cuda/space.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

// Bits [low, low + count) of a variable times `factor`.
std::string term(const SpaceVariable& variable, int low, int count, std::uint64_t factor) {
  const bool is_top = low + count == variable.bits;
  std::string text = variable.name;
  if (low > 0) text = fmt::format("({} >> {})", variable.name, low);
  if (!is_top) {
    const std::uint64_t mask = (std::uint64_t{1} << count) - 1;
    text = low > 0 ? fmt::format("({} >> {} & {})", variable.name, low, mask)
                   : fmt::format("({} & {})", variable.name, mask);
  }
  return factor == 1 ? text : fmt::format("{} * {}", text, factor);
}

}  // namespace

int Space::bits() const { return first_bit_of(variables.size()); }

int Space::first_bit_of(std::size_t variable) const {
  int bits = 0;
  for (std::size_t i = 0; i < variable; ++i) bits += variables[i].bits;
  return bits;
}

std::string sum_text(const std::string& a, const std::string& b) {
  if (a == "0") return b;
  return b == "0" ? a : a + " + " + b;
}

std::string linear_text(const Space& space, const IndexMap& map, std::size_t first,
                        std::size_t last) {
  std::vector<std::string> terms;
  std::uint64_t seen = map.offset;
  bool is_disjoint = true;
  for (std::size_t i = last; i-- > first;) {
    const SpaceVariable& variable = space.variables[i];
    const int base = space.first_bit_of(i);
    for (int low = 0; low < variable.bits;) {
      const std::uint64_t factor = map.matrix.column(base + low);
      int count = 1;
      while (factor != 0 && low + count < variable.bits &&
             map.matrix.column(base + low + count) == factor << count)
        ++count;
      std::uint64_t image = 0;
      for (int j = 0; j < count; ++j) image |= factor << j;
      is_disjoint &= (seen & image) == 0;
      seen |= image;
      if (factor != 0) terms.push_back(term(variable, low, count, factor));
      low += count;
    }
  }
  if (map.offset != 0) terms.push_back(fmt::format("{}", map.offset));
  if (terms.empty()) return "0";
  std::string out;
  for (const std::string& text : terms) {
    if (!out.empty()) out += is_disjoint ? " + " : " ^ ";
    out += is_disjoint || terms.size() == 1 ? text : "(" + text + ")";
  }
  return out;
}

}  // namespace tilewright
