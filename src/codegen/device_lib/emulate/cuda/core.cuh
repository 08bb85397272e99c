// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/core.cuh — CUDA C++ on a CPU: keywords, indices, shared memory, and the
// entry of a kernel.
//
// These files are the first part of the text that the host compiler gets; the user's source,
// rewritten by codegen/emulate/rewrite.h, follows. They include no standard header: reading those
// takes longer than everything else. A kernel is entered through
//   extern "C" void ENTRY(const TwCpuLaunch* l, void* const* p, unsigned long first, unsigned long
//   last) {
//     tw_emulate::run<&kernel, USES_BARRIERS>("kernel", l, p, first, last);
//   }
// which runs the threads of each block in a plain loop, or as fibers (device_lib/emulate/fibers.h)
// when they meet.

#define __CUDACC__ 1
#define __CUDA_ARCH__ 700
#define __TILEWRIGHT_EMULATION__ 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __maxnreg__(n)
// Accesses of such a function are not instrumented for the checks (check.cuh).
#define TW_UNSEEN __attribute__((noinline, no_sanitize("thread")))

#if defined(__SANITIZE_ADDRESS__)
#define TW_EMULATE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TW_EMULATE_ASAN 1
#endif
#endif

// Shared memory is one per operating-system thread, since a block never leaves its thread. The
// address sanitizer puts no red zones around thread-local arrays: under it they are static, and
// blocks run one at a time.
#ifdef TW_EMULATE_ASAN
#define __shared__ static
#define TW_EMULATE_EXTERN extern
#else
#define __shared__ static __thread
#define TW_EMULATE_EXTERN extern __thread
#endif

// ---- What the library offers; see device_lib/emulate/fibers.h.

struct TwWait {
  const char* name;
  unsigned line;
  unsigned kind;
  unsigned long mask;
  unsigned long value;
  unsigned long* all;
  unsigned long participants;
  unsigned source;
  unsigned count;
};

struct TwThreadPlace {
  const char* kernel;
  unsigned block[3];
  unsigned thread[3];
};

struct TwSourceLine {
  unsigned line;
  unsigned file;
};
struct TwSourceMap {
  const TwSourceLine* lines;
  unsigned first;
  unsigned count;
  const char* const* files;
};
struct TwRange {
  unsigned long begin;
  unsigned long end;
};

struct TwEmulation {
  unsigned long size;
  void (*run_block)(const TwCpuLaunch* launch, const char* kernel, unsigned long block,
                    unsigned lanes,
                    void (*thread)(void* context, unsigned index), void* context);
  void (*wait)(TwWait* wait);
  void (*yield)();
  void (*fault)(const TwThreadPlace* place, const char* message);
  void (*start_copy)(void* shared, const void* global, unsigned bytes, unsigned line);
  void (*commit_copies)();
  void (*wait_copies)(unsigned pending);
  void (*start_product)(void (*run)(const void* closure, void* sums), const void* closure,
                        unsigned long closure_bytes, void* sums, unsigned long sums_bytes);
  void (*commit_products)();
  void (*wait_products)(unsigned pending);
  void (*show_to_products)();
  void (*note_shared)(const char* name, unsigned long address, unsigned long bytes,
                      unsigned long element_bytes);
  void (*name_shared)(const char* name, unsigned long address, unsigned long element_bytes);
  void (*touch)(unsigned long address, unsigned long bytes, unsigned kind, unsigned line);
  void (*begin)(const TwSourceMap* source, const void* code, TwRange* image, TwRange* locals);
  void (*touch_outside)(unsigned long address, unsigned long bytes, unsigned kind, unsigned line);
  void (*tick)(unsigned line);
  void (*start_map_copy)(void (*run)(const void* closure), const void* closure, unsigned long closure_bytes,
                         void* to, unsigned bytes, void* word, unsigned line);
  void (*land_copies)(void* word);
  void (*start_map_store)(void (*run)(const void* closure, const unsigned char* read), const void* closure,
                          unsigned long closure_bytes, const void* from, unsigned bytes, unsigned line);
  void (*wait_map_stores)(unsigned in_memory);
  void (*divide_by_zero)(unsigned line);
  void (*touch_memory)(unsigned long address, unsigned long bytes, unsigned kind, unsigned when, const void* word,
                       unsigned line);
  void (*fence)();
  void (*meet_at_word)(const void* word, unsigned is_arrival);
};

// ---- Indices.

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

