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

// What the first lane has: of a combination whose order matters lanes would end with different
// values.
template <class T>
TW_DEVICE T shuffle_first(T value) {
  return shuffle_from(value, 0);
}

}  // namespace tw
