// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_reduce.cpp — reductions and scans, with our combinations and the user's.
#include <fmt/format.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;

// Fills the region of a reduce or scan.
void fill_region(Semantic& semantic, ir::Op* op, const Combine& combine) {
  ir::Kernel& kernel = semantic.builder().kernel();
  ir::Region& region = op->regions.emplace_back();
  for (int side = 0; side < 2; ++side)
    for (const ir::Value operand : op->operands)
      region.arguments.push_back(kernel.make_value(semantic.type(operand).element(), "", nullptr));
  const ir::Builder::Into into(semantic.builder(), region);
  semantic.builder().yield(combine(region.arguments));
}

Combine combine_with(Semantic& semantic, OpKind kind) {
  return [&semantic, kind](std::span<const ir::Value> values) -> std::vector<ir::Value> {
    return {semantic.arithmetic(kind, values[0], values[1])};
  };
}

// ---- What the arguments say

Reduction reduction_of(Call& call, const ir::Type& input) {
  Reduction reduction{.keep_dims = call.flag("keep_dims")};
  if (call.has("axis")) reduction.axis = call.axis("axis", input.rank);
  return reduction;
}

// int1 and the short integers are added up in 32 bits.
ir::Type sum_type(Call& call, const ir::Type& input) {
  if (call.has("dtype")) return call.element_type("dtype");
  if (!is_integral(input) || bits_of(input) >= 32) return input.element();
  return ir::Type::scalar(is_unsigned_integral(input) ? u32 : i32);
}

Value sum(Call& call) {
  const ir::Value input = call.tensor("input");
  const ir::Value wide = call.semantic.cast(input, sum_type(call, call.type(input)));
  return reduce(call.semantic, wide, reduction_of(call, call.type(input)), OpKind::Add);
}

// ---- Largest and smallest

// The value and its index; equal values keep the one more to the left, or either.
Combine combine_indexed(Semantic& semantic, OpKind kind, bool is_left) {
  const char* wins = kind == OpKind::Maximum ? "gt" : "lt";
  return [&semantic, wins, is_left](std::span<const ir::Value> v) -> std::vector<ir::Value> {
    ir::Builder& builder = semantic.builder();
    ir::Value first = builder.compare(wins, v[0], v[2]);
    if (is_left) {
      const ir::Value tie = builder.binary(OpKind::And, builder.compare("eq", v[0], v[2]),
                                           builder.compare("lt", v[1], v[3]));
      first = builder.binary(OpKind::Or, first, tie);
    }
    return {builder.select(first, v[0], v[2]), builder.select(first, v[1], v[3])};
  };
}

std::vector<ir::Value> indexed(Call& call, OpKind kind, bool is_left) {
  Semantic& semantic = call.semantic;
  ir::Value input = lift_bfloat16(semantic, call.tile("input"));
  Reduction reduction = reduction_of(call, call.type(input));
  if (!reduction.axis) {
    if (call.type(input).rank != 1) call.fail("needs an axis to give indices");
    reduction.axis = 0;
  }
  const ir::Type shape = call.type(input);
  ir::Value index = call.builder().arange(0, shape.size(*reduction.axis));
  std::vector<std::int64_t> spread(shape.rank, 1);
  spread[static_cast<std::size_t>(*reduction.axis)] = shape.size(*reduction.axis);
  index = semantic.like(reshape(semantic, index, spread), shape);
  return reduce(semantic, {input, index}, reduction, combine_indexed(semantic, kind, is_left));
}

Value extreme(Call& call, OpKind kind) {
  if (call.flag("return_indices")) {
    const auto both = indexed(call, kind, call.flag("return_indices_tie_break_left"));
    return Value::tuple({both[0], both[1]});
  }
  Semantic& semantic = call.semantic;
  ir::Value input = call.tensor("input");
  const ir::Type& type = call.type(input);
  if (type.is_pointer) call.fail("does not take pointers");
  if (bits_of(type) < 32)
    input = semantic.cast(input, ir::Type::scalar(type.is_float() ? f32 : i32));
  return reduce(semantic, input, reduction_of(call, call.type(input)), kind);
}

Value max(Call& call) { return extreme(call, OpKind::Maximum); }
Value min(Call& call) { return extreme(call, OpKind::Minimum); }
Value argmax(Call& call) { return indexed(call, OpKind::Maximum, call.flag("tie_break_left"))[1]; }
Value argmin(Call& call) { return indexed(call, OpKind::Minimum, call.flag("tie_break_left"))[1]; }

// ---- Bits

Value reduce_bits(Call& call, OpKind kind) {
  const ir::Value input = call.tensor("input");
  if (!is_integral(call.type(input)))
    call.fail(fmt::format("takes integers, not {}", text_of(call.type(input))));
  return reduce(call.semantic, input, reduction_of(call, call.type(input)), kind);
}

