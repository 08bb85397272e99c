// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/tile_program.cpp — front end, emitter, emulation and interpreter for one kernel.
#include "tile_program.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "compiler/triton/compile.h"
#include "compiler/pipeline.h"
#include "compiler/triton/signature.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/tile.h"
#include "ir/parse.h"
#include "tilewright/buffer.h"
#include "tilewright/device.h"
#include "tilewright/module.h"

namespace tilewright {

double Memory::at(std::size_t index) const {
  const ir::Element element = ir::read_element(dtype, bytes.data() + index * size_of(dtype));
  return is_floating(dtype) ? element.f : static_cast<double>(element.i);
}

void Memory::set(std::size_t index, double value) {
  ir::Element element;
  if (is_floating(dtype)) element.f = ir::round_to(dtype, value);
  else element.i = static_cast<std::int64_t>(value);
  ir::write_element(dtype, element, bytes.data() + index * size_of(dtype));
}

int count_of(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++count;
  return count;
}

Memory zeros(DType dtype, std::size_t count) {
  return {dtype, std::vector<unsigned char>(count * size_of(dtype))};
}

Memory numbers(DType dtype, std::size_t count, unsigned seed) {
  Memory out = zeros(dtype, count);
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = (static_cast<double>(random() % 4001) - 2000) / 1000;
    out.set(i, dtype == DType::Bool ? random() % 2
               : is_floating(dtype) ? value
               : is_signed(dtype)   ? static_cast<double>(random() % 199) - 99
                                    : random() % 199);
  }
  return out;
}

TileProgram::TileProgram(const std::string& python, const std::string& name,
                         const std::string& signature, int num_warps, const std::string& target) {
  const std::string text = "import triton\nimport triton.language as tl\n\n" + python;
  python::ModuleLoader loader;
  python::Evaluator evaluator{loader};
  const python::LoadedModule& module = loader.load_text("kernels.py", text);
  const python::DecoratedFunction function = find_kernel(loader, module, name);
  const auto parameters = read_parameters(loader, evaluator, function);
  TileKernel tile = lower_to_tiles(loader, function, parse_signature(name, parameters, signature),
                                   Target::parse(target), {.num_warps = num_warps});
  kernel_ = std::make_shared<ir::Kernel>(std::move(tile.lowered.kernel));
  lines_ = std::make_shared<std::vector<std::string>>();
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines_->push_back(line);
  emit({.target = Target::parse(target), .num_warps = num_warps});
}

TileProgram TileProgram::from_ir(const std::string& text, int num_warps) {
  return from_kernel(ir::parse(text), num_warps);
}

TileProgram TileProgram::from_kernel(ir::Kernel kernel, int num_warps) {
  TileProgram out;
  if (kernel.stage == ir::Stage::Source) run_pipeline(kernel, Target::parse("sm_90a"));
  out.kernel_ = std::make_shared<ir::Kernel>(std::move(kernel));
  out.emit({.target = Target::parse("sm_90a"), .num_warps = num_warps});
  return out;
}

TileProgram TileProgram::with(CudaEmitOptions options) const {
  TileProgram out = *this;
  out.emit(std::move(options));
  return out;
}

void TileProgram::emit(CudaEmitOptions options) {
  options.line_text = [lines = lines_](std::uint16_t, std::int32_t line) -> std::string_view {
    const auto index = static_cast<std::size_t>(line) - 1;
    return lines && index < lines->size() ? std::string_view((*lines)[index]) : std::string_view{};
  };
  source_ = emit_cuda(*kernel_, options);
}

namespace {

void interpret(const ir::Kernel& kernel, const Run& run, std::vector<Memory>& memory) {
  std::vector<ir::InterpretBuffer> buffers;
  std::vector<ir::InterpretArgument> arguments;
  for (std::size_t i = 0; i < run.arguments.size(); ++i) {
    const RunArgument& argument = run.arguments[i];
    if (const auto* integer = std::get_if<std::int64_t>(&argument))
      arguments.emplace_back(*integer);
    else if (const auto* number = std::get_if<double>(&argument)) arguments.emplace_back(*number);
    else {
      memory.push_back(*std::get<Memory*>(argument));
      arguments.emplace_back(ir::InterpretPointer{static_cast<int>(memory.size()) - 1, 0});
    }
  }
  for (std::size_t i = 0; i < memory.size(); ++i)
    buffers.push_back({.name = "buffer " + std::to_string(i),
                       .data = memory[i].bytes.data(),
                       .bytes = memory[i].bytes.size()});
  ir::InterpretOptions options;
  for (std::size_t d = 0; d < 3; ++d) options.grid[d] = run.grid[d];
  ir::interpret(kernel, buffers, arguments, options);
}

// The argument as the kernel's parameter takes it.
Argument launched(const Parameter& parameter, const RunArgument& argument) {
  if (const auto* memory = std::get_if<Memory*>(&argument)) {
    Argument out(static_cast<void*>((*memory)->bytes.data()));
    return out;
  }
  Argument out;
  out.dtype = parameter.dtype;
  ir::Element element;
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) element.i = *integer;
  else element.f = std::get<double>(argument);
  if (is_floating(parameter.dtype) && std::holds_alternative<std::int64_t>(argument))
    element.f = static_cast<double>(std::get<std::int64_t>(argument));
  ir::write_element(parameter.dtype, element, &out.bits);
  return out;
}

}  // namespace

