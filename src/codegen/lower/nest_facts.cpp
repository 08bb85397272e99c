// SPDX-License-Identifier: Apache-2.0
// codegen/lower/nest_facts.cpp — what is known of the loops of a sweep on the CPU before any of it
// is written.
#include "codegen/lower/nest_facts.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/check.h"
#include "ir/behind.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

constexpr int most_loops = 3;

// Functions of the device library without branches and calls, on f32.
constexpr std::string_view vector_functions[] = {
    "ceil", "cos",  "erf",   "exp",   "exp2", "floor", "log",     "log10", "log2",
    "pow",  "rint", "round", "rsqrt", "sin",  "sqrt",  "sqrt_rn", "tanh",  "trunc"};

bool is_below_32_bits(const Type& type) {
  return type.is_float() && !type.is_pointer && size_of(type.dtype) < 4;
}

// Integer division, and conversions that AVX2 has no instructions for, are done one by one.
bool has_vector_form(const ir::Kernel& kernel, const ir::Op& op) {
  const Type from = kernel.type(op.operands[0]).element();
  const Type to = kernel.type(op.result()).element();
  if (op.facts().vector != ir::VectorForm::ByType)
    return op.facts().vector == ir::VectorForm::HasVector;
  if (op.kind == OpKind::Divide) return to.is_float();
  // A condition keeps a struct out of vector registers.
  if (op.kind == OpKind::Select) return !is_below_32_bits(to);
  if (op.kind == OpKind::Cast) {
    if (is_below_32_bits(to)) return from.dtype == DType::Float32;
    return from.is_float() == to.is_float() || (!from.is_float() && size_of(from.dtype) <= 4);
  }
  TW_CHECK(op.kind == OpKind::Math, "whether '{}' has a vector form", op.facts().name);
  return to.dtype == DType::Float32 &&
         std::find(std::begin(vector_functions), std::end(vector_functions), op.text("function")) !=
             std::end(vector_functions);
}

// What stands in a sweep stands in the region around it.
void count_uses(const ir::Region& region, std::vector<bool>& is_here, std::vector<int>& uses) {
  constexpr int many = 2;
  for (const ir::Op* op : region.ops) {
    for (const ir::Value operand : op->operands)
      uses[operand.id] += is_here[operand.id] && !op->facts().is(ir::Family::Ends) ? 1 : many;
    for (const ir::Region& inner : op->regions) {
      std::vector<bool> is_inside(uses.size(), false);
      count_uses(inner, op->kind == OpKind::Sweep ? is_here : is_inside, uses);
    }
    for (const ir::Value result : op->results) is_here[result.id] = true;
  }
}

std::vector<int> uses_of_values(const ir::Kernel& kernel) {
  std::vector<int> uses(kernel.value_count(), 0);
  std::vector<bool> is_here(kernel.value_count(), false);
  count_uses(kernel.body, is_here, uses);
  return uses;
}

}  // namespace

// Dimensions that one loop runs over: each its own, or, when there are many, all those between the
// axes that reductions need by themselves.
std::vector<Loop> loops_over(const Type& shape, const std::vector<int>& axes) {
  std::vector<int> wide;
  for (int d = 0; d < shape.rank; ++d)
    if (shape.size(d) > 1) wide.push_back(d);
  const bool merges = static_cast<int>(wide.size()) > most_loops;
  std::vector<Loop> loops;
  for (const int d : wide) {
    const auto is_axis = [&](int dimension) {
      return std::find(axes.begin(), axes.end(), dimension) != axes.end();
    };
    if (merges && !loops.empty() && !is_axis(d) && !is_axis(loops.back().last - 1)) {
      loops.back().last = d + 1;
      loops.back().size *= shape.size(d);
    } else {
      loops.push_back({.first = d, .last = d + 1, .size = shape.size(d)});
    }
  }
  return loops;
}

std::vector<bool> values_with_own_lines(const ir::Kernel& kernel) {
  const std::vector<int> uses = uses_of_values(kernel);
  std::vector<bool> lines(kernel.value_count(), false);
  ir::walk(kernel.body, [&](const ir::Op& op) {
    for (const ir::Value value : op.results)
      lines[value.id] = op.facts().has(ir::Elementwise) && uses[value.id] != 1;
  });
  return lines;
}

NestFacts::NestFacts(const ir::Kernel& kernel, const Sweeps& schedule)
    : kernel_(kernel),
      order_of_memory_(kernel),
      schedule_(schedule),
      uses_(uses_of_values(kernel)) {
  find_runs();
  find_streams();
  find_terms();
}

