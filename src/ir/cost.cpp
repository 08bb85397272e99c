// SPDX-License-Identifier: Apache-2.0
// ir/cost.cpp — a walk that adds up ops and multiplies by loops.
#include "ir/cost.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace tilewright::ir {
namespace {

using Kind = PlanOp::Kind;

// ---- Expressions: numbers are folded, the rest stays in postfix order.

PlanExpression number(std::int64_t value) { return {{Kind::Constant, value}}; }

std::optional<std::int64_t> number_of(const PlanExpression& expression) {
  if (expression.size() == 1 && expression[0].kind == Kind::Constant) return expression[0].value;
  return std::nullopt;
}

std::optional<std::int64_t> folded(Kind kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case Kind::Add:
      return a + b;
    case Kind::Subtract:
      return a - b;
    case Kind::Multiply:
      return a * b;
    case Kind::Divide:
      return b > 0 ? std::optional(a / b) : std::nullopt;
    case Kind::CeilDivide:
      return b > 0 && a >= 0 ? std::optional((a + b - 1) / b) : std::nullopt;
    case Kind::Modulo:
      return b > 0 ? std::optional(a % b) : std::nullopt;
    case Kind::Minimum:
      return std::min(a, b);
    case Kind::Maximum:
      return std::max(a, b);
    default:
      return std::nullopt;
  }
}

PlanExpression apply(Kind kind, PlanExpression a, const PlanExpression& b) {
  const auto left = number_of(a), right = number_of(b);
  if (left && right)
    if (const auto value = folded(kind, *left, *right)) return number(*value);
  if (kind == Kind::Add && left == 0) return b;
  if ((kind == Kind::Add || kind == Kind::Subtract) && right == 0) return a;
  if (kind == Kind::Multiply && (left == 0 || right == 0)) return number(0);
  if (kind == Kind::Multiply && left == 1) return b;
  if ((kind == Kind::Multiply || kind == Kind::Divide || kind == Kind::CeilDivide) && right == 1)
    return a;
  a.insert(a.end(), b.begin(), b.end());
  a.push_back({kind, 0});
  return a;
}

// ---- Work

bool is_same(const PlanExpression& a, const PlanExpression& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const PlanOp& x, const PlanOp& y) {
    return x.kind == y.kind && x.value == y.value;
  });
}

struct Work {
  PlanExpression flops = number(0);
  PlanExpression bytes_read = number(0);
  PlanExpression bytes_written = number(0);

  void combine(Kind kind, const Work& other) {
    flops = apply(kind, flops, other.flops);
    bytes_read = apply(kind, bytes_read, other.bytes_read);
    bytes_written = apply(kind, bytes_written, other.bytes_written);
  }
  void repeat(const PlanExpression& times) { combine(Kind::Multiply, {times, times, times}); }
  bool is_same_as(const Work& other) const {
    return is_same(flops, other.flops) && is_same(bytes_read, other.bytes_read) &&
           is_same(bytes_written, other.bytes_written);
  }
};

class Counter {
 public:
  explicit Counter(const Kernel& kernel) : kernel_(kernel) {}

  Work count(const Region& region) {
    Work work;
    for (const Op* op : region.ops) work.combine(Kind::Add, count(*op));
    return work;
  }
  bool is_exact() const { return is_exact_; }

 private:
  const Type& type(Value value) const { return kernel_.type(value); }

  Work count(const Op& op) {
    if (op.facts().is(Family::Access)) return access(op);
    if (op.facts().has(Combines)) return combination(op);
    if (op.facts().is(Family::Control)) return control(op);
    return {.flops = number(flops_of(op))};
  }

  Work control(const Op& op) {
    switch (control_op(op.kind)) {
      case ControlOp::For:
        return loop(op);
      case ControlOp::While:
        return endless(op);
      case ControlOp::If:
        return branch(op);
      case ControlOp::Sweep:
        return count(op.regions[0]);
    }
    return {};
  }

  std::int64_t flops_of(const Op& op) const {
    const int flops = op.facts().flops;
    if (flops == OpFacts::by_shape) {
      const Type& a = type(op.operands[0]);
      return 2 * type(op.result()).numel() * a.size(a.rank - 1);
    }
    if (op.results.empty() || !type(op.result()).is_float()) return 0;
    return flops * type(op.result()).numel();
  }

  // Elements at different addresses, as far as an access form shows it.
  std::int64_t distinct_elements(Value pointers) const {
    const Type& tile = type(pointers);
    const Op* maker = kernel_.maker(pointers);
    if (maker && maker->kind == OpKind::Splat) return 1;
    if (!maker || maker->kind != OpKind::Affine) return tile.numel();
    std::int64_t count = 1;
    for (int d = 0; d < tile.rank; ++d) {
      const Op* stride = kernel_.maker(maker->operands[static_cast<std::size_t>(d) + 1]);
      const bool repeats =
          stride && stride->kind == OpKind::Constant && stride->integer("value") == 0;
      if (!repeats) count *= tile.size(d);
    }
    return count;
  }

  Work access(const Op& op) const {
    const std::int64_t bytes = distinct_elements(op.operands[0]) *
                               static_cast<std::int64_t>(size_of(type(op.operands[0]).dtype));
    Work work;
    if (op.facts().has(Reads)) work.bytes_read = number(bytes);
    if (op.facts().has(Writes)) work.bytes_written = number(bytes);
    return work;
  }

