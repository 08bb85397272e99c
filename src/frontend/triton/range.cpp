// SPDX-License-Identifier: Apache-2.0
// frontend/triton/range.cpp — the arguments of ranges read.
#include "frontend/triton/range.h"

#include <fmt/format.h>

namespace tilewright::triton {
namespace {

struct KnownRange {
  std::string_view name;
  RangeKind kind;
};
constexpr KnownRange known_ranges[] = {
    {"builtins.range", RangeKind::Counted},
    {"triton.language.core.range", RangeKind::Counted},
    {"triton.language.core.static_range", RangeKind::Static},
    {"triton.language.range", RangeKind::Counted},
    {"triton.language.static_range", RangeKind::Static},
};

struct LoopOption {
  std::string_view name;
  std::string_view attribute;  // of the op; empty: left aside
};
constexpr LoopOption loop_options[] = {
    {"disable_licm", ""},     {"disallow_acc_multi_buffer", ""},
    {"flatten", "flatten"},   {"loop_unroll_factor", "unroll"},
    {"num_stages", "stages"}, {"warp_specialize", ""},
};

// The bounds of range(stop), range(start, stop), range(start, stop, step), also by name.
struct Bounds {
  Value start = Value::integer(0);
  Value stop;
  Value step = Value::integer(1);
};

bool is_option(std::string_view name) {
  for (const LoopOption& option : loop_options)
    if (option.name == name) return true;
  return false;
}

Value* named_bound(Bounds& bounds, std::string_view name) {
  if (name == "start" || name == "arg1") return &bounds.start;
  if (name == "stop" || name == "end" || name == "arg2") return &bounds.stop;
  return name == "step" ? &bounds.step : nullptr;
}

Bounds read_bounds(const CallArguments& range) {
  const std::vector<Value>& given = range.positional;
  if (given.size() > 3)
    throw Mistake{fmt::format("a range takes at most 3 bounds, not {}", given.size()), ""};
  Bounds bounds;
  if (given.size() == 1) bounds.stop = given[0];
  if (given.size() > 1) bounds = {given[0], given[1], Value::integer(1)};
  if (given.size() > 2) bounds.step = given[2];
  for (const auto& [name, value] : range.keywords) {
    Value* bound = named_bound(bounds, name);
    if (bound != nullptr) *bound = value;
    else if (!is_option(name)) throw Mistake{fmt::format("a range has no option '{}'", name), ""};
  }
  if (bounds.stop.is_none()) throw Mistake{"a range needs its end", ""};
  return bounds;
}

// The larger width; of one width, unsigned wins.
DType promoted(DType a, DType b) {
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return is_signed(a) ? b : a;
}

const Int128* known_integer(const Value& value) {
  const auto* constant = value.get_if<Constant>();
  return constant ? std::get_if<Int128>(&constant->value) : nullptr;
}

[[noreturn]] void refuse_step_zero() {
  throw Mistake{"the step of a range cannot be 0", ""};
}

}  // namespace

RangeKind range_kind(const Value& callee) {
  const auto* builtin = callee.get_if<Builtin>();
  if (builtin == nullptr) return RangeKind::None;
  for (const KnownRange& known : known_ranges)
    if (known.name == builtin->name) return known.kind;
  return RangeKind::None;
}

std::vector<std::int64_t> constant_range(Semantic& semantic, const CallArguments& range,
                                         std::int64_t most) {
  const Bounds bounds = read_bounds(range);
  const std::int64_t start = semantic.constant_integer(bounds.start, "the start of the range");
  const std::int64_t stop = semantic.constant_integer(bounds.stop, "the end of the range");
  const std::int64_t step = semantic.constant_integer(bounds.step, "the step of the range");
  if (step == 0) refuse_step_zero();
  std::vector<std::int64_t> numbers;
  for (Int128 i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (static_cast<std::int64_t>(numbers.size()) == most)
      throw Mistake{fmt::format("the loop is unrolled more than {} times", most),
                    "use range instead of tl.static_range"};
    numbers.push_back(static_cast<std::int64_t>(i));
  }
  return numbers;
}

Counting count_range(Semantic& semantic, const CallArguments& range) {
  Bounds bounds = read_bounds(range);
  const Int128* step = known_integer(bounds.step);
  if (step != nullptr && *step == 0) refuse_step_zero();
  const bool is_down = step != nullptr && *step < 0;
  if (is_down) {
    bounds.step = semantic.unary(python::UnaryOperator::Negate, bounds.step);
    std::swap(bounds.start, bounds.stop);
  }
  std::vector<ir::Value> edges;
  DType dtype = i8;
  for (const Value& bound : {bounds.start, bounds.stop, bounds.step}) {
    const ir::Value edge = semantic.tensor(bound);
    const ir::Type& type = semantic.type(edge);
    if (!type.is_scalar() || !(type.is_int() || type.is_bool()))
      throw Mistake{fmt::format("the bounds of a range are integers, not {}",
                                describe(semantic.kernel(), bound)),
                    ""};
    dtype = promoted(dtype, type.is_bool() ? i32 : type.dtype);
    edges.push_back(edge);
  }
  for (ir::Value& edge : edges) edge = semantic.cast(edge, ir::Type::scalar(dtype));
  return {.from = edges[0], .to = edges[1], .step = edges[2], .is_down = is_down};
}

std::vector<ir::Attribute> loop_attributes(Semantic& semantic, const CallArguments& range) {
  std::vector<ir::Attribute> attributes;
  for (const auto& [name, value] : range.keywords)
    for (const LoopOption& option : loop_options)
      if (option.name == name && !option.attribute.empty() && !value.is_none())
        attributes.push_back(
            {option.attribute, semantic.constant_integer(value, name)});
  return attributes;
}

}  // namespace tilewright::triton
