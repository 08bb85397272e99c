// SPDX-License-Identifier: Apache-2.0
// codegen_cpu/run_both.cpp — two runs on copies of the same memory.
#include "run_both.h"

#include <bit>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/cpu/emit.h"
#include "ir/interpret/tile.h"
#include "ir/parse.h"
#include "ir/verify.h"

namespace tilewright::testing_cpu {
namespace {

double ulp_of(DType dtype, double value) {
  const int digits = dtype == DType::Float64      ? 53
                     : dtype == DType::Float32    ? 24
                     : dtype == DType::Float16    ? 11
                     : dtype == DType::BFloat16   ? 8
                     : dtype == DType::Float8E4M3 ? 4
                                                  : 3;
  const int least = dtype == DType::Float64      ? -1074
                    : dtype == DType::Float32    ? -149
                    : dtype == DType::Float16    ? -24
                    : dtype == DType::BFloat16   ? -133
                    : dtype == DType::Float8E4M3 ? -9
                                                 : -16;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent - digits, least));
}

bool is_close(DType dtype, ir::Element want, ir::Element got, const Tolerance& tolerance) {
  if (!is_floating(dtype)) return want.i == got.i;
  if (std::isnan(want.f) || std::isnan(got.f)) return std::isnan(want.f) && std::isnan(got.f);
  if (want.f == got.f) return true;
  if (std::isinf(want.f) || std::isinf(got.f)) return false;
  const double error = std::fabs(want.f - got.f);
  return error <= tolerance.absolute || error <= tolerance.ulps * ulp_of(dtype, want.f);
}

std::string shown(DType dtype, ir::Element element) {
  return is_floating(dtype) ? fmt::format("{}", element.f) : fmt::format("{}", element.i);
}

Argument argument_of(const ir::Type& type, TestArgument& argument) {
  if (auto* memory = std::get_if<Memory>(&argument)) return Argument(memory->bytes.data());
  Argument out;
  out.dtype = type.dtype;
  ir::Element element;
  if (const auto* number = std::get_if<double>(&argument)) element.f = *number;
  else element.i = std::get<std::int64_t>(argument);
  ir::write_element(type.dtype, element, &out.bits);
  return out;
}

void interpret_on(const ir::Kernel& kernel, std::vector<TestArgument>& arguments,
                  const std::vector<std::int64_t>& grid) {
  std::vector<ir::InterpretBuffer> buffers;
  std::vector<ir::InterpretArgument> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (auto* memory = std::get_if<Memory>(&arguments[i])) {
      values.emplace_back(ir::InterpretPointer{static_cast<int>(buffers.size())});
      buffers.push_back({.name = kernel.name_of(kernel.arguments[i].value),
                         .data = memory->bytes.data(),
                         .bytes = memory->bytes.size()});
    } else if (const auto* number = std::get_if<double>(&arguments[i])) {
      values.emplace_back(*number);
    } else {
      values.emplace_back(std::get<std::int64_t>(arguments[i]));
    }
  }
  ir::interpret(kernel, buffers, values, {.grid = {grid[0], grid[1], grid[2]}});
}

}  // namespace

Memory Memory::random(DType dtype, std::size_t count, unsigned seed, double scale) {
  std::mt19937_64 random(seed);
  Memory memory{dtype, std::vector<std::byte>(count * size_of(dtype))};
  for (std::size_t i = 0; i < count; ++i) {
    ir::Element element;
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53 * 2 - 1;
    if (is_floating(dtype)) element.f = ir::round_to(dtype, unit * scale);
    else element.i = ir::wrap(dtype, static_cast<std::int64_t>(random()) >> (random() % 64));
    ir::write_element(dtype, element, memory.bytes.data() + i * size_of(dtype));
  }
  return memory;
}

std::string cpu_text(const ir::Kernel& kernel) { return emit_cpu(kernel).text; }

Function compile_cpu(const ir::Kernel& kernel) {
  const KernelSource source = emit_cpu(kernel);
  try {
    return Module::load(source, Device::cpu()).function(kernel.name);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n" << source.text;
    throw;
  }
}

void run_both(const ir::Kernel& kernel, const std::vector<TestArgument>& arguments,
              const std::vector<std::int64_t>& grid, const Tolerance& tolerance) {
  std::vector<TestArgument> wanted = arguments, got = arguments;
  interpret_on(kernel, wanted, grid);
  std::vector<Argument> list;
  for (std::size_t i = 0; i < got.size(); ++i)
    list.push_back(argument_of(kernel.type(kernel.arguments[i].value), got[i]));
  compile_cpu(kernel).launch({.grid = {grid[0], grid[1], grid[2]}}, list);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto* memory = std::get_if<Memory>(&got[i]);
    if (!memory) continue;
    const auto& reference = std::get<Memory>(wanted[i]);
    for (std::size_t at = 0; at < memory->count(); ++at) {
      const std::size_t offset = at * size_of(memory->dtype);
      const ir::Element want = ir::read_element(memory->dtype, reference.bytes.data() + offset);
      const ir::Element is = ir::read_element(memory->dtype, memory->bytes.data() + offset);
      if (is_close(memory->dtype, want, is, tolerance)) continue;
      ADD_FAILURE() << fmt::format("argument {} ({}), element {}: interpreter {}, CPU {}\n", i,
                                   name_of(memory->dtype), at, shown(memory->dtype, want),
                                   shown(memory->dtype, is))
                    << cpu_text(kernel);
      return;
    }
  }
}

void run_both(const std::string& text, const std::vector<TestArgument>& arguments,
              const std::vector<std::int64_t>& grid, const Tolerance& tolerance) {
  const ir::Kernel kernel = ir::parse(text);
  ASSERT_NO_THROW(ir::verify(kernel));
  run_both(kernel, arguments, grid, tolerance);
}

}  // namespace tilewright::testing_cpu
