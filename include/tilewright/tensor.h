// SPDX-License-Identifier: Apache-2.0
// tilewright/tensor.h — n-dimensional arrays on a device: creation, views, copies, comparison,
// printing, .npy.
//
// A Tensor is a reference-counted handle: copying it shares the memory, and views share it too.
// Sizes and strides are in elements. Work on CUDA tensors is asynchronous on the current stream;
// `item`, `to_vector`, printing and comparison wait.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/buffer.h"
#include "tilewright/dtype.h"
#include "tilewright/module.h"
#include "tilewright/shape.h"

namespace tilewright {

class Traced;  // of tensors without memory, while a function is traced
class TracedStore;
struct TracedLayout;

class Tensor {
 public:
  Tensor() = default;  // undefined; a launch with it is an error

  // From parts; checks that every element lies inside the buffer.
  Tensor(Buffer buffer, DType dtype, Shape shape, Shape strides, std::int64_t offset = 0);

  bool is_defined() const { return state_ != nullptr; }
  DType dtype() const;
  Device device() const;
  const Shape& shape() const;
  const Shape& strides() const;
  std::int64_t size(int dimension) const;  // negative counts from the end
  std::int64_t stride(int dimension) const;
  int rank() const;
  std::int64_t numel() const;
  std::size_t nbytes() const;   // numel() * element size
  std::int64_t offset() const;  // of the first element in the buffer
  const Buffer& buffer() const;
  bool is_contiguous() const;

  // The address of the first element. `data<T>()` throws ArgumentError when T is not the dtype.
  void* data() const;
  template <Element T>
  T* data() const {
    check_dtype(dtype_of<T>);
    return static_cast<T*>(data());
  }

  // ---- Views: no copy.
  // Python's begin:end:step: negative indices count from the end, those beyond it are cut. A
  // negative step walks backwards from `begin`; to include element 0, let `end` be less than -size.
  Tensor slice(int dimension, std::int64_t begin, std::int64_t end, std::int64_t step = 1) const;
  Tensor select(int dimension, std::int64_t index) const;  // drops the dimension
  Tensor operator[](std::int64_t index) const { return select(0, index); }
  Tensor transpose(int a, int b) const;
  Tensor t() const { return transpose(-2, -1); }
  Tensor permute(std::vector<int> order) const;
  Tensor unsqueeze(int dimension) const;
  Tensor squeeze(int dimension) const;  // throws ArgumentError unless the size is 1
  Tensor broadcast_to(Shape shape) const;
  Tensor view(
      Shape shape) const;  // throws ArgumentError when it would need a copy; one size may be -1

  // ---- Copies. Conversion between dtypes rounds floats to nearest even; float to integer drops
  // the fraction, goes to the nearest end of the range when out of it, and makes NaN 0; integers
  // wrap; bool is "not 0".
  Tensor reshape(Shape shape) const;  // a view when possible, else a copy
  Tensor contiguous() const;          // itself when it is contiguous already
  Tensor clone() const;               // contiguous
  Tensor to(Device device) const;     // itself when it is there already, else contiguous
  Tensor to(DType dtype) const;       // itself when it has it already, else contiguous
  Tensor cpu() const { return to(Device::cpu()); }
  Tensor cuda(int index = 0) const { return to(Device::cuda(index)); }
  // Any dtype, device and strides; the source is broadcast to this shape. Memory that both share is
  // handled.
  void copy_from(const Tensor& source) const;
  void fill(double value) const;

  // ---- Values, on the host.
  template <Element T>
  T item() const {  // of a tensor with one element, converted to T as copies convert
    T value{};
    copy_item(dtype_of<T>, &value);
    return value;
  }
  template <Element T>
  std::vector<T> to_vector() const {  // in row-major order; T must be the dtype
    const auto count = static_cast<std::size_t>(numel());
    if constexpr (std::is_same_v<T, bool>) {  // a vector<bool> has no array inside
      const std::unique_ptr<bool[]> values(new bool[count]);
      copy_to_host(dtype_of<T>, values.get());
      return std::vector<bool>(values.get(), values.get() + count);
    } else {
      std::vector<T> out(count);
      copy_to_host(dtype_of<T>, out.data());
      return out;
    }
  }
  std::string to_string() const;  // readable, long tensors shortened

  operator Argument() const;  // how launches see it

