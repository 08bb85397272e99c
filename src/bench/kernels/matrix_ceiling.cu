// SPDX-License-Identifier: Apache-2.0
// bench/kernels/matrix_ceiling.cu — what the matrix units of one GPU can do at most: products of one shape, one after the
// other, on operands that are there already.
//
// The text before this one defines the instruction: TW_RESULT (the type of a sum), TW_SHAPE ("m64n256k16.f32.
// bf16.bf16"), and for warp groups TW_PLACES and TW_RESULTS (128 of them) and TW_SCALES (what the instruction wants after its operands).

// Bits that are ordinary numbers in every type: of signs and fractions only some, of exponents around 1. Units that multiply
// zeros draw less power and run faster than with real data.
__device__ unsigned ordinary_bits(unsigned seed) {
  unsigned x = seed * 2654435761u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return (x & 0x83ff83ffu) | 0x3c003c00u;
}

#ifdef TW_WARP_GROUPS

// Two warp groups per block; both operands of a product lie in shared memory in blocks of 8 rows of 16 bytes, as a descriptor
// without swizzle says: 128 bytes from one block to the next along k, 256 along rows.
__device__ unsigned long long descriptor(const void* shared) {
  const unsigned address = (unsigned)__cvta_generic_to_shared(shared);
  return ((unsigned long long)(address >> 4) & 0x3fff) | (128ull >> 4) << 16 | (256ull >> 4) << 32;
}

extern "C" __global__ void __launch_bounds__(256, 1) tw_matrix(TW_RESULT* out, int rounds) {
  __shared__ __align__(128) unsigned operands[(64 + 256) * 32 / 4];
  for (unsigned i = threadIdx.x; i < sizeof(operands) / 4; i += 256) operands[i] = ordinary_bits(i + 977 * blockIdx.x);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned long long a = descriptor(operands), b = descriptor(operands + 64 * 32 / 4);
  TW_RESULT d[128];
#pragma unroll
  for (int i = 0; i < 128; ++i) d[i] = 0;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 4; ++step)
      asm volatile("wgmma.mma_async.sync.aligned." TW_SHAPE " {" TW_PLACES "}, %128, %129, 1" TW_SCALES ";"
                   : TW_RESULTS
                   : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  TW_RESULT sum = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) sum += d[i];
  if (sum == (TW_RESULT)12345.678) out[blockIdx.x] = sum;
}

#else

// Every warp has 8 products of its own under way, which hides their latency.
extern "C" __global__ void __launch_bounds__(256) tw_matrix(TW_RESULT* out, int rounds) {
  const unsigned seed = threadIdx.x + 977 * blockIdx.x;
  unsigned a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = ordinary_bits(seed + i);
  for (int i = 0; i < 2; ++i) b[i] = ordinary_bits(seed + 8 + i);
  TW_RESULT d[8][4] = {};
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 4; ++step) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        asm volatile("mma.sync.aligned." TW_SHAPE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : TW_REGISTER(d[i][0]), TW_REGISTER(d[i][1]), TW_REGISTER(d[i][2]), TW_REGISTER(d[i][3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  }
  TW_RESULT sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j) sum += d[i][j];
  if (sum == (TW_RESULT)12345.678) out[blockIdx.x] = sum;
}

#endif
