// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/reductions.cpp — elements combined within a thread, over the lanes of a warp, and
// over warps through shared memory. Threads that hold copies do the same work and get the same
// result, so that nothing counts twice.
#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"
#include "codegen/lower/combine_facts.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

using ir::OpKind;

constexpr ir::Type wide_type{.dtype = DType::Float32};

}  // namespace

// ---- Combine regions

// Runs the region on texts. Its statements go to the current place of the output.
std::vector<std::string> Emitter::combine(const ir::Region& region,
                                          const std::vector<std::string>& a,
                                          const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    scalars_[region.arguments[i].id] = a[i];
    scalars_[region.arguments[a.size() + i].id] = b[i];
  }
  for (const ir::Op* op : region.ops) {
    if (op->kind == OpKind::Yield) break;
    scalar_step(*op);
  }
  std::vector<std::string> out;
  for (ir::Value value : region.ops.back()->operands) out.push_back(scalar(value));
  return out;
}

// A struct that holds one value of each operand.
std::string Emitter::group_type(const ir::Op& op) {
  if (op.operands.size() == 1) return type_of(op.operands[0]);
  const std::string name = names_.make("Group");
  std::string members;
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    members += fmt::format("{} v{}; ", type_of(op.operands[i]), i);
  prologue_.push_back(fmt::format("struct {} {{ {}}};", name, members));
  return name;
}

std::string Emitter::combine_lambda(const ir::Op& op, const std::string& type) {
  const std::string name = names_.make("combine");
  const std::string a = names_.make("a");
  const std::string b = names_.make("b");
  const std::size_t count = op.operands.size();
  TextWriter outer = std::exchange(out_, TextWriter{});
  std::vector<std::string> left = {a};
  std::vector<std::string> right = {b};
  if (count > 1) {
    left.clear();
    right.clear();
    for (std::size_t i = 0; i < count; ++i) {
      left.push_back(fmt::format("{}.v{}", a, i));
      right.push_back(fmt::format("{}.v{}", b, i));
    }
  }
  const ir::Location line = last_line_;
  const std::vector<std::string> results = combine(op.regions[0], left, right);
  const std::string body = std::exchange(out_, std::move(outer)).take();
  last_line_ = line;
  const std::string value =
      count == 1 ? bare(results[0]) : fmt::format("{}{{{}}}", type, fmt::join(results, ", "));
  if (body.empty()) {
    out_.format("const auto {} = [&]({} {}, {} {}) {{ return {}; }};", name, type, a, type, b,
                value);
    return name;
  }
  out_.open(fmt::format("const auto {} = [&]({} {}, {} {})", name, type, a, type, b));
  std::size_t at = 0;
  while (at < body.size()) {
    const std::size_t end = body.find('\n', at);
    const std::string text = body.substr(at, end - at);
    if (!text.starts_with("//")) out_.line(text);
    at = end + 1;
  }
  out_.format("return {};", value);
  out_.close(";");
  return name;
}

// ---- A reduction around its loop

std::string Emitter::combine_lambda(const Reduction& reduction) {
  if (!reduction.is_wide) {
    const std::string lambda = combine_lambda(*reduction.op, reduction.type);
    return is_symmetric(reduction.op->regions[0]) ? lambda
                                                  : fmt::format("tw::in_order({})", lambda);
  }
  const std::string name = names_.make("combine");
  out_.format("const auto {} = [](f32 a, f32 b) {{ return a + b; }};", name);
  return name;
}

// A total as an element of the result.
std::string Emitter::rounded(const Reduction& reduction, const std::string& text) const {
  if (!reduction.is_wide) return text;
  return cast_text(wide_type, kernel_.type(reduction.op->result()).element(), text, "");
}

