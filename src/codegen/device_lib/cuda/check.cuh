// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/check.cuh — assertions of the user's kernel.

namespace tw {

static __device__ __noinline__ void assert_failed(const char* message) {
  printf("pid (%u, %u, %u): assertion failed: %s\n", blockIdx.x, blockIdx.y, blockIdx.z, message);
  __trap();
}

}  // namespace tw
