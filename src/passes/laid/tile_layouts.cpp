// SPDX-License-Identifier: Apache-2.0
// passes/laid/tile_layouts.cpp — rows of the tables as layouts, orders as matrices.
#include "passes/laid/tile_layouts.h"

#include <bit>

#include "base/check.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

std::vector<LaneSwap> swaps_in(const ir::KernelBuffer& buffer) {
  std::vector<LaneSwap> out;
  for (std::size_t i = 0; i + 1 < buffer.swaps.size(); i += 2)
    out.push_back({static_cast<int>(buffer.swaps[i]), static_cast<int>(buffer.swaps[i + 1])});
  return out;
}

}  // namespace

TileLayouts::TileLayouts(const ir::Kernel& kernel, const Sweeps& schedule)
    : kernel_(kernel), schedule_(schedule) {
  std::unordered_map<std::string_view, std::size_t> rows;
  for (const ir::KernelLayout& row : kernel.layouts) {
    rows.emplace(row.name, layouts_.size());
    layouts_.push_back({row.layout, std::countr_zero(static_cast<unsigned>(row.vector)), row.along,
                        row.is_unrolled});
  }
  for (const ir::KernelBuffer& buffer : kernel.buffers) {
    rows_.push_back(buffer.layout.empty() ? -1 : static_cast<int>(rows.at(buffer.layout)));
    Swizzle swizzle = Swizzle::none(sizes_of(buffer.type));
    if (!buffer.order.empty())
      swizzle.matrix =
          BitMatrix(bits_of_type(buffer.type), {buffer.order.begin(), buffer.order.end()});
    swizzles_.push_back(std::move(swizzle));
    if (!buffer.swaps.empty())
      swapped_[swizzles_.size() - 1] =
          swapped(layouts_[static_cast<std::size_t>(rows_.back())].layout, swaps_in(buffer));
  }
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind == ir::OpKind::Dot) dots_[&op] = dot_plan_of(kernel, op);
    if (op.kind == ir::OpKind::Sweep && op.find("layout")) steps_[&op] = rows.at(op.text("layout"));
    if (op.kind != ir::OpKind::Scan || op.text("via") != "registers") return;
    const auto plan =
        plan_scan(of_array(op.results[0]).layout, sizes_of(kernel.type(op.operands[0])),
                  static_cast<int>(op.integer("axis")));
    TW_CHECK(plan, "the layout of a scan in registers does not deal its axis out in order");
    scans_[&op] = *plan;
  });
}

const ir::KernelBuffer* TileLayouts::buffer_of(ir::Value value) const {
  const int number = schedule_.buffer_of(value);
  return number < 0 ? nullptr : &kernel_.buffers[static_cast<std::size_t>(number)];
}

const TileLayout& TileLayouts::of_array(ir::Value value) const {
  const int number = schedule_.buffer_of(value);
  TW_CHECK(number >= 0 && rows_[static_cast<std::size_t>(number)] >= 0,
           "the tile '{}' has no layout", kernel_.name_of(value));
  return layouts_[static_cast<std::size_t>(rows_[static_cast<std::size_t>(number)])];
}

const Layout& TileLayouts::of_read_array(ir::Value value) const {
  const auto found = swapped_.find(static_cast<std::size_t>(schedule_.buffer_of(value)));
  return found == swapped_.end() ? of_array(value).layout : found->second;
}

std::vector<LaneSwap> TileLayouts::swaps_of(ir::Value value) const {
  const ir::KernelBuffer* buffer = buffer_of(value);
  return buffer == nullptr ? std::vector<LaneSwap>() : swaps_in(*buffer);
}

const Swizzle& TileLayouts::swizzle_of(ir::Value value) const {
  return swizzles_[static_cast<std::size_t>(schedule_.buffer_of(value))];
}

Layout TileLayouts::of_reduced(const Step& step, const ir::Op& reduce) const {
  const IndexMap total = total_map(step.shape, reduce);
  return of_step(step).layout.through(total.matrix).without_register_copies();
}

}  // namespace tilewright
