// SPDX-License-Identifier: Apache-2.0
// bench/kernels/gelu.cu — GELU as one writes it first. Literals without an f are doubles, so this computes in double
// precision, several times slower than memory on most GPUs.
__global__ void gelu_kernel(const float* in, float* out, long n) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float x = in[i];
    out[i] = 0.5 * x * (1.0 + tanh(0.79788456 * (x + 0.044715 * x * x * x)));
  }
}
