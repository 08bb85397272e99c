// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_stores.cpp — tiles that tensor maps store: threads write a copy to shared
// memory, in the order in which maps read it, and the first lane of each warp stores a part of it.
//
// The copy lies in a slab that is written again for the next tile, once the copy engine has read
// it. Where each warp writes the lines that it stores, nobody waits for another one.
#include "codegen/lower/thread_stores.h"

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

struct WarpLines {                            // that a warp stores
  int lines = 0;                              // from each place on
  std::vector<std::int64_t> first = {0};      // the places, from where the warp's lines begin
  std::vector<std::uint64_t> by_thread = {};  // where they do, by bits of the thread's number
};

// Which lines of its tile a warp stores, where it holds nothing else of it: some from one place on,
// and the same again at others.
std::optional<WarpLines> own_lines_of_warp(const ir::Kernel& kernel, const TileLayouts& layouts,
                                           const ir::Op& op) {
  const Type& type = kernel.type(op.operands[0]);
  const LogSizes sizes = sizes_of(type);
  const int slow = kernel.map_of(op).dimensions[1].of_tile;
  const int low = first_bit(sizes, slow), bits = sizes[static_cast<std::size_t>(slow)];
  const Layout& layout = layouts.of_array(op.operands[0]).layout;
  const auto is_bit = [](std::uint64_t column) { return std::has_single_bit(column); };
  const auto line_bit = [&](std::uint64_t column) { return std::countr_zero(column) - low; };
  WarpLines out;
  std::uint64_t own = 0;
  for (const BitMatrix& of : {layout.lanes(), layout.registers()})
    for (const std::uint64_t column : of.all_columns()) {
      if (!is_bit(column)) return std::nullopt;
      own |= column;
    }
  for (int j = 0; j < layout.lanes().columns(); ++j) out.by_thread.push_back(0);
  for (const std::uint64_t column : layout.warps().all_columns()) {
    const bool is_line = is_bit(column) && line_bit(column) >= 0 && line_bit(column) < bits;
    if (!is_line || (own & column) != 0) return std::nullopt;
    out.by_thread.push_back(std::uint64_t{1} << line_bit(column));
  }
  const auto is_own = [&](int bit) { return (own >> (low + bit) & 1) != 0; };
  int log_lines = 0;
  while (log_lines < bits && is_own(log_lines)) ++log_lines;
  out.lines = 1 << log_lines;
  for (int bit = log_lines; bit < bits; ++bit)
    if (is_own(bit))
      for (std::size_t i = 0, count = out.first.size(); i < count; ++i)
        out.first.push_back(out.first[i] + (std::int64_t{1} << bit));
  constexpr int period = 8;  // lines after which the order that maps read is the same
  return out.lines >= period ? std::optional(std::move(out)) : std::nullopt;
}

// Else all have written the tile, and warps share it out evenly.
WarpLines lines_of_warp(const ir::Kernel& kernel, const TileLayouts& layouts, const ir::Op& op) {
  if (auto own = own_lines_of_warp(kernel, layouts, op)) return *std::move(own);
  const int slow = kernel.map_of(op).dimensions[1].of_tile;
  const Layout& layout = layouts.of_array(op.operands[0]).layout;
  WarpLines out{.lines =
                    static_cast<int>(kernel.type(op.operands[0]).size(slow) / kernel.shape.warps)};
  for (int j = 0; j < layout.thread_bits(); ++j) {
    const int warp_bit = j - layout.lanes().columns();
    out.by_thread.push_back(warp_bit < 0 ? 0 : static_cast<std::uint64_t>(out.lines) << warp_bit);
  }
  return out;
}

}  // namespace

// One for all tiles that go through it.
ir::Value ThreadStores::slab_of(const ir::Op& op) {
  const std::string scratch(op.text("scratch"));
  if (const auto found = slabs_.find(scratch); found != slabs_.end()) return found->second;
  const ir::KernelBuffer& buffer = kernel_.buffers[kernel_.buffer_named(scratch)];
  bool are_apart = true;
  ir::walk(kernel_.body, [&](const ir::Op& other) {
    if (other.kind == OpKind::StoreMap && other.text("scratch") == scratch)
      are_apart = are_apart && own_lines_of_warp(kernel_, layouts_, other).has_value();
  });
  std::vector<ir::Attribute> attributes = {{"count", buffer.type.numel()},
                                           {"offset", buffer.offset},
                                           {"align", std::int64_t{buffer.align}}};
  if (are_apart) attributes.push_back({"warps", std::int64_t{1}});
  return slabs_[scratch] = named(
             FinalBuilder::make(OpKind::Array, {},
                                Type::array(buffer.type.element(), ir::Space::Shared), attributes),
             names_.make(scratch), shared_);
}