// Operands of sums, what regions hand on, and all that these are without being computed.
void NestFacts::find_terms() {
  std::vector<ir::Value> found;
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    const bool is_sum = op.kind == OpKind::Add || op.kind == OpKind::Subtract;
    if (is_sum || op.facts().has(ir::Nested) || op.facts().is(ir::Family::Ends))
      found.insert(found.end(), op.operands.begin(), op.operands.end());
  });
  while (!found.empty()) {
    const ir::Value value = schedule_.source_of(found.back());
    found.pop_back();
    const ir::Op* maker = kernel_.maker(value);
    if (!terms_.insert(value.id).second || !maker) continue;
    const bool is_same =
        is_view(*maker) || maker->kind == OpKind::Negate || maker->kind == OpKind::Select;
    if (is_same) found.insert(found.end(), maker->operands.begin(), maker->operands.end());
  }
}

const ir::AttributeValue* NestFacts::constant_value(ir::Value value) const {
  const ir::Op* maker = kernel_.maker(value);
  while (maker && maker->facts().maps(ir::Spread | ir::Repeated))
    maker = kernel_.maker(maker->operands[0]);
  return maker && maker->kind == OpKind::Constant ? maker->find("value") : nullptr;
}

std::optional<std::int64_t> NestFacts::constant(ir::Value value) const {
  const auto* number = std::get_if<std::int64_t>(constant_value(value));
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<double> NestFacts::float_constant(ir::Value value) const {
  const auto* number = std::get_if<double>(constant_value(value));
  return number ? std::optional(*number) : std::nullopt;
}

// Masks of the form `bounds` among the operands of an op and of those behind it.
void NestFacts::count_bounds(const Step& step, const ir::Op& op, std::set<const ir::Op*>& seen,
                             std::map<std::uint32_t, int>& counts) const {
  if (!seen.insert(&op).second) return;
  for (const ir::Value operand : op.operands) {
    const ir::Op* maker = kernel_.maker(operand);
    if (!maker || !same_shape(kernel_.type(operand), step.shape) ||
        schedule_.is_in_array(operand, step))
      continue;
    if (maker->kind == OpKind::Bounds) ++counts[operand.id];
    else if (maker->facts().has(ir::Elementwise) || maker->kind == OpKind::Load)
      count_bounds(step, *maker, seen, counts);
  }
}

// The mask of the form `bounds` that most ops of the step use.
void NestFacts::find_split(const Step& step, NestShape& nest) const {
  if (nest.loops.empty() || nest.is_merged) return;
  std::map<std::uint32_t, int> counts;
  std::set<const ir::Op*> seen;
  for (const auto* ops : {&step.ops, &step.reductions})
    for (const ir::Op* op : *ops) count_bounds(step, *op, seen, counts);
  int most = 0;
  for (const auto& [id, count] : counts)
    if (count > most) {
      most = count;
      nest.split = ir::Value{id};
    }
}

// Whether something happens where the split mask does not hold.
bool NestFacts::needs_rest(const Step& step, const NestShape& nest) const {
  if (!step.kept.empty() || !step.reductions.empty()) return true;
  const auto implies_split = [&](ir::Value mask) {
    return ir::any_behind(kernel_, mask, [&](ir::Value part) {
      if (part == nest.split) return ir::Ask::Found;
      const ir::Op* op = kernel_.maker(part);
      const bool is_all = op && op->kind == OpKind::And && !schedule_.is_in_array(part, step);
      return is_all ? ir::Ask::Further : ir::Ask::NoFurther;
    });
  };
  for (const ir::Op* op : step.ops) {
    if (op->kind == OpKind::Assert) return true;
    if (!op->facts().has(ir::Writes)) continue;
    if (!op->mask() || !implies_split(op->mask())) return true;
    for (const ir::Value result : op->results)
      if (schedule_.is_used(result)) return true;
  }
  return false;
}

// Whether a condition is the mask that splits the loop, or says the same: arange < n where the mask
// is the bounds 0 and n.
bool NestFacts::is_split(const NestShape& nest, ir::Value condition) const {
  if (!nest.split || condition == nest.split) return condition == nest.split;
  const auto widens = [&](const ir::Op& op) {
    if (op.kind != OpKind::Cast) return false;
    const Type& from = kernel_.type(op.operands[0]);
    const Type& to = kernel_.type(op.result());
    return from.is_int() && to.is_int() && is_signed(to.dtype) &&
           from.element_bytes() < to.element_bytes();
  };
  const auto uncast = [&](ir::Value value) {
    const ir::Op* op = kernel_.maker(value);
    while (op && (op->kind == OpKind::Splat || widens(*op))) {
      value = op->operands[0];
      op = kernel_.maker(value);
    }
    return value;
  };
  const ir::Op* test = kernel_.maker(condition);
  const ir::Op* bounds = kernel_.maker(nest.split);
  if (!test || test->kind != OpKind::Compare || test->text("is") != "lt" || !bounds ||
      bounds->kind != OpKind::Bounds || bounds->operands.size() != 2)
    return false;
  const ir::Op* numbers = kernel_.maker(uncast(test->operands[0]));
  const ir::Value end = uncast(test->operands[1]);
  return numbers && numbers->kind == OpKind::Arange && numbers->integer("start") == 0 &&
         kernel_.type(end).is_scalar() && is_signed(kernel_.type(end).dtype) &&
         constant(bounds->operands[0]) == 0 && uncast(bounds->operands[1]) == end;
}

bool NestFacts::is_simd(const Step& step) const {
  return std::none_of(step.ops.begin(), step.ops.end(), [](const ir::Op* op) {
    return op->facts().is_atomic() || op->facts().is(ir::Family::Check) ||
           op->integer("volatile") != 0;
  });
}

// Neighbours in memory, all of them or as many as a mask of whole words takes.
bool NestFacts::is_vector_access(const NestShape& nest, const ir::Op& op) const {
  const ir::Op* pointer = kernel_.maker(op.operands[0]);
  while (pointer && pointer->kind == OpKind::Hint) pointer = kernel_.maker(pointer->operands[0]);
  if (!pointer || pointer->kind != OpKind::Affine) return false;
  const Type& type = kernel_.type(op.operands[0]);
  for (int d = type.rank; d-- > 0;) {
    if (type.size(d) == 1) continue;
    const std::optional<std::int64_t> stride =
        constant(pointer->operands[static_cast<std::size_t>(d) + 1]);
    if (!stride || *stride < 0 || *stride > 1) return false;
    break;
  }
  const ir::Value mask = op.mask();
  if (!mask || mask == nest.split) return true;
  const ir::Op* bounds = kernel_.maker(mask);
  return bounds && bounds->kind == OpKind::Bounds && size_of(type.dtype) >= 4;
}

bool NestFacts::is_vector_value(const NestShape& nest, ir::Value value,
                                std::set<std::uint32_t>& seen) const {
  const Type& type = kernel_.type(value);
  if (type.is_scalar() || !seen.insert(value.id).second) return true;
  const ir::Op* op = kernel_.maker(value);
  if (!op || schedule_.is_in_array(value, *nest.step)) return true;
  const auto is_vector = [&](ir::Value operand) { return is_vector_value(nest, operand, seen); };
  if (op->facts().maps(ir::Alike | ir::Spread | ir::ByIndex)) return true;
  if (op->facts().maps(ir::Repeated | ir::Reshaped)) return is_vector(op->operands[0]);
  if (op->kind == OpKind::Load)
    return is_vector_access(nest, *op) && (op->operands.size() < 3 || is_vector(op->operands[2]));
  return has_vector_form(kernel_, *op) &&
         std::all_of(op->operands.begin(), op->operands.end(), is_vector);
}

bool NestFacts::surely_vectorises(const NestShape& nest) const {
  const Step& step = *nest.step;
  if (!is_simd(step) || nest.is_merged) return false;
  std::set<std::uint32_t> seen;
  const auto is_vector = [&](ir::Value value) { return is_vector_value(nest, value, seen); };
  const auto is_vector_effect = [&](const ir::Op* op) {
    if (!op->facts().has(ir::Writes)) return op->results.size() == 1 && is_vector(op->result());
    return op->kind == OpKind::Store && is_vector_access(nest, *op) && is_vector(op->operands[1]);
  };
  return std::all_of(step.ops.begin(), step.ops.end(), is_vector_effect) &&
         std::all_of(step.kept.begin(), step.kept.end(), is_vector) &&
         std::all_of(step.reductions.begin(), step.reductions.end(), [&](const ir::Op* op) {
           return std::all_of(op->operands.begin(), op->operands.end(), is_vector);
         });
}

}  // namespace tilewright
