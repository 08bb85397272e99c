// SPDX-License-Identifier: Apache-2.0
// passes/laid/form_sweeps.cpp — steps to ops, with what each step computes for itself, and the
// buffers of what is kept.
#include "passes/laid/form_sweeps.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "passes/laid/only_elements.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/schedule.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Value;

class SweepFormer {
 public:
  SweepFormer(const ir::Kernel& from, const SweepPolicy& policy)
      : from_(from),
        policy_(policy),
        schedule_(from, policy),
        build_(out_),
        placed_(from.value_count()) {}

  LaidForm run() && {
    out_.name = from_.name;
    out_.stage = ir::Stage::Laid;
    out_.files = from_.files;
    out_.buffers = from_.buffers;
    out_.maps = from_.maps;
    out_.rings = from_.rings;
    make_buffers();
    for (const ir::KernelArgument& argument : from_.arguments) {
      placed_[argument.value.id] =
          out_.add_argument(from_.type(argument.value), from_.name_of(argument.value));
      const Value value = out_.arguments.back().value;
      note_origin(value, argument.value);
      out_.arguments.back() = argument;
      out_.arguments.back().value = value;
    }
    steps(schedule_.steps());
    origins_.resize(out_.value_count());
    return {std::move(out_), std::move(origins_)};
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

  void note_origin(Value made, Value value) {
    if (origins_.size() <= made.id) origins_.resize(made.id + 1);
    origins_[made.id] = value;
  }

  // ---- Buffers

  // One for each array of the schedule, in the order of the values that live there. A slot that
  // copies fill is in a buffer already.
  void make_buffers() {
    for (std::uint32_t id = 0; id < from_.value_count(); ++id) {
      const Value value{id};
      if (schedule_.home(value) != Home::Stored) continue;
      const Value owner = schedule_.storage(value);
      const Op* maker = from_.maker(owner);
      if (buffers_.contains(owner.id) || (maker && maker->kind == OpKind::ReadBuffer)) continue;
      const std::string& own = from_.name_of(owner);
      const std::string& wanted = own.empty() ? from_.name_of(value) : own;
      const std::string name = buffer_name(wanted.empty() ? "tile" : wanted);
      out_.buffers.push_back({.name = name, .type = from_.type(owner), .slots = 0});
      buffers_[owner.id] = name;
    }
  }

  std::string buffer_name(const std::string& wanted) const {
    const auto is_taken = [&](const std::string& name) {
      return std::any_of(out_.buffers.begin(), out_.buffers.end(),
                         [&](const ir::KernelBuffer& buffer) { return buffer.name == name; });
    };
    std::string name = wanted;
    for (int n = 1; is_taken(name); ++n) name = fmt::format("{}_{}", wanted, n);
    return name;
  }

  // Of a value of the Tile kernel; empty: it has none.
  std::string buffer_of(Value value) const {
    if (!is_tile(from_, value) || schedule_.home(value) != Home::Stored) return "";
    const auto found = buffers_.find(schedule_.storage(value).id);
    return found == buffers_.end() ? "" : found->second;
  }

  void set_buffers(Op& made, const std::vector<Value>& values) const {
    std::vector<std::string> into;
    for (const Value value : values) into.push_back(buffer_of(value));
    const bool has_any = std::any_of(into.begin(), into.end(),
                                     [](const std::string& buffer) { return !buffer.empty(); });
    if (has_any) made.set("into", std::move(into));
  }

  // The values whose buffers an op outside sweeps names.
  static std::vector<Value> placed_by(const Op& op) {
    std::vector<Value> values = op.results;
    if (op.kind == OpKind::For)
      values.assign(op.regions[0].arguments.begin() + 1, op.regions[0].arguments.end());
    if (op.kind == OpKind::While) {
      values = op.regions[0].arguments;
      values.insert(values.end(), op.regions[1].arguments.begin(), op.regions[1].arguments.end());
    }
    return values;
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
    for (std::size_t k = 0; k < op.results.size(); ++k) {
      out_.set_name(made.results[k], name_of(op.results[k]));
      note_origin(made.results[k], op.results[k]);
    }
    const bool is_outside = op.facts().is(ir::Family::Across) || op.facts().is(ir::Family::Control);
    if (is_outside && op.kind != OpKind::ReadBuffer && op.kind != OpKind::Print)
      set_buffers(made, placed_by(op));
    if (may_wrap(op)) made.set("wraps", std::int64_t{1});
    made_from_[&made] = &op;
    return made;
  }

  bool may_wrap(const Op& op) const {
    const auto rules = op.facts().attributes;
    return op.results.size() == 1 && op.result().id < policy_.wraps.size() &&
           policy_.wraps[op.result().id] &&
           std::any_of(rules.begin(), rules.end(),
                       [](const ir::AttributeRule& rule) { return rule.name == "wraps"; });
  }

  std::string name_of(Value value) const {
    const std::string& name = from_.name_of(value);
    const bool has_line = value.id < policy_.lines.size() && policy_.lines[value.id];
    return name.empty() && has_line ? policy_.line_name : name;
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
    note_origin(made, argument);
    owner.regions.back().arguments.push_back(made);
    return made;
  }

  // A value as a step sees it: placed before it, or computed in it.
  Value get(Value value, const Step& step, Locals& locals) {
    if (const auto found = locals.find(value.id); found != locals.end()) return found->second;
    // A scalar may be the only element of a tile, which is read where it is needed.
    const Op* view = is_tile(from_, value) || placed_[value.id] ? nullptr : from_.maker(value);
    const bool is_scalar = !is_tile(from_, value) && !(view && is_view(*view));
    if (is_scalar || schedule_.is_in_array(value, step)) {
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
  // sweep makes all of one shape.
  void make_whole(const Op& op, const Step& step, Locals& locals) {
    for (const Value first : op.operands) {
      if (locals.contains(first.id) || !is_computed(first, step)) continue;
      std::vector<Value> values;
      for (const Value operand : op.operands)
        if (same_shape(from_.type(operand), from_.type(first)) && is_computed(operand, step) &&
            std::find(values.begin(), values.end(), operand) == values.end())
          values.push_back(operand);
      sweep_of(values, step, locals);
    }
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

  void sweep_of(const std::vector<Value>& values, const Step& step, Locals& locals) {
    std::vector<ir::Type> types;
    for (const Value value : values) types.push_back(from_.type(value));
    Op& made = begin_sweep(types.front(), types, from_.maker(values.front())->location);
    Locals inside;
    {
      const ir::Builder::Into into(build_, made.regions[0]);
      std::vector<Value> yielded;
      for (const Value value : values) yielded.push_back(get(value, step, inside));
      build_.yield(yielded);
    }
    note_repeats(made, {});
    for (std::size_t k = 0; k < values.size(); ++k) {
      out_.set_name(made.results[k], from_.name_of(values[k]));
      note_origin(made.results[k], values[k]);
      locals[values[k].id] = made.results[k];
    }
  }

  // The ops of a sweep that are no views and not its own.
  void note_repeats(Op& sweep, const std::vector<const Op*>& own) const {
    std::vector<std::int64_t> repeats;
    const std::vector<Op*>& ops = sweep.regions[0].ops;
    for (std::size_t i = 0; i + 1 < ops.size(); ++i)
      if (!is_view(*ops[i]) &&
          std::find(own.begin(), own.end(), made_from_.at(ops[i])) == own.end())
        repeats.push_back(static_cast<std::int64_t>(i));
    if (!repeats.empty()) sweep.set("repeats", std::move(repeats));
  }

  void note_apart(Op& sweep, const std::vector<Value>& kept) const {
    std::vector<std::int64_t> apart;
    for (std::size_t k = 0; k < kept.size(); ++k)
      if (kept[k].id < policy_.apart.size() && policy_.apart[kept[k].id])
        apart.push_back(static_cast<std::int64_t>(k));
    if (!apart.empty()) sweep.set("apart", std::move(apart));
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
    set_buffers(made, yielded);
    note_apart(made, step.kept);
    std::vector<const Op*> own = step.ops;
    own.insert(own.end(), step.reductions.begin(), step.reductions.end());
    note_repeats(made, own);
    for (std::size_t k = 0; k < yielded.size(); ++k) {
      placed_[yielded[k].id] = made.results[k];
      out_.set_name(made.results[k], from_.name_of(yielded[k]));
      note_origin(made.results[k], yielded[k]);
    }
  }

  // In the program's order; what the sweep loads again comes before its first write.
  void fill(const Step& step, Locals& locals) {
    std::unordered_set<std::uint32_t> late;  // results of writes, and what is computed from them
    std::unordered_set<const Op*> done;
    const std::unordered_set<const Op*> own(step.ops.begin(), step.ops.end());
    const auto make = [&](const Op& op) {
      if (!done.insert(&op).second) return;
      if (!op.results.empty() && locals.contains(op.result().id)) return;
      const Op& made = copy(op, step, locals);
      for (std::size_t k = 0; k < op.results.size(); ++k)
        locals[op.results[k].id] = made.results[k];
    };
    bool has_late = false;
    for (const Op* op : step.ops) {
      const bool writes_or_follows = is_late(*op, step, late);
      if (writes_or_follows)
        for (const Value result : op->results) late.insert(result.id);
      has_late |= writes_or_follows;
    }
    bool is_behind = !has_late;
    for (const Op* op : step.ops) {
      if (!is_behind && effects_of(*op).writes) {
        is_behind = true;
        for (const std::vector<const Op*>* ops : {&step.ops, &step.reductions})
          for (const Op* later : *ops)
            for (const Value operand : later->operands)
              load_first(operand, step, own, late, locals);
      }
      make(*op);
    }
    for (const Op* op : step.reductions) make(*op);
  }

  // Loads that the sweep repeats for the value, unless they wait for one of its writes. A value may
  // be reached on many ways: each is looked at once.
  void load_first(Value value, const Step& step, const std::unordered_set<const Op*>& own,
                  const std::unordered_set<std::uint32_t>& late, Locals& locals) {
    std::unordered_set<std::uint32_t> seen;
    load_first(value, step, own, late, locals, seen);
  }
  void load_first(Value value, const Step& step, const std::unordered_set<const Op*>& own,
                  const std::unordered_set<std::uint32_t>& late, Locals& locals,
                  std::unordered_set<std::uint32_t>& seen) {
    if (!is_tile(from_, value) || !seen.insert(value.id).second || locals.contains(value.id) ||
        schedule_.is_in_array(value, step) || is_made_late(value, step, late))
      return;
    const Op* maker = from_.maker(value);
    if (!maker || own.contains(maker)) return;
    for (const Value operand : maker->operands) load_first(operand, step, own, late, locals, seen);
    if (maker->kind == OpKind::Load) static_cast<void>(get(value, step, locals));
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
    std::unordered_set<std::uint32_t> seen;
    return is_made_late(value, step, late, seen);
  }
  bool is_made_late(Value value, const Step& step, const std::unordered_set<std::uint32_t>& late,
                    std::unordered_set<std::uint32_t>& seen) const {
    if (late.contains(value.id)) return true;
    if (late.empty() || !seen.insert(value.id).second || !is_tile(from_, value) ||
        schedule_.is_in_array(value, step))
      return false;
    const Op* maker = from_.maker(value);
    if (!maker) return false;
    for (const Value operand : maker->operands)
      if (is_made_late(operand, step, late, seen)) return true;
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
  const SweepPolicy& policy_;
  const Schedule schedule_;
  ir::Kernel out_;
  ir::Builder build_;
  std::vector<Value> placed_;                               // by value of `from_`
  std::vector<Value> origins_;                              // by value of `out_`
  std::unordered_map<std::uint32_t, std::string> buffers_;  // by the value that owns the array
  std::unordered_map<const Op*, const Op*> made_from_;
};

}  // namespace

LaidForm form_sweeps(const ir::Kernel& kernel, const SweepPolicy& policy) {
  if (!has_only_elements(kernel)) return SweepFormer(kernel, policy).run();
  ir::Kernel reduced = ir::clone(kernel);
  reduce_only_elements(reduced);
  return SweepFormer(reduced, policy).run();
}

}  // namespace tilewright
