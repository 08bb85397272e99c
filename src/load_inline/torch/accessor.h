// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/accessor.h — tensor accessors: an address with sizes and strides, by value into
// kernels.
#pragma once

#include "load_inline/torch/small_floats.h"

namespace at {

template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

template <class T, unsigned long N, template <class> class Traits = DefaultPtrTraits,
          class Index = long>
class TensorAccessor {
 public:
  TW_HD TensorAccessor(T* data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  TW_HD Index size(Index i) const { return sizes_[i]; }
  TW_HD Index stride(Index i) const { return strides_[i]; }
  TW_HD T* data() const { return data_; }
  TW_HD TensorAccessor<T, N - 1, Traits, Index> operator[](Index i) const {
    return {data_ + strides_[0] * i, sizes_ + 1, strides_ + 1};
  }

 private:
  T* data_;
  const Index* sizes_;
  const Index* strides_;
};

template <class T, template <class> class Traits, class Index>
class TensorAccessor<T, 1, Traits, Index> {
 public:
  TW_HD TensorAccessor(T* data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  TW_HD Index size(Index i) const { return sizes_[i]; }
  TW_HD Index stride(Index i) const { return strides_[i]; }
  TW_HD T* data() const { return data_; }
  TW_HD T& operator[](Index i) const { return data_[strides_[0] * i]; }

 private:
  T* data_;
  const Index* sizes_;
  const Index* strides_;
};

// Holds its sizes and strides, so that it may be a kernel's parameter.
template <class T, unsigned long N, template <class> class Traits = DefaultPtrTraits,
          class Index = long>
class GenericPackedTensorAccessor {
 public:
  TW_HD GenericPackedTensorAccessor(T* data, const long* sizes, const long* strides) : data_(data) {
    for (unsigned long i = 0; i < N; ++i) {
      sizes_[i] = static_cast<Index>(sizes[i]);
      strides_[i] = static_cast<Index>(strides[i]);
    }
  }
  TW_HD Index size(Index i) const { return sizes_[i]; }
  TW_HD Index stride(Index i) const { return strides_[i]; }
  TW_HD T* data() const { return data_; }
  TW_HD decltype(auto) operator[](Index i) const {
    return TensorAccessor<T, N, Traits, Index>(data_, sizes_, strides_)[i];
  }

 private:
  T* data_;
  Index sizes_[N];
  Index strides_[N];
};

template <class T, unsigned long N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int>;
template <class T, unsigned long N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, long>;

}  // namespace at

namespace torch {
using at::DefaultPtrTraits;
using at::PackedTensorAccessor32;
using at::PackedTensorAccessor64;
using at::RestrictPtrTraits;
using at::TensorAccessor;
template <class T, unsigned long N, template <class> class Traits = DefaultPtrTraits,
          class Index = long>
using PackedTensorAccessor = at::GenericPackedTensorAccessor<T, N, Traits, Index>;
}  // namespace torch
