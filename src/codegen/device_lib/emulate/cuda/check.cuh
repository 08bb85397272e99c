// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/check.cuh — every access to shared and to global memory is shown to the
// library's shadows of them (device_lib/emulate/shadow.h, memory_shadow.h), and every other one must
// be to memory of the launch.
//
// The host compiler is told to instrument accesses as for its thread sanitizer; the functions which
// it then calls are these, not the sanitizer's. Names and lines come from the rewriter: it puts
// note_shared() after a declaration of shared memory and TW_AT before statements.

#define TW_UNCHECKED __attribute__((no_sanitize("thread")))
// Accesses stay with their statement: neither they nor the line move over this.
#define TW_AT tw_emulate::at(__LINE__);

namespace tw_emulate {

enum AccessKind : unsigned { Read, Write, AtomicRead, AtomicWrite, AtomicUpdate };
constexpr unsigned Misaligned = 256;  // besides, of what is touched where it cannot be

// What the module has of its own, and the memory of the launch that was touched last.
static constinit thread_local TwRange module_image = {0, 0};
static constinit thread_local TwRange module_locals = {0, 0};
static constinit thread_local TwRange last_memory = {0, 0};
static constinit thread_local const TwCpuLaunch* checked_launch = nullptr;

TW_UNCHECKED inline __attribute__((always_inline)) bool holds(const TwRange& range,
                                                              unsigned long address,
                                                              unsigned long bytes) {
  return address >= range.begin && address + bytes <= range.end;
}

// Below this no memory is ever mapped; where the launch's memory is not known, all else is good.
constexpr unsigned long null_bytes = 65536;
constexpr unsigned long stack_bytes = 256 << 10;

// Where all memory is good: what is not known to be the thread's own is global.
static constinit thread_local bool is_all_good = false;

TW_UNCHECKED inline void note_memory(const TwCpuLaunch* launch) {
  checked_launch = launch;
#ifdef TW_EMULATE_HEAP
  const bool is_known = false;  // what a thread allocates is its launch's memory too
#else
  const bool is_known = launch->memory != nullptr;
#endif
  last_memory = {is_known ? 0 : null_bytes, is_known ? 0 : ~0ul};
  is_all_good = !is_known;
  emulation->begin(source_map, (const void*)&fault, &module_image, &module_locals);
}

TW_UNCHECKED inline void forget_memory() {
  checked_launch = nullptr;
  last_memory = {0, 0};
}

// Whether it is the launch's memory, or the module's.
TW_UNCHECKED static __attribute__((noinline)) bool find_memory(unsigned long address,
                                                               unsigned long bytes,
                                                               unsigned kind) {
  // Stacks grow downward: what belongs to callers lies above.
  const unsigned long here = (unsigned long)__builtin_frame_address(0);
  if (address - here < stack_bytes) return false;
  if (holds(module_image, address, bytes)) return true;
  // The library's table of functions; and what runs before the first launch.
  if (address - (unsigned long)emulation < sizeof(TwEmulation) || !checked_launch) return false;
  for (unsigned long i = 0; i < checked_launch->memory_count; ++i) {
    const TwMemory& memory = checked_launch->memory[i];
    const TwRange range = {memory.address, memory.address + memory.bytes};
    if (!holds(range, address, bytes)) continue;
    last_memory = range;
    return true;
  }
  emulation->touch_outside(address, bytes, kind, at_line);
  return false;
}

// Whether it is global memory, if it is memory at all. What threads allocate is not followed.
TW_UNCHECKED inline __attribute__((always_inline)) bool reaches_memory(unsigned long address,
                                                                       unsigned long bytes,
                                                                       unsigned kind) {
  const unsigned long here = (unsigned long)__builtin_frame_address(0);
  if (address >= here && address < stack_end) return false;
#ifdef TW_EMULATE_HEAP
  if (holds(last_memory, address, bytes)) return false;
#else
  if (!is_all_good && holds(last_memory, address, bytes)) return true;
#endif
  if (holds(module_locals, address, bytes)) return false;
  return holds(last_memory, address, bytes) || find_memory(address, bytes, kind);
}

// Statements and accesses: a loop that does not end may be of either alone. Host code calls
// functions of both sides before there is an emulation.
static constinit thread_local unsigned steps = 0;
TW_UNCHECKED inline __attribute__((always_inline)) void step() {
  if (++steps % 65536 == 0 && emulation) emulation->tick(at_line);
}

TW_UNCHECKED static void touch(const volatile void* p, unsigned long bytes, unsigned kind) {
  step();
  const unsigned long address = (unsigned long)p;
  if (address < shared_end && address + bytes > shared_begin)
    emulation->touch(address, bytes, kind, at_line);
  else if (reaches_memory(address, bytes, kind))
    emulation->touch_memory(address, bytes, kind, Now, nullptr, at_line);
}

// What the compiler takes to be aligned: to 8 bytes at most. A machine ends the launch elsewhere.
TW_UNCHECKED static void touch_aligned(const volatile void* p, unsigned long bytes, unsigned kind) {
  touch(p, bytes, kind);
  const unsigned long least = bytes < 8 ? bytes : 8;
  if ((unsigned long)p % least != 0)
    emulation->touch_outside((unsigned long)p, least, kind | Misaligned, at_line);
}

TW_UNCHECKED static void touch_read(const void* p, unsigned long bytes) { touch(p, bytes, Read); }

// An asynchronous access to global memory: the line is that of its call.
TW_UNCHECKED static void touch_later(const void* p, unsigned long bytes, AccessTime when, const void* word,
                                     unsigned line) {
  const unsigned kind = when >= UntilMapStored ? Write : Read;
  if (reaches_memory((unsigned long)p, bytes, kind))
    emulation->touch_memory((unsigned long)p, bytes, kind, when, word, line);
}

inline __attribute__((always_inline)) void keep_order() { __asm__ volatile("" : : : "memory"); }

inline __attribute__((always_inline)) void at(unsigned line) {
  at_line = line;
  step();
  keep_order();
}

template <class T>
struct Element {
  using type = T;
};
template <class T>
struct Element<T[]> : Element<T> {};
template <class T, unsigned long N>
struct Element<T[N]> : Element<T> {};

TW_UNCHECKED inline void note_range(const char* name, const volatile void* p, unsigned long bytes,
                                    unsigned long element_bytes) {
  const unsigned long address = (unsigned long)p;
  if (address < shared_begin) shared_begin = address;
  if (address + bytes > shared_end) shared_end = address + bytes;
  emulation->note_shared(name, address, bytes, element_bytes);
}
template <class T>
inline void note_shared(const char* name, T& array) {
  note_range(name, &array, sizeof(T), sizeof(typename Element<T>::type));
}
template <class T>
inline void note_dynamic(const char* name, T& array) {
  note_range(name, &array, dynamic_bytes, sizeof(typename Element<T>::type));
}
template <class T>
inline void name_pointer(const char* name, T* pointer) {
  emulation->name_shared(name, (unsigned long)pointer, sizeof(T));
}

// File-scope declarations of dynamic shared memory have no place for a note.
inline void note_thread_begin() {
  at_line = 0;
#ifdef TW_EMULATE_DYNAMIC_SHARED
  if (dynamic_bytes != 0) note_range("dynamic shared memory", tw_dynamic_shared, dynamic_bytes, 1);
#endif
}

}  // namespace tw_emulate

