// SPDX-License-Identifier: Apache-2.0
// codegen/schedule/form_sweeps.cpp — steps to ops, with what each step computes for itself.
#include "codegen/schedule/form_sweeps.h"

#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "codegen/schedule/op_facts.h"
#include "ir/builder.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Value;

class SweepFormer {
 public:
  SweepFormer(const ir::Kernel& from, const Schedule& schedule)
      : from_(from), schedule_(schedule), build_(out_), placed_(from.value_count()) {}

  ir::Kernel run() && {
    out_.name = from_.name;
    out_.stage = ir::Stage::Laid;
    out_.files = from_.files;
    out_.buffers = from_.buffers;
    for (const ir::KernelArgument& argument : from_.arguments) {
      placed_[argument.value.id] =
          out_.add_argument(from_.type(argument.value), from_.name_of(argument.value));
      const Value value = out_.arguments.back().value;
      out_.arguments.back() = argument;
      out_.arguments.back().value = value;
    }
    steps(schedule_.steps());
    return std::move(out_);
  }

 private:
  // The values that one step computes for itself.
  using Locals = std::unordered_map<std::uint32_t, Value>;

  void steps(const Steps& all) {
    for (const Step& step : all) {
      Locals locals;
      switch (step.kind) {
        case Step::Kind::Scalar:
        case Step::Kind::Across:
          make_whole(*step.op, step, locals);
          place(*step.op, copy(*step.op, step, locals));
          break;
        case Step::Kind::Elements:
          sweep(step);
          break;
        case Step::Kind::Control:
          control(step);
          break;
      }
    }
  }

  void place(const Op& op, const Op& made) {
    for (std::size_t k = 0; k < op.results.size(); ++k) placed_[op.results[k].id] = made.results[k];
  }

  // ---- Single ops

  // The op with its operands as the step has them; regions that combine scalars are copied too.
  Op& copy(const Op& op, const Step& step, Locals& locals) {
    std::vector<Value> operands;
    for (const Value operand : op.operands) operands.push_back(get(operand, step, locals));
    Op& made = create(op, std::move(operands));
    for (const ir::Region& region : op.regions) copy_combination(region, made, step, locals);
    return made;
  }

  Op& create(const Op& op, std::vector<Value> operands) {
    std::vector<ir::Type> types;
    for (const Value result : op.results) types.push_back(from_.type(result));
    build_.set_location(op.location);
    Op& made = *build_.create(op.kind, std::move(operands), types, op.attributes);
    for (std::size_t k = 0; k < op.results.size(); ++k)
      out_.set_name(made.results[k], from_.name_of(op.results[k]));
    return made;
  }

  void copy_combination(const ir::Region& region, Op& owner, const Step& step, Locals& locals) {
    owner.regions.emplace_back();
    Locals inner = locals;
    for (const Value argument : region.arguments)
      inner[argument.id] = add_region_argument(owner, argument);
    const ir::Builder::Into into(build_, owner.regions.back());
    for (const Op* op : region.ops) {
      Op& made = copy(*op, step, inner);
      for (std::size_t k = 0; k < op->results.size(); ++k)
        inner[op->results[k].id] = made.results[k];
    }
  }

  Value add_region_argument(Op& owner, Value argument) {
    const Value made = out_.make_value(from_.type(argument), from_.name_of(argument), nullptr);
    owner.regions.back().arguments.push_back(made);
    return made;
  }

  // A value as a step sees it: placed before it, or computed in it.
  Value get(Value value, const Step& step, Locals& locals) {
    if (const auto found = locals.find(value.id); found != locals.end()) return found->second;
    const bool is_placed = !is_tile(from_, value) || schedule_.is_in_array(value, step);
    if (is_placed) {
      TW_CHECK(placed_[value.id], "form_sweeps: %{} is used before it is placed",
               from_.name_of(value));
      return placed_[value.id];
    }
    const Op* maker = from_.maker(value);
    TW_CHECK(maker, "form_sweeps: a carried tile is not placed");
    const Op& made = copy(*maker, step, locals);
    for (std::size_t k = 0; k < maker->results.size(); ++k)
      locals[maker->results[k].id] = made.results[k];
    return locals.at(value.id);
  }

  // ---- Sweeps

  // Operands that an op outside sweeps needs as whole tiles and that are computed for it alone: a
  // sweep makes each.
  void make_whole(const Op& op, const Step& step, Locals& locals) {
    for (const Value operand : op.operands)
      if (!locals.contains(operand.id) && is_computed(operand, step))
        locals[operand.id] = sweep_of(operand, step);
  }

  // Whether the step computes the value from more than views.
  bool is_computed(Value value, const Step& step) const {
    if (!is_tile(from_, value) || schedule_.is_in_array(value, step)) return false;
    const Op* maker = from_.maker(value);
    if (!maker) return false;
    if (!is_view(*maker)) return true;
    for (const Value operand : maker->operands)
      if (is_computed(operand, step)) return true;
    return false;
  }

