// SPDX-License-Identifier: Apache-2.0
// tensor/device_ops.cpp — finds or compiles the kernel instance for a dtype and launches it.
#include "tensor/device_ops.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "base/embedded.h"
#include "tensor/device/strided.h"
#include "tensor/element_types.h"

namespace tilewright {
namespace {

constexpr std::int64_t threads = 256;

Parameter pointer(const char* name, bool is_const = false) {
  return {
      .name = name, .kind = Parameter::Kind::Pointer, .any_pointee = true, .is_const = is_const};
}
Parameter scalar(const char* name, DType dtype) {
  return {.name = name, .kind = Parameter::Kind::Scalar, .dtype = dtype};
}
Parameter strided_pair() {
  return {.name = "pair",
          .kind = Parameter::Kind::Opaque,
          .opaque_bytes = sizeof(element::StridedPair)};
}

// One entry per device and instance, never removed: there are a few hundred instances at most.
Function device_kernel(const std::string& instance, Device device,
                       std::vector<Parameter> parameters) {
  static std::mutex mutex;
  // Never destroyed: at the end of the process the driver may be gone before us.
  static auto& functions = *new std::map<std::pair<int, std::string>, Function>;
  const std::pair key{device.index, instance};
  {
    const std::lock_guard lock(mutex);
    if (const auto found = functions.find(key); found != functions.end()) return found->second;
  }
  // Compiled without the lock, so that other instances do not wait; two threads may both do it, and
  // one wins.
  const Function function =
      Module::load(device_kernel_source(instance, std::move(parameters)), device)
          .function(instance);
  const std::lock_guard lock(mutex);
  return functions.emplace(key, function).first->second;
}

LaunchConfig config_for(std::int64_t count, Device device) {
  LaunchConfig config;
  config.grid = std::min<std::int64_t>(cdiv(count, threads), 32 * device.target().processors);
  config.block = threads;
  return config;
}

const char* index_type(std::int64_t count) {
  // The loop adds up to the whole grid to an index below `count`: half the range leaves room for
  // that.
  return count < (std::int64_t{1} << 31) ? "unsigned int" : "unsigned long long";
}

Argument shifted(const Tensor& tensor, std::int64_t elements) {
  Argument argument = tensor;
  argument.bits +=
      static_cast<std::uint64_t>(elements * static_cast<std::int64_t>(size_of(tensor.dtype())));
  return argument;
}

// The unsigned type with the size of a dtype, for work that does not look into elements.
DType bits_type(DType dtype) {
  switch (size_of(dtype)) {
    case 1:
      return DType::UInt8;
    case 2:
      return DType::UInt16;
    case 4:
      return DType::UInt32;
    default:
      return DType::UInt64;
  }
}

void random_on_device(const char* kernel, const Tensor& out, std::uint64_t seed,
                      std::uint64_t first_block) {
  if (out.numel() == 0) return;
  const std::string instance =
      fmt::format("tilewright::element::{}<{}>", kernel, element_type_name(out.dtype()));
  const Function function =
      device_kernel(instance, out.device(),
                    {pointer("out"), scalar("count", DType::Int64), scalar("seed", DType::UInt64),
                     scalar("first", DType::UInt64)});
  const std::int64_t blocks = cdiv(out.numel(), out.dtype() == DType::Float64 ? 2 : 4);
  function[config_for(blocks, out.device())](out, out.numel(), seed, first_block);
}

template <class Number>
void launch_arange(const Tensor& out, Number begin, Number step, const char* number) {
  if (out.numel() == 0) return;
  const std::string instance =
      fmt::format("tilewright::element::arange<{}, {}>", element_type_name(out.dtype()), number);
  const Function function =
      device_kernel(instance, out.device(),
                    {pointer("out"), scalar("count", DType::Int64),
                     scalar("begin", dtype_of<Number>), scalar("step", dtype_of<Number>)});
  function[config_for(out.numel(), out.device())](out, out.numel(), begin, step);
}

}  // namespace

std::string_view element_type_name(DType dtype) {
  static constexpr std::string_view names[dtype_count] = {
      "double",
      "float",
      "tilewright::element::Float16",
      "tilewright::element::BFloat16",
      "tilewright::element::Float8E4M3",
      "tilewright::element::Float8E5M2",
      "signed char",
      "short",
      "int",
      "long long",
      "unsigned char",
      "unsigned short",
      "unsigned int",
      "unsigned long long",
      "tilewright::element::Bool",
  };
  return names[static_cast<int>(dtype)];
}

KernelSource device_kernel_source(const std::string& instance, std::vector<Parameter> parameters) {
  KernelSource source;
  source.language = Language::Cuda;
  source.name = "tensor_kernels.cu";
  source.text = embedded_file("device/kernels.cu");
  for (const char* name : {"device/element.h", "device/random.h", "device/strided.h"})
    source.headers.push_back({std::string("tensor/") + name, std::string(embedded_file(name))});
  // The shared headers have no __device__; a fused multiply-add would round once where the host
  // rounds twice.
  source.options = {"-default-device", "--fmad=false"};
  source.name_expressions = {instance};
  source.kernels = {{.name = instance, .parameters = std::move(parameters)}};
  return source;
}

void copy_on_device(const Tensor& destination, const Tensor& source, const Pair& pair) {
  if (pair.count == 0) return;
  const bool is_same = destination.dtype() == source.dtype();
  const DType to = is_same ? bits_type(destination.dtype()) : destination.dtype();
  const DType from = is_same ? to : source.dtype();
  for_parts(pair, [&](const PairPart& part) {
    const std::string instance =
        fmt::format("tilewright::element::copy<{}, {}, {}>", element_type_name(to),
                    element_type_name(from), index_type(part.pair.count));
    const Function function =
        device_kernel(instance, destination.device(),
                      {pointer("destination"), pointer("source", true), strided_pair()});
    function[config_for(part.pair.count, destination.device())](
        shifted(destination, part.destination_shift), shifted(source, part.source_shift),
        Argument::of_struct(part.pair));
  });
}

void fill_on_device(const Tensor& destination, const Pair& pair, std::uint64_t bits) {
  if (pair.count == 0) return;
  for_parts(pair, [&](const PairPart& part) {
    const std::string instance =
        fmt::format("tilewright::element::fill<{}, {}>",
                    element_type_name(bits_type(destination.dtype())), index_type(part.pair.count));
    const Function function =
        device_kernel(instance, destination.device(),
                      {pointer("destination"), strided_pair(), scalar("value", DType::UInt64)});
    function[config_for(part.pair.count, destination.device())](
        shifted(destination, part.destination_shift), Argument::of_struct(part.pair), bits);
  });
}

void arange_on_device(const Tensor& out, double begin, double step) {
  launch_arange(out, begin, step, "double");
}
void arange_on_device(const Tensor& out, long long begin, long long step) {
  launch_arange(out, begin, step, "long long");
}
void uniform_on_device(const Tensor& out, std::uint64_t seed, std::uint64_t first_block) {
  random_on_device("uniform", out, seed, first_block);
}
void normal_on_device(const Tensor& out, std::uint64_t seed, std::uint64_t first_block) {
  random_on_device("normal", out, seed, first_block);
}

}  // namespace tilewright
