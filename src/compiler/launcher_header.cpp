// SPDX-License-Identifier: Apache-2.0
// compiler/launcher_header.cpp — the text of a launcher.
#include "compiler/launcher_header.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/quote.h"
#include "codegen/text/names.h"
#include "compiler/launcher_maps.h"
#include "tilewright/error.h"
#include "tilewright/version.h"

namespace tilewright {
namespace {

std::string c_type(const Parameter& parameter) {
  static constexpr std::string_view names[dtype_count] = {
      "double",       "float",         "void",          "void",          "void",
      "void",         "std::int8_t",   "std::int16_t",  "std::int32_t",  "std::int64_t",
      "std::uint8_t", "std::uint16_t", "std::uint32_t", "std::uint64_t", "bool"};
  const std::string_view name = names[static_cast<int>(parameter.dtype)];
  if (parameter.kind == Parameter::Kind::Pointer)
    return fmt::format("{}{}*", parameter.is_const ? "const " : "", name);
  return std::string(name);
}

// The kernel's parameters under names that C++ has not taken, nor the launcher for itself.
std::vector<std::string> parameter_names(const KernelSource::Kernel& kernel) {
  Names names;
  for (const char* own :
       {"stream", "grid", "arguments", "loaded", "cluster", "config", "detail", "blocks_x",
        "blocks_y", "blocks_z", "threads_x", "threads_y", "threads_z", "std"})
    names.reserve(own);
  names.reserve(kernel_symbol(kernel.name));
  if (!kernel.variants.empty())
    for (std::size_t i = 0; i < kernel.variants.front().tensor_maps.size(); ++i)
      names.reserve(launcher_map_name(static_cast<int>(i)));
  std::vector<std::string> out;
  for (const Parameter& parameter : kernel.parameters) out.push_back(names.make(parameter.name));
  return out;
}

std::string hex_bytes(const std::vector<std::byte>& bytes) {
  std::string text;
  text.reserve(bytes.size() * 5);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += i % 20 == 0 ? "\n    " : " ";
    text += fmt::format("{},", static_cast<unsigned>(bytes[i]));
  }
  return text;
}

const LaunchStep* only_step(const KernelSource::Kernel& kernel) {
  if (kernel.variants.empty()) return nullptr;  // a direct launch
  const LaunchPlan& plan = kernel.variants.front();
  if (kernel.variants.size() != 1 || plan.steps.size() != 1 || !plan.workspaces.empty())
    throw ArgumentError(
        fmt::format("kernel '{}' needs more than one plain launch and cannot be put into a header",
                    kernel.name));
  return &plan.steps.front();
}

// "&x, &n, &grid_x": what the kernel takes, in its order.
std::vector<std::string> kernel_arguments(const KernelSource::Kernel& kernel,
                                          const LaunchStep* step) {
  const std::vector<std::string> names = parameter_names(kernel);
  std::vector<std::string> arguments;
  if (step == nullptr) {
    for (const std::string& name : names) arguments.push_back("&" + name);
    return arguments;
  }
  for (const KernelParameter& parameter : step->parameters) {
    if (parameter.kind == KernelParameter::Kind::Argument)
      arguments.push_back("&" + names[static_cast<std::size_t>(parameter.index)]);
    else if (parameter.kind == KernelParameter::Kind::TensorMap)
      arguments.push_back("&" + launcher_map_name(parameter.map));
    else arguments.push_back(fmt::format("&grid.{}", "xyz"[parameter.index]));
  }
  return arguments;
}

// ---- Sizes

bool uses_processors(const LaunchStep* step) {
  if (step == nullptr) return false;
  const auto uses = [](const PlanExpression& size) {
    return std::any_of(size.begin(), size.end(),
                       [](const PlanOp& op) { return op.kind == PlanOp::Kind::Processors; });
  };
  bool any = false;
  for (int axis = 0; axis < 3; ++axis) any |= uses(step->grid[axis]) || uses(step->block[axis]);
  return any;
}

std::string combined_text(const std::string& kernel, PlanOp::Kind kind, const std::string& a,
                          const std::string& b) {
  switch (kind) {
    case PlanOp::Kind::Multiply:
      return fmt::format("({} * {})", a, b);
    case PlanOp::Kind::Divide:
      return fmt::format("({} / {})", a, b);
    case PlanOp::Kind::CeilDivide:
      return fmt::format("(({} + {} - 1) / {})", a, b, b);
    case PlanOp::Kind::Minimum:
      return fmt::format("std::min<std::int64_t>({}, {})", a, b);
    case PlanOp::Kind::Maximum:
      return fmt::format("std::max<std::int64_t>({}, {})", a, b);
    default:
      throw ArgumentError(
          fmt::format("kernel '{}' chooses its sizes in a way that cannot be put into a header; "
                      "give --num-warps",
                      kernel));
  }
}

// A size of the launch in C++; `otherwise` where the plan says nothing of it.
std::string size_text(const KernelSource::Kernel& kernel, const PlanExpression& size,
                      const std::string& otherwise) {
  if (size.empty()) return otherwise;
  std::vector<std::string> stack;
  for (const PlanOp& op : size) {
    if (op.kind == PlanOp::Kind::Constant) {
      stack.push_back(fmt::format("{}", op.value));
    } else if (op.kind == PlanOp::Kind::Grid) {
      stack.push_back(fmt::format("std::int64_t{{grid.{}}}", "xyz"[op.value]));
    } else if (op.kind == PlanOp::Kind::Processors) {
      stack.push_back("loaded.processors");
    } else if (op.kind == PlanOp::Kind::Argument) {
      const std::string name = parameter_names(kernel)[static_cast<std::size_t>(op.value)];
      stack.push_back(fmt::format("static_cast<std::int64_t>({})", name));
    } else {
      TW_CHECK(stack.size() >= 2, "a size of kernel '{}' takes more values than it has",
               kernel.name);
      const std::string right = stack.back();
      stack.pop_back();
      stack.back() = combined_text(kernel.name, op.kind, stack.back(), right);
    }
  }
  return stack.back();
}

// What is computed gets a name, written to `lines`.
std::string named_size(const KernelSource::Kernel& kernel, const PlanExpression& size,
                       const std::string& otherwise, const std::string& name, std::string& lines) {
  const std::string text = size_text(kernel, size, otherwise);
  if (size.empty()) return fmt::format("static_cast<unsigned>({})", otherwise);
  if (size.size() == 1) return text;
  lines += fmt::format(
      "  const std::int64_t {0} =\n      {1};\n"
      "  if ({0} > 2147483647) return CUDA_ERROR_INVALID_VALUE;\n",
      name, text);
  return fmt::format("static_cast<unsigned>({})", name);
}

// The sizes of the launch, and the launch.
std::string launch_text(const LauncherRequest& request, const KernelSource::Kernel& kernel,
                        const LaunchStep* step) {
  const LaunchStep none;
  const LaunchStep& plan = step == nullptr ? none : *step;
  std::string text;
  std::string blocks[3], threads[3];
  for (int axis = 0; axis < 3; ++axis) {
    const char letter = "xyz"[axis];
    blocks[axis] = named_size(kernel, plan.grid[axis], fmt::format("grid.{}", letter),
                              fmt::format("blocks_{}", letter), text);
    threads[axis] =
        named_size(kernel, plan.block[axis], axis == 0 ? fmt::format("{}", request.threads) : "1",
                   fmt::format("threads_{}", letter), text);
  }
  const std::int64_t shared = dynamic_shared_bytes(request.source);
  if (plan.cluster[0].empty())
    return text + fmt::format(
                      "  return cuLaunchKernel(loaded.function, {}, {},\n"
                      "                        {}, {}, {}, {}, {}, stream,\n"
                      "                        arguments, nullptr);\n",
                      blocks[0], blocks[1], blocks[2], threads[0], threads[1], threads[2], shared);
  text += "  CUlaunchAttribute cluster = {};\n";
  text += "  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;\n";
  for (int axis = 0; axis < 3; ++axis)
    text += fmt::format("  cluster.value.clusterDim.{} = {};\n", "xyz"[axis],
                        size_text(kernel, plan.cluster[axis], "1"));
  text += "  CUlaunchConfig config = {};\n";
  for (int axis = 0; axis < 3; ++axis)
    text += fmt::format("  config.gridDim{0} = {1};\n  config.blockDim{0} = {2};\n", "XYZ"[axis],
                        blocks[axis], threads[axis]);
  return text + fmt::format(
                    "  config.sharedMemBytes = {};\n"
                    "  config.hStream = stream;\n"
                    "  config.attrs = &cluster;\n"
                    "  config.numAttrs = 1;\n"
                    "  return cuLaunchKernelEx(&config, loaded.function, arguments, nullptr);\n",
                    shared);
}

constexpr std::string_view ask_processors = R"(
    CUdevice device = 0;
    if (result == CUDA_SUCCESS) result = cuCtxGetDevice(&device);
    if (result == CUDA_SUCCESS)
      result = cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);)";

