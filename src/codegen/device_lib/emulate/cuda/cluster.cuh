// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/cluster.cuh — the functions of device_lib/cuda/cluster.cuh on a CPU, where
// a cluster is one large block.

namespace tw {

template <int Blocks>
TW_DEVICE int cluster_index() {
  return int(blockIdx.x);
}
template <int Blocks>
TW_DEVICE int cluster_count() {
  return int(gridDim.x);
}
template <int Blocks>
TW_DEVICE int cluster_thread() {
  return int(threadIdx.x);
}

// The parts of the blocks stand one behind the other.
template <int Threads, int Vector, int Part>
TW_DEVICE int own_place() {
  return int(threadIdx.x) / Threads * Part + int(threadIdx.x) % Threads * Vector;
}

TW_DEVICE void cluster_arrive() {}
TW_DEVICE void cluster_wait() { __syncthreads(); }

template <int Blocks, int Warps, class T, class Combine>
TW_DEVICE T reduce_cluster(T value, T* slots, Combine combine) {
  constexpr int count = Blocks * Warps;
  const int lane = int(threadIdx.x) % lane_count;
  value = reduce_lanes<all_lane_bits>(value, combine);
  if (lane == 0) slots[int(threadIdx.x) / lane_count] = value;
  __syncthreads();
  value = slots[lane % count];
  for (int i = lane_count; i < count; i += lane_count) value = combine(value, slots[i + lane]);
  return reduce_lanes<(count < lane_count ? count - 1 : all_lane_bits)>(value, combine);
}

}  // namespace tw
