// SPDX-License-Identifier: Apache-2.0
// passes/widen_loops.cpp — the body once more with wider tiles, and the loop that is left over.
#include "passes/widen_loops.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/repeat_ops.h"
#include "passes/widen/model.h"
#include "passes/widen/recurrences.h"

namespace tilewright {
namespace {

using ir::Builder;
using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;
using Kind = Side::Kind;

Type doubled(const Type& type, int axis) {
  Type out = type;
  ++out.log_sizes[static_cast<std::size_t>(axis)];
  return out;
}

// ---- Whether

// Registers of a thread for sums and products twice as wide; none where a product is not for
// warpgroups, or is wide enough.
std::optional<std::int64_t> wide_registers(const Kernel& kernel, const Op& loop,
                                           const std::vector<const Op*>& products, int threads) {
  std::int64_t registers = 0;
  for (const Value result : loop.results)
    if (kernel.type(result).is_tile()) registers += kernel.type(result).numel() / threads;
  for (const Op* dot : products) {
    const Type& type = kernel.type(dot->result());
    const Type& left = kernel.type(dot->operands[0]);
    if (left.element_bytes() != 2 || !left.is_float() || type.size(0) < 64) return std::nullopt;
    if (2 * type.size(1) > most_columns_of_rounds) return std::nullopt;
    registers += 2 * type.numel() / threads;
  }
  return products.empty() ? std::nullopt : std::optional(registers);
}

// Of the loop of the kernel that needs most of them, as it is.
std::int64_t most_registers(const Kernel& kernel, int threads) {
  std::int64_t most = 0;
  ir::walk(kernel.body, [&](const Op& loop) {
    if (loop.kind != OpKind::For) return;
    std::int64_t registers = 0;
    for (const Value result : loop.results)
      if (kernel.type(result).is_tile()) registers += kernel.type(result).numel() / threads;
    for (const Op* op : loop.regions[0].ops)
      if (op->kind == OpKind::Dot && ir::is_zero(kernel, op->operands[2]))
        registers += kernel.type(op->result()).numel() / threads;
    most = std::max(most, registers);
  });
  return most;
}

// What a loop may have: a block that is alone on its multiprocessor in any case has all registers.
std::int64_t room_of(const Kernel& kernel, const Target& target, int threads) {
  const std::int64_t of_two_blocks =
      target.registers_per_processor / (2 * threads) - registers_of_the_rest;
  const bool is_alone = most_registers(kernel, threads) > of_two_blocks;
  return is_alone ? most_registers_alone : std::min(of_two_blocks, most_registers_of_rounds);
}

// Whether the number of rounds is known to be even.
bool has_even_rounds(const Kernel& kernel, const Op& loop) {
  const std::int64_t two = 2 * *ir::integer_constant(kernel, loop.operands[2]);
  const Polynomial length = Polynomial::expand(kernel, loop.operands[1])
                                .plus(Polynomial::expand(kernel, loop.operands[0]), -1);
  return std::all_of(length.terms().begin(), length.terms().end(),
                     [&](const auto& term) { return term.second % two == 0; });
}

// ---- The loop

class Widener {
 public:
  Widener(Kernel& kernel, Op& loop, Recurrences& recurrences, int num_stages)
      : kernel_(kernel),
        loop_(loop),
        body_(loop.regions[0]),
        sides_(recurrences.sides()),
        factors_(recurrences.factors()),
        begins_alone_(recurrences.begins_alone()),
        num_stages_(num_stages),
        build_(kernel) {}

  // Both loops in their order, with what they need before them; the wide one alone where all rounds
  // have become wide ones.
  Region run(bool is_whole) {
    Region out;
    const Builder::Into into(build_, out);
    build_.set_location(loop_.location);
    const Value end = is_whole ? loop_.operands[1] : end_of_first();
    if (begins_alone_) {
      std::vector<Value> rest = {end, loop_.operands[1], loop_.operands[2]};
      loop_.operands[1] = end;
      for (Value& result : loop_.results)
        rest.push_back(
            result = kernel_.make_value(kernel_.type(result), kernel_.name_of(result), &loop_));
      out.ops.push_back(&loop_);
      widen(std::move(rest));
      return out;
    }
    std::vector<Value> operands = loop_.operands;
    operands[1] = end;
    widen(std::move(operands));
    loop_.operands[0] = end;
    for (std::size_t i = 0; i < loop_.results.size(); ++i)
      loop_.operands[i + 3] = wide_->results[i];
    if (!is_whole) out.ops.push_back(&loop_);
    return out;
  }

  Op& wide() const { return *wide_; }

 private:
  // The loop with these operands, but twice the step.
  void widen(std::vector<Value> operands) {
    const Type& number = kernel_.type(loop_.operands[2]);
    operands[2] = build_.constant(number, 2 * *ir::integer_constant(kernel_, loop_.operands[2]));
    std::vector<Type> types;
    for (const Value result : loop_.results) types.push_back(kernel_.type(result));
    wide_ = build_.create(OpKind::For, std::move(operands), types, loop_.attributes);
    for (std::size_t i = 0; i < types.size(); ++i)
      kernel_.set_name(wide_->results[i], kernel_.name_of(loop_.results[i]));
    // As many elements ahead as before.
    if (const auto stages = loop_.integer("stages", num_stages_); stages > 2)
      wide_->set("stages", (stages + 1) / 2);
    wide_->regions.emplace_back();
    fill(wide_->regions[0]);
  }

