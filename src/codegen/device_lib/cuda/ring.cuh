// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/ring.cuh — rings of slots in shared memory that tensor maps fill (sm_90a), and the roles that use them: one
// thread produces, whole warps consume. device_lib/emulate/cuda/ring.cuh has the same functions for a CPU.
//
//   tw::set_up_ring<3>(words, 8); __syncthreads();          // 3 slots, 8 warps that consume
//   tw::acquire<3>(words, position, bytes);                 // producer: the slot is free; so many bytes will arrive
//   tw::copy_map(slot, map, words + position % 3, x, y);
//   tw::await<3>(words, position);                          // consumers: they have arrived
//   tw::release<3>(words, position, true);                  // each warp: it reads the slot no more
//   tw::store_map(tile, map, x, y);                         // each warp: its part of a result; shown as to products before
//   tw::wait_stores<0>();                                   // and the tile may be written again
//
// Positions count up from 0. The barrier of slot s that says "full" is words[s], that of "free" words[Slots + s]; a phase of
// either ends once each time round, so that its parity is that of position / Slots.

namespace tw {

struct alignas(64) TensorMap {
  unsigned long long words[16];
};

TW_DEVICE unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// Waits for the end of a phase; a protocol that is broken traps after some seconds instead of hanging. Loop and trap are one
// statement: a branch of C++ to a trap makes ptxas spill in kernels that set their registers.
TW_DEVICE void wait_phase(unsigned word, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\n.reg .u64 start, now;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra finish;\n"
      "mov.u64 start, %%clock64;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra finish;\n"
      "mov.u64 now, %%clock64;\n"
      "sub.u64 now, now, start;\n"
      "setp.lt.u64 done, now, 20000000000;\n"
      "@done bra again;\n"
      "trap;\n"
      "finish:\n}"
      :
      : "r"(word), "r"(parity)
      : "memory");
}

// Called by all threads of the block, which meet at a barrier afterwards.
template <int Slots>
TW_DEVICE void set_up_ring(unsigned long long* words, int consumer_warps) {
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int i = 0; i < 2 * Slots; ++i)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(shared_address(words + i)), "r"(i < Slots ? 1 : consumer_warps)
                 : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

template <int Slots>
TW_DEVICE void acquire(unsigned long long* words, unsigned position, unsigned bytes) {
  const unsigned slot = position % Slots;
  wait_phase(shared_address(words + Slots + slot), (position / Slots & 1) ^ 1);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(shared_address(words + slot)), "r"(bytes)
               : "memory");
}

template <int Slots>
TW_DEVICE void await(unsigned long long* words, unsigned position) {
  wait_phase(shared_address(words + position % Slots), position / Slots & 1);
}

template <int Slots>
TW_DEVICE void release(unsigned long long* words, unsigned position, bool is_wanted) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %1, 0;\n@p mbarrier.arrive.shared::cta.b64 _, [%0];\n}"
               :
               : "r"(shared_address(words + Slots + position % Slots)), "r"(int(is_wanted && threadIdx.x % lane_count == 0))
               : "memory");
}

// Starts copying the box of a map at these coordinates, fastest dimension first; zeros arrive from outside of the tensor.
TW_DEVICE void copy_map(void* to, const TensorMap& map, unsigned long long* full, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      :
      : "r"(shared_address(to)), "l"(&map), "r"(x), "r"(y), "r"(shared_address(full))
      : "memory");
}
TW_DEVICE void copy_map(void* to, const TensorMap& map, unsigned long long* full, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
      :
      : "r"(shared_address(to)), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(full))
      : "memory");
}
TW_DEVICE void copy_map(void* to, const TensorMap& map, unsigned long long* full, int x, int y, int z, int u) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
      :
      : "r"(shared_address(to)), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(u), "r"(shared_address(full))
      : "memory");
}
TW_DEVICE void copy_map(void* to, const TensorMap& map, unsigned long long* full, int x, int y, int z, int u, int w) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
      :
      : "r"(shared_address(to)), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(u), "r"(w), "r"(shared_address(full))
      : "memory");
}
// Starts storing the box of a map from shared memory, once for a warp, or adding it to what is there; what is outside of the
// tensor is not stored. Each is a group of its own, of the warp's first lane.
#define TW_STORE_BOX(name, instruction, rank, at, coordinates, ...)                                                            \
  TW_DEVICE void name(const void* from, const TensorMap& map, coordinates) {                                                   \
    asm volatile("{\n.reg .pred p;\nsetp.eq.u32 p, %2, 0;\n@p " instruction "." rank                                           \
                 ".global.shared::cta" at ";\n@p cp.async.bulk.commit_group;\n}"                                               \
                 :                                                                                                             \
                 : "l"(&map), "r"(shared_address(from)), "r"(threadIdx.x % lane_count), __VA_ARGS__                            \
                 : "memory");                                                                                                  \
  }
#define TW_COMMA ,
#define TW_STORE_BOXES(name, instruction, how)                                                                                 \
  TW_STORE_BOX(name, instruction, "2d", how " [%0, {%3, %4}], [%1]", int x TW_COMMA int y, "r"(x), "r"(y))                      \
  TW_STORE_BOX(name, instruction, "3d", how " [%0, {%3, %4, %5}], [%1]", int x TW_COMMA int y TW_COMMA int z, "r"(x), "r"(y),   \
               "r"(z))                                                                                                         \
  TW_STORE_BOX(name, instruction, "4d", how " [%0, {%3, %4, %5, %6}], [%1]",                                                   \
               int x TW_COMMA int y TW_COMMA int z TW_COMMA int u, "r"(x), "r"(y), "r"(z), "r"(u))                             \
  TW_STORE_BOX(name, instruction, "5d", how " [%0, {%3, %4, %5, %6, %7}], [%1]",                                               \
               int x TW_COMMA int y TW_COMMA int z TW_COMMA int u TW_COMMA int w, "r"(x), "r"(y), "r"(z), "r"(u), "r"(w))
TW_STORE_BOXES(store_map, "cp.async.bulk.tensor", ".tile.bulk_group")
TW_STORE_BOXES(add_map, "cp.reduce.async.bulk.tensor", ".add.tile.bulk_group")
#undef TW_STORE_BOXES
#undef TW_COMMA
#undef TW_STORE_BOX

// What the thread has started to store is read from shared memory, or in memory.
template <int InMemory>
TW_DEVICE void wait_stores() {
  if (InMemory) asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
  else asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
}

TW_DEVICE void prefetch_map(const TensorMap& map) { asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory"); }

// All warps of a warpgroup: registers of each thread from here on.
template <int Count>
TW_DEVICE void fewer_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(Count));
}
template <int Count>
TW_DEVICE void more_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(Count));
}

// The same number, but nothing that is computed of it is computed before.
TW_DEVICE int here(int number) {
  asm volatile("" : "+r"(number));
  return number;
}

// A barrier of the threads that consume.
template <int Threads>
TW_DEVICE void meet_consumers() {
  asm volatile("bar.sync 1, %0;" : : "n"(Threads) : "memory");
}

}  // namespace tw
