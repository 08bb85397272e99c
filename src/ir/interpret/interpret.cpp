// SPDX-License-Identifier: Apache-2.0
// ir/interpret/interpret.cpp — arguments in, then every program of the grid in turn.
#include "ir/interpret/interpret.h"

#include <fmt/format.h>

#include "ir/interpret/memory.h"
#include "ir/interpret/order.h"
#include "ir/interpret/program.h"
#include "ir/roles.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

Element argument_element(const Type& type, const InterpretArgument& argument, const Memory& memory,
                         bool float64) {
  if (const auto* pointer = std::get_if<InterpretPointer>(&argument))
    return {.i = memory.pointer(*pointer)};
  if (type.is_float()) {
    const auto* number = std::get_if<double>(&argument);
    const double value = number ? *number : static_cast<double>(std::get<std::int64_t>(argument));
    return {.f = float64 ? value : round_to(type.dtype, value)};
  }
  return {.i = wrap(type.dtype, std::get<std::int64_t>(argument))};
}

void check_argument(const Kernel& kernel, std::size_t i, const InterpretArgument& argument) {
  const Type& type = kernel.type(kernel.arguments[i].value);
  const bool fits = type.is_pointer   ? std::holds_alternative<InterpretPointer>(argument)
                    : type.is_float() ? !std::holds_alternative<InterpretPointer>(argument)
                                      : std::holds_alternative<std::int64_t>(argument);
  if (!fits)
    throw ArgumentError(fmt::format(
        "argument {} '{}' of kernel '{}' must be {}", i + 1,
        kernel.name_of(kernel.arguments[i].value), kernel.name,
        type.is_pointer ? "a buffer" : fmt::format("a number of type {}", type.to_string())));
}

}  // namespace

std::int64_t block_count(const Kernel& kernel, std::int64_t programs) {
  return is_persistent(kernel) ? (programs + 2) / 3 : programs;
}

void interpret(const Kernel& kernel, std::span<const InterpretBuffer> buffers,
               std::span<const InterpretArgument> arguments, const InterpretOptions& options) {
  if (arguments.size() != kernel.arguments.size())
    throw ArgumentError(fmt::format("kernel '{}' takes {} arguments, got {}", kernel.name,
                                    kernel.arguments.size(), arguments.size()));
  const Memory memory(buffers, options.float64);
  std::vector<Tile> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    check_argument(kernel, i, arguments[i]);
    const Type& type = kernel.type(kernel.arguments[i].value);
    values.push_back({type, {argument_element(type, arguments[i], memory, options.float64)}});
  }
  const std::int64_t* grid = options.grid;
  const std::int64_t count = grid[0] * grid[1] * grid[2];
  const std::int64_t blocks = block_count(kernel, grid[0]);
  for (std::int64_t i = options.first; i < count; ++i) {
    const std::int64_t number = options.reversed ? count - 1 - i : i;
    if (number % grid[0] >= blocks) continue;
    if (options.order != nullptr) options.order->begin_program(number);
    Program program(kernel, memory, options,
                    {number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]});
    for (std::size_t k = 0; k < values.size(); ++k)
      program.set(kernel.arguments[k].value, values[k]);
    if (options.watch != nullptr) options.watch->begins(program, number);
    if (options.resume != nullptr && i == options.first) program.resume(*options.resume);
    else program.run();
    if (options.watch != nullptr) options.watch->ends(program);
  }
}

}  // namespace tilewright::ir
