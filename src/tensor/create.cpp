// SPDX-License-Identifier: Apache-2.0
// tensor/create.cpp — new tensors, and tensors over the caller's memory.
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "runtime/cpu/thread_pool.h"
#include "tensor/device/strided.h"
#include "tensor/device_ops.h"
#include "tensor/element_types.h"
#include "tensor/host_copy.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

template <class Number>
void fill_ramp(const Tensor& out, Number begin, Number step) {
  if (out.device().is_cuda()) {
    arange_on_device(out, begin, step);
    return;
  }
  with_element_type(out.dtype(), [&]<class T>() {
    parallel_ranges(static_cast<std::uint64_t>(out.numel()), elements_per_task,
                    [&](std::int64_t first, std::int64_t last) {
                      std::byte* const values = static_cast<std::byte*>(out.data());
                      for (std::int64_t i = first; i < last; ++i) {
                        const T value = element::convert<T>(element::ramp(begin, step, i));
                        std::memcpy(values + i * static_cast<std::int64_t>(sizeof(T)), &value,
                                    sizeof(T));
                      }
                    });
  });
}

bool is_int64(double value) {
  return value == std::floor(value) && value >= -0x1p63 && value < 0x1p63;
}

}  // namespace

Tensor empty(Shape shape, TensorOptions options) {
  const std::int64_t numel = checked_numel(shape, size_of(options.dtype));
  const Device device = options.device ? *options.device : default_device();
  Buffer buffer =
      Buffer::allocate(static_cast<std::size_t>(numel) * size_of(options.dtype), device);
  Shape strides = contiguous_strides(shape);
  return Tensor(std::move(buffer), options.dtype, std::move(shape), std::move(strides));
}

Tensor empty_like(const Tensor& tensor) {
  return empty(tensor.shape(), {tensor.dtype(), tensor.device()});
}

Tensor full(Shape shape, double value, TensorOptions options) {
  const Tensor out = empty(std::move(shape), options);
  out.fill(value);
  set_contents(out, {MadeContents::Kind::Constant, value});
  return out;
}

Tensor zeros(Shape shape, TensorOptions options) { return full(std::move(shape), 0, options); }
Tensor ones(Shape shape, TensorOptions options) { return full(std::move(shape), 1, options); }

Tensor arange(std::int64_t end, TensorOptions options) {
  if (end < 0)
    throw ArgumentError(fmt::format("arange({}) would count down: give begin, end and step", end));
  const Tensor out = empty({end}, options);
  fill_ramp<long long>(out, 0, 1);
  set_contents(out, {MadeContents::Kind::Counting, static_cast<double>(end)});
  return out;
}

Tensor arange(double begin, double end, double step, TensorOptions options) {
  const double count = std::ceil((end - begin) / step);
  const bool is_valid =
      std::isfinite(begin) && std::isfinite(step) && step != 0 && count >= 0 && count < 0x1p63;
  if (!is_valid)
    throw ArgumentError(fmt::format(
        "arange from {} to {} in steps of {} is not a finite row of numbers", begin, end, step));
  const Tensor out = empty({static_cast<std::int64_t>(count)}, options);
  if (is_int64(begin) && is_int64(step))
    fill_ramp(out, static_cast<long long>(begin), static_cast<long long>(step));
  else fill_ramp(out, begin, step);
  return out;
}

Tensor tensor_from_host(const void* values, std::size_t count, DType dtype, Shape shape,
                        std::optional<Device> device) {
  const std::int64_t numel = checked_numel(shape, size_of(dtype));
  if (static_cast<std::uint64_t>(numel) != count)
    throw ArgumentError(
        fmt::format("{} values do not fill a tensor of shape {}", count, shape_text(shape)));
  const Tensor out = empty(shape, {dtype, device ? *device : default_device()});
  if (numel > 0)
    out.copy_from(from_blob(const_cast<void*>(values), std::move(shape), {dtype, Device::cpu()}));
  return out;
}

Tensor from_blob(void* data, Shape shape, TensorOptions options, std::function<void()> release) {
  checked_numel(shape, size_of(options.dtype));
  Shape strides = contiguous_strides(shape);
  return from_blob(data, std::move(shape), std::move(strides), options, std::move(release));
}

Tensor from_blob(void* data, Shape shape, Shape strides, TensorOptions options,
                 std::function<void()> release) {
  const std::size_t element = size_of(options.dtype);
  const std::int64_t numel = checked_numel(shape, element);
  if (shape.size() != strides.size())
    throw ArgumentError(
        fmt::format("shape {} and strides {} must have as many entries as each other",
                    shape_text(shape), shape_text(strides)));
  if (data == nullptr && numel > 0)
    throw ArgumentError(
        fmt::format("from_blob of shape {} was given a null address", shape_text(shape)));
  if (reinterpret_cast<std::uintptr_t>(data) % element != 0)
    throw ArgumentError(
        fmt::format("from_blob was given an address that is not a multiple of {}, the size of {}",
                    element, name_of(options.dtype)));
  const Reach reach = reach_of(shape, strides, element);
  const std::size_t bytes =
      numel == 0 ? 0 : static_cast<std::size_t>(reach.high - reach.low + 1) * element;
  std::byte* const lowest =
      static_cast<std::byte*>(data) + reach.low * static_cast<std::int64_t>(element);
  Buffer buffer = Buffer::wrap(lowest, bytes, options.device ? *options.device : default_device(),
                               std::move(release));
  return Tensor(std::move(buffer), options.dtype, std::move(shape), std::move(strides), -reach.low);
}

}  // namespace tilewright
