// SPDX-License-Identifier: Apache-2.0
// passes/axis_info.cpp — the walk over a kernel, with loops taken to a fixed point.
#include "passes/axis_info.h"

#include <algorithm>
#include <map>

#include "passes/axis_info/promises.h"
#include "passes/axis_info/transfer.h"

namespace tilewright {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

std::int64_t power_of_two_in(std::int64_t number) {
  if (number == 0) return AxisInfo::most;
  return std::min(number & -number, AxisInfo::most);
}

std::int64_t AxisInfo::divisor_at(std::size_t dimension, std::int64_t step) const {
  const AxisFacts& facts = dimensions[dimension];
  // Inside a group, element `step` is the start of the group plus step.
  return step < facts.contiguous ? std::min(facts.divisible, step) : facts.divisible;
}

std::int64_t AxisInfo::divisor() const {
  std::int64_t best = value ? power_of_two_in(*value) : 1;
  for (std::size_t d = 0; d < dimensions.size(); ++d) best = std::max(best, divisor_at(d, 1));
  return best;
}

class AxisVisitor {
 public:
  explicit AxisVisitor(AxisAnalysis& analysis)
      : kernel_(analysis.kernel_),
        infos_(analysis.infos_),
        promised_(promised_bounds(analysis.kernel_)) {}

  void run() {
    for (const ir::KernelArgument& argument : kernel_.arguments) {
      AxisInfo& info = at(argument.value);
      for (AxisFacts& facts : info.dimensions)
        facts.divisible = power_of_two_in(argument.divisible);
      info.is_not_negative = argument.is_positive || is_promised(argument.value);
    }
    visit(kernel_.body);
  }

 private:
  AxisInfo& at(Value value) { return infos_[value.id]; }

  bool is_promised(Value value) const {
    const auto found = promised_.find(value.id);
    return found != promised_.end() && found->second >= 0;
  }

  void visit(const Region& region) {
    for (const Op* op : region.ops) visit(*op);
  }

  void visit(const Op& op) {
    if (op.facts().is(ir::Family::Control)) return visit_control(op);
    for (const Region& region : op.regions) visit(region);
    if (op.results.size() != 1 || !op.regions.empty() || !op.facts().has(ir::Pure)) return;
    operands_.clear();
    for (const Value operand : op.operands) operands_.push_back(&at(operand));
    AxisInfo& result = at(op.result());
    result = transfer(kernel_, op, operands_);
    result.is_not_negative |= is_promised(op.result());
  }

  void visit_control(const Op& op) {
    switch (ir::control_op(op.kind)) {
      case ir::ControlOp::For:
        return visit_for(op);
      case ir::ControlOp::While:
        return visit_while(op);
      case ir::ControlOp::If:
        return visit_if(op);
      case ir::ControlOp::Sweep:
        visit(op.regions[0]);
        for (std::size_t k = 0; k < op.results.size(); ++k)
          at(op.results[k]) = at(op.regions[0].ops.back()->operands[k]);
        return;
    }
  }

  // Facts only get weaker from round to round, and each can do so some forty times at most.
  void visit_for(const Op& op) {
    const Region& body = op.regions[0];
    AxisInfo& index = at(body.arguments[0]);
    const AxisInfo& from = at(op.operands[0]);
    const AxisInfo& step = at(op.operands[2]);
    index.dimensions[0].divisible = std::min(from.divisor(), step.divisor());
    index.is_not_negative = from.is_not_negative && step.is_not_negative;
    for (std::size_t k = 0; k < op.results.size(); ++k)
      at(body.arguments[k + 1]) = at(op.operands[k + 3]);
    bool has_changed = true;
    while (has_changed) {
      visit(body);
      has_changed = false;
      for (std::size_t k = 0; k < op.results.size(); ++k)
        has_changed |= weaken(body.arguments[k + 1], body.ops.back()->operands[k]);
    }
    for (std::size_t k = 0; k < op.results.size(); ++k)
      at(op.results[k]) = at(body.arguments[k + 1]);
  }

  void visit_while(const Op& op) {
    const Region& test = op.regions[0];
    const Region& body = op.regions[1];
    for (std::size_t k = 0; k < op.results.size(); ++k) at(test.arguments[k]) = at(op.operands[k]);
    bool has_changed = true;
    while (has_changed) {
      visit(test);
      for (std::size_t k = 0; k < op.results.size(); ++k)
        at(body.arguments[k]) = at(test.ops.back()->operands[k + 1]);
      visit(body);
      has_changed = false;
      for (std::size_t k = 0; k < op.results.size(); ++k)
        has_changed |= weaken(test.arguments[k], body.ops.back()->operands[k]);
    }
    for (std::size_t k = 0; k < op.results.size(); ++k)
      at(op.results[k]) = at(test.ops.back()->operands[k + 1]);
  }

  void visit_if(const Op& op) {
    for (const Region& region : op.regions) visit(region);
    for (std::size_t k = 0; k < op.results.size(); ++k)
      at(op.results[k]) = join(at(op.regions[0].ops.back()->operands[k]),
                               at(op.regions[1].ops.back()->operands[k]));
  }

  // What holds for the value on its way round too; true when that is less.
  bool weaken(Value argument, Value next) {
    AxisInfo joined = join(at(argument), at(next));
    const bool has_changed = !(joined == at(argument));
    at(argument) = std::move(joined);
    return has_changed;
  }

  const Kernel& kernel_;
  std::vector<AxisInfo>& infos_;
  const std::map<std::uint32_t, std::int64_t> promised_;
  std::vector<const AxisInfo*> operands_;  // of the op that is visited
};

AxisAnalysis::AxisAnalysis(const Kernel& kernel) : kernel_(kernel) {
  infos_.reserve(kernel.value_count());
  for (std::uint32_t id = 0; id < kernel.value_count(); ++id)
    infos_.push_back(unknown_info(kernel.type(Value{id})));
  AxisVisitor(*this).run();
}

const AxisInfo& AxisAnalysis::of(Value value) const { return infos_.at(value.id); }

bool AxisAnalysis::is_multiple(Value value, std::int64_t number) const {
  if (value.id >= infos_.size()) return false;
  const AxisInfo& info = of(value);
  if (info.value) return *info.value % number == 0;
  return info.divisor() % number == 0;
}

bool AxisAnalysis::is_not_negative(Value value) const {
  return value.id < infos_.size() && infos_[value.id].is_not_negative;
}

std::int64_t AxisAnalysis::pointer_width(const Op& access, int dimension) const {
  constexpr std::int64_t most_bytes = 16;
  const Type& type = kernel_.type(access.operands[0]);
  if (!type.is_tile()) return 1;
  const auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
  const AxisFacts& facts = of(access.operands[0]).dimensions[static_cast<std::size_t>(dimension)];
  const std::int64_t width = std::min(
      {facts.contiguous, facts.divisible / bytes, most_bytes / bytes, type.size(dimension)});
  return std::max<std::int64_t>(width, 1);
}

std::int64_t AxisAnalysis::vector_width(const Op& access, int dimension) const {
  std::int64_t width = pointer_width(access, dimension);
  if (const Value mask = access.mask())
    width = std::min(width, of(mask).dimensions[static_cast<std::size_t>(dimension)].constant);
  return width;
}

}  // namespace tilewright
