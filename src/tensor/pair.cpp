// SPDX-License-Identifier: Apache-2.0
// tensor/pair.cpp — ordering and merging of the dimensions of a copy.
#include "tensor/pair.h"

#include <algorithm>

namespace tilewright {
namespace {

std::vector<PairDimension> merge_neighbours(const std::vector<PairDimension>& dimensions) {
  std::vector<PairDimension> merged;
  for (const PairDimension& inner : dimensions) {
    const bool continues = !merged.empty() &&
                           merged.back().destination == inner.size * inner.destination &&
                           merged.back().source == inner.size * inner.source;
    if (!continues) {
      merged.push_back(inner);
      continue;
    }
    PairDimension& outer = merged.back();
    outer = {outer.size * inner.size, inner.destination, inner.source};
  }
  return merged;
}

}  // namespace

bool Pair::is_dense() const {
  if (dimensions.empty()) return true;
  return dimensions.size() == 1 && dimensions[0].destination == 1 && dimensions[0].source == 1;
}

Pair make_pair(const Shape& shape, const Shape& destination_strides, const Shape& source_strides) {
  Pair pair;
  pair.count = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) pair.count *= shape[d];
  if (pair.count == 0) return pair;
  std::vector<PairDimension> dimensions;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    PairDimension dimension{shape[d], destination_strides[d], source_strides[d]};
    if (dimension.size == 1) continue;
    if (dimension.destination < 0) {
      pair.destination_shift += (dimension.size - 1) * dimension.destination;
      pair.source_shift += (dimension.size - 1) * dimension.source;
      dimension.destination = -dimension.destination;
      dimension.source = -dimension.source;
    }
    dimensions.push_back(dimension);
  }
  std::stable_sort(
      dimensions.begin(), dimensions.end(),
      [](const PairDimension& a, const PairDimension& b) { return a.destination > b.destination; });
  pair.dimensions = merge_neighbours(dimensions);
  return pair;
}

void for_parts(const Pair& pair, const std::function<void(const PairPart&)>& run) {
  if (pair.count == 0) return;
  const std::size_t limit = element::StridedPair::max_rank;
  const std::size_t outer = pair.dimensions.size() > limit ? pair.dimensions.size() - limit : 0;
  element::StridedPair inner{};
  inner.count = 1;
  for (std::size_t d = outer; d < pair.dimensions.size(); ++d) {
    inner.size[inner.rank] = pair.dimensions[d].size;
    inner.destination_stride[inner.rank] = pair.dimensions[d].destination;
    inner.source_stride[inner.rank] = pair.dimensions[d].source;
    inner.count *= pair.dimensions[d].size;
    ++inner.rank;
  }
  for (std::int64_t i = 0; i < pair.count / inner.count; ++i) {
    PairPart part{inner, pair.destination_shift, pair.source_shift};
    std::int64_t rest = i;
    for (std::size_t d = outer; d-- > 0;) {
      const PairDimension& dimension = pair.dimensions[d];
      part.destination_shift += rest % dimension.size * dimension.destination;
      part.source_shift += rest % dimension.size * dimension.source;
      rest /= dimension.size;
    }
    run(part);
  }
}

}  // namespace tilewright