  Value sweep_of(Value value, const Step& step) {
    Op& made = begin_sweep(from_.type(value), {from_.type(value)}, from_.maker(value)->location);
    Locals locals;
    {
      const ir::Builder::Into into(build_, made.regions[0]);
      build_.yield({get(value, step, locals)});
    }
    out_.set_name(made.result(), from_.name_of(value));
    return made.result();
  }

  Op& begin_sweep(const ir::Type& shape, const std::vector<ir::Type>& results,
                  ir::Location location) {
    const auto sizes = shape.shape();
    build_.set_location(location);
    Op* made = build_.create(OpKind::Sweep, {}, results,
                             {{"shape", std::vector<std::int64_t>(sizes.begin(), sizes.end())}});
    made->regions.emplace_back();
    return *made;
  }

  void sweep(const Step& step) {
    std::vector<ir::Type> types;
    std::vector<Value> yielded = step.kept;
    for (const Op* reduction : step.reductions)
      yielded.insert(yielded.end(), reduction->results.begin(), reduction->results.end());
    for (const Value value : yielded) types.push_back(from_.type(value));
    const Op& first = *(step.ops.empty() ? step.reductions : step.ops).front();
    Op& made = begin_sweep(step.shape, types, first.location);
    Locals locals;
    {
      const ir::Builder::Into into(build_, made.regions[0]);
      fill(step, locals);
      std::vector<Value> values;
      for (const Value value : yielded) values.push_back(locals.at(value.id));
      build_.yield(values);
    }
    for (std::size_t k = 0; k < yielded.size(); ++k) {
      placed_[yielded[k].id] = made.results[k];
      out_.set_name(made.results[k], from_.name_of(yielded[k]));
    }
  }

  // First all that no write of this sweep comes before, then the rest in the program's order.
  void fill(const Step& step, Locals& locals) {
    std::unordered_set<std::uint32_t> late;  // results of writes, and what is computed from them
    std::unordered_set<const Op*> done;
    const auto make = [&](const Op& op) {
      if (!done.insert(&op).second) return;
      if (!op.results.empty() && locals.contains(op.result().id)) return;
      const Op& made = copy(op, step, locals);
      for (std::size_t k = 0; k < op.results.size(); ++k)
        locals[op.results[k].id] = made.results[k];
    };
    for (const Op* op : step.ops) {
      if (is_late(*op, step, late)) {
        for (const Value result : op->results) late.insert(result.id);
        for (const Value operand : op->operands)
          if (!is_made_late(operand, step, late)) static_cast<void>(get(operand, step, locals));
      } else {
        make(*op);
      }
    }
    for (const Op* op : step.ops) make(*op);
    for (const Op* op : step.reductions) make(*op);
  }

  bool is_late(const Op& op, const Step& step,
               const std::unordered_set<std::uint32_t>& late) const {
    if (effects_of(op).writes) return true;
    for (const Value operand : op.operands)
      if (is_made_late(operand, step, late)) return true;
    return false;
  }

  // Whether a value is one that the step computes from the result of a write.
  bool is_made_late(Value value, const Step& step,
                    const std::unordered_set<std::uint32_t>& late) const {
    if (late.contains(value.id)) return true;
    if (!is_tile(from_, value) || schedule_.is_in_array(value, step)) return false;
    const Op* maker = from_.maker(value);
    if (!maker) return false;
    for (const Value operand : maker->operands)
      if (is_made_late(operand, step, late)) return true;
    return false;
  }

  // ---- Control

  void control(const Step& step) {
    const Op& op = *step.op;
    Locals locals;
    make_whole(op, step, locals);
    std::vector<Value> operands;
    for (const Value operand : op.operands) operands.push_back(get(operand, step, locals));
    Op& made = create(op, std::move(operands));
    for (std::size_t r = 0; r < op.regions.size(); ++r) {
      made.regions.emplace_back();
      for (const Value argument : op.regions[r].arguments)
        placed_[argument.id] = add_region_argument(made, argument);
    }
    for (std::size_t r = 0; r < op.regions.size(); ++r) {
      const ir::Builder::Into into(build_, made.regions[r]);
      steps(step.regions[r]);
      // After all steps of the region every tile that lives in an array is there.
      const Op& end = *op.regions[r].ops.back();
      Step last;
      last.order = end_of_steps;
      Locals of_end;
      create(end, [&] {
        std::vector<Value> values;
        for (const Value value : end.operands) values.push_back(get(value, last, of_end));
        return values;
      }());
    }
    place(op, made);
  }

  static constexpr int end_of_steps = 1 << 30;

  const ir::Kernel& from_;
  const Schedule& schedule_;
  ir::Kernel out_;
  ir::Builder build_;
  std::vector<Value> placed_;  // by value of `from_`
};

}  // namespace

ir::Kernel form_sweeps(const ir::Kernel& kernel, const Schedule& schedule) {
  return SweepFormer(kernel, schedule).run();
}

}  // namespace tilewright
