// SPDX-License-Identifier: Apache-2.0
// tensor/copy.cpp — copies and fills between any two tensors: which device does the work, and what
// is staged on the way.
#include <cstring>

#include <fmt/format.h>

#include "base/events.h"
#include "tensor/device_ops.h"
#include "tensor/host_convert.h"
#include "tensor/host_copy.h"
#include "tensor/pair.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

std::size_t byte_offset(const Tensor& tensor, std::int64_t shift = 0) {
  return static_cast<std::size_t>(tensor.offset() + shift) * size_of(tensor.dtype());
}

// Both contiguous, of one dtype.
void copy_bytes(const Tensor& destination, const Tensor& source, const Stream& stream) {
  copy_async({destination.buffer(), byte_offset(destination)},
             {source.buffer(), byte_offset(source)}, source.nbytes(), stream);
}

void copy_on_one_device(const Tensor& destination, const Tensor& source) {
  const Pair pair = make_pair(destination.shape(), destination.strides(), source.strides());
  if (destination.device().is_cpu()) {
    copy_on_host(destination.data(), destination.dtype(), source.data(), source.dtype(), pair);
    return;
  }
  if (destination.dtype() == source.dtype() && pair.is_dense()) {
    copy_async({destination.buffer(), byte_offset(destination, pair.destination_shift)},
               {source.buffer(), byte_offset(source, pair.source_shift)}, source.nbytes(),
               current_stream(destination.device()));
    return;
  }
  copy_on_device(destination, source, pair);
}

// From a GPU to the host: converted and made contiguous there, then waited for.
void download(const Tensor& destination, const Tensor& source) {
  const Tensor staged = source.to(destination.dtype()).contiguous();
  const Tensor landing =
      destination.is_contiguous()
          ? destination
          : empty(destination.shape(), {destination.dtype(), destination.device()});
  const Stream stream = current_stream(source.device());
  copy_bytes(landing, staged, stream);
  stream.synchronize();
  if (!destination.is_contiguous()) copy_on_one_device(destination, landing);
}

// Work that the current streams of the two devices have at this point is ordered around the copy.
void copy_between_gpus(const Tensor& destination, const Tensor& source) {
  const Stream from = current_stream(source.device());
  const Stream to = current_stream(destination.device());
  Event ready(destination.device());
  ready.record(to);
  from.wait(ready);
  copy_bytes(destination, source, from);
  Event done(source.device());
  done.record(from);
  to.wait(done);
}

// To a GPU from the host or another GPU: narrowed before the way, widened and spread out after it.
void upload(const Tensor& destination, const Tensor& source) {
  const bool narrows = size_of(destination.dtype()) < size_of(source.dtype());
  const Tensor staged = (narrows ? source.to(destination.dtype()) : source).contiguous();
  const bool is_direct = destination.is_contiguous() && staged.dtype() == destination.dtype();
  const Tensor landing =
      is_direct ? destination : empty(destination.shape(), {staged.dtype(), destination.device()});
  if (staged.device().is_cuda()) {
    copy_between_gpus(landing, staged);
  } else {
    const Stream stream = current_stream(destination.device());
    copy_bytes(landing, staged, stream);
    // Nothing keeps host memory that is not ours to the end of an asynchronous copy: the caller may
    // free it at once.
    if (staged.buffer().kind() != MemoryKind::Pinned) stream.synchronize();
  }
  if (!is_direct) copy_on_one_device(destination, landing);
}

struct AddressRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};

AddressRange range_of(const Tensor& tensor) {
  const auto bytes = static_cast<std::int64_t>(size_of(tensor.dtype()));
  const Reach reach = reach_of(tensor.shape(), tensor.strides(), size_of(tensor.dtype()));
  const auto first = reinterpret_cast<std::uintptr_t>(tensor.data());
  return {first + static_cast<std::uintptr_t>(reach.low * bytes),
          first + static_cast<std::uintptr_t>((reach.high + 1) * bytes)};
}

bool is_overlapping(const Tensor& a, const Tensor& b) {
  const AddressRange x = range_of(a);
  const AddressRange y = range_of(b);
  return x.begin < y.end && y.begin < x.end;
}

void check_writable(const Tensor& destination) {
  for (int d = 0; d < destination.rank(); ++d)
    if (destination.stride(d) == 0 && destination.size(d) > 1)
      throw ArgumentError(fmt::format(
          "a tensor of shape {} and strides {} cannot be copied into: its elements share memory",
          shape_text(destination.shape()), shape_text(destination.strides())));
}

}  // namespace

