// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/sort.cuh — stages of a bitonic sorting network over an array in shared memory.

namespace tw {

enum class SortOrder { alternating, ascending, descending };

// Stage s merges runs of 2^s elements, rising ones where bit s of the index is 0, falling ones where it
// is 1; the last stage in the order given. A step compares elements whose indices differ in one bit.
// All threads of the block take part; `x` must be there for all before, and is afterwards.
template <int First, int Last, SortOrder LastOrder, class T>
TW_DEVICE void merge_runs(T* x, int count) {
#pragma unroll 1
  for (int stage = First; stage <= Last; ++stage) {
#pragma unroll 1
    for (int bit = stage - 1; bit >= 0; --bit) {
      for (int pair = int(threadIdx.x); pair < count / 2; pair += int(blockDim.x)) {
        const int low = (pair >> bit << (bit + 1)) + (pair & ((1 << bit) - 1));
        const T a = x[low];
        const T b = x[low + (1 << bit)];
        const bool alternates = stage < Last || LastOrder == SortOrder::alternating;
        const bool falls = alternates ? (low >> stage & 1) != 0 : LastOrder == SortOrder::descending;
        if (falls ? a < b : a > b) {
          x[low] = b;
          x[low + (1 << bit)] = a;
        }
      }
      // The 32 pairs of a warp are in the same 64 elements in every step of a bit below 6.
      if (bit < 6 && bit > 0) __syncwarp();
      else __syncthreads();
    }
  }
}

}  // namespace tw
