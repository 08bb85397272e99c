// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/program_host.h — what CUDA gives host code besides its runtime, for programs
// whose kernels run on a GPU.
#pragma once

#include "load_inline/torch/cuda_launch.h"

#define __CUDACC__ 1
#define __align__(n) __attribute__((aligned(n)))

typedef unsigned char uchar;
typedef unsigned int uint;

template <class A, class B>
constexpr auto min(A a, B b) -> decltype(a < b ? a : b) {
  return a < b ? a : b;
}
template <class A, class B>
constexpr auto max(A a, B b) -> decltype(a < b ? b : a) {
  return a < b ? b : a;
}
inline float rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
inline double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