void Tensor::copy_from(const Tensor& source) const {
  if (is_tracing() || traced_of(*this)) [[unlikely]] {
    const Tensor fitting = source.broadcast_to(shape());
    if (numel() == 0) return;
    check_writable(*this);
    const bool is_recorded =
        traced_of(source) || (is_captured(source) && source.device() == device());
    if (is_write_recorded(*this, is_recorded)) return traced_of(*this)->write(*this, fitting);
  }
  if (traced_of(source)) throw_traced("copy_from()", source);
  EventScope event(EventKind::Tensor, "copy_from");
  if (event.is_heard()) event.describe(shape_text(source.shape()));
  if (source.rank() > rank() || source.shape() != shape()) {
    copy_from(source.broadcast_to(shape()));
    return;
  }
  check_writable(*this);
  if (numel() == 0) return;
  if (device() != source.device()) {
    if (device().is_cpu()) download(*this, source);
    else upload(*this, source);
    return;
  }
  const bool is_same_layout =
      dtype() == source.dtype() && data() == source.data() && strides() == source.strides();
  if (is_same_layout) return;
  copy_on_one_device(*this, is_overlapping(*this, source) ? source.clone() : source);
}

void Tensor::fill(double value) const {
  if (is_tracing() || traced_of(*this)) [[unlikely]] {
    if (is_write_recorded(*this, false))
      return traced_of(*this)->write(*this, full({}, value, {dtype(), device()}));
  }
  EventScope event(EventKind::Tensor, "Tensor::fill");
  if (event.is_heard()) event.describe(shape_text(shape()));
  if (numel() == 0) return;
  std::uint64_t bits = 0;
  const auto number = reinterpret_cast<const std::byte*>(&value);
  convert_row(dtype(), DType::Float64)(reinterpret_cast<std::byte*>(&bits), 0, number, 0, 1);
  const Pair pair = make_pair(shape(), strides(), Shape(shape().size(), 0));
  const bool is_run = pair.dimensions.empty() ||
                      (pair.dimensions.size() == 1 && pair.dimensions[0].destination == 1);
  if (is_run) {
    const std::span<const std::byte> pattern(reinterpret_cast<const std::byte*>(&bits),
                                             size_of(dtype()));
    fill_async({buffer(), byte_offset(*this, pair.destination_shift)}, nbytes(), pattern,
               current_stream(device()));
  } else if (device().is_cpu()) {
    copy_on_host(data(), dtype(), &bits, dtype(), pair);
  } else {
    fill_on_device(*this, pair, bits);
  }
}

Tensor Tensor::clone() const {
  if (const Traced* const traced = traced_of(*this)) return traced->copied(*this, dtype());
  if (is_captured(*this)) return captured_copy(*this, dtype());
  const Tensor out = empty_like(*this);
  out.copy_from(*this);
  return out;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::to(Device place) const {
  if (place == device()) return *this;
  if (traced_of(*this) && is_tracing())
    throw ArgumentError(fmt::format(
        "to({}): a traced function runs on one device, {}: move what it is called with before the "
        "call, or its results behind it",
        place.name(), device().name()));
  if (traced_of(*this)) throw_traced(fmt::format("to({})", place.name()), *this);
  const Tensor out = empty(shape(), {dtype(), place});
  out.copy_from(*this);
  return out;
}

Tensor Tensor::to(DType type) const {
  if (type == dtype()) return *this;
  if (const Traced* const traced = traced_of(*this)) return traced->copied(*this, type);
  if (is_captured(*this)) return captured_copy(*this, type);
  const Tensor out = empty(shape(), {type, device()});
  out.copy_from(*this);
  return out;
}

void Tensor::copy_item(DType type, void* out) const {
  if (traced_of(*this)) throw_traced("item()", *this);
  if (numel() != 1)
    throw ArgumentError(fmt::format(
        "item() needs a tensor with one element, but this one has shape {}", shape_text(shape())));
  const EventScope event(device().is_cuda() ? EventKind::Wait : EventKind::Tensor, "item");
  const Tensor host = cpu();
  convert_row(type, dtype())(static_cast<std::byte*>(out), 0,
                             static_cast<const std::byte*>(host.data()), 0, 1);
}

void Tensor::copy_to_host(DType type, void* out) const {
  check_dtype(type);
  if (traced_of(*this)) throw_traced("to_vector()", *this);
  if (numel() == 0) return;
  const Tensor host = cpu();
  copy_on_host(out, type, host.data(), type,
               make_pair(shape(), contiguous_strides(shape()), host.strides()));
}

}  // namespace tilewright