Value xor_sum(Call& call) { return reduce_bits(call, OpKind::Xor); }
Value reduce_or(Call& call) { return reduce_bits(call, OpKind::Or); }

// ---- The user's combinations

std::vector<ir::Value> inputs_of(Call& call) {
  std::vector<ir::Value> inputs;
  if (const Tuple* tuple = call["input"].tuple())
    for (const Value& item : tuple->items) inputs.push_back(call.semantic.tensor(item));
  else inputs.push_back(call.tensor("input"));
  if (inputs.empty()) call.fail("needs at least one input");
  for (const ir::Value input : inputs)
    if (!same_shape(call.type(input), call.type(inputs[0])))
      call.fail(fmt::format("needs inputs of one shape, not {} and {}",
                            text_of(call.type(inputs[0])), text_of(call.type(input))));
  return inputs;
}

Combine combine_function(Call& call) {
  return [&call](std::span<const ir::Value> values) {
    const CallArguments arguments{.positional = {values.begin(), values.end()}};
    const Value result = call.host.call(call["combine_fn"], arguments);
    const std::vector<Value> items = unpacked(result);
    const std::size_t count = values.size() / 2;
    if (items.size() != count)
      call.fail(fmt::format("needs {} value{} from its combine function, but gets {}", count,
                            count == 1 ? "" : "s", call.describe(result)));
    std::vector<ir::Value> results;
    for (std::size_t i = 0; i < count; ++i) {
      results.push_back(call.semantic.tensor(items[i]));
      if (call.type(results[i]) != call.type(values[i]))
        call.fail(fmt::format("needs {} from its combine function, but gets {}",
                              text_of(call.type(values[i])), text_of(call.type(results[i]))));
    }
    return results;
  };
}

Value as_given(Call& call, const std::vector<ir::Value>& results) {
  if (!call["input"].tuple()) return results[0];
  return Value::tuple({results.begin(), results.end()});
}

Value reduce_by(Call& call) {
  const std::vector<ir::Value> inputs = inputs_of(call);
  const Reduction reduction = reduction_of(call, call.type(inputs[0]));
  return as_given(call, reduce(call.semantic, inputs, reduction, combine_function(call)));
}

Value associative_scan(Call& call) {
  const std::vector<ir::Value> inputs = inputs_of(call);
  const int axis = call.axis("axis", call.type(inputs[0]).rank);
  return as_given(call,
                  scan(call.semantic, inputs, axis, call.flag("reverse"), combine_function(call)));
}

// ---- Running sums

Value cumulate(Call& call, ir::Value input, OpKind kind) {
  const int axis = call.axis("axis", call.type(input).rank);
  return scan(call.semantic, {input}, axis, call.flag("reverse"),
              combine_with(call.semantic, kind))[0];
}

Value cumsum(Call& call) {
  const ir::Value input = lift_bfloat16(call.semantic, call.tile("input"));
  return cumulate(call, call.semantic.cast(input, sum_type(call, call.type(input))), OpKind::Add);
}

Value cumprod(Call& call) {
  return cumulate(call, lift_bfloat16(call.semantic, call.tile("input")), OpKind::Multiply);
}

// ---- The combinations of Triton's own library, which kernels pass to tl.reduce

Value combine_two(Call& call, OpKind kind) {
  return call.semantic.arithmetic(kind, call.tensor("a"), call.tensor("b"));
}
Value sum_combine(Call& call) { return combine_two(call, OpKind::Add); }
Value product_combine(Call& call) { return combine_two(call, OpKind::Multiply); }
Value max_combine(Call& call) { return combine_two(call, OpKind::Maximum); }
Value min_combine(Call& call) { return combine_two(call, OpKind::Minimum); }
Value xor_combine(Call& call) { return combine_two(call, OpKind::Xor); }
Value or_combine(Call& call) { return combine_two(call, OpKind::Or); }

Value combine_best(Call& call, OpKind kind) {
  const ir::Value values[] = {call.tensor("value1"), call.tensor("index1"), call.tensor("value2"),
                              call.tensor("index2")};
  const std::vector<ir::Value> best = combine_indexed(call.semantic, kind, true)(values);
  return Value::tuple({best[0], best[1]});
}
Value argmax_combine(Call& call) { return combine_best(call, OpKind::Maximum); }
Value argmin_combine(Call& call) { return combine_best(call, OpKind::Minimum); }