  // n elements along an axis are combined n - 1 times.
  Work combination(const Op& op) {
    const Type& tile = type(op.operands[0]);
    const std::int64_t length = tile.size(static_cast<int>(op.integer("axis")));
    Work work = count(op.regions[0]);
    work.repeat(number(tile.numel() / length * (length - op.integer("parts", 1))));
    return work;
  }

  Work loop(const Op& op) {
    Work work = count(op.regions[0]);
    if (work.is_same_as({})) return work;
    const auto from = expression(op.operands[0]);
    const auto to = expression(op.operands[1]);
    const auto step = expression(op.operands[2]);
    if (!from || !to || !step || number_of(*step).value_or(1) <= 0) {
      is_exact_ = false;
      return work;
    }
    const PlanExpression length =
        apply(Kind::Maximum, apply(Kind::Subtract, *to, *from), number(0));
    // A step of 0 is the kernel's error, not that of who asks for the cost.
    work.repeat(apply(Kind::CeilDivide, length, apply(Kind::Maximum, *step, number(1))));
    return work;
  }

  Work endless(const Op& op) {
    is_exact_ = false;
    Work work = count(op.regions[0]);
    work.combine(Kind::Add, count(op.regions[1]));
    return work;
  }

  Work branch(const Op& op) {
    Work work = count(op.regions[0]);
    const Work other = count(op.regions[1]);
    if (work.is_same_as(other)) return work;
    is_exact_ = false;
    work.combine(Kind::Maximum, other);
    return work;
  }

  // A scalar in terms of the launch; none when it is not known before it.
  std::optional<PlanExpression> expression(Value value) {
    const auto known = expressions_.find(value.id);
    if (known != expressions_.end()) return known->second;
    return expressions_[value.id] = find_expression(value);
  }

  std::optional<PlanExpression> find_expression(Value value) {
    for (std::size_t i = 0; i < kernel_.arguments.size(); ++i)
      if (kernel_.arguments[i].value == value && type(value).is_int())
        return PlanExpression{{Kind::Argument, static_cast<std::int64_t>(i)}};
    const Op* op = kernel_.maker(value);
    if (!op) return std::nullopt;
    if (op->facts().is(Family::Source)) return source(*op);
    if (op->kind == OpKind::Cast || op->kind == OpKind::Hint)
      return type(op->operands[0]).is_int() ? expression(op->operands[0]) : std::nullopt;
    return arithmetic(*op);
  }

  std::optional<PlanExpression> source(const Op& op) {
    switch (source_op(op.kind)) {
      case SourceOp::Constant:
        return number(op.integer("value"));
      case SourceOp::NumBlocks:
        return PlanExpression{{Kind::Grid, 0}};
      case SourceOp::NumPrograms:
        return PlanExpression{{Kind::Grid, op.integer("axis")}};
      case SourceOp::ProgramId:
        is_exact_ = false;  // the middle program stands for all
        return apply(Kind::Divide, {{Kind::Grid, op.integer("axis")}}, number(2));
      case SourceOp::IsProducer:
      case SourceOp::Arange:
        break;  // no number
    }
    return std::nullopt;
  }

  std::optional<PlanExpression> arithmetic(const Op& op) {
    static constexpr std::pair<OpKind, Kind> kinds[] = {
        {OpKind::Add, Kind::Add},           {OpKind::Subtract, Kind::Subtract},
        {OpKind::Multiply, Kind::Multiply}, {OpKind::Divide, Kind::Divide},
        {OpKind::Remainder, Kind::Modulo},  {OpKind::Minimum, Kind::Minimum},
        {OpKind::Maximum, Kind::Maximum}};
    for (const auto& [from, to] : kinds) {
      if (from != op.kind || !type(op.result()).is_int()) continue;
      const auto a = expression(op.operands[0]);
      const auto b = a ? expression(op.operands[1]) : std::nullopt;
      // A plan spells out what is used twice, twice.
      constexpr std::size_t longest = 512;
      if (!b || a->size() + b->size() > longest) return std::nullopt;
      // A divisor that may be 0 must not reach whoever evaluates the plan.
      const bool divides = to == Kind::Divide || to == Kind::Modulo;
      if (divides && number_of(*b).value_or(0) <= 0) return std::nullopt;
      return apply(to, *a, *b);
    }
    return std::nullopt;
  }

  const Kernel& kernel_;
  bool is_exact_ = true;
  std::unordered_map<std::uint32_t, std::optional<PlanExpression>> expressions_;
};

}  // namespace

KernelCost cost_of_program(const Kernel& kernel) {
  Counter counter(kernel);
  Work work = counter.count(kernel.body);
  return {std::move(work.flops), std::move(work.bytes_read), std::move(work.bytes_written),
          counter.is_exact()};
}

KernelCost cost_of_launch(const Kernel& kernel) {
  KernelCost cost = cost_of_program(kernel);
  for (PlanExpression* part : {&cost.flops, &cost.bytes_read, &cost.bytes_written})
    for (std::int64_t axis = 0; axis < 3; ++axis)
      *part = apply(Kind::Multiply, *part, {{Kind::Grid, axis}});
  return cost;
}

}  // namespace tilewright::ir