Emitter::Reduction Emitter::begin_reduction(ElementLoop& loop, const ir::Op& op) {
  Reduction out;
  out.op = &op;
  const Step& step = *loop.frame.step;
  out.plan = plan_reduce(kernel_, schedule_, layouts_, step, op);
  out.registers = out.plan.kept.register_count();
  note_line(op.location);
  const ir::Op* single = only_op(op.regions[0]);
  const ir::Type own_type = kernel_.type(op.operands[0]).element();
  out.is_wide =
      single && single->kind == OpKind::Add && own_type.is_float() && size_of(own_type.dtype) < 4;
  out.type = out.is_wide ? "f32" : group_type(op);
  const std::string& own_name = kernel_.name_of(op.results[0]);
  const std::string base = own_name.empty() ? std::string(total_name(single)) : own_name;
  out.total = names_.make(out.is_wide ? base + "_f32" : base);
  const ir::Type type = out.is_wide ? wide_type : own_type;
  if (single && single->kind == OpKind::Add)
    out.identity = literal_text(
        type, type.is_float() ? ir::AttributeValue(0.0) : ir::AttributeValue(std::int64_t{0}));
  if (out.plan.registers == 0) out.identity.reset();
  if (out.registers == 1)
    out_.format("{} {}{};", out.type, out.total, out.identity ? " = " + *out.identity : "");
  else out_.format("{} {}[{}]{};", out.type, out.total, out.registers, out.identity ? " = {}" : "");
  return out;
}

// Whether the thread's element is the first of its total.
std::string Emitter::first_text(const Frame& frame, const ir::Op& reduce) const {
  const IndexMap along = compose(combined_map(frame.step->shape, reduce), frame.place);
  std::string out;
  for (std::size_t i = 3; i-- > 0;) {
    const SpaceVariable& variable = frame.space.variables[i];
    // Only which bits go along the axis counts, not how far.
    std::vector<std::uint64_t> columns(static_cast<std::size_t>(frame.space.bits()));
    int used = 0;
    const int base = frame.space.first_bit_of(i);
    for (int j = 0; j < variable.bits; ++j)
      if (along.matrix.column(base + j) != 0)
        columns[static_cast<std::size_t>(base + j)] = std::uint64_t{1} << used++;
    if (used == 0) continue;
    const std::string text =
        linear_text(frame.space, {BitMatrix(used, std::move(columns)), 0}, i, i + 1);
    out += fmt::format("{}{} == 0", out.empty() ? "" : " && ", atom(text));
  }
  return out;
}

void Emitter::add_to_reduction(ElementLoop& loop, const Reduction& reduction) {
  Frame& frame = loop.frame;
  const ir::Op& op = *reduction.op;
  const Step& step = *frame.step;
  std::vector<std::string> values;
  for (ir::Value operand : op.operands) values.push_back(element(frame, operand, frame.place));
  if (reduction.is_wide)
    values[0] = atom(cast_text(kernel_.type(op.operands[0]).element(), wide_type, values[0], ""));
  const std::string value = values.size() == 1
                                ? values[0]
                                : fmt::format("{}{{{}}}", reduction.type, fmt::join(values, ", "));

  // Which of the thread's totals this element belongs to.
  std::string total = reduction.total;
  if (reduction.registers > 1) {
    const IndexMap slice = total_map(step.shape, op);
    std::vector<std::uint64_t> columns;
    const int registers = frame.layout->registers().columns();
    for (int j = 0; j < frame.space.bits(); ++j)
      columns.push_back(j < registers ? *reduction.plan.kept.registers().solve(
                                            slice.matrix(frame.layout->registers().column(j)))
                                      : 0);
    total += fmt::format(
        "[{}]",
        linear_text(frame.space,
                    {BitMatrix(reduction.plan.kept.registers().columns(), std::move(columns)), 0}));
  }
  if (reduction.plan.registers == 0) {
    statement(op, fmt::format("{} = {};", total, value));
    return;
  }
  if (reduction.is_wide) {
    statement(op, fmt::format("{0} = {0} + {1};", total, value));
    return;
  }
  const auto members = [&](const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < values.size(); ++i) out.push_back(fmt::format("{}.v{}", text, i));
    return out;
  };
  if (!reduction.identity) {
    statement(op, fmt::format("if ({}) {} = {};", first_text(frame, op), total, value));
    out_.open("else");
  } else {
    note_line(op.location);
  }
  const std::vector<std::string> sums = values.size() == 1
                                            ? combine(op.regions[0], {total}, values)
                                            : combine(op.regions[0], members(total), values);
  out_.format("{} = {};", total,
              values.size() == 1 ? bare(sums[0])
                                 : fmt::format("{}{{{}}}", reduction.type, fmt::join(sums, ", ")));
  if (!reduction.identity) out_.close();
}

