// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/warp.cuh — how many lanes a warp has, and values handed from lane to lane.
//
// All lanes call each function together.

#ifndef TW_LANES
#define TW_LANES 32
#endif

namespace tw {

// As enumerators, since constants of other kinds take memory of the device.
enum : int {
  lane_count = TW_LANES,
  all_lane_bits = lane_count - 1,  // of a lane's number
  log_lanes = lane_count == 64 ? 6 : 5,
};
static_assert(lane_count == 1 << log_lanes, "a warp has 32 or 64 lanes");

// A bit for each lane.
template <int Count>
struct LaneMask {
  using type = u32;
};
template <>
struct LaneMask<64> {
  using type = u64;
};
TW_DEVICE constexpr LaneMask<lane_count>::type all_lanes() {
  return ~LaneMask<lane_count>::type(0);
}

template <class T>
TW_DEVICE T shuffle_xor(T value, int lanes) {
  constexpr int words = (int(sizeof(T)) + 3) / 4;
  unsigned bits[words] = {};
  memcpy(bits, &value, sizeof value);
#pragma unroll
  for (int i = 0; i < words; ++i) bits[i] = __shfl_xor_sync(all_lanes(), bits[i], lanes);
  memcpy(&value, bits, sizeof value);
  return value;
}

// Lanes whose numbers differ in bit `Lane` exchange elements of 2 bytes whose numbers differ in bit
// `Bit`, words at a time: lanes with the bit give those without it.
template <int Count, int Lane, int Bit, class T>
TW_DEVICE void swap_lanes(T* tile, int thread) {
  static_assert(sizeof(T) == 2 && Bit > 0, "a word has two elements");
  const bool has_bit = (thread >> Lane & 1) != 0;
#pragma unroll
  for (int i = 0; i < Count; i += 2) {
    if ((i >> Bit & 1) != 0) continue;
    unsigned low, high;
    memcpy(&low, tile + i, 4);
    memcpy(&high, tile + i + (1 << Bit), 4);
    const unsigned got = __shfl_xor_sync(all_lanes(), has_bit ? low : high, 1 << Lane);
    low = has_bit ? got : low;
    high = has_bit ? high : got;
    memcpy(tile + i, &low, 4);
    memcpy(tile + i + (1 << Bit), &high, 4);
  }
}

template <class T>
TW_DEVICE T shuffle_from(T value, int lane) {
  constexpr int words = (int(sizeof(T)) + 3) / 4;
  unsigned bits[words] = {};
  memcpy(bits, &value, sizeof value);
#pragma unroll
  for (int i = 0; i < words; ++i) bits[i] = __shfl_sync(all_lanes(), bits[i], lane);
  memcpy(&value, bits, sizeof value);
  return value;
}

template <class T>
TW_DEVICE T shuffle_up(T value, int lanes) {
  constexpr int words = (int(sizeof(T)) + 3) / 4;
  unsigned bits[words] = {};
  memcpy(bits, &value, sizeof value);
#pragma unroll
  for (int i = 0; i < words; ++i) bits[i] = __shfl_up_sync(all_lanes(), bits[i], lanes);
  memcpy(&value, bits, sizeof value);
  return value;
}

}  // namespace tw