// Wrong promises would be wrong results: the launcher refuses them.
std::string checks(const LauncherRequest& request, const KernelSource::Kernel& kernel) {
  std::string text;
  const std::vector<std::string> names = parameter_names(kernel);
  const auto& arguments = request.kernel.arguments;
  for (std::size_t i = 0; i < arguments.size() && i < kernel.parameters.size(); ++i) {
    if (arguments[i].is_positive)
      text += fmt::format("  if ({} <= 0) return CUDA_ERROR_INVALID_VALUE;\n", names[i]);
    if (arguments[i].divisible % 16 != 0) continue;
    text += kernel.parameters[i].kind == Parameter::Kind::Pointer
                ? fmt::format("  if (reinterpret_cast<std::uintptr_t>({}) % 16 != 0)\n", names[i])
                : fmt::format("  if ({} % 16 != 0)\n", names[i]);
    text += "    return CUDA_ERROR_INVALID_VALUE;\n";
  }
  return text;
}

constexpr std::string_view body = R"(#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>

namespace {target} {{

struct {name}_grid {{
  std::int32_t x = 1, y = 1, z = 1;
}};

namespace detail {{

alignas(16) inline const unsigned char {name}_cubin[] = {{{bytes}
}};

struct {name}_loaded {{
  CUfunction function = nullptr;
  CUresult result = CUDA_SUCCESS;
{processors}  {name}_loaded() {{
    CUmodule module = nullptr;
    result = cuModuleLoadData(&module, {name}_cubin);
    if (result == CUDA_SUCCESS) result = cuModuleGetFunction(&function, module, {entry});
    if (result == CUDA_SUCCESS && {shared} > 48 * 1024)
      result = cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  {shared});{ask_processors}
  }}
}};
{map_functions}
}}  // namespace detail

// Loads the kernel into the current context at its first call; safe from many threads. Arguments
// that break a promise of the signature give CUDA_ERROR_INVALID_VALUE; an empty grid does nothing.
inline CUresult {name}(CUstream stream, {name}_grid grid{parameters}) {{
{checks}  if (grid.x < 0 || grid.y < 0 || grid.z < 0) return CUDA_ERROR_INVALID_VALUE;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return CUDA_SUCCESS;
  static const detail::{name}_loaded loaded;
  if (loaded.result != CUDA_SUCCESS) return loaded.result;
{maps}  void* arguments[] = {{{arguments}}};
{launch}}}

}}  // namespace {target}
)";

}  // namespace

