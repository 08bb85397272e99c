// SPDX-License-Identifier: Apache-2.0
// tensor/dlpack.cpp — checks foreign tensors and wraps them; hands out ours with a reference that
// keeps the memory.
#include "tilewright/dlpack.h"

#include <fmt/format.h>

#include "tensor/dlpack_abi.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

struct TypeEntry {
  DType dtype;
  std::uint8_t code;
};

// The bits follow from the dtype's size.
constexpr TypeEntry types[dtype_count] = {
    {DType::Float64, dlpack::floating},
    {DType::Float32, dlpack::floating},
    {DType::Float16, dlpack::floating},
    {DType::BFloat16, dlpack::bfloat},
    {DType::Float8E4M3, dlpack::float8_e4m3fn},
    {DType::Float8E5M2, dlpack::float8_e5m2},
    {DType::Int8, dlpack::signed_integer},
    {DType::Int16, dlpack::signed_integer},
    {DType::Int32, dlpack::signed_integer},
    {DType::Int64, dlpack::signed_integer},
    {DType::UInt8, dlpack::unsigned_integer},
    {DType::UInt16, dlpack::unsigned_integer},
    {DType::UInt32, dlpack::unsigned_integer},
    {DType::UInt64, dlpack::unsigned_integer},
    {DType::Bool, dlpack::boolean},
};

DType import_dtype(DLDataType type) {
  for (const TypeEntry& entry : types)
    if (type.code == entry.code && type.bits == 8 * size_of(entry.dtype) && type.lanes == 1)
      return entry.dtype;
  throw FormatError(fmt::format(
      "the DLPack tensor has elements of code {}, {} bits and {} lanes, which no dtype here has",
      type.code, type.bits, type.lanes));
}

Device import_device(DLDevice device) {
  switch (device.device_type) {
    case dlpack::cpu:
    case dlpack::cuda_host:
      return Device::cpu();
    case dlpack::cuda:
    case dlpack::cuda_managed:
      break;
    default:
      throw FormatError(fmt::format(
          "the DLPack tensor is on a device of type {}: only cpu (1), cuda (2), pinned (3) and "
          "managed (13) memory can be taken",
          device.device_type));
  }
  if (device.device_id < 0 || device.device_id >= cuda_device_count())
    throw FormatError(
        fmt::format("the DLPack tensor is on cuda:{}, but this process has {} CUDA devices",
                    device.device_id, cuda_device_count()));
  return Device::cuda(device.device_id);
}

Shape import_sizes(const std::int64_t* values, std::int32_t rank) {
  return rank == 0 ? Shape{} : Shape(values, values + rank);
}

// The foreign tensor over memory that `release` lets go. Throws before anything is taken over.
Tensor import_tensor(const DLTensor& foreign, std::function<void()> release) {
  const DType dtype = import_dtype(foreign.dtype);
  const Device device = import_device(foreign.device);
  if (foreign.ndim < 0 || (foreign.ndim > 0 && foreign.shape == nullptr))
    throw FormatError(
        fmt::format("the DLPack tensor has {} dimensions and no valid shape", foreign.ndim));
  // The deleter must run only once the tensor exists: until then a failure leaves the capsule to
  // the caller.
  const auto is_taken = std::make_shared<bool>(false);
  const auto release_if_taken = [is_taken, release = std::move(release)] {
    if (*is_taken) release();
  };
  try {
    Shape shape = import_sizes(foreign.shape, foreign.ndim);
    const std::int64_t numel = checked_numel(shape, size_of(dtype));
    Shape strides = foreign.strides != nullptr ? import_sizes(foreign.strides, foreign.ndim)
                                               : contiguous_strides(shape);
    void* const data =
        numel == 0 ? nullptr : static_cast<std::byte*>(foreign.data) + foreign.byte_offset;
    if (foreign.data == nullptr && numel > 0) throw ArgumentError("it has elements but no address");
    Tensor tensor =
        from_blob(data, std::move(shape), std::move(strides), {dtype, device}, release_if_taken);
    *is_taken = true;
    return tensor;
  } catch (const ArgumentError& error) {
    throw FormatError(fmt::format("the DLPack tensor cannot be taken: {}", error.what()));
  }
}

// What an exported capsule owns: the tensor, and the arrays the capsule points to.
template <class Capsule>
struct Exported {
  Capsule capsule{};
  Tensor tensor;
  Shape shape;
  Shape strides;
};

template <class Capsule>
Capsule* export_tensor(const Tensor& tensor) {
  if (traced_of(tensor)) throw_traced("to_dlpack()", tensor);
  auto* owner = new Exported<Capsule>{{}, tensor, tensor.shape(), tensor.strides()};
  DLTensor& out = owner->capsule.dl_tensor;
  const TypeEntry& type = types[static_cast<int>(tensor.dtype())];
  out.data = tensor.data();
  out.device = {tensor.device().is_cuda() ? dlpack::cuda : dlpack::cpu, tensor.device().index};
  out.ndim = tensor.rank();
  out.dtype = {type.code, static_cast<std::uint8_t>(8 * size_of(type.dtype)), 1};
  out.shape = owner->shape.data();
  out.strides = owner->strides.data();
  out.byte_offset = 0;
  owner->capsule.manager_ctx = owner;
  owner->capsule.deleter = [](Capsule* self) {
    delete static_cast<Exported<Capsule>*>(self->manager_ctx);
  };
  return &owner->capsule;
}

template <class Capsule>
std::function<void()> deleter_of(Capsule* capsule) {
  return [capsule] {
    if (capsule->deleter != nullptr) capsule->deleter(capsule);
  };
}

}  // namespace

Tensor from_dlpack(DLManagedTensor* capsule) {
  if (capsule == nullptr) throw ArgumentError("from_dlpack was given a null capsule");
  return import_tensor(capsule->dl_tensor, deleter_of(capsule));
}

Tensor from_dlpack(DLManagedTensorVersioned* capsule) {
  if (capsule == nullptr) throw ArgumentError("from_dlpack was given a null capsule");
  if (capsule->version.major != dlpack::major_version)
    throw FormatError(fmt::format("the DLPack tensor has version {}.{}; version {}.x is understood",
                                  capsule->version.major, capsule->version.minor,
                                  dlpack::major_version));
  if ((capsule->flags & dlpack::flag_read_only) != 0)
    throw FormatError(
        "the DLPack tensor is read-only, which tensors here cannot be: export a copy of it");
  return import_tensor(capsule->dl_tensor, deleter_of(capsule));
}

DLManagedTensor* to_dlpack(const Tensor& tensor) { return export_tensor<DLManagedTensor>(tensor); }

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor) {
  DLManagedTensorVersioned* capsule = export_tensor<DLManagedTensorVersioned>(tensor);
  capsule->version = {dlpack::major_version, dlpack::minor_version};
  return capsule;
}

}  // namespace tilewright
