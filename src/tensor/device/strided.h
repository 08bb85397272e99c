// SPDX-License-Identifier: Apache-2.0
// tensor/device/strided.h — two arrays of one shape and different strides, walked together, for the
// host and for CUDA.
#pragma once

namespace tilewright::element {

// Passed to kernels by value. Dimensions from slowest to fastest; strides in elements.
struct StridedPair {
  static constexpr int max_rank = 8;
  long long count;
  long long size[max_rank];
  long long destination_stride[max_rank];
  long long source_stride[max_rank];
  int rank;
};

struct PairOffset {
  long long destination;
  long long source;
};

// Where element `index`, counted in row-major order, lies in both arrays.
template <class Index>
PairOffset offset_of(const StridedPair& pair, Index index) {
  PairOffset at{0, 0};
  for (int d = pair.rank - 1; d > 0; --d) {
    const Index size = static_cast<Index>(pair.size[d]);
    const Index rest = index / size;
    const long long position = static_cast<long long>(index - rest * size);
    at.destination += position * pair.destination_stride[d];
    at.source += position * pair.source_stride[d];
    index = rest;
  }
  if (pair.rank > 0) {
    at.destination += static_cast<long long>(index) * pair.destination_stride[0];
    at.source += static_cast<long long>(index) * pair.source_stride[0];
  }
  return at;
}

// Number i of a row of evenly spaced numbers. Integers wrap instead of overflowing.
inline double ramp(double begin, double step, long long i) {
  return begin + static_cast<double>(i) * step;
}
inline long long ramp(long long begin, long long step, long long i) {
  return static_cast<long long>(static_cast<unsigned long long>(begin) +
                                static_cast<unsigned long long>(step) *
                                    static_cast<unsigned long long>(i));
}

}  // namespace tilewright::element