 private:
  friend class TracedStore;
  friend Tensor make_traced(const std::shared_ptr<TracedStore>& store, const Traced& traced,
                            const TracedLayout& layout);
  friend const Traced* traced_of(const Tensor& tensor);
  friend void check_written(const Tensor& tensor);
  friend bool is_write_recorded(const Tensor& destination, bool is_source_traced);
  friend bool is_captured(const Tensor& tensor);
  struct State;
  explicit Tensor(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& defined() const;  // throws ArgumentError for an undefined tensor
  Tensor with_layout(Shape shape, Shape strides, std::int64_t offset) const;
  void check_dtype(DType expected) const;
  void copy_item(DType dtype, void* out) const;
  void copy_to_host(DType dtype, void* out) const;
  std::shared_ptr<const State> state_;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// ---- Creation.

struct TensorOptions {
  DType dtype = DType::Float32;
  std::optional<Device> device;  // else default_device()
  TensorOptions() = default;
  TensorOptions(DType type) : dtype(type) {}
  TensorOptions(Device place) : device(place) {}
  TensorOptions(DType type, Device place) : dtype(type), device(place) {}
};

Tensor empty(Shape shape, TensorOptions options = {});
Tensor empty_like(const Tensor& tensor);  // same dtype, device and shape, contiguous
Tensor zeros(Shape shape, TensorOptions options = {});
Tensor ones(Shape shape, TensorOptions options = {});
Tensor full(Shape shape, double value, TensorOptions options = {});
Tensor arange(std::int64_t end, TensorOptions options = {DType::Int64});
Tensor arange(double begin, double end, double step,
              TensorOptions options);  // without `end`; exact when all are integers

// Philox-4x32-10 counter-based numbers: element i of a seed is the same on every device, uniform
// values bit for bit and normal values to 2 ulp. Without a seed, the process-wide generator
// advances: it starts with seed 0, `manual_seed` sets it, and its first tensor is that of the same
// seed given here. Floating dtypes only. Normal values lie within 6.67 standard deviations
// (float64: 8.58), uniform ones are multiples of 2^-24 (float64: 2^-53) rounded to the dtype.
struct RandomOptions : TensorOptions {
  using TensorOptions::TensorOptions;
  std::optional<std::uint64_t> seed;
  RandomOptions with_seed(std::uint64_t value) const {
    RandomOptions r = *this;
    r.seed = value;
    return r;
  }
};
Tensor rand(Shape shape, RandomOptions options = {});   // uniform in [0, 1)
Tensor randn(Shape shape, RandomOptions options = {});  // normal
void manual_seed(std::uint64_t seed);

// From host values, copied.
template <Element T>
Tensor tensor(std::span<const T> values, Shape shape, std::optional<Device> device = {});
template <Element T>
Tensor tensor(const std::vector<T>& values, Shape shape, std::optional<Device> device = {});
template <Element T>
Tensor tensor(const std::vector<T>& values, std::optional<Device> device = {});
template <Element T>
Tensor tensor(std::initializer_list<T> values, std::optional<Device> device = {});
Tensor tensor_from_host(const void* values, std::size_t count, DType dtype, Shape shape,
                        std::optional<Device> device);

// Memory of the caller, shared: host or device. The caller keeps it alive unless `release` is
// given.
Tensor from_blob(void* data, Shape shape, TensorOptions options,
                 std::function<void()> release = {});
Tensor from_blob(void* data, Shape shape, Shape strides, TensorOptions options,
                 std::function<void()> release = {});

// ---- Comparison on the host, of tensors of the same shape and any dtypes and devices: in float64,
// with integers in 64 bits. NaN equals NaN only where `equal_nan`.

struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-8;
  bool equal_nan = false;
};
bool allclose(const Tensor& a, const Tensor& b, Tolerance tolerance = {});
double max_abs_error(const Tensor& a,
                     const Tensor& b);  // NaN when one has a NaN and the other does not

// ---- Files.

// Throws FormatError when the content is not what it claims to be or has no dtype of ours,
// EnvironmentError when the file cannot be read. On the CPU an array in Fortran order becomes a
// transposed view of its memory.
Tensor load_npy(const std::string& path, std::optional<Device> device = {});
// Written under another name first, so that `path` is whole or untouched. NumPy has no bfloat16 and
// float8: ArgumentError.
void save_npy(const std::string& path, const Tensor& tensor);

// ---- Small integers that kernels need.

constexpr std::int64_t cdiv(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t next_power_of_2(std::int64_t n) {
  std::int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

template <Element T>
Tensor tensor(std::span<const T> values, Shape shape, std::optional<Device> device) {
  return tensor_from_host(values.data(), values.size(), dtype_of<T>, std::move(shape), device);
}
template <Element T>
Tensor tensor(const std::vector<T>& values, Shape shape, std::optional<Device> device) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<unsigned char> bytes(values.begin(), values.end());
    return tensor_from_host(bytes.data(), bytes.size(), DType::Bool, std::move(shape), device);
  } else {
    return tensor_from_host(values.data(), values.size(), dtype_of<T>, std::move(shape), device);
  }
}
template <Element T>
Tensor tensor(const std::vector<T>& values, std::optional<Device> device) {
  return tensor(values, Shape{static_cast<std::int64_t>(values.size())}, device);
}
template <Element T>
Tensor tensor(std::initializer_list<T> values, std::optional<Device> device) {
  return tensor_from_host(values.begin(), values.size(), dtype_of<T>,
                          {static_cast<std::int64_t>(values.size())}, device);
}

}  // namespace tilewright