// The compiler instruments copies of few bytes itself.
extern "C" inline __attribute__((always_inline, gnu_inline)) void* memcpy(
    void* to, const void* from, decltype(sizeof(0)) bytes) noexcept {
  if (!__builtin_constant_p(bytes) || bytes > 16) {
    tw_emulate::touch(from, bytes, tw_emulate::Read);
    tw_emulate::touch(to, bytes, tw_emulate::Write);
  }
  return __builtin_memcpy(to, from, bytes);
}
extern "C" inline __attribute__((always_inline, gnu_inline)) void* memset(
    void* to, int value, decltype(sizeof(0)) bytes) noexcept {
  if (!__builtin_constant_p(bytes) || bytes > 16) tw_emulate::touch(to, bytes, tw_emulate::Write);
  return __builtin_memset(to, value, bytes);
}

#define TW_HOOK(result, name, parameters)                       \
  extern "C" result tw_check_##name parameters __asm__(#name); \
  extern "C" TW_UNCHECKED __attribute__((used)) result tw_check_##name parameters

TW_HOOK(void, __tsan_init, ()) {}
TW_HOOK(void, __tsan_func_entry, (void*)) {}
TW_HOOK(void, __tsan_func_exit, ()) {}
TW_HOOK(void, __tsan_vptr_update, (void*, void*)) {}
TW_HOOK(void, __tsan_vptr_read, (void*)) {}
TW_HOOK(void, __tsan_atomic_thread_fence, (int)) {
  __sync_synchronize();
  if (tw_emulate::emulation) tw_emulate::emulation->fence();
}
TW_HOOK(void, __tsan_atomic_signal_fence, (int)) {}
TW_HOOK(void, __tsan_read_range, (void* p, unsigned long n)) {
  tw_emulate::touch(p, n, tw_emulate::Read);
}
TW_HOOK(void, __tsan_write_range, (void* p, unsigned long n)) {
  tw_emulate::touch(p, n, tw_emulate::Write);
}