static constinit thread_local uint3 threadIdx = {0, 0, 0};
static constinit thread_local uint3 blockIdx = {0, 0, 0};
static constinit thread_local dim3 blockDim;
static constinit thread_local dim3 gridDim;

#ifndef TW_LANES
#define TW_LANES 32  // CUDA's
#endif
static constexpr int warpSize = TW_LANES;

#ifdef TW_EMULATE_DYNAMIC_SHARED
// `extern __shared__ T name[]` becomes another name of this.
#ifndef TW_EMULATE_BLOCKS  // that one block stands for
#define TW_EMULATE_BLOCKS 1
#endif
#define TW_EMULATE_DYNAMIC_BYTES (232448 * TW_EMULATE_BLOCKS)
#ifdef TW_EMULATE_ASAN
extern "C" void __asan_poison_memory_region(const volatile void* address, unsigned long bytes);
extern "C" void __asan_unpoison_memory_region(const volatile void* address, unsigned long bytes);
extern "C" alignas(1024) unsigned char tw_dynamic_shared[TW_EMULATE_DYNAMIC_BYTES];
alignas(1024) unsigned char tw_dynamic_shared[TW_EMULATE_DYNAMIC_BYTES];
#else
extern "C" alignas(1024) __thread unsigned char tw_dynamic_shared[TW_EMULATE_DYNAMIC_BYTES];
alignas(1024) __thread unsigned char tw_dynamic_shared[TW_EMULATE_DYNAMIC_BYTES];
#endif
#endif

