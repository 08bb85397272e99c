// SPDX-License-Identifier: Apache-2.0
// tensor/device/kernels.cu — the kernels behind operations on CUDA tensors, compiled one instance
// at a time on first use.
#include "tensor/device/random.h"
#include "tensor/device/strided.h"

namespace tilewright::element {

template <class Index>
inline Index thread_of_grid() {
  return static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
}
template <class Index>
inline Index threads_of_grid() {
  return static_cast<Index>(gridDim.x) * blockDim.x;
}

// Index is 32 bits wide where the element count allows, since dividing 64-bit numbers is slow.
template <class To, class From, class Index>
__global__ void copy(To* destination, const From* source, StridedPair pair) {
  const Index count = static_cast<Index>(pair.count);
  for (Index i = thread_of_grid<Index>(); i < count; i += threads_of_grid<Index>()) {
    const PairOffset at = offset_of<Index>(pair, i);
    destination[at.destination] = convert<To>(source[at.source]);
  }
}

template <class T, class Index>
__global__ void fill(T* destination, StridedPair pair, unsigned long long value) {
  const Index count = static_cast<Index>(pair.count);
  for (Index i = thread_of_grid<Index>(); i < count; i += threads_of_grid<Index>())
    destination[offset_of<Index>(pair, i).destination] = static_cast<T>(value);
}

template <class T, class Number>
__global__ void arange(T* out, long long count, Number begin, Number step) {
  for (long long i = thread_of_grid<long long>(); i < count; i += threads_of_grid<long long>())
    out[i] = convert<T>(ramp(begin, step, i));
}

template <class T>
inline void store_block(T* out, long long count, long long block, const Block<T>& values) {
  for (int i = 0; i < block_elements<T>; ++i)
    if (block * block_elements<T> + i < count) out[block * block_elements<T> + i] = values.v[i];
}

template <class T>
__global__ void uniform(T* out, long long count, unsigned long long seed,
                        unsigned long long first) {
  for (long long b = thread_of_grid<long long>(); b * block_elements<T> < count;
       b += threads_of_grid<long long>())
    store_block(out, count, b, uniform_block<T>(seed, first + b));
}

template <class T>
__global__ void normal(T* out, long long count, unsigned long long seed, unsigned long long first) {
  for (long long b = thread_of_grid<long long>(); b * block_elements<T> < count;
       b += threads_of_grid<long long>())
    store_block(out, count, b, normal_block<T>(seed, first + b));
}

}  // namespace tilewright::element
