// SPDX-License-Identifier: Apache-2.0
// bench/kernels/gelu_vector.cu — GELU as x / (1 + exp(-2u)) in float, with one 16-byte access each way per thread.
__device__ float gelu(float x) {
  const float twice_u = x * (1.59576912f + 0.0713548163f * x * x);
  return __fdividef(x, 1.0f + __expf(-twice_u));
}

__global__ void gelu_kernel(const float* in, float* out, long n) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    const float4 x = reinterpret_cast<const float4*>(in)[i];
    reinterpret_cast<float4*>(out)[i] = make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w));
  }
  // The elements after the last whole vector, at most three.
  const long tail = n / 4 * 4 + threadIdx.x;
  if (blockIdx.x == 0 && tail < n) out[tail] = gelu(in[tail]);
}
