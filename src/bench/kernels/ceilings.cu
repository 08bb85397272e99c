// SPDX-License-Identifier: Apache-2.0
// bench/kernels/ceilings.cu — what one GPU can do at most in float32 multiply-adds outside of its matrix units.

// Every thread does 8 chains of 16 * `rounds` dependent multiply-adds. The factor is the caller's, so that nothing can be
// computed ahead; the store never happens, but the compiler cannot know.
extern "C" __global__ void __launch_bounds__(256) tw_multiply_add(float* out, float factor, int rounds) {
  const float term = 1.0f - factor;
  float a[8];
#pragma unroll
  for (int c = 0; c < 8; ++c) a[c] = (float)(threadIdx.x + c);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 16; ++step) {
#pragma unroll
      for (int c = 0; c < 8; ++c) a[c] = a[c] * factor + term;
    }
  }
  float sum = 0;
#pragma unroll
  for (int c = 0; c < 8; ++c) sum += a[c];
  if (sum == 12345.678f) out[blockIdx.x] = sum;
}
