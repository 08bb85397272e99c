// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/reduce.cuh — values combined over the lanes of a warp and the warps of a block.
//
// `combine(a, b)` combines two values of any type T that can be copied as bytes. Where b, a could give
// something else than a, b, `in_order(combine)` keeps lower lanes left of higher ones, so that all
// lanes end with the same value.

namespace tw {

template <class Combine>
struct InOrder {
  Combine combine;
  template <class T>
  __device__ T operator()(T a, T b) const {
    return combine(a, b);
  }
};
template <class Combine>
TW_DEVICE InOrder<Combine> in_order(Combine combine) {
  return {combine};
}

// Over the lanes that differ in the bits of `LaneBits`; all of them get the result.
template <int LaneBits, class T, class Combine>
TW_DEVICE T reduce_lanes(T value, Combine combine) {
#pragma unroll
  for (int lanes = lane_count / 2; lanes > 0; lanes /= 2)
    if (LaneBits & lanes) value = combine(value, shuffle_xor(value, lanes));
  return value;
}

template <int LaneBits, class T, class Combine>
TW_DEVICE T reduce_lanes(T value, InOrder<Combine> combine) {
#pragma unroll
  for (int lanes = 1; lanes < lane_count; lanes *= 2)
    if (LaneBits & lanes) {
      const T other = shuffle_xor(value, lanes);
      const bool is_right = (threadIdx.x & lanes) != 0;
      value = combine(is_right ? other : value, is_right ? value : other);
    }
  return value;
}

// Whether the lanes of every warp share the slots of all warps: with 16 warps and more, as many
// reads in each thread would take longer than the shuffles.
TW_DEVICE constexpr bool lanes_share_slots(int lane_bits, int warp_bits) {
  return lane_bits == all_lane_bits && warp_bits > 7 && (warp_bits & (warp_bits + 1)) == 0;
}
// How many slots there are per warp. Values of whole warps lie side by side and are read as
// vectors; those of more than eight warps that are not neighbours apart, since vectors of them
// would take too many registers.
TW_DEVICE constexpr int slots_per_warp(int lane_bits, int warp_bits) {
  return lane_bits != all_lane_bits ? lane_count : warp_bits > 7 && !lanes_share_slots(lane_bits, warp_bits) ? 2 : 1;
}

// Also over the warps that differ in the bits of `WarpBits`. Every warp combines the slots itself,
// so that one barrier is enough. `slots` is shared memory for `Count` times the slots of all warps;
// what it held before must have been read by all. All threads of the block take part.
template <int LaneBits, int WarpBits, int Count, class T, class Combine>
TW_DEVICE void reduce_block(T* values, T* slots, Combine combine) {
  constexpr int kept = all_lane_bits & ~LaneBits;
  constexpr int per_warp = slots_per_warp(LaneBits, WarpBits);
  const int all = int(blockDim.x) / lane_count * per_warp;
  const int lane = int(threadIdx.x % unsigned(lane_count));
  const int warp = int(threadIdx.x / unsigned(lane_count));
  // No block has more than 1024 threads: where all are combined, the slots begin at the first one.
  const int first = (WarpBits + 1) * lane_count >= 1024 ? 0 : warp & ~WarpBits;
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    values[i] = reduce_lanes<LaneBits>(values[i], combine);
    if ((lane & LaneBits) == 0) slots[i * all + warp * per_warp + (lane & kept)] = values[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const T* const others = slots + i * all + first * per_warp + (lane & kept);
    if constexpr (lanes_share_slots(LaneBits, WarpBits)) {
      values[i] = reduce_lanes<WarpBits>(others[lane & WarpBits], combine);
    } else {
      values[i] = others[0];
#pragma unroll
      for (int w = 1; w <= WarpBits; ++w)
        if ((w & ~WarpBits) == 0) values[i] = combine(values[i], others[w * per_warp]);
    }
  }
}
template <int LaneBits, int WarpBits, class T, class Combine>
TW_DEVICE T reduce_block(T value, T* slots, Combine combine) {
  reduce_block<LaneBits, WarpBits, 1>(&value, slots, combine);
  return value;
}

}  // namespace tw
