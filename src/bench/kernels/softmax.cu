// SPDX-License-Identifier: Apache-2.0
// bench/kernels/softmax.cu — the softmax of each row, one block of 256 threads per row; sums and maxima meet in shared memory.
__device__ float over_block(float value, bool is_max) {
  __shared__ float parts[256];
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const float other = parts[threadIdx.x + half];
      parts[threadIdx.x] = is_max ? fmaxf(parts[threadIdx.x], other) : parts[threadIdx.x] + other;
    }
    __syncthreads();
  }
  const float result = parts[0];
  __syncthreads();
  return result;
}

__global__ void softmax_kernel(const float* in, float* out, long columns) {
  const float* x = in + blockIdx.x * columns;
  float* y = out + blockIdx.x * columns;
  float top = -INFINITY;
  for (long i = threadIdx.x; i < columns; i += 256) top = fmaxf(top, x[i]);
  top = over_block(top, true);
  float sum = 0;
  for (long i = threadIdx.x; i < columns; i += 256) sum += expf(x[i] - top);
  sum = over_block(sum, false);
  for (long i = threadIdx.x; i < columns; i += 256) y[i] = expf(x[i] - top) / sum;
}