  // Where the first of the two loops ends: from + as many rounds as there are pairs of, or as are
  // left before pairs of them, one at least.
  Value end_of_first() {
    const Type wide = Type::scalar(i64);
    const std::int64_t step = *ir::integer_constant(kernel_, loop_.operands[2]);
    const auto number = [&](std::int64_t value) { return build_.constant(wide, value); };
    const auto binary = [&](OpKind kind, Value a, Value b) { return build_.binary(kind, a, b); };
    const Value from = build_.cast(loop_.operands[0], i64),
                to = build_.cast(loop_.operands[1], i64);
    const Value length = binary(OpKind::Maximum, binary(OpKind::Subtract, to, from), number(0));
    const Value rounded = binary(OpKind::Add, length, number(step - 1));
    Value pairs =
        binary(OpKind::Divide,
               begins_alone_
                   ? binary(OpKind::Subtract, binary(OpKind::Maximum, length, number(1)), number(1))
                   : rounded,
               number(2 * step));
    for (const Value factor : factors_) {
      const Value zero = build_.constant(kernel_.type(factor), 0.0);
      pairs = build_.select(build_.compare("ge", factor, zero), pairs, number(0));
    }
    const Value in_pairs = binary(OpKind::Multiply, pairs, number(2 * step));
    Value end = binary(OpKind::Add, from, in_pairs);
    if (begins_alone_) {
      const Value rounds = binary(OpKind::Divide, rounded, number(step));
      const Value all = binary(OpKind::Multiply, rounds, number(step));
      end = binary(OpKind::Minimum, to,
                   binary(OpKind::Add, from, binary(OpKind::Subtract, all, in_pairs)));
    }
    return build_.cast(end, kernel_.type(loop_.operands[1]).dtype);
  }

  void fill(Region& to) {
    for (const Value value : body_.arguments) {
      const Value inside = kernel_.make_value(kernel_.type(value), kernel_.name_of(value), nullptr);
      to.arguments.push_back(inside);
      values_[value.id] = inside;
    }
    const Builder::Into into(build_, to);
    for (const Op* op : body_.ops)
      if (op != body_.ops.back()) copy(*op);
    const Op& end = *body_.ops.back();
    const IterationValues next = scalars_of_next_round(end);
    std::vector<Value> yielded;
    for (const Value value : end.operands)
      yielded.push_back(mapped({value}, kernel_.type(value).is_tile() ? values_ : next)[0]);
    build_.set_location(end.location);
    build_.yield(std::move(yielded));
  }

  // What scalars that are carried are behind the second of the two rounds.
  IterationValues scalars_of_next_round(const Op& end) {
    IterationValues next;
    for (std::size_t i = 0; i < end.operands.size(); ++i)
      if (!kernel_.type(end.operands[i]).is_tile())
        next[body_.arguments[i + 1].id] = mapped({end.operands[i]}, values_)[0];
    const Value index = values_.at(body_.arguments[0].id);
    next[body_.arguments[0].id] = build_.binary(
        OpKind::Add, index,
        build_.constant(kernel_.type(index), *ir::integer_constant(kernel_, loop_.operands[2])));
    for (const Op* op : body_.ops) {
      const bool is_scalar = op->results.size() == 1 && op->regions.empty() &&
                             !kernel_.type(op->result()).is_tile() && op->facts().has(ir::Pure);
      if (is_scalar) repeat(build_, *op, mapped(op->operands, next), next);
    }
    return next;
  }

  // ---- One op

  void copy(const Op& op) {
    build_.set_location(op.location);
    const Side side = op.results.size() == 1 ? sides_.of(op.result()) : Side{};
    const bool is_wide =
        op.results.size() == 1 && kernel_.type(op.result()).is_tile() && side.kind == Kind::Wide;
    if (!is_wide) {
      Op* made = repeat(build_, op, mapped(op.operands, values_), values_);
      for (const Region& region : op.regions) made->regions.push_back(copy(region));
      return;
    }
    if (sides_.is_linear(op.result())) {
      values_[op.result().id] = wider(op.result(), side.axis);
      return;
    }
    std::vector<Value> operands;
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      operands.push_back(operand(op, i, side.axis));
    make(op, std::move(operands), side.axis);
  }

  Region copy(const Region& region) {
    Region out;
    for (const Value value : region.arguments) {
      out.arguments.push_back(
          kernel_.make_value(kernel_.type(value), kernel_.name_of(value), nullptr));
      values_[value.id] = out.arguments.back();
    }
    const Builder::Into into(build_, out);
    for (const Op* op : region.ops) repeat(build_, *op, mapped(op->operands, values_), values_);
    return out;
  }

