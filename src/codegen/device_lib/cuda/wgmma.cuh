// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/wgmma.cuh — asynchronous products of warpgroups (sm_90a): operands in shared memory as descriptors, and
// what waits for products. device_lib/emulate/cuda/wgmma.cuh has the same functions for a CPU.
//
//   tw::show_to_products();                                 // what threads wrote to shared memory, before a barrier
//   tw::begin_products();                                   // what they wrote to registers
//   tw::wgmma_n256_f16(sums, tw::further(a, 2), b, true);   // any number of them; written by the compiler, one per shape
//   tw::commit_products();                                  // they are one group now
//   tw::wait_products<0>();                                 // all groups are done
//   tw::take_products(sums);                                // nothing moves sums that are read to before this
//
// All four warps of a warpgroup call each function together. Until its group is done nobody may touch a product's sums, nor
// write what it reads.

namespace tw {

using Descriptor = unsigned long long;

// An operand whose lines have `LineBytes` (32, 64 or 128); layout/wgmma.h says what leading and stride are.
template <int LineBytes>
TW_DEVICE Descriptor describe(const void* shared, unsigned leading, unsigned stride) {
  static_assert(LineBytes == 32 || LineBytes == 64 || LineBytes == 128, "a line has 32, 64 or 128 bytes");
  const unsigned address = unsigned(__cvta_generic_to_shared(shared));
  const unsigned long long swizzle = LineBytes == 128 ? 1 : LineBytes == 64 ? 2 : 3;
  return (address & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 |
         swizzle << 62;
}
// The same operand so many chunks of 16 bytes further on.
TW_DEVICE Descriptor further(Descriptor descriptor, int chunks) { return descriptor + unsigned(chunks); }

// A number that all lanes of a warp have, as the compiler can see.
TW_DEVICE int uniform(int x) { return __shfl_sync(0xffffffffu, x, 0); }

TW_DEVICE void show_to_products() { asm volatile("fence.proxy.async.shared::cta;" : : : "memory"); }
TW_DEVICE void begin_products() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
TW_DEVICE void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }
template <int Pending>
TW_DEVICE void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(Pending) : "memory");
}

// Words that are computed while products go on: without a branch on them the assembler moves the wait before their computation.
// The branch is as good as never taken, and then costs a nanosecond.
template <class Word, int Count>
TW_DEVICE void compute_before_waiting(const Word (&words)[Count]) {
  unsigned all = 0;
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    unsigned word;
    memcpy(&word, &words[i], 4);
    all ^= word;
  }
  if (all == 0x7fa1b2c3u) asm volatile("nanosleep.u32 1;" : : : "memory");
}

template <int Count>
TW_DEVICE void take_products(float (&sums)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(sums[i]) : : "memory");
}
template <int Count>
TW_DEVICE void take_products(int (&sums)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+r"(sums[i]) : : "memory");
}

}  // namespace tw
