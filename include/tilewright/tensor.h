// SPDX-License-Identifier: Apache-2.0
// tilewright/tensor.h — n-dimensional arrays on a device: creation, views, copies, comparison, printing, .npy.
//
// A Tensor is a reference-counted handle: copying it shares the memory, and views share it too. Sizes and strides are in
// elements. Work on CUDA tensors is asynchronous on the current stream; `item`, `to_vector`, printing and comparison wait.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/buffer.h"
#include "tilewright/dtype.h"
#include "tilewright/module.h"

namespace tilewright {

using Shape = std::vector<std::int64_t>;

class Tensor {
 public:
  Tensor() = default;   // undefined; a launch with it is an error

  // From parts; checks that every element lies inside the buffer.
  Tensor(Buffer buffer, DType dtype, Shape shape, Shape strides, std::int64_t offset = 0);

  bool is_defined() const { return state_ != nullptr; }
  DType dtype() const;
  Device device() const;
  const Shape& shape() const;
  const Shape& strides() const;
  std::int64_t size(int dimension) const;     // negative counts from the end
  std::int64_t stride(int dimension) const;
  int rank() const;
  std::int64_t numel() const;
  std::size_t nbytes() const;                 // numel() * element size
  std::int64_t offset() const;                // of the first element in the buffer
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
  Tensor slice(int dimension, std::int64_t begin, std::int64_t end, std::int64_t step = 1) const;
  Tensor select(int dimension, std::int64_t index) const;      // drops the dimension
  Tensor operator[](std::int64_t index) const { return select(0, index); }
  Tensor transpose(int a, int b) const;
  Tensor t() const { return transpose(-2, -1); }
  Tensor permute(std::vector<int> order) const;
  Tensor unsqueeze(int dimension) const;
  Tensor squeeze(int dimension) const;
  Tensor broadcast_to(Shape shape) const;
  Tensor view(Shape shape) const;             // throws ArgumentError when it would need a copy; one size may be -1

  // ---- Copies.
  Tensor reshape(Shape shape) const;          // a view when possible, else a copy
  Tensor contiguous() const;                  // itself when it is contiguous already
  Tensor clone() const;
  Tensor to(Device device) const;             // itself when it is there already
  Tensor to(DType dtype) const;
  Tensor cpu() const { return to(Device::cpu()); }
  Tensor cuda(int index = 0) const { return to(Device::cuda(index)); }
  void copy_from(const Tensor& source) const;      // same shape (after broadcasting), any dtype and device
  void fill(double value) const;

  // ---- Values, on the host.
  template <Element T>
  T item() const {                            // of a tensor with one element, converted to T
    if constexpr (std::is_integral_v<T>) return static_cast<T>(item_integer());
    else return static_cast<T>(item_number());
  }
  template <Element T>
  std::vector<T> to_vector() const {          // in row-major order; T must be the dtype
    std::vector<T> out(static_cast<std::size_t>(numel()));
    copy_to_host(dtype_of<T>, out.data());
    return out;
  }
  std::string to_string() const;              // readable, long tensors shortened

  operator Argument() const;                  // how launches see it

 private:
  struct State;
  void check_dtype(DType expected) const;
  double item_number() const;
  std::int64_t item_integer() const;
  void copy_to_host(DType dtype, void* out) const;
  std::shared_ptr<const State> state_;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// ---- Creation.

struct TensorOptions {
  DType dtype = DType::Float32;
  std::optional<Device> device;               // else default_device()
  TensorOptions() = default;
  TensorOptions(DType dtype) : dtype(dtype) {}
  TensorOptions(Device device) : device(device) {}
  TensorOptions(DType dtype, Device device) : dtype(dtype), device(device) {}
};

Tensor empty(Shape shape, TensorOptions options = {});
Tensor empty_like(const Tensor& tensor);      // same dtype, device and shape, contiguous
Tensor zeros(Shape shape, TensorOptions options = {});
Tensor ones(Shape shape, TensorOptions options = {});
Tensor full(Shape shape, double value, TensorOptions options = {});
Tensor arange(std::int64_t end, TensorOptions options = {DType::Int64});
Tensor arange(double begin, double end, double step, TensorOptions options);

// Philox-4x32-10 counter-based numbers: element i of a seed is the same on every device, uniform values bit for bit and
// normal values to 2 ulp. Without a seed, the process-wide generator advances (`manual_seed` sets it).
struct RandomOptions : TensorOptions {
  using TensorOptions::TensorOptions;
  std::optional<std::uint64_t> seed;
  RandomOptions with_seed(std::uint64_t value) const { RandomOptions r = *this; r.seed = value; return r; }
};
Tensor rand(Shape shape, RandomOptions options = {});    // uniform in [0, 1)
Tensor randn(Shape shape, RandomOptions options = {});   // normal
void manual_seed(std::uint64_t seed);

// From host values, copied.
template <Element T>
Tensor tensor(std::span<const T> values, Shape shape, std::optional<Device> device = {});
template <Element T>
Tensor tensor(const std::vector<T>& values, std::optional<Device> device = {});
Tensor tensor_from_host(const void* values, std::size_t count, DType dtype, Shape shape, std::optional<Device> device);

// Memory of the caller, shared: host or device. The caller keeps it alive unless `release` is given.
Tensor from_blob(void* data, Shape shape, TensorOptions options, std::function<void()> release = {});
Tensor from_blob(void* data, Shape shape, Shape strides, TensorOptions options, std::function<void()> release = {});

// ---- Comparison, in float64 on the host. NaN equals NaN only where `equal_nan`.

struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-8;
  bool equal_nan = false;
};
bool allclose(const Tensor& a, const Tensor& b, Tolerance tolerance = {});
double max_abs_error(const Tensor& a, const Tensor& b);   // NaN when one has a NaN and the other does not

// ---- Files.

Tensor load_npy(const std::string& path, std::optional<Device> device = {});   // throws FormatError
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
Tensor tensor(const std::vector<T>& values, std::optional<Device> device) {
  const auto size = static_cast<std::int64_t>(values.size());
  return tensor_from_host(values.data(), values.size(), dtype_of<T>, {size}, device);
}

}  // namespace tilewright
