// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/emit.cpp — from a kernel to a KernelSource: its plan, its text, the parts of the
// device library that it needs, its launch.
#include "codegen/cuda/emit.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/embedded.h"
#include "codegen/cuda/inline_asm.h"
#include "codegen/cuda/launch_plan.h"
#include "codegen/cuda/library_headers.h"
#include "codegen/cuda/plan_kernel.h"
#include "codegen/cuda/source_lines.h"
#include "codegen/print/cuda_kernel.h"
#include "codegen/print/read_back.h"
#include "codegen/text/names.h"
#include "codegen/text/wgmma_functions.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

// Parts of the device library in the order in which they build on each other.
constexpr std::string_view parts_in_order[] = {
    "ptx",     "types", "arithmetic", "math",   "memory", "async_copy", "mma",     "wgmma",
    "atomics", "warp",  "ring",       "reduce", "scan",   "sort",       "cluster", "check"};

// Parts that ask for a thread's lane.
constexpr std::string_view warp_parts[] = {"ring", "reduce", "scan", "sort", "cluster"};

bool is_wanted(const std::set<std::string>& parts, std::string_view part) {
  if (part == "ptx" || part == "types") return true;
  if (part == "warp")
    return parts.contains("warp") ||
           std::any_of(std::begin(warp_parts), std::end(warp_parts),
                       [&](std::string_view user) { return parts.contains(std::string(user)); });
  if (part == "arithmetic" && parts.contains("math")) return true;
  return parts.contains(std::string(part));
}

CudaFunction print(const ir::Kernel& program, const CudaEmitOptions& options) {
  CudaFunction out = print_cuda_kernel(
      program, kernel_symbol(program.name),
      [&](int file, int line) {
        return options.line_text ? options.line_text(static_cast<std::uint16_t>(file), line)
                                 : std::string_view{};
      },
      options.line_directives);
  if (options.line_directives) out.text = repeat_line_directives(out.text);
  return out;
}

// What the source and its launch take from the printer.
std::string all_of(const CudaFunction& function) {
  return fmt::format("{}// {} {}\n", function.text, fmt::join(function.parts, ", "),
                     function.dynamic_bytes);
}

// The largest buffers in shared memory and their bytes.
std::string largest_buffers(const ir::Kernel& kernel) {
  std::vector<const ir::KernelBuffer*> sorted;
  for (const ir::KernelBuffer& buffer : kernel.buffers)
    if (buffer.is_shared()) sorted.push_back(&buffer);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->bytes() > b->bytes(); });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min<std::size_t>(sorted.size(), 3); ++i)
    texts.push_back(fmt::format("{} {}", sorted[i]->name, sorted[i]->bytes()));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Throws ArgumentError where a block needs more shared memory than it can have.
void require_space(const ir::Kernel& laid, std::int64_t bytes, const Target& target) {
  if (bytes <= target.shared_bytes_per_block_optin) return;
  int stages = 1;
  for (const ir::KernelBuffer& buffer : laid.buffers) stages = std::max(stages, buffer.slots);
  throw ArgumentError(fmt::format(
      "kernel '{}' needs {} bytes of shared memory for its tiles with {} (the largest: {}), but a "
      "block of {} has at most {}: use smaller blocks{} or more warps",
      laid.name, bytes, stages == 1 ? "1 stage" : fmt::format("{} stages", stages),
      largest_buffers(laid), target.name, target.shared_bytes_per_block_optin,
      stages == 1 ? "" : ", fewer stages"));
}

}  // namespace

ProgramShape shape_of(const ir::Kernel& laid, const Target& target) {
  return {.warps = laid.shape.warps,
          .lanes = target.warp_size,
          .programs = laid.shape.programs,
          .blocks = laid.shape.cluster,
          .resident = laid.shape.resident};
}

ir::Kernel laid_for_cuda(const ir::Kernel& tiles, const CudaEmitOptions& options) {
  return plan_kernel(tiles, options).laid;
}

