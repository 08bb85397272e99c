// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/describe_layouts.cpp — schedule and layouts as the emitter makes them, printed.
#include "codegen/cuda/describe_layouts.h"

#include <bit>
#include <set>

#include <fmt/format.h>

#include "codegen/cuda/layouts.h"
#include "layout/picture.h"

namespace tilewright {
namespace {

std::string describe_tile(const ir::Kernel& kernel, const TileLayouts& layouts, ir::Value value) {
  const ir::Type& type = kernel.type(value);
  const std::string& name = kernel.name_of(value);
  const Layout& layout = layouts.of_array(value).layout;
  const int count = layout.register_count();
  const std::string where = layouts.is_shared(value)
                                ? std::string("in shared memory, written and read")
                                : fmt::format("in {} register{}", count, count == 1 ? "" : "s");
  return fmt::format("{} {}, {} as\n{}\n{}\n", name.empty() ? "a tile" : name, type.to_string(),
                     where, layout.to_string(), picture(layout, sizes_of(type)));
}

}  // namespace

std::string describe_layouts(const ir::Kernel& kernel, const CudaEmitOptions& options) {
  const Schedule schedule(kernel, {.reload_from = INT64_MAX});
  Alignments alignments(kernel);
  alignments.rotate(find_rotation(kernel, schedule, alignments, options.num_warps * 32));
  const TileLayouts layouts(
      kernel, schedule, alignments,
      {options.target, std::countr_zero(static_cast<unsigned>(options.num_warps)), {}});
  std::string out =
      fmt::format("cells are thread:register, {} threads\n\n", options.num_warps * 32);
  std::set<std::uint32_t> seen;
  const auto show = [&](ir::Value value) {
    if (!kernel.type(value).is_tile() || schedule.home(value) != Home::Stored) return;
    if (!seen.insert(schedule.storage(value).id).second) return;
    out += describe_tile(kernel, layouts, value);
  };
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (ir::Value result : op.results) show(result);
  });
  return out;
}

}  // namespace tilewright
