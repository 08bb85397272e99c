// SPDX-License-Identifier: Apache-2.0
// codegen/lower/operand_facts.cpp — where operands of products lie: in an array, as a view of one
// whose elements are at fixed distances, or in memory, where the whole tile lies inside of its
// bounds.
//
// A copy into an array costs as much time as 5 to 10% of the product. At the edges the tile is
// copied, so that what lies outside is what the load says.
#include <algorithm>

#include "codegen/lower/nest_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Strides of the same elements in another shape, where there are such. All sizes are powers of two:
// each bit of the index has a stride, and a dimension takes bits whose strides double.
std::optional<std::vector<std::int64_t>> reshaped_strides(
    const Type& from, const Type& to, const std::vector<std::int64_t>& strides) {
  std::vector<std::int64_t> bits;  // from the lowest
  for (int d = from.rank - 1; d >= 0; --d)
    for (std::int64_t size = 1; size < from.size(d); size *= 2)
      bits.push_back(strides[static_cast<std::size_t>(d)] * size);
  std::vector<std::int64_t> out(to.rank, 0);
  std::size_t at = 0;
  for (int d = to.rank - 1; d >= 0; --d) {
    for (std::int64_t size = 1; size < to.size(d); size *= 2, ++at) {
      std::int64_t& stride = out[static_cast<std::size_t>(d)];
      if (size == 1) stride = bits[at];
      else if (bits[at] != stride * size) return std::nullopt;
    }
  }
  return out;
}

bool writes_to_what(const ir::MemoryOrder& order, const ir::Region& region, const ir::Op& load) {
  bool found = false;
  ir::walk(region, [&](const ir::Op& op) {
    found |= op.facts().has(ir::Writes) && order.must_order(load, op);
  });
  return found;
}

}  // namespace

std::vector<std::int64_t> row_major(const Type& type) {
  std::vector<std::int64_t> strides(type.rank, 1);
  for (int d = type.rank - 2; d >= 0; --d) {
    const auto k = static_cast<std::size_t>(d);
    strides[k] = strides[k + 1] * type.size(d + 1);
  }
  return strides;
}

std::optional<StridedTile> NestFacts::strided(ir::Value value) const {
  const Type& type = kernel_.type(value);
  if (schedule_.is_placed(value)) return StridedTile{value, row_major(type)};
  const ir::Op* op = kernel_.maker(value);
  if (!op || op->operands.empty() || op->results.size() != 1) return std::nullopt;
  if (!op->facts().maps(ir::Same | ir::Permuted | ir::Reshaped | ir::Repeated)) return std::nullopt;
  std::optional<StridedTile> out = strided(op->operands[0]);
  if (!out) return std::nullopt;
  const Type& from = kernel_.type(op->operands[0]);
  if (op->kind == OpKind::Reshape) {
    const auto strides = reshaped_strides(from, type, out->strides);
    if (!strides) return std::nullopt;
    out->strides = *strides;
  } else if (op->kind == OpKind::Broadcast) {
    for (int d = 0; d < from.rank; ++d)
      if (from.size(d) == 1) out->strides[static_cast<std::size_t>(d)] = 0;
  } else if (op->kind == OpKind::Permute) {
    const std::vector<std::int64_t> before = out->strides, order = op->integers("order");
    for (std::size_t d = 0; d < order.size(); ++d)
      out->strides[d] = before[static_cast<std::size_t>(order[d])];
  }
  return out;
}

// ---- Operands in memory

