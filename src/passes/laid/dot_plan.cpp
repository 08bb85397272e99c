// SPDX-License-Identifier: Apache-2.0
// passes/laid/dot_plan.cpp — types to instructions, and layouts for those that have none.
#include "passes/laid/dot_plan.h"

#include <algorithm>
#include <string>

#include "ir/product.h"
#include "passes/choose_units.h"
#include "passes/defer_stores.h"

namespace tilewright {
namespace {

using ir::OpKind;

bool is_float8(DType dtype) { return is_floating(dtype) && size_of(dtype) == 1; }

// Each thread has a patch of rows and columns, as square as can be, so that what it reads of the
// operands is used several times.
Layout patches(const ProductSizes& sizes, int log_lanes, int log_warps) {
  constexpr int log_patch = 2;  // along each dimension, where there is enough for all threads
  const int threads = log_lanes + log_warps;
  const int bits = sizes.batch + sizes.rows + sizes.columns;
  const int spare = std::max(sizes.rows + sizes.columns - threads, 0);
  const int columns = std::min({log_patch, sizes.columns, (spare + 1) / 2});
  const int rows = std::min({log_patch, sizes.rows, spare - columns});
  std::vector<std::uint64_t> registers, rest;
  const auto add = [](std::vector<std::uint64_t>& out, int low, int count) {
    for (int j = 0; j < count; ++j) out.push_back(std::uint64_t{1} << (low + j));
  };
  add(registers, 0, columns);
  add(registers, sizes.columns, rows);
  add(rest, columns, sizes.columns - columns);
  add(rest, sizes.columns + rows, sizes.rows - rows + sizes.batch);
  std::vector<std::uint64_t> dealt(static_cast<std::size_t>(threads));
  for (std::size_t j = 0; j < rest.size(); ++j) {
    if (j < dealt.size()) dealt[j] = rest[j];
    else registers.push_back(rest[j]);
  }
  return {BitMatrix(bits, std::move(registers)),
          BitMatrix(bits, {dealt.begin(), dealt.begin() + log_lanes}),
          BitMatrix(bits, {dealt.begin() + log_lanes, dealt.end()})};
}

}  // namespace

DotPlan plan_dot(const ir::Kernel& kernel, const ir::Op& dot, const DotOptions& options) {
  const ir::Type& a = kernel.type(dot.operands[0]);
  const ir::Type& b = kernel.type(dot.operands[1]);
  const ir::Type& result = kernel.type(dot.result());
  DotPlan out;
  out.sizes = ir::product_sizes(kernel, dot);
  out.left = a.dtype;
  out.right = b.dtype;
  out.sum = result.dtype == DType::Float16 ? DType::Float32 : result.dtype;
  const bool widens =
      (is_float8(a.dtype) || is_float8(b.dtype)) && !options.target.has(Feature::MmaF8);
  if (widens) out.left = out.right = DType::Float16;
  const std::string_view precision = a.dtype == DType::Float32 ? dot.text("precision", "tf32") : "";
  if (const ProductUnit* unit = find_unit(options.target, out.left, out.right, precision)) {
    out.shape = unit->shape;
    out.instruction = unit->name;
    out.uses_mma = out.sizes.rows >= out.shape.log_rows &&
                   out.sizes.columns >= out.shape.log_columns &&
                   out.sizes.depth >= out.shape.log_depth;
  }
  if (!out.uses_mma) {
    out.layouts.result = patches(out.sizes, options.target.log_lanes(), options.log_warps);
    return out;
  }
  const bool has_group = options.has_warpgroups && out.sizes.batch == 0 && out.sizes.rows >= 6 &&
                         options.log_warps >= 2 && size_of(out.left) <= 4;
  out.is_asynchronous = has_group && is_asynchronous(dot);
  out.warps = has_group ? split_warpgroups(out.sizes, options.log_warps)
                        : split_warps(out.sizes, out.shape, options.log_warps, options.keeps_rows_whole);
  out.layouts = mma_layouts(out.sizes, out.shape, out.warps);
  return out;
}

DotPlan dot_plan_of(const ir::Kernel& kernel, const ir::Op& dot) {
  const DType result = kernel.type(dot.result()).dtype;
  DotPlan out{.sizes = ir::product_sizes(kernel, dot),
              .left = kernel.type(dot.operands[0]).dtype,
              .right = kernel.type(dot.operands[1]).dtype,
              .sum = result == DType::Float16 ? DType::Float32 : result};
  const std::optional<WarpSplit> warps = ir::warps_of(dot);
  const ProductUnit* unit = warps ? ir::unit_of(kernel, dot) : nullptr;
  if (!unit) return out;
  out.uses_mma = true;
  out.is_asynchronous = is_asynchronous(dot);
  out.warps = *warps;
  out.instruction = unit->name;
  out.left = unit->left;
  out.right = unit->right;
  out.shape = unit->shape;
  out.layouts = mma_layouts(out.sizes, out.shape, out.warps);
  return out;
}

bool has_asynchronous_dots(const ir::Kernel& kernel) {
  bool found = false;
  ir::walk(kernel.body, [&](const ir::Op& op) { found |= op.kind == OpKind::Dot && is_asynchronous(op); });
  return found;
}

namespace {

// Values that come from a product element by element.
class ProductValues {
 public:
  explicit ProductValues(const ir::Kernel& kernel) : is_made_(kernel.value_count(), false) {
    visit(kernel.body);
  }
  bool contains(ir::Value value) const { return is_made_[value.id]; }
  bool is_chained() const { return is_chained_; }

 private:
  void visit(const ir::Region& region) {
    for (const ir::Op* op : region.ops) visit(*op);
  }
  void visit(const ir::Op& op) {
    for (const ir::Region& region : op.regions) visit(region);
    if (op.kind == OpKind::For || op.kind == OpKind::Sweep) {
      const std::vector<ir::Value>& yielded = op.regions[0].ops.back()->operands;
      for (std::size_t k = 0; k < op.results.size(); ++k)
        is_made_[op.results[k].id] = contains(yielded[k]);
    }
    if (op.kind == OpKind::Dot) {
      is_chained_ |= contains(op.operands[0]) || contains(op.operands[1]);
      is_made_[op.result().id] = true;
    }
    const bool passes = op.facts().has(ir::Elementwise) || op.kind == OpKind::Broadcast;
    if (passes && std::any_of(op.operands.begin(), op.operands.end(),
                              [&](ir::Value value) { return contains(value); }))
      for (ir::Value result : op.results) is_made_[result.id] = true;
  }

  std::vector<bool> is_made_;
  bool is_chained_ = false;
};

}  // namespace

bool has_chained_dots(const ir::Kernel& kernel) { return ProductValues(kernel).is_chained(); }

std::vector<bool> stored_products(const ir::Kernel& kernel) {
  const ProductValues products(kernel);
  std::vector<int> uses(kernel.value_count(), 0);
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (ir::Value value : op.operands) ++uses[value.id];
  });
  std::vector<bool> out(kernel.value_count(), false);
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::StoreMap) out[op.operands[0].id] = true;
    if (op.kind != OpKind::Store || !kernel.type(op.operands[1]).is_tile()) return;
    const ir::Value value = op.operands[1];
    const ir::Op* maker = kernel.maker(value);
    const bool is_made = maker && maker->facts().has(ir::Elementwise) && products.contains(value);
    out[value.id] = (is_made || is_deferred_store(kernel, op)) &&
                    uses[value.id] == 1 && kernel.type(value).element_bytes() <= 2 &&
                    kernel.type(value).rank >= 2 && !kernel.type(value).is_bool();
  });
  return out;
}

}  // namespace tilewright
