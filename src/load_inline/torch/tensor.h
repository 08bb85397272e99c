// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/tensor.h — at::Tensor: a counted handle of a tensor that the library holds.
#pragma once

#include "load_inline/torch/accessor.h"
#include "load_inline/torch/core.h"

namespace tilewright_inline {

// Integers of an operation: sizes and flags, on the stack.
struct Integers {
  long values[72];
  long count = 0;
  Integers() = default;
  Integers(std::initializer_list<long> list) { add({list.begin(), list.size()}); }
  Integers& add(c10::IntArrayRef list) {
    TW_REQUIRE(list.size() <= 64, "a tensor has at most 64 dimensions");
    for (long value : list) values[count++] = value;
    return *this;
  }
};

}  // namespace tilewright_inline

// A namespace of its own, so that a call of the source's own add(x, y) does not find at::add as
// well.
namespace tilewright_tensor {
using namespace c10;
using namespace at;

class Tensor {
 public:
  Tensor() = default;
  static Tensor adopt(TwTensor* handle) {
    Tensor t;
    t.handle_ = handle;
    return t;
  }
  static Tensor share(TwTensor* handle) {
    Tensor t = adopt(handle);
    t.retain();
    return t;
  }
  Tensor(const Tensor& other) : handle_(other.handle_) { retain(); }
  Tensor(Tensor&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Tensor& operator=(Tensor other) noexcept {
    TwTensor* mine = handle_;
    handle_ = other.handle_;
    other.handle_ = mine;
    return *this;
  }
  ~Tensor() {
    if (handle_ && __atomic_sub_fetch(&handle_->refs, 1, __ATOMIC_ACQ_REL) == 0)
      ::tilewright_inline::api()->destroy(handle_);
  }
  TwTensor* handle() const { return handle_; }

  static Tensor operate(const char* name, std::initializer_list<Tensor> tensors,
                        const ::tilewright_inline::Integers& integers = {},
                        std::initializer_list<double> numbers = {}) {
    TwTensor* handles[8];
    long count = 0;
    for (const Tensor& tensor : tensors) {
      TW_REQUIRE(tensor.defined(), name, " of a tensor that is not defined");
      handles[count++] = tensor.handle_;
    }
    const TwOperation operation{name,
                                handles,
                                count,
                                integers.values,
                                integers.count,
                                numbers.begin(),
                                static_cast<long>(numbers.size())};
    TwTensor* const result = ::tilewright_inline::api()->operate(&operation);
    if (!result) ::tilewright_inline::throw_api_error();
    return adopt(result);
  }

  // ---- Facts.
  bool defined() const { return handle_ != nullptr; }
  IntArrayRef sizes() const { return {get().sizes, static_cast<unsigned long>(get().rank)}; }
  IntArrayRef strides() const { return {get().strides, static_cast<unsigned long>(get().rank)}; }
  long size(long i) const { return get().sizes[dimension(i)]; }
  long stride(long i) const { return get().strides[dimension(i)]; }
  long dim() const { return get().rank; }
  long ndimension() const { return get().rank; }
  long numel() const { return get().numel; }
  ScalarType scalar_type() const { return static_cast<ScalarType>(get().dtype); }
  ScalarType dtype() const { return scalar_type(); }
  ScalarType type() const { return scalar_type(); }
  long element_size() const { return elementSize(scalar_type()); }
  long itemsize() const { return element_size(); }
  unsigned long nbytes() const { return static_cast<unsigned long>(numel() * element_size()); }
  Device device() const {
    return {static_cast<DeviceType>(get().device_type), is_cuda() ? get().device_index : -1};
  }
  int get_device() const { return is_cuda() ? get().device_index : -1; }
  bool is_cuda() const { return get().device_type == 1; }
  bool is_cpu() const { return get().device_type == 0; }
  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const {
    return get().is_contiguous != 0;
  }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool requires_grad() const { return false; }
  TensorOptions options() const { return TensorOptions().dtype(scalar_type()).device(device()); }
  bool is_same(const Tensor& other) const { return handle_ == other.handle_; }

  // ---- Memory.
  void* data_ptr() const { return get().data; }
  template <class T>
  T* data_ptr() const {
    using Element = ::tilewright_inline::plain<T>;
    TW_REQUIRE(CppTypeToScalarType<Element>::value == scalar_type(), "expected scalar type ",
               toString(CppTypeToScalarType<Element>::value), " but found ",
               toString(scalar_type()));
    return static_cast<T*>(get().data);
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  void* mutable_data_ptr() const { return get().data; }
  const void* const_data_ptr() const { return get().data; }
  template <class T, unsigned long N>
  TensorAccessor<T, N> accessor() const {
    check_rank(N);
    return {data_ptr<T>(), get().sizes, get().strides};
  }
  template <class T, unsigned long N, template <class> class Traits = DefaultPtrTraits>
  GenericPackedTensorAccessor<T, N, Traits, int> packed_accessor32() const {
    check_rank(N);
    TW_REQUIRE(numel() < 2147483648L, "packed_accessor32 of a tensor with ", numel(),
               " elements; use packed_accessor64");
    return {data_ptr<T>(), get().sizes, get().strides};
  }
  template <class T, unsigned long N, template <class> class Traits = DefaultPtrTraits,
            class Index = long>
  GenericPackedTensorAccessor<T, N, Traits, Index> packed_accessor64() const {
    check_rank(N);
    return {data_ptr<T>(), get().sizes, get().strides};
  }
  template <class T>
  T item() const {
    double number = 0;
    long integer = 0;
    if (!::tilewright_inline::api()->item(&get(), &number, &integer))
      ::tilewright_inline::throw_api_error();
    return isFloatingType(scalar_type()) ? static_cast<T>(number) : static_cast<T>(integer);
  }
  Scalar item() const {
    return isFloatingType(scalar_type()) ? Scalar(item<double>()) : Scalar(item<long>());
  }

  // ---- Views and copies.
  Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const {
    return is_contiguous() ? *this : operate("contiguous", {*this});
  }
  Tensor clone() const { return operate("clone", {*this}); }
  Tensor detach() const { return *this; }
  Tensor view(IntArrayRef sizes) const {
    return operate("view", {*this}, ::tilewright_inline::Integers().add(sizes));
  }
  Tensor reshape(IntArrayRef sizes) const {
    return operate("reshape", {*this}, ::tilewright_inline::Integers().add(sizes));
  }
  Tensor flatten() const { return reshape({-1}); }
  Tensor transpose(long a, long b) const { return operate("transpose", {*this}, {a, b}); }
  Tensor t() const { return dim() < 2 ? *this : transpose(0, 1); }
  Tensor permute(IntArrayRef order) const {
    return operate("permute", {*this}, ::tilewright_inline::Integers().add(order));
  }
  Tensor expand(IntArrayRef sizes) const {
    return operate("expand", {*this}, ::tilewright_inline::Integers().add(sizes));
  }
  Tensor unsqueeze(long d) const { return operate("unsqueeze", {*this}, {d}); }
  Tensor squeeze(long d) const { return operate("squeeze", {*this}, {d}); }
  Tensor select(long d, long index) const { return operate("select", {*this}, {d, index}); }
  Tensor slice(long d, long begin, long end, long step = 1) const {
    return operate("slice", {*this}, {d, begin, end, step});
  }
  Tensor narrow(long d, long begin, long length) const { return slice(d, begin, begin + length); }
  Tensor operator[](long index) const { return select(0, index); }
  Tensor to(ScalarType type) const {
    return operate("to_dtype", {*this}, {static_cast<long>(type)});
  }
  Tensor to(Device place) const {
    return operate("to_device", {*this}, {static_cast<long>(place.type()), place.index()});
  }
  Tensor to(DeviceType place) const { return to(Device(place)); }
  Tensor to(const TensorOptions& options) const {
    const Tensor moved = to(options.device());
    return options.has_dtype() ? moved.to(options.dtype()) : moved;
  }
  Tensor to(Device place, ScalarType type) const { return to(place).to(type); }
  Tensor cpu() const { return to(kCPU); }
  Tensor cuda() const { return to(kCUDA); }
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor type_as(const Tensor& other) const { return to(other.scalar_type()); }
  Tensor new_empty(IntArrayRef sizes) const;
  Tensor new_zeros(IntArrayRef sizes) const;

  // ---- Arithmetic.
#define TW_BINARY(name, symbol)                                                          \
  Tensor name(const Tensor& other) const { return operate(#name, {*this, other}); }      \
  Tensor name(Scalar other) const {                                                      \
    return operate(#name, {*this}, {other.isFloatingPoint()}, {other.toDouble()});       \
  }                                                                                      \
  const Tensor& name##_(const Tensor& other) const { return copy_(name(other)); }        \
  const Tensor& name##_(Scalar other) const { return copy_(name(other)); }               \
  const Tensor& operator symbol##=(const Tensor& other) const { return name##_(other); } \
  const Tensor& operator symbol##=(Scalar other) const { return name##_(other); }        \
  friend Tensor operator symbol(const Tensor& a, const Tensor& b) { return a.name(b); }  \
  friend Tensor operator symbol(const Tensor& a, Scalar b) { return a.name(b); }         \
  friend Tensor operator symbol(Scalar a, const Tensor& b) {                             \
    return operate("r" #name, {b}, {a.isFloatingPoint()}, {a.toDouble()});               \
  }
  TW_BINARY(add, +)
  TW_BINARY(sub, -)
  TW_BINARY(mul, *)
  TW_BINARY(div, /)
#undef TW_BINARY
#define TW_PAIR(name) \
  Tensor name(const Tensor& other) const { return operate(#name, {*this, other}); }
  TW_PAIR(pow) TW_PAIR(maximum) TW_PAIR(minimum) TW_PAIR(matmul) TW_PAIR(bmm)
#undef TW_PAIR
  Tensor pow(Scalar other) const {
    return operate("pow", {*this}, {other.isFloatingPoint()}, {other.toDouble()});
  }
  Tensor mm(const Tensor& other) const {
    TW_REQUIRE(dim() == 2 && other.dim() == 2, "mm multiplies two matrices, not tensors with ",
               dim(), " and ", other.dim(), " dimensions");
    return matmul(other);
  }
#define TW_ALONG(name) \
  Tensor name(long dim, bool keepdim = false) const { return operate(#name, {*this}, {dim, keepdim}); }
  TW_ALONG(sum) TW_ALONG(mean)
#undef TW_ALONG
  Tensor softmax(long dim) const { return operate("softmax", {*this}, {dim}); }
  Tensor log_softmax(long dim) const { return operate("log_softmax", {*this}, {dim}); }
#define TW_UNARY(name) \
  Tensor name() const { return operate(#name, {*this}); }
  TW_UNARY(neg)
  TW_UNARY(abs)
  TW_UNARY(exp) TW_UNARY(log) TW_UNARY(sqrt) TW_UNARY(rsqrt) TW_UNARY(tanh) TW_UNARY(sigmoid)
      TW_UNARY(relu) TW_UNARY(silu) TW_UNARY(erf) TW_UNARY(sin) TW_UNARY(cos) TW_UNARY(sum) TW_UNARY(mean) TW_UNARY(max)
          TW_UNARY(min)
#undef TW_UNARY
              Tensor
              operator-() const {
    return neg();
  }
  const Tensor& fill_(Scalar value) const {
    operate("fill_", {*this}, {}, {value.toDouble()});
    return *this;
  }
  const Tensor& zero_() const { return fill_(0.0); }
  const Tensor& copy_(const Tensor& source) const {
    operate("copy_", {*this, source});
    return *this;
  }

 private:
  TwTensor& get() const {
    TW_REQUIRE(handle_, "this tensor is not defined");
    return *handle_;
  }
  void retain() const {
    if (handle_) __atomic_add_fetch(&handle_->refs, 1, __ATOMIC_RELAXED);
  }
  long dimension(long i) const {
    const long rank = get().rank;
    TW_REQUIRE(i >= -rank && i < rank, "dimension ", i, " of a tensor with ", rank, " dimensions");
    return i < 0 ? i + rank : i;
  }
  void check_rank(unsigned long n) const {
    TW_REQUIRE(dim() == static_cast<long>(n), "expected ", n, " dimensions, got ", dim());
  }
  TwTensor* handle_ = nullptr;
};

}  // namespace tilewright_tensor

namespace at {
using namespace c10;
using tilewright_tensor::Tensor;
using TensorList = ArrayRef<Tensor>;

// ---- Creation.

inline Tensor make(const char* name, IntArrayRef sizes, const TensorOptions& options,
                   double value = 0) {
  ::tilewright_inline::Integers integers{static_cast<long>(options.dtype()),
                                         static_cast<long>(options.device().type()),
                                         options.device().index()};
  return Tensor::operate(name, {}, integers.add(sizes), {value});
}
inline Tensor empty(IntArrayRef sizes, const TensorOptions& options = {}) {
  return make("empty", sizes, options);
}
inline Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {}) {
  return make("full", sizes, options, 0);
}
inline Tensor ones(IntArrayRef sizes, const TensorOptions& options = {}) {
  return make("full", sizes, options, 1);
}
inline Tensor full(IntArrayRef sizes, Scalar value, const TensorOptions& options = {}) {
  return make("full", sizes, options, value.toDouble());
}
inline Tensor arange(Scalar end, const TensorOptions& options = kLong) {
  return make("arange", {end.toLong()}, options);
}
inline Tensor empty_like(const Tensor& x, MemoryFormat = MemoryFormat::Preserve) {
  return empty(x.sizes(), x.options());
}
inline Tensor empty_like(const Tensor& x, const TensorOptions& options) {
  return empty(x.sizes(), options);
}
inline Tensor zeros_like(const Tensor& x) { return zeros(x.sizes(), x.options()); }
inline Tensor zeros_like(const Tensor& x, const TensorOptions& options) {
  return zeros(x.sizes(), options);
}
inline Tensor ones_like(const Tensor& x) { return ones(x.sizes(), x.options()); }
inline Tensor ones_like(const Tensor& x, const TensorOptions& options) {
  return ones(x.sizes(), options);
}
inline Tensor full_like(const Tensor& x, Scalar value) {
  return full(x.sizes(), value, x.options());
}

// Tensors one after the other along a dimension that exists, or along a new one.
inline Tensor cat(TensorList tensors, long dim = 0) {
  TW_REQUIRE(!tensors.empty(), "cat needs at least one tensor");
  const Tensor& first = tensors[0];
  const long rank = first.dim();
  TW_REQUIRE(dim >= -rank && dim < rank, "cat: dimension ", dim, " of tensors with ", rank,
             " dimensions");
  const long along = dim < 0 ? dim + rank : dim;
  ::tilewright_inline::Integers sizes;
  sizes.add(first.sizes());
  for (unsigned long i = 1; i < tensors.size(); ++i) {
    TW_REQUIRE(tensors[i].dim() == rank && tensors[i].scalar_type() == first.scalar_type(),
               "cat: tensor ", i, " has another number of dimensions or another dtype");
    for (long d = 0; d < rank; ++d)
      TW_REQUIRE(d == along || tensors[i].size(d) == first.size(d), "cat: tensor ", i,
                 " has another size in dimension ", d);
    sizes.values[along] += tensors[i].size(along);
  }
  Tensor out = empty(IntArrayRef(sizes.values, static_cast<unsigned long>(rank)), first.options());
  long at = 0;
  for (const Tensor& tensor : tensors) {
    out.slice(along, at, at + tensor.size(along)).copy_(tensor);
    at += tensor.size(along);
  }
  return out;
}
inline Tensor stack(TensorList tensors, long dim = 0) {
  TW_REQUIRE(!tensors.empty(), "stack needs at least one tensor");
  const Tensor& first = tensors[0];
  const long rank = first.dim() + 1;
  TW_REQUIRE(dim >= -rank && dim < rank, "stack: dimension ", dim, " of a result with ", rank,
             " dimensions");
  const long along = dim < 0 ? dim + rank : dim;
  ::tilewright_inline::Integers sizes;
  sizes.add(first.sizes().slice(0, static_cast<unsigned long>(along)));
  sizes.add(static_cast<long>(tensors.size()));
  sizes.add(first.sizes().slice(static_cast<unsigned long>(along)));
  Tensor out = empty(IntArrayRef(sizes.values, static_cast<unsigned long>(rank)), first.options());
  for (unsigned long i = 0; i < tensors.size(); ++i)
    out.select(along, static_cast<long>(i)).copy_(tensors[i]);
  return out;
}

// f(first, last) over parts of [begin, end), on all cores. What f throws ends the call.
template <class F>
void parallel_for(long begin, long end, long grain, const F& f) {
  struct Work {
    const F& f;
    ::tilewright_inline::Text message;
    int has_failed = 0;
  } work{f, {}, 0};
  const int is_done = ::tilewright_inline::api()->parallel(
      begin, end, grain,
      [](void* data, long first, long last) {
        Work& all = *static_cast<Work*>(data);
        const auto fail = [&](const char* message) {
          if (__atomic_exchange_n(&all.has_failed, 1, __ATOMIC_ACQ_REL) == 0)
            all.message.add(message);
        };
        try {
          all.f(first, last);
        } catch (const std::exception& error) {
          fail(error.what());
        } catch (...) {
          fail("parallel_for: the function threw something that is not a std::exception");
        }
      },
      &work);
  if (!is_done) ::tilewright_inline::throw_api_error();
  if (work.has_failed) throw c10::Error(work.message);
}
inline int get_num_threads() { return ::tilewright_inline::api()->device_number(16); }

#define TW_FREE(name) \
  inline Tensor name(const Tensor& x) { return x.name(); }
TW_FREE(neg)
TW_FREE(abs)
TW_FREE(exp) TW_FREE(log) TW_FREE(sqrt) TW_FREE(rsqrt) TW_FREE(tanh) TW_FREE(sigmoid) TW_FREE(relu)
    TW_FREE(silu) TW_FREE(erf) TW_FREE(sin) TW_FREE(cos) TW_FREE(sum) TW_FREE(mean)
#undef TW_FREE
        inline Tensor add(const Tensor& a, const Tensor& b) {
  return a.add(b);
}
inline Tensor sub(const Tensor& a, const Tensor& b) { return a.sub(b); }
inline Tensor mul(const Tensor& a, const Tensor& b) { return a.mul(b); }
inline Tensor div(const Tensor& a, const Tensor& b) { return a.div(b); }
inline Tensor maximum(const Tensor& a, const Tensor& b) { return a.maximum(b); }
inline Tensor minimum(const Tensor& a, const Tensor& b) { return a.minimum(b); }
inline Tensor pow(const Tensor& a, const Tensor& b) { return a.pow(b); }
inline Tensor pow(const Tensor& a, Scalar b) { return a.pow(b); }
inline Tensor matmul(const Tensor& a, const Tensor& b) { return a.matmul(b); }
inline Tensor mm(const Tensor& a, const Tensor& b) { return a.mm(b); }
inline Tensor bmm(const Tensor& a, const Tensor& b) { return a.bmm(b); }
inline Tensor softmax(const Tensor& x, long dim) { return x.softmax(dim); }
inline Tensor log_softmax(const Tensor& x, long dim) { return x.log_softmax(dim); }
// `approximate` is "none" or "tanh".
inline Tensor gelu(const Tensor& x, const char* approximate = "none") {
  return Tensor::operate("gelu", {x}, {approximate[0] == 't'});
}

}  // namespace at

inline at::Tensor tilewright_tensor::Tensor::new_empty(IntArrayRef sizes) const {
  return at::empty(sizes, options());
}
inline at::Tensor tilewright_tensor::Tensor::new_zeros(IntArrayRef sizes) const {
  return at::zeros(sizes, options());
}

namespace torch {
using namespace at;
using Dtype = at::ScalarType;
namespace cuda {
inline bool is_available() { return true; }
}  // namespace cuda
}  // namespace torch
