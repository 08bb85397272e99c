// SPDX-License-Identifier: Apache-2.0
// bench/kernels/matmul.cu — out = a @ b by 16 x 16 tiles in shared memory, one element per thread, without matrix units.
__global__ void matmul_kernel(const float* a, const float* b, float* out, long M, long N, long K) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const long row = (long)blockIdx.y * 16 + threadIdx.y;
  const long column = (long)blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (long first = 0; first < K; first += 16) {
    const long ka = first + threadIdx.x, kb = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < M && ka < K ? a[row * K + ka] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = kb < K && column < N ? b[kb * N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < N) out[row * N + column] = sum;
}
