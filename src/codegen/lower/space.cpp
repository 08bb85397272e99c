// SPDX-License-Identifier: Apache-2.0
// codegen/lower/space.cpp — runs of bits become terms: shifts, masks and products.
#include "codegen/lower/space.h"

#include <algorithm>

namespace tilewright {
namespace {

// Groups that meet the new term become one with it, at the place of the first.
void add_term(std::vector<LinearGroup>& groups, const LinearTerm& term, std::uint64_t image) {
  const auto meets = [&](const LinearGroup& group) { return (group.image & image) != 0; };
  const auto first = std::find_if(groups.begin(), groups.end(), meets);
  if (first == groups.end()) {
    groups.push_back({{term}, image});
    return;
  }
  for (auto at = first + 1; at != groups.end();) {
    if (!meets(*at)) {
      ++at;
      continue;
    }
    first->terms.insert(first->terms.end(), at->terms.begin(), at->terms.end());
    first->image |= at->image;
    at = groups.erase(at);
  }
  first->terms.push_back(term);
  first->image |= image;
}

}  // namespace

int Space::bits() const { return first_bit_of(variables.size()); }

int Space::first_bit_of(std::size_t variable) const {
  int bits = 0;
  for (std::size_t i = 0; i < variable; ++i) bits += variables[i].bits;
  return bits;
}

IndexMap first_of_vector(const IndexMap& place, int log_vector) {
  std::vector<std::uint64_t> columns;
  for (int j = 0; j < place.matrix.columns(); ++j)
    columns.push_back(j < log_vector ? 0 : place.matrix.column(j));
  return {BitMatrix(place.matrix.rows(), std::move(columns)), place.offset};
}

bool is_vector_of_neighbours(const IndexMap& place, int log_vector) {
  const std::uint64_t inside = (1ull << log_vector) - 1;
  bool is_run = (place.offset & inside) == 0;
  for (int j = 0; j < place.matrix.columns(); ++j) {
    const std::uint64_t column = place.matrix.column(j);
    is_run &= j < log_vector ? column == 1ull << j : (column & inside) == 0;
  }
  return is_run;
}

std::uint64_t image_of(const Space& space, const IndexMap& map, std::size_t first,
                       std::size_t last) {
  std::uint64_t image = 0;
  for (int j = space.first_bit_of(first); j < space.first_bit_of(last); ++j)
    image |= map.matrix.column(j);
  return image;
}

std::vector<LinearGroup> linear_groups(const Space& space, const IndexMap& map, std::size_t first,
                                       std::size_t last) {
  std::vector<LinearGroup> groups;
  for (std::size_t i = last; i-- > first;) {
    const SpaceVariable& variable = space.variables[i];
    const int base = space.first_bit_of(i);
    for (int low = 0; low < variable.bits;) {
      const std::uint64_t factor = map.matrix.column(base + low);
      std::uint64_t image = factor;
      int count = 1;
      // A run is a product as long as no two bits meet, which would carry.
      while (factor != 0 && low + count < variable.bits &&
             map.matrix.column(base + low + count) == factor << count &&
             (image & factor << count) == 0) {
        image |= factor << count;
        ++count;
      }
      if (factor != 0) add_term(groups, {i, low, count, factor}, image);
      low += count;
    }
  }
  if (map.offset != 0) add_term(groups, {0, 0, 0, map.offset}, map.offset);
  return groups;
}

IndexMap only_variable(const Space& space, const IndexMap& map, std::size_t variable) {
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(map.matrix.columns()), 0);
  for (int j = space.first_bit_of(variable); j < space.first_bit_of(variable + 1); ++j)
    columns[static_cast<std::size_t>(j)] = map.matrix.column(j);
  return {BitMatrix(map.matrix.rows(), std::move(columns)), 0};
}

}  // namespace tilewright
