// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/in_place.cpp — operands of products that are read in memory instead of being copied
// into an array first, where the whole tile lies inside of its bounds.
//
// A copy costs as much time as 5 to 10% of the product. At the edges the tile is copied, so that
// what lies outside is what the load says.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/cpu/program.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

bool writes_to_what(const ir::MemoryOrder& order, const ir::Region& region, const ir::Op& load) {
  bool found = false;
  ir::walk(region, [&](const ir::Op& op) {
    found |= op.facts().has(ir::Writes) && order.must_order(load, op);
  });
  return found;
}

}  // namespace

// A load of rows that nothing writes to while its region runs: the order in which the schedule has
// other ops of the region does not matter then.
bool ProgramWriter::can_stay_in_place(ir::Value value, const ir::Region& region) const {
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

void ProgramWriter::find_in_place(const ir::Region& region) {
  if (deferred_.step) return;  // rows of the program before are written at any time
  for (const ir::Op* op : region.ops) {
    if (!op->facts().has(ir::Combines))
      for (const ir::Region& inner : op->regions) find_in_place(inner);
    if (op->kind != OpKind::Dot) continue;
    for (const std::size_t side : {0, 1}) {
      ir::Value value = op->operands[side];
      const ir::Op* maker = kernel_.maker(value);
      if (maker && maker->kind == OpKind::Permute && uses_[value.id] == 1)
        value = maker->operands[0];
      if (can_stay_in_place(value, region)) in_place_[value.id] = "";
    }
  }
}

// Whether a step does nothing but fill the arrays of such loads.
bool ProgramWriter::stays_in_place(const Step& step) const {
  const auto is_load = [](const ir::Op* op) { return op->kind == OpKind::Load; };
  const auto is_in_place = [&](ir::Value value) {
    return in_place_.contains(schedule_.result_of(value).id);
  };
  return !step.kept.empty() && step.reductions.empty() &&
         std::all_of(step.ops.begin(), step.ops.end(), is_load) &&
         step.ops.size() == step.kept.size() &&
         std::all_of(step.kept.begin(), step.kept.end(), is_in_place);
}

// Whether all elements of the step's loads are inside of their bounds: a variable, or "true". Pairs
// of small elements are read as words, which lie at multiples of their size.
std::string ProgramWriter::wholeness(const Step& step) {
  std::vector<std::string> conditions;
  const auto add = [&](std::string condition) {
    if (std::find(conditions.begin(), conditions.end(), condition) == conditions.end())
      conditions.push_back(std::move(condition));
  };
  for (const ir::Op* load : step.ops) {
    const Type& type = kernel_.type(load->result());
    const ir::Op& rows = *kernel_.maker(load->operands[0]);
    if (type.element_bytes() == 2) add(fmt::format("u64({}) % 4 == 0", text(rows.operands[0])));
    if (load->operands.size() < 2) continue;
    const ir::Op& bounds = *kernel_.maker(load->operands[1]);
    for (int d = 0; d < type.rank; ++d) {
      const ir::Value low = bounds.operands[static_cast<std::size_t>(2 * d)];
      const ir::Value high = bounds.operands[static_cast<std::size_t>(2 * d + 1)];
      if (constant(low).value_or(1) > 0) add(fmt::format("{} <= 0", text(low)));
      if (constant(high).value_or(0) < type.size(d))
        add(fmt::format("{} >= {}", text(high), type.size(d)));
    }
  }
  if (conditions.empty()) return "true";
  const std::string& own = kernel_.name_of(step.kept.front());
  const std::string name = names_.make(own.empty() ? "is_whole" : own + "_is_whole");
  out_.format("const bool {} = {};", name, fmt::join(conditions, " && "));
  return name;
}

std::optional<ProgramWriter::DotOperand> ProgramWriter::operand_in_place(ir::Value value) {
  const ir::Op* view = kernel_.maker(value);
  const bool is_turned = view && view->kind == OpKind::Permute;
  const ir::Value loaded = is_turned ? view->operands[0] : value;
  const auto found = in_place_.find(loaded.id);
  if (found == in_place_.end() || found->second.empty()) return std::nullopt;
  const ir::Op& load = *kernel_.maker(schedule_.source_of(loaded));
  const ir::Op& rows = *kernel_.maker(load.operands[0]);
  DotOperand out{text(rows.operands[0]), {text(rows.operands[1]), "1"}};
  if (found->second != "true") {
    out.base = fmt::format("({} ? {} : {})", found->second, out.base, array(loaded));
    out.strides[0] =
        fmt::format("({} ? {} : {})", found->second, out.strides[0], kernel_.type(loaded).size(1));
  }
  if (is_turned && view->integers("order")[0] == 1) std::swap(out.strides[0], out.strides[1]);
  return out;
}

}  // namespace tilewright
