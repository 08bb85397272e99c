// SPDX-License-Identifier: Apache-2.0
// tensor/host_copy.cpp — the walk over all dimensions but the fastest, which a row conversion does.
#include "tensor/host_copy.h"

#include <algorithm>

#include "runtime/cpu/thread_pool.h"
#include "tensor/host_convert.h"

namespace tilewright {
namespace {

struct HostCopy {
  std::byte* destination;
  const std::byte* source;
  std::ptrdiff_t destination_bytes;  // of one element
  std::ptrdiff_t source_bytes;
  ConvertRow convert;
  const std::vector<PairDimension>& dimensions;
};

// Where the walk is: a position per dimension, and the offsets that follow from it, in elements.
class Walk {
 public:
  Walk(const std::vector<PairDimension>& dimensions, std::int64_t index)
      : dimensions_(dimensions), position_(dimensions.size()) {
    for (std::size_t d = dimensions.size(); d-- > 0;) {
      position_[d] = index % dimensions[d].size;
      index /= dimensions[d].size;
      destination_ += position_[d] * dimensions[d].destination;
      source_ += position_[d] * dimensions[d].source;
    }
  }
  std::int64_t destination() const { return destination_; }
  std::int64_t source() const { return source_; }
  std::int64_t left_in_row() const { return dimensions_.back().size - position_.back(); }

  void next_row() {
    for (std::size_t d = dimensions_.size(); d-- > 0;) {
      const bool is_row = d + 1 == dimensions_.size();
      if (!is_row && ++position_[d] < dimensions_[d].size) {
        destination_ += dimensions_[d].destination;
        source_ += dimensions_[d].source;
        return;
      }
      const std::int64_t passed = is_row ? position_[d] : position_[d] - 1;
      destination_ -= passed * dimensions_[d].destination;
      source_ -= passed * dimensions_[d].source;
      position_[d] = 0;
    }
  }

 private:
  const std::vector<PairDimension>& dimensions_;
  std::vector<std::int64_t> position_;
  std::int64_t destination_ = 0;
  std::int64_t source_ = 0;
};

void copy_range(const HostCopy& copy, std::int64_t begin, std::int64_t end) {
  const PairDimension& row = copy.dimensions.back();
  Walk walk(copy.dimensions, begin);
  while (begin < end) {
    const std::int64_t count = std::min(walk.left_in_row(), end - begin);
    copy.convert(copy.destination + walk.destination() * copy.destination_bytes,
                 row.destination * copy.destination_bytes,
                 copy.source + walk.source() * copy.source_bytes, row.source * copy.source_bytes,
                 count);
    begin += count;
    walk.next_row();
  }
}

}  // namespace

void copy_on_host(void* destination, DType to, const void* source, DType from, const Pair& pair) {
  if (pair.count == 0) return;
  const auto to_bytes = static_cast<std::ptrdiff_t>(size_of(to));
  const auto from_bytes = static_cast<std::ptrdiff_t>(size_of(from));
  const std::vector<PairDimension> single{{1, 1, 1}};
  const HostCopy copy{static_cast<std::byte*>(destination) + pair.destination_shift * to_bytes,
                      static_cast<const std::byte*>(source) + pair.source_shift * from_bytes,
                      to_bytes,
                      from_bytes,
                      convert_row(to, from),
                      pair.dimensions.empty() ? single : pair.dimensions};
  parallel_ranges(static_cast<std::uint64_t>(pair.count), elements_per_task,
                  [&](std::int64_t begin, std::int64_t end) { copy_range(copy, begin, end); });
}

}  // namespace tilewright
