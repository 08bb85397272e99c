// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/describe_layouts.cpp — the layouts of the sweeps that are emitted, printed.
#include "codegen/cuda/describe_layouts.h"

#include <bit>
#include <set>

#include <fmt/format.h>

#include "codegen/cuda/layouts.h"
#include "codegen/schedule/sweeps.h"
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

std::string describe_layouts(const ir::Kernel& tiles, const CudaEmitOptions& options) {
  const LaidForCuda laid = laid_for_cuda(tiles, options);
  const ir::Kernel& kernel = laid.kernel;
  const int threads = laid.shape.threads();
  const Sweeps sweeps(kernel);
  Alignments alignments(kernel);
  alignments.rotate(find_rotation(kernel, sweeps, alignments, threads));
  const TileLayouts layouts(
      kernel, sweeps, alignments,
      {options.target, std::countr_zero(static_cast<unsigned>(threads / options.target.warp_size))});
  std::string out = fmt::format("cells are thread:register, {} threads\n\n", threads);
  std::set<std::uint32_t> seen;
  for (const ir::Value value : sweeps.placed_results())
    if (seen.insert(sweeps.storage(value).id).second) out += describe_tile(kernel, layouts, value);
  return out;
}

}  // namespace tilewright
