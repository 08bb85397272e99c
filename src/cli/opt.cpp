// SPDX-License-Identifier: Apache-2.0
// cli/opt.cpp — `tilewright opt`: passes on a kernel in the IR's text form.
#include <algorithm>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "base/input_file.h"
#include "cli/verbs.h"
#include "compiler/backends.h"
#include "compiler/pipeline.h"
#include "ir/print.h"
#include "ir/read.h"
#include "ir/verify.h"
#include "layout/picture.h"
#include "passes/passes.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

std::string input_text(const std::string& file) {
  if (file != "-") return read_input(file);
  std::ostringstream text;
  text << std::cin.rdbuf();
  return text.str();
}

// Golden files hold a kernel, this line, and what a pass makes of it; only the first counts here.
std::string_view first_kernel(std::string_view text) {
  return text.substr(0, text.find("\n// ----"));
}

void list_passes() {
  std::size_t width = 0;
  for (const PassEntry& pass : all_passes()) width = std::max(width, pass.name.size());
  const auto print_pass = [&](const PassEntry& pass) {
    const bool is_for_all = pass.needs == FeatureSet() && pass.excludes == FeatureSet();
    const bool is_late = pass.first >= ir::Stage::Laid;
    fmt::print("{:<{}}  {}{}{}\n", pass.name, width, pass.summary,
               is_late ? fmt::format("; at stage {}", stages_of(pass)) : "",
               is_for_all ? "" : fmt::format("; for {}", machines_of(pass)));
  };
  for (const PassEntry& pass : all_passes()) print_pass(pass);
  for (const PassEntry& pass : laid_passes()) print_pass(pass);
  for (const PassEntry& pass : final_passes()) print_pass(pass);
  fmt::print("default: {}\n", fmt::join(tile_pipeline(), ","));
}

std::vector<const PassEntry*> passes_of(const OptOptions& options) {
  std::vector<const PassEntry*> passes;
  for (const std::string& name : options.passes) passes.push_back(&pass_named(name));
  return passes;
}

std::vector<const PassEntry*> default_passes(ir::Stage stage) {
  std::vector<const PassEntry*> passes;
  if (stage < ir::Stage::Laid)
    for (const std::string_view name : tile_pipeline()) passes.push_back(&pass_named(name));
  return passes;
}

void check_stage(const ir::Kernel& kernel, const PassEntry& pass) {
  if (!pass.takes(kernel.stage))
    throw UserError(fmt::format(
        "pass '{}' is for kernels at stage {}, and kernel '{}' is at stage {}: leave it out, or "
        "take the text of that stage (tilewright compile --emit ir prints all of them)",
        pass.name, stages_of(pass), kernel.name, ir::name_of(kernel.stage)));
}

void check_warps(int num_warps) {
  if (num_warps < 1 || num_warps > 32 || (num_warps & (num_warps - 1)) != 0)
    throw ArgumentError(
        fmt::format("num_warps is {}, but must be a power of two from 1 to 32", num_warps));
}

// What is laid out can be launched: tiles as arguments are for tests of single passes.
void check_arguments(const ir::Kernel& kernel) {
  for (const ir::KernelArgument& argument : kernel.arguments)
    if (kernel.type(argument.value).is_tile())
      throw UserError(
          fmt::format("argument '{}' of kernel '{}' is a tile, and --sweeps and --layouts take "
                      "kernels that can "
                      "be launched: give it as a pointer or a scalar",
                      kernel.name_of(argument.value), kernel.name));
}

ir::Kernel in_sweeps(const ir::Kernel& kernel, const Target& target, int num_warps) {
  check_warps(num_warps);
  check_arguments(kernel);
  if (kernel.stage != ir::Stage::Tile)
    throw UserError(fmt::format(
        "--sweeps goes on from the tile stage, but kernel '{}' is at another one: leave --passes "
        "out, or let them end in find_access_forms",
        kernel.name));
  return backend_of(target).lay(kernel, target, {.num_warps = num_warps});
}

std::string picture_of(const ir::Kernel& kernel, const ir::KernelBuffer& buffer) {
  const Layout& layout = kernel.find_layout(buffer.layout)->layout;
  const int count = layout.register_count();
  const std::string where = buffer.is_shared()
                                ? std::string("in shared memory, written and read")
                                : fmt::format("in {} register{}", count, count == 1 ? "" : "s");
  return fmt::format("{} {}, {} as\n{}\n{}\n", buffer.name, buffer.type.to_string(), where,
                     layout.to_string(),
                     picture(layout, {buffer.type.log_sizes.data(), buffer.type.rank}));
}

// What the tables of a Laid kernel say.
void print_layouts(const ir::Kernel& laid, const Target& target) {
  if (!laid.shape.is_decided())
    throw UserError(fmt::format(
        "kernel '{}' has no shape and no layouts to draw: give it at stage source or tile",
        laid.name));
  const int threads = laid.shape.warps * laid.shape.cluster * target.warp_size;
  fmt::print("cells are thread:register, {} threads\n\n", threads);
  for (const ir::KernelBuffer& buffer : laid.buffers)
    if (!buffer.layout.empty()) fmt::print("{}", picture_of(laid, buffer));
}

void require_threads(const Target& target) {
  if (!target.is_cuda())
    throw ArgumentError(fmt::format(
        "--layouts is for CUDA targets, and {} has no threads to draw: give --target sm_90a",
        target.name));
}

}  // namespace

void run_opt(const OptOptions& options) {
  if (options.list) return list_passes();
  const Target target = Target::parse(options.target);
  std::vector<const PassEntry*> passes = passes_of(options);
  const std::string name = options.file == "-" ? "<input>" : options.file;
  const std::string text = input_text(options.file);
  ir::Kernel kernel = ir::read(first_kernel(text), name).kernel;
  if (options.verify_only) {
    fmt::print("{}: kernel '{}' is valid\n", name, kernel.name);
    return;
  }
  if (passes.empty()) passes = default_passes(kernel.stage);
  for (const PassEntry* pass : passes) {
    check_stage(kernel, *pass);
    pass->run(kernel, target);
    ir::verify(kernel);
    if (options.print_after_all) fmt::print("// after {}\n{}", pass->name, ir::print(kernel));
  }
  if (options.layouts) require_threads(target);
  if (options.sweeps || (options.layouts && kernel.stage < ir::Stage::Laid)) {
    kernel = in_sweeps(kernel, target, options.num_warps);
    ir::verify(kernel);
    if (options.print_after_all) fmt::print("// in sweeps\n{}", ir::print(kernel));
  }
  if (options.layouts) return print_layouts(kernel, target);
  if (!options.print_after_all) fmt::print("{}", ir::print(kernel));
}

}  // namespace tilewright::cli