// Over the warps of a block.
void Emitter::reduce_over_warps(const Reduction& reduction) {
  const ReducePlan& plan = reduction.plan;
  const std::string slots = names_.make(reduction.total + "_slots");
  shared_.add(slots, reduction.type, plan.slots, scratch_of(*reduction.op), loop_depth_ > 0);
  if (shared_.write_needs_barrier(slots)) barrier();
  const std::string lambda = combine_lambda(reduction);
  show_written();  // its barrier is the one that products wait for
  if (reduction.registers == 1)
    out_.format("{0} = tw::reduce_block<{1}, {2}>({0}, {3}, {4});", reduction.total, plan.lanes,
                plan.warps, slots, lambda);
  else
    out_.format("tw::reduce_block<{}, {}, {}>({}, {}, {});", plan.lanes, plan.warps,
                reduction.registers, reduction.total, slots, lambda);
  shared_.note_barrier();
  global_.note_barrier();
  shared_.note_read(slots);
}

void Emitter::end_reduction(const Reduction& reduction) {
  parts_.insert("reduce");
  const ir::Op& op = *reduction.op;
  note_line(op.location);
  if (reduction.plan.warps != 0) {
    reduce_over_warps(reduction);
  } else if (const int lanes = reduction.plan.lanes; lanes != 0) {
    const std::string lambda = combine_lambda(reduction);
    if (reduction.registers == 1) {
      out_.format("{0} = tw::reduce_lanes<{1}>({0}, {2});", reduction.total, lanes, lambda);
    } else {
      out_.line("#pragma unroll");
      out_.format("for (int k = 0; k < {0}; ++k) {1}[k] = tw::reduce_lanes<{2}>({1}[k], {3});",
                  reduction.registers, reduction.total, lanes, lambda);
    }
  }
  for (std::size_t i = 0; i < op.results.size(); ++i) publish(reduction, i);
}

// Makes a total the op's result: the scalar itself, or the elements of its array.
void Emitter::publish(const Reduction& reduction, std::size_t number) {
  const ir::Value result = reduction.op->results[number];
  const std::string member = reduction.op->results.size() == 1 ? "" : fmt::format(".v{}", number);
  if (!is_tile(kernel_, result)) {
    scalars_[result.id] = reduction.total + member;
    if (!reduction.is_wide) return;
    scalars_[result.id] = names_.make(kernel_.name_of(result), "sum");
    out_.format("const {} {} = {};", type_of(result), scalars_[result.id],
                rounded(reduction, reduction.total));
    return;
  }
  if (!schedule_.is_placed(result)) return;
  const bool is_new = !arrays_.contains(schedule_.storage(result).id);
  const bool is_array = reduction.registers > 1 && member.empty() && !reduction.is_wide;
  if (is_new && !layouts_.is_shared(result) && is_array) {
    arrays_[schedule_.storage(result).id] = reduction.total;
    return;
  }
  declare_array(result);
  const std::string source =
      rounded(reduction, reduction.total + (reduction.registers == 1 ? "" : "[k]") + member);
  std::string target;
  if (layouts_.is_shared(result)) {
    if (shared_.write_needs_barrier(array_name(result))) barrier();
    shared_.note_write(array_name(result));
    const Space space{{{"k", reduction.plan.kept.registers().columns()},
                       {"thread", reduction.plan.kept.thread_bits()}}};
    target = fmt::format(
        "{}[{}]", array_name(result),
        linear_text(space, layouts_.swizzle_of(result)({reduction.plan.kept.matrix(), 0})));
    const std::string owner = owner_text(reduction.plan.kept);
    if (!owner.empty()) target = fmt::format("if ({}) {}", owner, target);
  } else {
    target = fmt::format("{}[{}]", array_name(result), reduction.registers == 1 ? "0" : "k");
  }
  if (reduction.registers > 1) {
    out_.line("#pragma unroll");
    out_.format("for (int k = 0; k < {}; ++k) {} = {};", reduction.registers, target, source);
  } else {
    out_.format("{} = {};", target, source);
  }
  if (layouts_.is_shared(result)) barrier();  // other threads than these hold the elements
}

}  // namespace tilewright
