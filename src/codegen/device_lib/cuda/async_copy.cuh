// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/async_copy.cuh — copies from global to shared memory that go on beside the thread.
// device_lib/emulate/cuda/async_copy.cuh has the same functions for a CPU.
//
//   tw::copy_async<16>(&tile[slot][i], x + i, i < n);   // any number of them
//   tw::commit_copies();                                // they are one group now
//   tw::wait_copies<1>();                               // all groups but the newest one are there
//   __syncthreads();                                    // ... and those of the other threads too
//
// A thread waits for its own copies only. Until then nobody may touch the destination.

namespace tw {

// Starts copying `Bytes` (4, 8 or 16, to which both addresses are aligned); zeros arrive, and
// `global` is not read, when the copy is not wanted.
template <int Bytes>
TW_DEVICE void copy_async(void* shared, const void* global, bool is_wanted) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "a copy moves 4, 8 or 16 bytes");
  const unsigned to = unsigned(__cvta_generic_to_shared(shared));
  const unsigned long long from = __cvta_generic_to_global(global);
  const int read = is_wanted ? Bytes : 0;
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to), "l"(from), "r"(read)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"(to), "l"(from), "n"(Bytes), "r"(read)
                 : "memory");
}

// The same for a copy that is always wanted.
template <int Bytes>
TW_DEVICE void copy_async(void* shared, const void* global) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "a copy moves 4, 8 or 16 bytes");
  const unsigned to = unsigned(__cvta_generic_to_shared(shared));
  const unsigned long long from = __cvta_generic_to_global(global);
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :
                 : "r"(to), "l"(from), "n"(Bytes)
                 : "memory");
}

// Starts the copy only if `starts`; a branch around it would keep the instructions beside it apart.
template <int Bytes>
TW_DEVICE void copy_async_if(void* shared, const void* global, bool starts, bool is_wanted) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "a copy moves 4, 8 or 16 bytes");
  const unsigned to = unsigned(__cvta_generic_to_shared(shared));
  const unsigned long long from = __cvta_generic_to_global(global);
  const int read = is_wanted ? Bytes : 0;
  if constexpr (Bytes == 16)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %3, 0; @p cp.async.cg.shared.global [%0], [%1], 16, %2; }"
        :
        : "r"(to), "l"(from), "r"(read), "r"(int(starts))
        : "memory");
  else
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %4, 0; @p cp.async.ca.shared.global [%0], [%1], %2, %3; }"
        :
        : "r"(to), "l"(from), "n"(Bytes), "r"(read), "r"(int(starts))
        : "memory");
}

// The same number, which is kept and not worked out again in each round.
TW_DEVICE int settled(int number) {
  asm volatile("" : "+r"(number));
  return number;
}

// pointer + count, added to what `pointer` comes to, however it was made.
template <class T>
TW_DEVICE const T* advanced(const T* pointer, long long count) {
  const T* out;
  asm("add.u64 %0, %1, %2;" : "=l"(out) : "l"(pointer), "l"(count * (long long)(sizeof(T))));
  return out;
}

// Of what is read once the lines may leave L2 last, as those of Cache::Linger do.
constexpr bool lingering = true;

template <int Bytes, bool Lingers>
TW_DEVICE void copy_row(void* shared, const void* global) {
  if constexpr (Lingers && Bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;"
                 :
                 : "r"(unsigned(__cvta_generic_to_shared(shared))),
                   "l"(__cvta_generic_to_global(global)), "l"(ptx::leave_last())
                 : "memory");
  else copy_async<Bytes>(shared, global);
}

// Starts copying a vector of a row, or puts `other` there when it is not wanted.
template <int Count, bool Lingers = false, class T>
TW_DEVICE void copy_whole(T* shared, const T* global, bool is_wanted, T other) {
  if (is_wanted) copy_row<Count * int(sizeof(T)), Lingers>(shared, global);
  else
#pragma unroll
    for (int i = 0; i < Count; ++i) shared[i] = other;
}
// The elements from `first` to before `end` only; the others become `other`.
template <int Count, bool Lingers = false, class T>
TW_DEVICE void copy_guarded(T* shared, const T* global, long long first, long long end, T other) {
  if (first <= 0 && end >= Count) copy_row<Count * int(sizeof(T)), Lingers>(shared, global);
  else
#pragma unroll
    for (int i = 0; i < Count; ++i) shared[i] = first <= i && i < end ? global[i] : other;
}

// Ends a group: the copies that this thread started since the last one. It may be empty.
TW_DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" : : : "memory"); }

// Waits until at most the `Pending` newest groups of this thread are under way.
template <int Pending>
TW_DEVICE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(Pending) : "memory");
}

}  // namespace tw