ir::Kernel final_for_cuda(const ir::Kernel& laid, const CudaEmitOptions& options) {
  return program_of(laid, options);
}

namespace {

void require_features(const ir::Kernel& kernel, const Target& target) {
  if (target.has(Feature::Bf16)) return;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (ir::Value result : op.results)
      if (op.facts().has(ir::Elementwise) && kernel.type(result).dtype == DType::BFloat16)
        throw ArgumentError(
            fmt::format("kernel '{0}' computes bfloat16 values, but {1} has no instructions for "
                        "them: compile it for sm_80 or later, or use float16",
                        kernel.name, target.name));
  });
}

// The text of a program with the parts of the device library that it needs, and how it is launched:
// `kernel` is the Laid one, whose arguments have the user's names, or the program itself.
KernelSource source_of(const ir::Kernel& kernel, const ir::Kernel& program,
                       const CudaEmitOptions& options) {
  const CudaFunction function = print(program, options);
  check_read_back(program, all_of(function),
                  [&](const ir::Kernel& read) { return all_of(print(read, options)); });
  KernelSource source;
  source.language = Language::Cuda;
  source.name = kernel.name;
  for (std::string_view part : parts_in_order) {
    if (!is_wanted(function.parts, part)) continue;
    source.text += fmt::format("#include \"{}\"\n", header_name(part));
    source.headers.push_back({header_name(part), std::string(embedded_file(fmt::format(
                                                     "device_lib/cuda/{}.cuh", part)))});
  }
  if (!function.products.empty()) {
    source.text += fmt::format("#include \"{}\"\n", wgmma_header);
    source.headers.push_back({std::string(wgmma_header), wgmma_functions(function.products)});
  }
  source.text += "\n" + inline_asm_functions(kernel) + function.text;
  // Without textures and launches from the device, which take the front end longer to read.
  source.options = {"--std=c++17", "--minimal", options.fp_fusion ? "--fmad=true" : "--fmad=false",
                    options.flush_denormals ? "--ftz=true" : "--ftz=false"};
  source.options.push_back(fmt::format("{}{}", lanes_option, options.target.warp_size));
  // A kernel cannot have __maxnreg__ beside its launch bounds.
  if (options.max_registers > 0)
    source.options.push_back(fmt::format("--maxrregcount={}", options.max_registers));
  std::vector<MapBox> boxes;
  for (const ir::KernelMap& map : program.maps) {
    const CopiedBox& box = function.boxes.at(map.name);
    boxes.push_back({box.line, box.lines, box.swizzle_bytes});
  }
  source.kernels.push_back(launch_of(kernel, options.target, function.dynamic_bytes, boxes));
  return source;
}

void check_num_warps(const CudaEmitOptions& options) {
  const int warps = options.num_warps;
  const int most = options.target.max_warps();
  if (warps < 1 || warps > most || !std::has_single_bit(static_cast<unsigned>(warps)))
    throw ArgumentError(
        fmt::format("num_warps is {}, but must be a power of two from 1 to {}", warps, most));
}

}  // namespace

KernelSource emit_cuda(const ir::Kernel& kernel, const CudaEmitOptions& options,
                       const KernelPlan* sketch) {
  check_num_warps(options);
  require_features(kernel, options.target);
  if (sketch)
    if (const auto program = finished_program(*sketch, kernel, options))
      return source_of(sketch->laid, *program, options);
  if (kernel.stage == ir::Stage::Final) return source_of(kernel, kernel, options);
  if (kernel.stage == ir::Stage::Laid) {
    TW_CHECK(kernel.shape.is_decided(), "kernel '{}' has no shape", kernel.name);
    require_space(kernel, block_bytes(kernel), options.target);
    return source_of(kernel, program_of(kernel, options), options);
  }
  const KernelPlan plan = plan_kernel(kernel, options);
  require_space(plan.laid, plan.shared_bytes, options.target);
  return source_of(plan.laid, plan.program, options);
}

}  // namespace tilewright
