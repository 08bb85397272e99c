// SPDX-License-Identifier: Apache-2.0
// passes/store_by_maps.cpp — which stores are tiles of tensors, and what becomes of them.
#include "passes/store_by_maps.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "ir/analysis/memory_order.h"
#include "ir/builder.h"
#include "ir/map_dimensions.h"
#include "ir/roles.h"
#include "layout/map_box.h"
#include "passes/axis_info.h"
#include "passes/roles/empty_maps.h"
#include "passes/roles/load_maps.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

constexpr std::int64_t least_lines = 8;        // of a warp: the period of the order maps read in
constexpr std::int64_t room_for_words = 1024;  // its words, and where slots are aligned

std::int64_t stored_bytes(const Type& type) {
  return type.numel() * static_cast<std::int64_t>(type.element_bytes());
}

class MapStorer {
 public:
  MapStorer(Kernel& kernel, const StoreByMapsOptions& options)
      : kernel_(kernel), options_(options), build_(kernel), axes_(kernel), order_(kernel) {}

  bool run() {
    const Op* role = ir::producer_of(kernel_);
    if (role == nullptr) return false;
    for (Op* op : kernel_.body.ops)
      if (op->kind == OpKind::If && op->operands[0] == role->result()) consumers_ = &op->regions[1];
    if (consumers_ == nullptr) return false;
    visit(*consumers_, nullptr);
    if (!has_any_) return false;
    Region end;
    {
      const ir::Builder::Into into(build_, end);
      build_.create(OpKind::WaitStores, {}, {}, {{"until", std::string("read")}});
    }
    auto& ops = consumers_->ops;
    ops.insert(ops.end() - 1, end.ops.begin(), end.ops.end());
    return true;
  }

 private:
  // ---- Whether

  // Of all stores under `region`; `loop` is the innermost one around it.
  void visit(Region& region, const Op* loop) {
    for (std::size_t i = 0; i < region.ops.size(); ++i) {
      Op& op = *region.ops[i];
      const bool loops = op.facts().has(ir::Loops);
      if (!op.facts().has(ir::Combines))
        for (Region& inner : op.regions) visit(inner, loops ? &op : loop);
      if (op.kind != OpKind::Store || !is_fitting(op)) continue;
      if (const auto map = find_store_map(kernel_, axes_, op)) take(region, op, *map, loop);
    }
  }

  bool is_fitting(const Op& store) const {
    const Value value = store.operands[1];
    const Type& type = kernel_.type(value);
    if (type.rank != 2 || type.is_bool() || type.element_bytes() != 2) return false;
    const std::int64_t line = type.size(1) * static_cast<std::int64_t>(type.element_bytes());
    return type.size(0) >= least_lines * options_.num_warps && line >= least_line_bytes &&
           fits(stored_bytes(type)) && is_of_product(value) && is_alone(store);
  }

  bool fits(std::int64_t slab) const {
    if (options_.shared_bytes == 0) return true;
    std::int64_t bytes = slab + room_for_words;
    for (const ir::KernelBuffer& buffer : kernel_.buffers)
      bytes += stored_bytes(buffer.type) * std::max(buffer.slots, 1);
    return bytes <= options_.shared_bytes;
  }

  // Elementwise from what a loop has added up, for this store alone: it lies as products do.
  bool is_of_product(Value value) const {
    int uses = 0;
    ir::walk(kernel_.body, [&](const Op& op) {
      uses += static_cast<int>(std::count(op.operands.begin(), op.operands.end(), value));
    });
    const Op* maker = kernel_.maker(value);
    if (uses != 1 || !maker || !maker->facts().has(ir::Elementwise)) return false;
    while (maker != nullptr && maker->facts().has(ir::Elementwise)) {
      const Op* next = nullptr;
      for (const Value operand : maker->operands)
        if (kernel_.type(operand).is_tile() && next == nullptr) next = kernel_.maker(operand);
      maker = next;
    }
    if (maker == nullptr || maker->kind != OpKind::For) return false;
    bool has_products = false;
    ir::walk(maker->regions[0], [&](const Op& op) { has_products |= op.kind == OpKind::Dot; });
    return has_products;
  }

  // Nothing of the consumers waits for it, or it for them.
  bool is_alone(const Op& store) const {
    bool is_alone = true;
    ir::walk(*consumers_, [&](const Op& op) {
      if (&op != &store) is_alone = is_alone && !order_.must_order(op, store);
    });
    return is_alone;
  }

  // ---- What becomes of it

  std::string name_of_map(int argument) const {
    const std::string base =
        kernel_.name_of(kernel_.arguments[static_cast<std::size_t>(argument)].value) + "_map";
    std::string name = base;
    const auto is_taken = [&](const ir::KernelMap& map) { return map.name == name; };
    for (int n = 1; std::any_of(kernel_.maps.begin(), kernel_.maps.end(), is_taken); ++n)
      name = fmt::format("{}_{}", base, n);
    return name;
  }

  void take(Region& region, Op& store, const LoadMap& found, const Op* loop) {
    kernel_.maps.push_back(found.map);
    kernel_.maps.back().name = name_of_map(found.map.argument);
    Region before;
    std::vector<Value> operands = {store.operands[1]};
    {
      const ir::Builder::Into into(build_, before);
      build_.set_location(store.location);
      if (loop != nullptr && !ir::is_over_programs(kernel_, *loop)) {
        build_.create(OpKind::WaitStores, {}, {}, {{"until", std::string("memory")}});
        build_.create(OpKind::Barrier, {}, {});
      }
      const std::vector<Value> have = have_elements(build_, kernel_, found.map);
      const Type& tile = kernel_.type(store.operands[1]);
      for (std::size_t d = 0; d < have.size(); ++d)
        operands.push_back(coordinate_of(build_, have[d], found.coordinates[d].build(build_, {}),
                                         ir::elements_of(found.map.dimensions[d], tile)));
    }
    store.kind = OpKind::StoreMap;
    store.operands = std::move(operands);
    store.attributes = {{"map", kernel_.maps.back().name}};
    region.ops.insert(std::find(region.ops.begin(), region.ops.end(), &store), before.ops.begin(),
                      before.ops.end());
    has_any_ = true;
  }

  Kernel& kernel_;
  const StoreByMapsOptions& options_;
  ir::Builder build_;
  const AxisAnalysis axes_;
  const ir::MemoryOrder order_;
  Region* consumers_ = nullptr;
  bool has_any_ = false;
};

}  // namespace

bool store_by_maps(Kernel& kernel, const StoreByMapsOptions& options) {
  return kernel.stage == ir::Stage::Tile && MapStorer(kernel, options).run();
}

void store_by_maps(Kernel& kernel, const Target& target) {
  if (target.has(Feature::TensorMaps)) store_by_maps(kernel, StoreByMapsOptions{.num_warps = 8});
}

}  // namespace tilewright