  Value make(const Op& op, std::vector<Value> operands, int axis) {
    const Value out = build_.create_one(op.kind, std::move(operands),
                                        doubled(kernel_.type(op.result()), axis), op.attributes);
    kernel_.set_name(out, kernel_.name_of(op.result()));
    return values_[op.result().id] = out;
  }

  // The operand of an op whose result becomes wider along the axis.
  Value operand(const Op& op, std::size_t i, int axis) {
    const Value value = op.operands[i];
    const bool is_whole = (op.kind == OpKind::Dot && i < 2) || !kernel_.type(value).is_tile();
    if (is_whole || sides_.of(value).kind == Kind::Wide) return mapped({value}, values_)[0];
    return wider(value, axis);
  }

  // A tile that is alike along the axis, or grows with the index, twice as wide.
  Value wider(Value value, int axis) {
    const auto key = std::pair(value.id, axis);
    if (const auto found = wider_.find(key); found != wider_.end()) return found->second;
    const Op& op = *kernel_.maker(value);
    std::vector<Value> operands;
    for (const Value from : op.operands) {
      const bool is_view = op.facts().maps(ir::Repeated | ir::Reshaped | ir::Permuted);
      const int before = is_view ? axis_before(kernel_, op, axis) : axis;
      const bool stays = !kernel_.type(from).is_tile() || before < 0;
      operands.push_back(stays ? mapped({from}, values_)[0] : wider(from, before));
    }
    const Value out = build_.create_one(op.kind, std::move(operands),
                                        doubled(kernel_.type(value), axis), op.attributes);
    return wider_[key] = out;
  }

  Kernel& kernel_;
  Op& loop_;
  const Region& body_;
  Sides& sides_;
  const std::vector<Value>& factors_;
  const bool begins_alone_;
  const std::int64_t num_stages_;
  Builder build_;
  Op* wide_ = nullptr;
  IterationValues values_;
  std::map<std::pair<std::uint32_t, int>, Value> wider_;  // of the body that is built
};

// ---- All loops

class LoopWidener {
 public:
  LoopWidener(Kernel& kernel, const Target& target, const WidenLoopsOptions& options)
      : kernel_(kernel),
        threads_(options.num_warps * target.warp_size),
        num_stages_(options.num_stages),
        room_(room_of(kernel, target, threads_)) {}

  void run(Region& region) {
    std::vector<Op*> out;
    for (Op* op : region.ops) {
      for (Region& inner : op->regions) run(inner);
      const bool may = op->kind == OpKind::For && op->integer("unroll", 0) == 0;
      const Op* const first = op;
      for (bool goes_on = may; goes_on;) goes_on = widen(op, out);
      if (op != first) op->set("unroll", std::int64_t{1});
      out.push_back(op);
    }
    region.ops = std::move(out);
  }

  void replace(Region& region) const {
    ir::walk(region, [&](Op& op) {
      for (Value& operand : op.operands)
        for (auto found = replaced_.find(operand.id); found != replaced_.end();
             found = replaced_.find(operand.id))
          operand = found->second;
    });
  }

  bool has_widened() const { return has_widened_; }

 private:
  bool widen(Op*& loop, std::vector<Op*>& out) {
    Recurrences recurrences(kernel_, *loop);
    if (!recurrences.hold()) return false;
    const auto registers = wide_registers(kernel_, *loop, recurrences.wide_products(), threads_);
    if (!registers || *registers > room_) return false;
    const bool is_whole = recurrences.factors().empty() && !recurrences.begins_alone() &&
                          has_even_rounds(kernel_, *loop);
    has_widened_ = true;
    const std::vector<Value> results = loop->results;
    Widener widener(kernel_, *loop, recurrences, num_stages_);
    const Region made = widener.run(is_whole);
    if (is_whole || recurrences.begins_alone())
      for (std::size_t i = 0; i < results.size(); ++i)
        replaced_[results[i].id] = widener.wide().results[i];
    if (!is_whole)
      for (Op* part : {&widener.wide(), loop}) part->set("unroll", std::int64_t{1});
    out.insert(out.end(), made.ops.begin(), made.ops.end() - 1);
    loop = made.ops.back();
    return is_whole;  // which may be widened once more
  }

  Kernel& kernel_;
  const int threads_, num_stages_;
  const std::int64_t room_;
  std::map<std::uint32_t, Value> replaced_;
  bool has_widened_ = false;
};

}  // namespace

bool widen_loops(Kernel& kernel, const Target& target, const WidenLoopsOptions& options) {
  const bool has_groups = target.has(Feature::Wgmma) && options.num_warps >= 4;
  if (kernel.stage != ir::Stage::Tile || !has_groups) return false;
  LoopWidener widener(kernel, target, options);
  widener.run(kernel.body);
  widener.replace(kernel.body);
  return widener.has_widened();
}

void widen_loops(Kernel& kernel, const Target& target) {
  static_cast<void>(widen_loops(kernel, target, WidenLoopsOptions{}));
}

}  // namespace tilewright