namespace tw_emulate {

#ifdef TW_EMULATE_DYNAMIC_SHARED
// Converts to a reference to an array of anything.
struct DynamicShared {
  template <class T>
  operator T&() const {
    return reinterpret_cast<T&>(tw_dynamic_shared);
  }
};
static constexpr DynamicShared dynamic_shared;
#endif

static constinit thread_local unsigned thread_number = 0;
static constinit thread_local const char* kernel_name = "";
static constinit thread_local const TwEmulation* emulation = nullptr;

#ifdef TW_EMULATE_CHECK
static constinit thread_local unsigned at_line = 0;  // of the text
static constinit thread_local unsigned long stack_end = 0;  // of the running fiber: what is below is its own
static constinit thread_local unsigned dynamic_bytes = 0;
// The arrays of the running block lie between these.
static constinit thread_local unsigned long shared_begin = ~0ul;
static constinit thread_local unsigned long shared_end = 0;
inline void note_thread_begin();
inline void note_memory(const TwCpuLaunch* launch);
inline void forget_memory();
// Host code beside the kernels is instrumented too, and goes on when the launch is over.
struct NotedMemory {
  __attribute__((no_sanitize("thread"))) explicit NotedMemory(const TwCpuLaunch* launch) {
    note_memory(launch);
  }
  __attribute__((no_sanitize("thread"))) ~NotedMemory() { forget_memory(); }
};
// When an access to global memory takes place.
enum AccessTime : unsigned { Now, UntilCopied, UntilMapCopied, UntilMapStored, UntilMapAdded };
static void touch_read(const void* p, unsigned long bytes);
static void touch_later(const void* p, unsigned long bytes, AccessTime when, const void* word, unsigned line);
// A generated text sets it: where its lines come from.
static const TwSourceMap* source_map = nullptr;
#endif

// Other threads of the block may run inside `call`; the indices are this thread's own again
// afterwards.
template <class Call>
inline void suspended(Call call) {
  const uint3 index = threadIdx;
  const unsigned number = thread_number;
#ifdef TW_EMULATE_CHECK
  const unsigned line = at_line;
  const unsigned long end = stack_end;
#endif
  call();
  threadIdx = index;
  thread_number = number;
#ifdef TW_EMULATE_CHECK
  at_line = line;
  stack_end = end;
#endif
}

static __attribute__((noinline, cold)) void fault(const char* message) {
  const TwThreadPlace place = {
      kernel_name, {blockIdx.x, blockIdx.y, blockIdx.z}, {threadIdx.x, threadIdx.y, threadIdx.z}};
  emulation->fault(&place, message);
}

// ---- Running a kernel.

template <unsigned long... I>
struct Indices {};
#if defined(__clang__)
template <class, unsigned long... I>
using IndicesOf = Indices<I...>;
template <unsigned long N>
using FirstIndices = __make_integer_seq<IndicesOf, unsigned long, N>;
#else
template <unsigned long N>
using FirstIndices = Indices<__integer_pack(N)...>;
#endif

template <class... Parameter, unsigned long... I>
inline __attribute__((always_inline)) void call(void (*kernel)(Parameter...), void* const* values,
                                                Indices<I...>) {
  kernel(*static_cast<Parameter*>(values[I])...);
}

template <class... Parameter>
inline __attribute__((always_inline)) void call(void (*kernel)(Parameter...), void* const* values) {
  call(kernel, values, FirstIndices<sizeof...(Parameter)>{});
}

// Around the kernel: what these touch is the library's memory, not the launch's.
#define TW_AROUND_KERNEL __attribute__((no_sanitize("thread")))

// One thread of a block that runs as fibers.
template <auto Kernel>
TW_AROUND_KERNEL void run_fiber(void* parameters, unsigned index) {
  thread_number = index;
  threadIdx = {index % blockDim.x, index / blockDim.x % blockDim.y,
               index / blockDim.x / blockDim.y};
#ifdef TW_EMULATE_CHECK
  stack_end = (unsigned long)__builtin_frame_address(0);
  note_thread_begin();
#endif
  call(Kernel, static_cast<void* const*>(parameters));
}

template <auto Kernel>
inline void run_loop(void* const* parameters) {
  const dim3 size = blockDim;
  thread_number = 0;
  for (unsigned z = 0; z < size.z; ++z)
    for (unsigned y = 0; y < size.y; ++y)
      for (unsigned x = 0; x < size.x; ++x) {
        threadIdx = {x, y, z};
        call(Kernel, parameters);
        ++thread_number;
      }
}

#ifdef TW_EMULATE_ASAN
// Blocks of one launch come in order and on one thread: one that waits for an earlier block would
// wait for ever if it held the lock first. The lock keeps launches apart.
extern "C" __attribute__((visibility("default"))) const int tw_programs_in_order;
const int tw_programs_in_order = 1;
extern "C" int sched_yield() noexcept;
static int block_lock = 0;
struct BlockLock {
  BlockLock() {
    while (__atomic_exchange_n(&block_lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
  }
  ~BlockLock() { __atomic_store_n(&block_lock, 0, __ATOMIC_RELEASE); }
};
#else
struct BlockLock {
  BlockLock() {}
};
#endif

// Dynamic shared memory begins as garbage (as floating numbers: not a number), and ends where the
// launch said.
TW_AROUND_KERNEL inline void prepare_shared(const TwCpuLaunch* launch) {
#ifdef TW_EMULATE_CHECK
  shared_begin = ~0ul;
  shared_end = 0;
  dynamic_bytes = unsigned(launch->shared_bytes);
#endif
#ifdef TW_EMULATE_DYNAMIC_SHARED
  if (launch->shared_bytes > TW_EMULATE_DYNAMIC_BYTES)
    fault("the launch asks for more than 227 KiB of dynamic shared memory");
#ifdef TW_EMULATE_ASAN
  __asan_unpoison_memory_region(tw_dynamic_shared, TW_EMULATE_DYNAMIC_BYTES);
  __asan_poison_memory_region(tw_dynamic_shared + launch->shared_bytes,
                              TW_EMULATE_DYNAMIC_BYTES - launch->shared_bytes);
#endif
  __builtin_memset(tw_dynamic_shared, 0xff, launch->shared_bytes);
#else
  (void)launch;
#endif
}

template <auto Kernel, bool UsesBarriers>
TW_AROUND_KERNEL inline void run(const char* name, const TwCpuLaunch* launch, void* const* parameters,
                unsigned long first, unsigned long last) {
  const BlockLock lock;
  kernel_name = name;
  emulation = launch->services->emulation;
#ifdef TW_EMULATE_CHECK
  const NotedMemory noted(launch);
#endif
  gridDim = dim3(launch->grid[0], launch->grid[1], launch->grid[2]);
  blockDim = dim3(launch->block[0], launch->block[1], launch->block[2]);
  for (unsigned long block = first; block < last; ++block) {
    const unsigned long row = block / gridDim.x;
    blockIdx = {unsigned(block % gridDim.x), unsigned(row % gridDim.y), unsigned(row / gridDim.y)};
    prepare_shared(launch);
    if constexpr (UsesBarriers)
      emulation->run_block(launch, name, block, warpSize, &run_fiber<Kernel>,
                           const_cast<void**>(parameters));
    else run_loop<Kernel>(parameters);
  }
}

}  // namespace tw_emulate