// In vectors where registers of one are neighbours there.
void ThreadStores::fill_slab(const Step& step, ir::Value slab, const Swizzle& swizzle) {
  const ir::Value tile = step.op->operands[0];
  const TileLayout& layout = layouts_.of_array(tile);
  Loop loop = make(step, layout);
  Frame& frame = loop.plan.frame;
  const bool has_vectors = loop.plan.log_vector > 0 && !layouts_.is_shared(tile) &&
                           layout.contiguous == swizzle.contiguous &&
                           swizzle.log_run >= loop.plan.log_vector;
  if (!has_vectors) {
    open_all(loop, true);
    statement(OpKind::Write,
              {slab, index(loop, swizzle(frame.place)), element(loop, tile, frame.place)}, *list_);
    return close_all(loop);
  }
  open(loop, over_slices, "slices", true);
  open(loop, over_vectors, "vectors", true);
  frame.is_whole_vector = true;
  const ir::Value at = index(loop, swizzle(frame.place));
  frame.is_whole_vector = false;
  const ir::Value first = linear(loop, plans_.register_map(frame, tile, frame.place), over_vectors,
                                 frame.space.variables.size());
  const std::int64_t count = std::int64_t{1} << loop.plan.log_vector;
  statement(OpKind::StoreFrom, {view(slab, at), view(array(tile), first)}, *list_,
            {{"count", count}, {"width", count}});
  close(loop, over_vectors);
  close(loop, over_slices);
}

void ThreadStores::store_boxes(const Step& step, ir::Value slab, MapBox box) {
  const ir::Op& op = *step.op;
  const ir::KernelMap& map = kernel_.map_of(op);
  const Type& type = kernel_.type(op.operands[0]);
  const int fast = map.dimensions[0].of_tile, slow = map.dimensions[1].of_tile;
  const std::string& map_name =
      out_.maps[static_cast<std::size_t>(&map - kernel_.maps.data())].name;
  const WarpLines warp = lines_of_warp(kernel_, layouts_, op);
  box.lines = warp.lines;
  const Loop thread =
      loop_with(step, {{"thread", static_cast<int>(warp.by_thread.size())}}, {thread_});
  const int bits = type.log_sizes[static_cast<std::size_t>(slow)];
  const ir::Value line =
      named(linear(thread, {BitMatrix(bits, warp.by_thread), 0}), names_.make("line"), *list_);
  for (const std::int64_t first : warp.first)
    for (std::int64_t x = 0; x < type.size(fast); x += box.line) {
      const std::int64_t begin = x / box.line * box.line * type.size(slow) + first * box.line;
      const ir::Value from = view(slab, sum({{line, box.line}, {number(begin)}}, i32));
      std::vector<ir::Value> operands = {
          from, sum({{scalar(op.operands[1])}, {number(x)}}, i32),
          sum({{scalar(op.operands[2])}, {line}, {number(first)}}, i32)};
      for (std::size_t d = 2; d < map.dimensions.size(); ++d)
        operands.push_back(scalar(op.operands[d + 1]));
      call_statement(LibraryKind::StoreBox, operands,
                     {box.line, box.lines, box.swizzle_bytes, op.integer("adds")}, op.location,
                     {{"map", map_name}});
    }
}

void ThreadStores::store_map(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& type = kernel_.type(op.operands[0]);
  const auto bytes = static_cast<int>(type.element_bytes());
  const Swizzle swizzle =
      Swizzle::panels(sizes_of(type), kernel_.map_of(op).dimensions[0].of_tile, bytes);
  const std::optional<MapBox> box = find_map_box(sizes_of(type), swizzle, bytes);
  TW_CHECK(box.has_value(), "a tile of {} is no box of a tensor map", type.to_string());
  const ir::Value slab = slab_of(op);
  call_statement(LibraryKind::WaitBoxes, {}, {0}, op.location);
  fill_slab(step, slab, swizzle);
  call_statement(LibraryKind::ShowToProducts);
  store_boxes(step, slab, *box);
}

}  // namespace tilewright
