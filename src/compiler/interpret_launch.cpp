// SPDX-License-Identifier: Apache-2.0
// compiler/interpret_launch.cpp — a launch in the IR interpreter, over the memory of its tensors.
#include <bit>

#include <fmt/format.h>

#include "compiler/constants.h"
#include "compiler/triton_state.h"
#include "ir/interpret/interpret.h"
#include "runtime/plan.h"

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

ir::InterpretArgument scalar(const Argument& value, const ir::Type& type) {
  if (!type.is_float()) {
    return integer_of_bits(value.dtype, value.bits);
  }
  TritonParameter constant{.is_constexpr = true};
  const auto seen =
      host_value_of(parameter_type(specialize("", constant, TritonArgument(value))).constant);
  const double number = seen.number().value_or(0);
  return type.dtype == DType::Float64 ? number : static_cast<double>(static_cast<float>(number));
}

struct Memory {
  std::vector<HostCopy> copies;
  std::vector<ir::InterpretBuffer> buffers;

  ir::InterpretPointer add(const std::string& kernel, const std::string& name,
                           const Argument& value) {
    if (value.kind != Argument::Kind::Memory)
      throw ArgumentError(fmt::format(
          "argument '{}' of kernel '{}' is a bare address; the interpreter takes tensors, whose "
          "bounds it knows",
          name, kernel));
    copies.push_back(reachable(*value.buffer));
    buffers.push_back(
        {.name = name, .data = copies.back().host.data(), .bytes = copies.back().host.size()});
    const auto base = reinterpret_cast<std::uintptr_t>(value.buffer->data());
    return {.buffer = static_cast<int>(buffers.size()) - 1,
            .byte_offset = static_cast<std::int64_t>(value.bits - base)};
  }
};

}  // namespace

void interpret_launch(const LaunchView& view, Dim3 grid) {
  const Specialization& specialization = *view.specialization;
  const ir::Kernel& kernel = specialization.tiles->lowered.kernel;
  Memory memory;
  std::vector<ir::InterpretArgument> arguments;
  for (std::size_t i = 0; i < specialization.argument_parameters.size(); ++i) {
    const std::size_t parameter = specialization.argument_parameters[i];
    const Argument& value = view.slots[parameter]->value;
    const ir::Type& type = kernel.type(kernel.arguments[i].value);
    if (type.is_pointer)
      arguments.emplace_back(
          memory.add(view.kernel.name, view.kernel.parameters[parameter].name, value));
    else arguments.push_back(scalar(value, type));
  }
  ir::InterpretOptions options;
  options.grid[0] = grid.x;
  options.grid[1] = grid.y;
  options.grid[2] = grid.z;
  ir::interpret(kernel, memory.buffers, arguments, options);
  for (const HostCopy& copy : memory.copies) copy.copy_back();
}

}  // namespace tilewright