namespace {

// On the GPU, over copies in its memory.
void run_on_gpu(const Function& function, const Run& run, std::vector<Memory>& memory) {
  const Stream stream = Stream::default_of(Device::cuda(0));
  std::vector<Argument> arguments;
  std::vector<Buffer> buffers;
  const auto host = [](Memory& m) {
    return Buffer::wrap(m.bytes.data(), m.bytes.size(), Device::cpu());
  };
  for (std::size_t i = 0; i < run.arguments.size(); ++i) {
    arguments.push_back(launched(function.parameters()[i], run.arguments[i]));
    if (!std::holds_alternative<Memory*>(run.arguments[i])) continue;
    memory.push_back(*std::get<Memory*>(run.arguments[i]));
    buffers.push_back(Buffer::allocate(memory.back().bytes.size(), Device::cuda(0)));
    copy_async({buffers.back()}, {host(memory.back())}, memory.back().bytes.size(), stream);
    stream.synchronize();
    arguments.back() = Argument(static_cast<void*>(buffers.back().data()));
  }
  function.launch({.grid = {run.grid[0], run.grid[1], run.grid[2]}, .stream = stream}, arguments);
  for (std::size_t i = 0; i < memory.size(); ++i)
    copy_async({host(memory[i])}, {buffers[i]}, memory[i].bytes.size(), stream);
  stream.synchronize();
}

void compare(const Memory& got, const Memory& want, std::size_t buffer, double tolerance,
             const std::string& text) {
  for (std::size_t i = 0; i < got.count(); ++i) {
    const double a = got.at(i);
    const double b = want.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    ASSERT_LE(std::fabs(a - b), tolerance * std::max(1.0, std::fabs(b)))
        << "buffer " << buffer << ", element " << i << ": " << a << " instead of " << b << "\n"
        << text;
  }
}

}  // namespace

Loaded load_emulated(const KernelSource& source) {
  KernelSource emulated = emulate_source(source);
  // Compiling takes longer than running.
  for (std::string& option : emulated.options)
    if (option == "-O2") option = "-O0";
  return Module::load(emulated, Device::cpu());
}

void TileProgram::expect_same(const Run& run) const { expect_same(run, load_emulated(source_)); }

void TileProgram::expect_same(const Run& run, const Loaded& emulated) const {
  std::vector<Memory> expected;
  interpret(*kernel_, run, expected);
  if (cuda_device_count() > 0) {
    const Module module = Module::load(source_, Device::cuda(0));
    std::vector<Memory> got;
    run_on_gpu(module.function(kernel_->name), run, got);
    for (std::size_t i = 0; i < got.size(); ++i)
      compare(got[i], expected[i], i, std::max(run.tolerance, 1e-6), "on the GPU\n" + text());
  }
  const Function function = emulated.function(kernel_->name);
  ASSERT_EQ(function.parameters().size(), run.arguments.size()) << text();
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < run.arguments.size(); ++i)
    arguments.push_back(launched(function.parameters()[i], run.arguments[i]));
  function.launch({.grid = {run.grid[0], run.grid[1], run.grid[2]}}, arguments);
  std::size_t buffer = 0;
  for (const RunArgument& argument : run.arguments) {
    if (!std::holds_alternative<Memory*>(argument)) continue;
    compare(*std::get<Memory*>(argument), expected[buffer], buffer, run.tolerance, text());
    ++buffer;
  }
}

void show(const TileProgram& program) {
  if (std::getenv("TW_SHOW")) std::printf("%s\n", program.text().c_str());
}

}  // namespace tilewright
