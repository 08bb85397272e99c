// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/cuda_launch.h — launches from host code: CUDA's keywords, and the configuration
// that waits for its kernel.
//
// `k<<<grid, block>>>(x)` is rewritten to `(::tilewright_inline::configure(grid, block), k(x))`,
// and every kernel has a stub of its own name and signature that takes the configuration from
// there, as nvcc does it: overloads, deduced template arguments, default arguments and pointers to
// kernels then follow the rules of C++.
#pragma once

#include "load_inline/torch/core.h"

#ifndef TW_EMULATED
#define __global__
#define __host__
#define __device__
#define __constant__
#define __managed__
#define __shared__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
// Sources make aliases of these; what is in them is the device's.
namespace cooperative_groups {}
namespace cub {}
namespace nvcuda {}
#endif

typedef struct CUstream_st* cudaStream_t;

namespace tilewright_inline {

struct Configuration {
  dim3 grid, block;
  unsigned long shared_bytes;
  cudaStream_t stream;
};

// A stack, because the arguments of a launch may contain one.
struct Configurations {
  Configuration waiting[16];
  int count = 0;
};
inline Configurations& configurations() {
  static thread_local Configurations all;
  return all;
}

inline void configure(dim3 grid, dim3 block, unsigned long shared_bytes = 0,
                      cudaStream_t stream = nullptr) {
  Configurations& all = configurations();
  TW_REQUIRE(all.count < 16, "launches are nested too deeply");
  all.waiting[all.count++] = {grid, block, shared_bytes, stream};
}

// The name expression of a kernel; template arguments are added as the compiler spells them.
class KernelName {
 public:
  explicit KernelName(const char* name) { text_.add(name); }
  const char* c_str() {
    if (has_arguments_) text_.add(">");
    has_arguments_ = false;
    return text_.c_str();
  }
  template <class... Types>
  KernelName& types() {
    (add_type<Types>(), ...);
    return *this;
  }
  template <class... Values>
  KernelName& values(const Values&... values) {
    (add_value(values), ...);
    return *this;
  }

 private:
  void separate() {
    text_.add(has_arguments_ ? ", " : "<");
    has_arguments_ = true;
  }
  // "... [with T = float]" by g++, "... [T = float]" by clang++.
  template <class T>
  static const char* spelling() {
    return __PRETTY_FUNCTION__;
  }
  template <class T>
  void add_type() {
    separate();
    const char* begin = spelling<T>();
    for (const char* at = begin; *at; ++at)
      if (at[0] == 'T' && at[1] == ' ' && at[2] == '=' && at[3] == ' ') begin = at + 4;
    unsigned long size = __builtin_strlen(begin) - 1;
    for (const char anonymous[] = "{anonymous}::"; size;) {
      if (size > 13 && __builtin_memcmp(begin, anonymous, 13) == 0) begin += 13, size -= 13;
      text_.add(begin++, 1), --size;
    }
  }
  template <class V>
  void add_value(const V& value) {
    separate();
    if constexpr (IsInteger<V>::value) write(text_, static_cast<long>(value), 0);
    else if constexpr (__is_enum(V)) text_.add_integer(static_cast<long>(value));
    else write(text_, value, 0);
  }
  Text text_;
  bool has_arguments_ = false;
};

// A launch as the library takes it; `addresses` and `bytes` live as long as the call.
inline TwLaunch request_of(const Configuration& c, void* entry, void** addresses,
                           const unsigned long* bytes, long count) {
  return {nullptr,
          entry,
          {c.grid.x, c.grid.y, c.grid.z},
          {c.block.x, c.block.y, c.block.z},
          c.shared_bytes,
          c.stream,
          addresses,
          bytes,
          count};
}

inline Configuration take_configuration(const char* name) {
  Configurations& all = configurations();
  TW_REQUIRE(all.count > 0, "kernel '", name, "' was called without <<<grid, block>>>");
  return all.waiting[--all.count];
}

}  // namespace tilewright_inline