// A load of rows that nothing writes to while its region runs: the order in which the schedule has
// other ops of the region does not matter then.
bool NestFacts::can_stay_in_place(ir::Value value, const ir::Region& region) const {
  const Type& type = kernel_.type(value);
  const ir::Op* sweep = kernel_.maker(value);
  const ir::Value source = schedule_.source_of(value);
  const bool is_here = std::find(region.ops.begin(), region.ops.end(), sweep) != region.ops.end();
  if (!sweep || sweep->kind != OpKind::Sweep || !is_here || type.rank != 2 || type.is_bool() ||
      !schedule_.is_placed(value) || schedule_.storage(value) != value)
    return false;
  // The sweep yields it, and does nothing else with it.
  const ir::Op& load = *kernel_.maker(source);
  const auto reads_it = [&](const ir::Op* op) {
    return op != sweep->regions[0].ops.back() &&
           std::count(op->operands.begin(), op->operands.end(), source) != 0;
  };
  if (load.kind != OpKind::Load || load.integer("volatile") != 0 || uses_[value.id] != 1 ||
      std::any_of(sweep->regions[0].ops.begin(), sweep->regions[0].ops.end(), reads_it))
    return false;
  const ir::Op* rows = kernel_.maker(load.operands[0]);
  const ir::Op* mask = load.operands.size() > 1 ? kernel_.maker(load.operands[1]) : nullptr;
  if (!rows || rows->kind != OpKind::Affine || constant(rows->operands[2]) != 1) return false;
  if (load.operands.size() > 1 && (!mask || mask->kind != OpKind::Bounds)) return false;
  return !writes_to_what(order_of_memory_, region, load);
}

void NestFacts::find_in_place(const ir::Region& region) {
  for (const ir::Op* op : region.ops) {
    if (!op->facts().has(ir::Combines))
      for (const ir::Region& inner : op->regions) find_in_place(inner);
    if (op->kind != OpKind::Dot) continue;
    for (const std::size_t side : {0, 1}) {
      ir::Value value = op->operands[side];
      const ir::Op* maker = kernel_.maker(value);
      if (maker && maker->kind == OpKind::Permute && uses_[value.id] == 1)
        value = maker->operands[0];
      if (can_stay_in_place(value, region)) in_place_.insert(value.id);
    }
  }
}

bool NestFacts::stays_in_place(const Step& step) const {
  const auto is_load = [](const ir::Op* op) { return op->kind == OpKind::Load; };
  const auto is_in_place = [&](ir::Value value) {
    return in_place_.contains(schedule_.result_of(value).id);
  };
  return !step.kept.empty() && step.reductions.empty() &&
         std::all_of(step.ops.begin(), step.ops.end(), is_load) &&
         step.ops.size() == step.kept.size() &&
         std::all_of(step.kept.begin(), step.kept.end(), is_in_place);
}

// Pairs of small elements are read as words, which lie at multiples of their size.
std::vector<WholenessTest> NestFacts::tests_of_wholeness(const Step& step) const {
  constexpr std::int64_t bytes_of_word = 4;
  std::vector<WholenessTest> tests;
  const auto add = [&](const WholenessTest& test) {
    if (std::find(tests.begin(), tests.end(), test) == tests.end()) tests.push_back(test);
  };
  for (const ir::Op* load : step.ops) {
    const Type& type = kernel_.type(load->result());
    const ir::Op& rows = *kernel_.maker(load->operands[0]);
    if (type.element_bytes() == 2)
      add({WholenessTest::Kind::Multiple, rows.operands[0], bytes_of_word});
    if (load->operands.size() < 2) continue;
    const ir::Op& bounds = *kernel_.maker(load->operands[1]);
    for (int d = 0; d < type.rank; ++d) {
      const ir::Value low = bounds.operands[static_cast<std::size_t>(2 * d)];
      const ir::Value high = bounds.operands[static_cast<std::size_t>(2 * d + 1)];
      if (constant(low).value_or(1) > 0) add({WholenessTest::Kind::AtMost, low, 0});
      if (constant(high).value_or(0) < type.size(d))
        add({WholenessTest::Kind::AtLeast, high, type.size(d)});
    }
  }
  return tests;
}

std::optional<OperandInMemory> NestFacts::operand_in_memory(ir::Value value) const {
  const ir::Op* view = kernel_.maker(value);
  const bool is_permuted = view && view->kind == OpKind::Permute;
  const ir::Value loaded = is_permuted ? view->operands[0] : value;
  if (!in_place_.contains(loaded.id)) return std::nullopt;
  const ir::Op& load = *kernel_.maker(schedule_.source_of(loaded));
  const ir::Op& rows = *kernel_.maker(load.operands[0]);
  return OperandInMemory{loaded, rows.operands[0], rows.operands[1],
                         is_permuted && view->integers("order")[0] == 1};
}

}  // namespace tilewright
