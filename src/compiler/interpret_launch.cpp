// SPDX-License-Identifier: Apache-2.0
// compiler/interpret_launch.cpp — a launch in the IR interpreter, over the memory of its tensors.
#include <bit>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "compiler/launch_watch.h"
#include "compiler/run_launch.h"
#include "ir/interpret/interpret.h"
#include "runtime/plan.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

// A tensor's whole buffer where the interpreter can reach it; copied there and back when it is on a
// GPU.
struct HostCopy {
  Buffer host;
  const Buffer* device = nullptr;

  void copy_back() const {
    if (device == nullptr) return;
    const Stream stream = current_stream(device->device());
    copy_async({*device}, {host}, host.size(), stream);
    stream.synchronize();
  }
};

HostCopy reachable(const Buffer& buffer) {
  if (buffer.is_host_accessible()) return {buffer, nullptr};
  HostCopy copy{Buffer::allocate(buffer.size(), Device::cpu()), &buffer};
  const Stream stream = current_stream(buffer.device());
  copy_async({copy.host}, {buffer}, buffer.size(), stream);
  stream.synchronize();
  return copy;
}

// A scalar as a double; integers by their type.
double number_of(const Argument& value) {
  switch (value.dtype) {
    case DType::Float64:
      return std::bit_cast<double>(value.bits);
    case DType::Float32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
    case DType::BFloat16:
      return bfloat16_to_float(static_cast<std::uint16_t>(value.bits));
    case DType::Float16:
      return half_to_float(static_cast<std::uint16_t>(value.bits));
    case DType::UInt64:
      return static_cast<double>(value.bits);
    default:
      return static_cast<double>(integer_of_bits(value.dtype, value.bits));
  }
}

ir::InterpretArgument scalar(const Argument& value, const ir::Type& type) {
  if (!type.is_float()) return integer_of_bits(value.dtype, value.bits);
  const double number = number_of(value);
  return type.dtype == DType::Float64 ? number : static_cast<double>(static_cast<float>(number));
}

// The elements of a buffer, as many as fit.
Tensor elements(const Buffer& buffer, DType dtype) {
  const auto count = static_cast<std::int64_t>(buffer.size() / size_of(dtype));
  return Tensor(buffer, dtype, {count}, {1});
}

struct Memory {
  bool float64 = false;
  std::vector<HostCopy> copies;
  std::vector<ir::InterpretBuffer> buffers;
  std::vector<std::unique_ptr<std::vector<double>>> shadows;

  ir::InterpretPointer add(const std::string& kernel, const std::string& name,
                           const Argument& value, DType dtype) {
    if (value.kind != Argument::Kind::Memory)
      throw ArgumentError(fmt::format(
          "argument '{}' of kernel '{}' is a bare address; the interpreter takes tensors, whose "
          "bounds it knows",
          name, kernel));
    const auto base = reinterpret_cast<std::uintptr_t>(value.buffer->data());
    return {.buffer = buffer_of(name, *value.buffer, dtype),
            .byte_offset = static_cast<std::int64_t>(value.bits - base)};
  }

  // Doubles go back as the buffers' own types.
  void finish() const {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (const std::vector<double>* shadow = buffers[i].shadow)
        elements(copies[i].host, buffers[i].shadow_dtype)
            .copy_from(tensor_from_host(shadow->data(), shadow->size(), DType::Float64,
                                        {static_cast<std::int64_t>(shadow->size())},
                                        Device::cpu()));
      copies[i].copy_back();
    }
  }

 private:
  // Doubles and copies of one buffer are kept once, however many arguments point into it: two would
  // not see each other's stores.
  int buffer_of(const std::string& name, const Buffer& buffer, DType dtype) {
    const bool is_copied = float64 || !buffer.is_host_accessible();
    for (std::size_t i = 0; is_copied && i < copies.size(); ++i)
      if (source_of(copies[i]) == buffer.data() && (!float64 || buffers[i].shadow_dtype == dtype))
        return static_cast<int>(i);
    copies.push_back(reachable(buffer));
    const Buffer& host = copies.back().host;
    buffers.push_back({.name = name, .data = host.data(), .bytes = host.size()});
    if (float64 && is_floating(dtype)) {
      const Tensor wide = elements(host, dtype).to(DType::Float64).clone();
      shadows.push_back(std::make_unique<std::vector<double>>(wide.to_vector<double>()));
      buffers.back().shadow = shadows.back().get();
    }
    buffers.back().shadow_dtype = dtype;
    return static_cast<int>(buffers.size()) - 1;
  }

  static const void* source_of(const HostCopy& copy) {
    return copy.device != nullptr ? copy.device->data() : copy.host.data();
  }
};

}  // namespace

void run_interpreted(const ReadyLaunch& launch, bool float64) {
  const ir::Kernel& kernel = *launch.specialization.tiles;
  Memory memory{.float64 = float64};
  std::vector<ir::InterpretArgument> arguments;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& value = *launch.arguments[i];
    const ir::Type& type = kernel.type(kernel.arguments[i].value);
    if (type.is_pointer)
      arguments.emplace_back(
          memory.add(launch.kernel, launch.specialization.names[i], value, type.dtype));
    else arguments.push_back(scalar(value, type));
  }
  ir::InterpretOptions options;
  options.float64 = float64;
  options.grid[0] = launch.grid.x;
  options.grid[1] = launch.grid.y;
  options.grid[2] = launch.grid.z;
  if (LaunchWatch* const watch = launch_watch()) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    watch->run(kernel, memory.buffers, arguments, options);
  } else {
    ir::interpret(kernel, memory.buffers, arguments, options);
  }
  memory.finish();
}

}  // namespace tilewright