std::int64_t dynamic_shared_bytes(const KernelSource& source) {
  const KernelSource::Kernel& kernel = source.kernels.front();
  if (kernel.variants.empty() || kernel.variants.front().steps.empty()) return 0;
  const PlanExpression& bytes = kernel.variants.front().steps.front().shared_bytes;
  return bytes.size() == 1 && bytes[0].kind == PlanOp::Kind::Constant ? bytes[0].value : 0;
}

std::string launcher_header(const LauncherRequest& request) {
  const KernelSource::Kernel& kernel = request.source.kernels.front();
  const LaunchStep* step = only_step(kernel);
  std::string parameters;
  const std::vector<std::string> names = parameter_names(kernel);
  for (std::size_t i = 0; i < names.size(); ++i)
    parameters += fmt::format(", {} {}", c_type(kernel.parameters[i]), names[i]);
  const std::vector<std::string> arguments = kernel_arguments(kernel, step);
  const LaunchPlan* maps = step == nullptr ? nullptr : &kernel.variants.front();
  const auto number = [&](const PlanExpression& size) { return size_text(kernel, size, "0"); };
  return cpp_comment(fmt::format("{} for {}, made by tilewright {}.", kernel.name,
                                 request.target.name, version())) +
         "\n" + cpp_comment("Signature: " + request.signature) + "\n" +
         fmt::format(
             fmt::runtime(body), fmt::arg("target", request.target.name),
             fmt::arg("name", kernel_symbol(kernel.name)),
             fmt::arg("bytes", hex_bytes(request.binary.bytes)),
             fmt::arg("entry", cpp_string(step == nullptr ? kernel.name : step->entry)),
             fmt::arg("shared", dynamic_shared_bytes(request.source)),
             fmt::arg("parameters", parameters), fmt::arg("checks", checks(request, kernel)),
             fmt::arg("arguments", arguments.empty()
                                       ? "nullptr"
                                       : fmt::format("{}", fmt::join(arguments, ", "))),
             fmt::arg("processors", uses_processors(step) ? "  int processors = 1;\n" : ""),
             fmt::arg("ask_processors", uses_processors(step) ? ask_processors : ""),
             fmt::arg(
                 "map_functions",
                 maps == nullptr ? "" : launcher_map_functions(*maps, kernel_symbol(kernel.name))),
             fmt::arg("maps", maps == nullptr ? "" : launcher_maps(*maps, names, number)),
             fmt::arg("launch", launch_text(request, kernel, step)));
}

}  // namespace tilewright