#define TW_ACCESS(name, bytes, kind) \
  TW_HOOK(void, name, (void* p)) { tw_emulate::touch(p, bytes, tw_emulate::kind); }
#define TW_ALIGNED(name, bytes, kind) \
  TW_HOOK(void, name, (void* p)) { tw_emulate::touch_aligned(p, bytes, tw_emulate::kind); }
#define TW_ACCESSES(bytes)                                    \
  TW_ALIGNED(__tsan_read##bytes, bytes, Read)                 \
  TW_ALIGNED(__tsan_write##bytes, bytes, Write)               \
  TW_ACCESS(__tsan_unaligned_read##bytes, bytes, Read)        \
  TW_ACCESS(__tsan_unaligned_write##bytes, bytes, Write)      \
  TW_ACCESS(__tsan_volatile_read##bytes, bytes, AtomicRead)   \
  TW_ACCESS(__tsan_volatile_write##bytes, bytes, AtomicWrite) \
  TW_ACCESS(__tsan_unaligned_volatile_read##bytes, bytes, AtomicRead) \
  TW_ACCESS(__tsan_unaligned_volatile_write##bytes, bytes, AtomicWrite)
TW_ACCESSES(1)
TW_ACCESSES(2)
TW_ACCESSES(4)
TW_ACCESSES(8)
TW_ACCESSES(16)
#undef TW_ACCESSES
#undef TW_ALIGNED
#undef TW_ACCESS

#define TW_UPDATE(name, function, T)                                 \
  TW_HOOK(T, name, (volatile T * p, T value, int)) {                 \
    tw_emulate::touch(p, sizeof(T), tw_emulate::AtomicUpdate);       \
    return function(p, value, __ATOMIC_SEQ_CST);                     \
  }
#define TW_ATOMICS(bits, T)                                                                      \
  TW_UPDATE(__tsan_atomic##bits##_exchange, __atomic_exchange_n, T)                              \
  TW_UPDATE(__tsan_atomic##bits##_fetch_add, __atomic_fetch_add, T)                              \
  TW_UPDATE(__tsan_atomic##bits##_fetch_sub, __atomic_fetch_sub, T)                              \
  TW_UPDATE(__tsan_atomic##bits##_fetch_and, __atomic_fetch_and, T)                              \
  TW_UPDATE(__tsan_atomic##bits##_fetch_or, __atomic_fetch_or, T)                                \
  TW_UPDATE(__tsan_atomic##bits##_fetch_xor, __atomic_fetch_xor, T)                              \
  TW_UPDATE(__tsan_atomic##bits##_fetch_nand, __atomic_fetch_nand, T)                            \
  TW_HOOK(T, __tsan_atomic##bits##_load, (const volatile T* p, int)) {                           \
    tw_emulate::touch(p, sizeof(T), tw_emulate::AtomicRead);                                     \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                              \
  TW_HOOK(void, __tsan_atomic##bits##_store, (volatile T * p, T value, int)) {                   \
    tw_emulate::touch(p, sizeof(T), tw_emulate::AtomicWrite);                                    \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                \
  }                                                                                              \
  TW_HOOK(bool, __tsan_atomic##bits##_compare_exchange_strong,                                   \
          (volatile T * p, T * expected, T value, int, int)) {                                   \
    tw_emulate::touch(p, sizeof(T), tw_emulate::AtomicUpdate);                                   \
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST,              \
                                       __ATOMIC_SEQ_CST);                                        \
  }                                                                                              \
  TW_HOOK(bool, __tsan_atomic##bits##_compare_exchange_weak,                                     \
          (volatile T * p, T * expected, T value, int success, int failure)) {                   \
    return tw_check___tsan_atomic##bits##_compare_exchange_strong(p, expected, value, success,   \
                                                                  failure);                      \
  }                                                                                              \
  TW_HOOK(T, __tsan_atomic##bits##_compare_exchange_val,                                         \
          (volatile T * p, T expected, T value, int success, int failure)) {                     \
    tw_check___tsan_atomic##bits##_compare_exchange_strong(p, &expected, value, success, failure); \
    return expected;                                                                             \
  }
TW_ATOMICS(8, unsigned char)
TW_ATOMICS(16, unsigned short)
TW_ATOMICS(32, unsigned)
TW_ATOMICS(64, unsigned long)
#undef TW_ATOMICS
#undef TW_UPDATE

// A GPU goes on with any number, a CPU's instruction ends the process.
TW_HOOK(void, __ubsan_handle_divrem_overflow, (void*, void*, void*)) {
  if (tw_emulate::emulation) tw_emulate::emulation->divide_by_zero(tw_emulate::at_line);
}
#undef TW_HOOK
