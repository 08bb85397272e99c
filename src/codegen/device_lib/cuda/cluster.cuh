// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/cluster.cuh — programs that are spread over the blocks of a cluster, which meet
// in each other's shared memory. device_lib/emulate/cuda/cluster.cuh has the same functions for a CPU.

namespace tw {

TW_DEVICE int cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return int(rank);
}

// Which cluster of the grid this is, and how many there are; clusters lie along x.
template <int Blocks>
TW_DEVICE int cluster_index() {
  return int(blockIdx.x / Blocks);
}
template <int Blocks>
TW_DEVICE int cluster_count() {
  return int(gridDim.x / Blocks);
}

// The number of this thread among those of all blocks.
template <int Blocks>
TW_DEVICE int cluster_thread() {
  return cluster_rank() * int(blockDim.x) + int(threadIdx.x);
}

// Where a thread's own part begins in an array of shared memory of which every block has `Part`
// elements: a vector of each thread of the block, and so on.
template <int Threads, int Vector, int Part>
TW_DEVICE int own_place() {
  return int(threadIdx.x) * Vector;
}

// Every thread arrives, then waits until all have arrived; what was written before is then seen.
TW_DEVICE void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
TW_DEVICE void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same place in the shared memory of another block of the cluster.
template <class T>
TW_DEVICE T* in_block(T* shared, int rank) {
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return there;
}

// One value of all threads of `Blocks` blocks of `Warps` warps. `slots` is shared memory for one
// value per warp of the cluster that nothing else uses; all blocks must have begun.
template <int Blocks, int Warps, class T, class Combine>
TW_DEVICE T reduce_cluster(T value, T* slots, Combine combine) {
  constexpr int count = Blocks * Warps;
  const int lane = int(threadIdx.x) % lane_count;
  value = reduce_lanes<all_lane_bits>(value, combine);
  if (lane < Blocks) *in_block(slots + cluster_rank() * Warps + int(threadIdx.x) / lane_count, lane) = value;
  cluster_arrive();
  cluster_wait();
  value = slots[lane % count];
#pragma unroll
  for (int i = lane_count; i < count; i += lane_count) value = combine(value, slots[i + lane]);
  return reduce_lanes<(count < lane_count ? count - 1 : all_lane_bits)>(value, combine);
}

}  // namespace tw