// exp(x - max(x)) / sum(exp(x - max(x)))
Value softmax(Call& call) {
  using python::BinaryOperator;
  Semantic& semantic = call.semantic;
  const ir::Value x = call.tile("x");
  Reduction reduction{.axis = 0, .keep_dims = call.flag("keep_dims")};
  if (call.has("dim")) reduction.axis = call.axis("dim", call.type(x).rank);
  const ir::Value wide = bits_of(call.type(x)) < 32 ? call.builder().cast(x, f32) : x;
  const ir::Value largest = reduce(semantic, wide, reduction, OpKind::Maximum);
  const Value shifted = semantic.binary(BinaryOperator::Subtract, x, largest);
  const ir::Value z = *shifted.get_if<ir::Value>();
  if (call.type(z).dtype != f32 && call.type(z).dtype != f64)
    call.fail(fmt::format("takes floats, not {}", text_of(call.type(x))), "use .to(tl.float32)");
  const ir::Value powers = call.builder().math("exp", {z});
  const ir::Value total = reduce(semantic, powers, reduction, OpKind::Add);
  const auto [above, below] = semantic.broadcast(powers, total);
  std::vector<ir::Attribute> attributes;
  if (call.flag("ieee_rounding")) attributes.push_back({"exact", std::int64_t{1}});
  return call.builder().create_one(OpKind::Divide, {above, below}, call.type(above),
                                   std::move(attributes));
}

constexpr std::string_view extreme_parameters =
    "input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False";

constexpr BuiltinRow reduce_rows[] = {
    {"sum", "input, axis=None, keep_dims=False, dtype=None", sum, true},
    {"max", extreme_parameters, max, true},
    {"min", extreme_parameters, min, true},
    {"argmax", "input, axis, tie_break_left=True, keep_dims=False", argmax, true},
    {"argmin", "input, axis, tie_break_left=True, keep_dims=False", argmin, true},
    {"xor_sum", "input, axis=None, keep_dims=False", xor_sum, true},
    {"reduce_or", "input, axis, keep_dims=False", reduce_or, true},
    {"reduce", "input, axis, combine_fn, keep_dims=False", reduce_by, true},
    {"associative_scan", "input, axis, combine_fn, reverse=False", associative_scan, true},
    {"cumsum", "input, axis=0, reverse=False, dtype=None", cumsum, true},
    {"cumprod", "input, axis=0, reverse=False", cumprod, true},
    {"_sum_combine", "a, b", sum_combine},
    {"_prod_combine", "a, b", product_combine},
    {"_elementwise_max", "a, b", max_combine},
    {"_elementwise_min", "a, b", min_combine},
    {"_xor_combine", "a, b", xor_combine},
    {"_or_combine", "a, b", or_combine},
    {"_argmax_combine_tie_break_left", "value1, index1, value2, index2", argmax_combine},
    {"_argmin_combine_tie_break_left", "value1, index1, value2, index2", argmin_combine},
    {"softmax", "x, dim=None, keep_dims=False, ieee_rounding=False", softmax, true},
};

}  // namespace

std::vector<ir::Value> reduce(Semantic& semantic, std::vector<ir::Value> inputs,
                              Reduction reduction, const Combine& combine) {
  const ir::Type given = semantic.type(inputs[0]);
  if (given.is_scalar()) return inputs;
  if (!reduction.axis)
    for (ir::Value& input : inputs) input = reshape(semantic, input, {given.numel()});
  const int axis = reduction.axis.value_or(0);
  std::vector<std::int64_t> shape = semantic.type(inputs[0]).shape();
  shape.erase(shape.begin() + axis);
  std::vector<ir::Type> types;
  for (const ir::Value input : inputs) types.push_back(semantic.type(input).with_shape(shape));
  ir::Op* op =
      semantic.builder().create(OpKind::Reduce, inputs, types, {{"axis", std::int64_t{axis}}});
  fill_region(semantic, op, combine);
  std::vector<ir::Value> results = op->results;
  if (!reduction.keep_dims) return results;
  std::vector<std::int64_t> kept(given.rank, 1);
  if (reduction.axis) {
    kept = given.shape();
    kept[static_cast<std::size_t>(axis)] = 1;
  }
  for (ir::Value& result : results) result = reshape(semantic, result, kept);
  return results;
}

ir::Value reduce(Semantic& semantic, ir::Value input, Reduction reduction, OpKind kind) {
  return reduce(semantic, std::vector<ir::Value>{input}, reduction,
                combine_with(semantic, kind))[0];
}

std::vector<ir::Value> scan(Semantic& semantic, const std::vector<ir::Value>& inputs, int axis,
                            bool reverse, const Combine& combine) {
  std::vector<ir::Type> types;
  for (const ir::Value input : inputs) types.push_back(semantic.type(input));
  std::vector<ir::Attribute> attributes = {{"axis", std::int64_t{axis}}};
  if (reverse) attributes.push_back({"reverse", std::int64_t{1}});
  ir::Op* op = semantic.builder().create(OpKind::Scan, inputs, types, std::move(attributes));
  fill_region(semantic, op, combine);
  return op->results;
}

std::span<const BuiltinRow> reduce_builtins() { return reduce_rows; }

}  // namespace tilewright::triton
