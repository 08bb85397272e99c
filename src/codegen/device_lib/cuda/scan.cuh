// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/scan.cuh — running combinations over threads: along the lanes of a warp, and along
// the warps of a block through shared memory.
//
// `combine(a, b)` combines what comes first with what comes after it, of any type T that can be
// copied as bytes.

namespace tw {

template <class T>
TW_DEVICE T shuffle_up(T value, int lanes) {
  constexpr int words = (int(sizeof(T)) + 3) / 4;
  unsigned bits[words] = {};
  memcpy(bits, &value, sizeof value);
#pragma unroll
  for (int i = 0; i < words; ++i) bits[i] = __shfl_up_sync(0xffffffffu, bits[i], lanes);
  memcpy(&value, bits, sizeof value);
  return value;
}

// A line is held by `Lanes` neighbouring lanes, or by all lanes of `Warps` neighbouring warps, and
// `value` combines what this thread has of it. Whether there is something before it in the line;
// `before` becomes the combination of that. `slots` is shared memory for one value per warp; what it
// held before must have been read by all. With several warps all threads of the block take part.
template <int Lanes, int Warps, class T, class Combine>
TW_DEVICE bool scan_before(T value, T& before, T* slots, Combine combine) {
  const int lane = int(threadIdx.x) % Lanes;
#pragma unroll
  for (int step = 1; step < Lanes; step *= 2) {
    const T other = shuffle_up(value, step);
    if (lane >= step) value = combine(other, value);
  }
  before = shuffle_up(value, 1);
  bool has_before = lane > 0;
  if constexpr (Warps > 1) {
    const int warp = int(threadIdx.x) / 32;
    if (lane == Lanes - 1) slots[warp] = value;
    __syncthreads();
    const int first = warp - warp % Warps;
    if (warp > first) {
      T all = slots[first];
      for (int w = first + 1; w < warp; ++w) all = combine(all, slots[w]);
      before = has_before ? combine(all, before) : all;
      has_before = true;
    }
  }
  return has_before;
}

}  // namespace tw
