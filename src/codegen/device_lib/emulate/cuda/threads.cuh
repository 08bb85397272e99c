// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/threads.cuh — barriers, warp exchanges, fences, cached loads, clocks,
// assert and trap.

namespace tw_emulate {

enum WaitKind : unsigned { WaitBlock, WaitWarp, WaitShuffle, WaitBallot, WaitGather, WaitActive, WaitConsumers };

// A bit for each lane.
#if TW_LANES == 64
using Lanes = unsigned long long;
#else
using Lanes = unsigned;
#endif
static_assert(warpSize == 8 * int(sizeof(Lanes)), "a warp has 32 or 64 lanes");

inline TwWait meet(const char* name, int line, unsigned kind, Lanes mask,
                   unsigned long value = 0, unsigned source = 0, unsigned long* all = nullptr) {
  TwWait request = {name, unsigned(line), kind, mask, value, all, 0, source, 0};
  suspended([&] { emulation->wait(&request); });
  return request;
}

inline unsigned lane() { return thread_number % unsigned(warpSize); }

template <class T>
inline T shuffle(const char* name, int line, Lanes mask, T value, unsigned source) {
  static_assert(sizeof(T) <= 8, "a warp shuffle moves at most 8 bytes");
  unsigned long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = meet(name, line, WaitShuffle, mask, bits, source).value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// Combines the values of the lanes that take part.
template <class T, class Combine>
inline T reduce(const char* name, int line, Lanes mask, T value, Combine combine) {
  unsigned long all[warpSize];
  const Lanes lanes =
      Lanes(meet(name, line, WaitGather, mask, (unsigned long)value, 0, all).participants);
  const int first = __builtin_ctzl(lanes);
  T result = T(all[first]);
  for (int i = first + 1; i < warpSize; ++i)
    if (lanes >> i & 1) result = combine(result, T(all[i]));
  return result;
}

template <class T>
inline Lanes match(const char* name, int line, Lanes mask, T value, Lanes* lanes) {
  unsigned long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  unsigned long all[warpSize];
  *lanes = Lanes(meet(name, line, WaitGather, mask, bits, 0, all).participants);
  Lanes equal = 0;
  for (int i = 0; i < warpSize; ++i)
    if ((*lanes >> i & 1) && all[i] == bits) equal |= Lanes(1) << i;
  return equal;
}

// A thread that spins on memory must let the others of its block advance.
inline void relax() {
  static constinit thread_local unsigned calls = 0;
  if (++calls % 256 == 0) suspended([] { emulation->yield(); });
}

// ---- Asynchronous copies.

inline void start_copy(void* shared, const void* global, unsigned bytes, int line) {
#ifdef TW_EMULATE_CHECK
  if (global) touch_later(global, bytes, UntilCopied, nullptr, unsigned(line));
#endif
  emulation->start_copy(shared, global, bytes, unsigned(line));
}
inline void commit_copies() { emulation->commit_copies(); }
inline void wait_copies(unsigned pending) { emulation->wait_copies(pending); }

static __attribute__((noinline, cold)) void assert_failed(const char* condition, const char* file,
                                                          int line) {
  char message[512];
  __builtin_snprintf(message, sizeof message, "assertion '%s' failed at %s:%d", condition, file,
                     line);
  fault(message);
}

}  // namespace tw_emulate

#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
  ((condition) ? (void)0 : tw_emulate::assert_failed(#condition, __FILE__, __LINE__))
#endif

static inline void __trap() { tw_emulate::fault("__trap was called"); }

// ---- Block barriers.

#define TW_LINE int line = __builtin_LINE()

static inline void __syncthreads(TW_LINE) {
  tw_emulate::meet("__syncthreads", line, tw_emulate::WaitBlock, 0);
}
static inline int __syncthreads_count(int predicate, TW_LINE) {
  return int(tw_emulate::meet("__syncthreads_count", line, tw_emulate::WaitBlock, 0, predicate != 0)
                 .count);
}
static inline int __syncthreads_and(int predicate, TW_LINE) {
  const TwWait met =
      tw_emulate::meet("__syncthreads_and", line, tw_emulate::WaitBlock, 0, predicate != 0);
  return met.count == met.participants;
}
static inline int __syncthreads_or(int predicate, TW_LINE) {
  return tw_emulate::meet("__syncthreads_or", line, tw_emulate::WaitBlock, 0, predicate != 0)
             .count > 0;
}

// ---- Warps.

static inline void __syncwarp(tw_emulate::Lanes mask = ~tw_emulate::Lanes(0), TW_LINE) {
  tw_emulate::meet("__syncwarp", line, tw_emulate::WaitWarp, mask);
}
static inline tw_emulate::Lanes __activemask(TW_LINE) {
  return tw_emulate::Lanes(tw_emulate::meet("__activemask", line, tw_emulate::WaitActive, 0).value);
}

template <class T>
static inline T __shfl_sync(tw_emulate::Lanes mask, T value, int source, int width = warpSize, TW_LINE) {
  const unsigned group = tw_emulate::lane() & ~unsigned(width - 1);
  return tw_emulate::shuffle("__shfl_sync", line, mask, value,
                             group | (unsigned(source) & unsigned(width - 1)));
}
template <class T>
static inline T __shfl_up_sync(tw_emulate::Lanes mask, T value, unsigned delta, int width = warpSize, TW_LINE) {
  const unsigned lane = tw_emulate::lane();
  const bool inside = (lane & unsigned(width - 1)) >= delta;
  return tw_emulate::shuffle("__shfl_up_sync", line, mask, value, inside ? lane - delta : lane);
}
template <class T>
static inline T __shfl_down_sync(tw_emulate::Lanes mask, T value, unsigned delta, int width = warpSize, TW_LINE) {
  const unsigned lane = tw_emulate::lane();
  const bool inside = (lane & unsigned(width - 1)) + delta < unsigned(width);
  return tw_emulate::shuffle("__shfl_down_sync", line, mask, value, inside ? lane + delta : lane);
}
template <class T>
static inline T __shfl_xor_sync(tw_emulate::Lanes mask, T value, int lane_mask, int width = warpSize, TW_LINE) {
  const unsigned lane = tw_emulate::lane();
  const unsigned source = lane ^ unsigned(lane_mask);
  const bool inside = source < (lane & ~unsigned(width - 1)) + unsigned(width);
  return tw_emulate::shuffle("__shfl_xor_sync", line, mask, value, inside ? source : lane);
}

static inline tw_emulate::Lanes __ballot_sync(tw_emulate::Lanes mask, int predicate, TW_LINE) {
  return tw_emulate::Lanes(
      tw_emulate::meet("__ballot_sync", line, tw_emulate::WaitBallot, mask, predicate != 0).value);
}
static inline int __any_sync(tw_emulate::Lanes mask, int predicate, TW_LINE) {
  return tw_emulate::meet("__any_sync", line, tw_emulate::WaitBallot, mask, predicate != 0).value !=
         0;
}
static inline int __all_sync(tw_emulate::Lanes mask, int predicate, TW_LINE) {
  const TwWait met =
      tw_emulate::meet("__all_sync", line, tw_emulate::WaitBallot, mask, predicate != 0);
  return met.value == met.participants;
}
template <class T>
static inline tw_emulate::Lanes __match_any_sync(tw_emulate::Lanes mask, T value, TW_LINE) {
  tw_emulate::Lanes lanes;
  return tw_emulate::match("__match_any_sync", line, mask, value, &lanes);
}
template <class T>
static inline tw_emulate::Lanes __match_all_sync(tw_emulate::Lanes mask, T value, int* all_equal, TW_LINE) {
  tw_emulate::Lanes lanes;
  const tw_emulate::Lanes equal = tw_emulate::match("__match_all_sync", line, mask, value, &lanes);
  *all_equal = equal == lanes;
  return *all_equal ? lanes : 0;
}

#define TW_REDUCE(op, type, expression)                                           \
  static inline type __reduce_##op##_sync(tw_emulate::Lanes mask, type value, TW_LINE) {   \
    return tw_emulate::reduce("__reduce_" #op "_sync", line, mask, value,         \
                              [](type a, type b) -> type { return expression; }); \
  }
TW_REDUCE(add, unsigned, a + b)
TW_REDUCE(add, int, int(unsigned(a) + unsigned(b)))
TW_REDUCE(min, unsigned, a < b ? a : b)
TW_REDUCE(min, int, a < b ? a : b)
TW_REDUCE(max, unsigned, a < b ? b : a)
TW_REDUCE(max, int, a < b ? b : a)
TW_REDUCE(and, unsigned, a& b)
TW_REDUCE(or, unsigned, a | b)
TW_REDUCE(xor, unsigned, a ^ b)
#undef TW_REDUCE
#undef TW_LINE

// ---- Memory order, caches, clocks.

static inline void __threadfence_block() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST), tw_emulate::relax();
}
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST), tw_emulate::relax(); }
static inline void __threadfence_system() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST), tw_emulate::relax();
}
static inline void __nanosleep(unsigned) {
  tw_emulate::suspended([] { tw_emulate::emulation->yield(); });
}

#define TW_LOAD(name)                      \
  template <class T>                       \
  static inline T name(const T* address) { \
    return *address;                       \
  }
#define TW_STORE(name)                           \
  template <class T>                             \
  static inline void name(T* address, T value) { \
    *address = value;                            \
  }
TW_LOAD(__ldg)
TW_LOAD(__ldca)
TW_LOAD(__ldcg)
TW_LOAD(__ldcs)
TW_LOAD(__ldcv)
TW_LOAD(__ldlu)
TW_STORE(__stcg)
TW_STORE(__stcs)
TW_STORE(__stwb)
TW_STORE(__stwt)
#undef TW_LOAD
#undef TW_STORE

static inline long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  return 0;
#endif
}
#ifndef TW_EMULATE_STD  // the C library has one of the same name
static inline int clock() { return int(clock64()); }
#endif
