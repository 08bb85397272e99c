// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/reductions.cpp — sums of a loop: variables when the innermost loop runs along the
// axis, else the result's own array; and the text of combine regions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "codegen/cpu/program.h"
#include "codegen/lower/reduction_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

std::vector<ProgramWriter::Reduction> ProgramWriter::plan_reductions(const Step& step,
                                                                     const Nest& nest) {
  std::vector<Reduction> out;
  for (const ir::Op* op : step.reductions) {
    Reduction reduction{.op = op, .axis_loop = -1};
    const auto axis = static_cast<int>(op->integer("axis"));
    for (int k = 0; k < nest.depth(); ++k) {
      const Loop& loop = nest.loops[static_cast<std::size_t>(k)];
      if (loop.first <= axis && axis < loop.last) reduction.axis_loop = k;
    }
    reduction.is_inner = reduction.axis_loop >= 0 && reduction.axis_loop == nest.depth() - 1;
    if (const ir::Op* only = only_op(*op)) {
      const Type type = kernel_.type(op->operands[0]).element();
      reduction.has_identity = identity_of(*only, type).has_value();
      reduction.clause = clause_of(*only, type);
    }
    // One element along the axis is the result.
    if (reduction.axis_loop < 0) reduction.has_identity = true;
    out.push_back(reduction);
  }
  return out;
}

// Small floats add up as f32 and are rounded once. Sums of f32 along a loop that may stay scalar
// would be added one after another, while those of a vector loop have a partial sum per lane: there
// f64 costs nothing and loses nothing.
void ProgramWriter::widen_sums(const Nest& nest, std::vector<Reduction>& reductions) const {
  for (Reduction& reduction : reductions) {
    const ir::Op* only = only_op(*reduction.op);
    const Type type = kernel_.type(reduction.op->operands[0]).element();
    if (!only || only->kind != OpKind::Add || !type.is_float() || reduction.axis_loop < 0) continue;
    if (size_of(type.dtype) < 4) reduction.wide = Type{.dtype = DType::Float32};
    else if (type.dtype == DType::Float32 && reduction.is_inner && !surely_vectorises(nest))
      reduction.wide = Type{.dtype = DType::Float64};
    if (reduction.wide) reduction.clause = clause_of(*only, *reduction.wide);
  }
}

Placed ProgramWriter::reduced_place(const Nest& nest, const ir::Op& op) const {
  Index index{nest.own.at, {}};
  index.at.erase(index.at.begin() + op.integer("axis"));
  return linear(kernel_.type(op.result()), index);
}

void ProgramWriter::begin_reductions(Nest& nest, std::vector<Reduction>& reductions) {
  for (Reduction& reduction : reductions) {
    const ir::Op& op = *reduction.op;
    const ir::Op* only = only_op(op);
    for (std::size_t k = 0; k < op.results.size(); ++k) {
      const ir::Value result = op.results[k];
      const Type type = reduction.wide.value_or(kernel_.type(result).element());
      const std::string suffix = reduction.wide ? "_" + type_text(type) : "";
      const std::string& own_name = kernel_.name_of(result);
      const std::string wanted = (own_name.empty() ? "sum" : own_name) + suffix;
      std::string start = "{}";
      if (reduction.has_identity && only)
        start = " = " + literal_text(type, *identity_of(*only, type));
      const bool is_extreme = reduction.is_inner && reduction.clause.starts_with("tw_");
      if (is_extreme && !nest.is_largest) {
        const bool is_max = only->kind == OpKind::Maximum;
        const double least = (is_max ? -1 : 1) * std::numeric_limits<double>::infinity();
        start = " = " + literal_text(type, ir::AttributeValue{least});
      }
      if (kernel_.type(result).is_scalar()) {
        const std::string name = names_.make(wanted);
        nest.names.reserve(name);
        out_.format("{} {}{};", type_text(type), name, start);
        declared_[name] = type_text(type);
        reduction.sums.push_back(name);
      } else if (reduction.is_inner) {
        const std::string name = nest.names.make(wanted);
        if (reduction.axis_loop == 0) names_.reserve(name);
        nest.lines[static_cast<std::size_t>(reduction.axis_loop)].push_back(
            fmt::format("{} {}{};", type_text(type), name, start));
        reduction.sums.push_back(name);
      } else {
        const std::string sums = reduction.wide ? wide_arrays_.at(result.id) : array(result);
        if (reduction.has_identity && reduction.axis_loop >= 0)
          out_.format("for (i32 i = 0; i < {}; ++i) {}[i]{};", kernel_.type(result).numel(), sums,
                      start);
        reduction.sums.push_back(fmt::format("{}[{}]", sums, reduced_place(nest, op).text));
      }
    }
    if (reduction.is_inner && reduction.clause.starts_with("tw_") && !nest.is_largest)
      begin_extreme(nest, reduction);
    else if (!reduction.clause.empty())
      reduction.clause = fmt::format("reduction({} : {})", reduction.clause, reduction.sums[0]);
  }
}

// The largest and the smallest of floats without NaN are one instruction per vector; whether there
// were numbers, or NaN, is seen beside it. (A reduction of our own declaration combines its lanes
// through memory.)
void ProgramWriter::begin_extreme(Nest& nest, Reduction& reduction) {
  const ir::Op& only = *only_op(*reduction.op);
  const Type type = kernel_.type(reduction.op->result());
  reduction.keeps_nan = only.text("nan") == "propagate";
  const std::string wanted = reduction.sums[0] + (reduction.keeps_nan ? "_nan" : "_seen");
  reduction.seen = nest.names.make(wanted);
  const std::string line =
      fmt::format("{} {} = 0;", type.dtype == DType::Float64 ? "i64" : "i32", reduction.seen);
  if (type.is_scalar() || reduction.axis_loop == 0) names_.reserve(reduction.seen);
  if (type.is_scalar()) out_.line(line);
  else nest.lines[static_cast<std::size_t>(reduction.axis_loop)].push_back(line);
  reduction.clause =
      fmt::format("reduction({} : {}) reduction(| : {})",
                  only.kind == OpKind::Maximum ? "max" : "min", reduction.sums[0], reduction.seen);
}

// The statements that take one more value in.
std::vector<std::string> ProgramWriter::extreme(const Reduction& reduction,
                                                const std::string& value) const {
  const bool is_max = only_op(*reduction.op)->kind == OpKind::Maximum;
  return {
      fmt::format("{0} = {0} {1} {2} ? {2} : {0};", reduction.sums[0], is_max ? '<' : '>', value),
      fmt::format("{0} |= {1} {2} {1};", reduction.seen, value, reduction.keeps_nan ? "!=" : "==")};
}

std::string ProgramWriter::finished_extreme(const Reduction& reduction) const {
  const std::string nan =
      literal_text(kernel_.type(reduction.op->result()).element(),
                   ir::AttributeValue{std::numeric_limits<double>::quiet_NaN()});
  return fmt::format("if ({}{}) {} = {};", reduction.keeps_nan ? "" : "!", reduction.seen,
                     reduction.sums[0], nan);
}

// Behind the mask's end every element is often the same: it counts once, or times their number.
bool ProgramWriter::accumulate_once(Nest& nest, const Reduction& reduction, const Placed& value) {
  const ir::Op* only = only_op(*reduction.op);
  if (!only || !reduction.is_inner || nest.split_holds != false || value.depth >= nest.depth())
    return false;
  const Type own_type = kernel_.type(reduction.op->operands[0]).element();
  const Type type = reduction.wide.value_or(own_type);
  const std::string& sum = reduction.sums[0];
  const bool is_sum = only->kind == OpKind::Add && (type.is_int() || size_of(type.dtype) >= 4);
  std::string term = cast_text(own_type, type, value.text, "");
  if (is_sum)
    term = fmt::format("{} * {}({} - {})", atom(term), type_text(type), nest.part_end,
                       nest.part_begin);
  else if (!only->facts().has(ir::Idempotent)) return false;
  if (!reduction.seen.empty()) {
    nest.once.push_back(fmt::format("if ({} < {}) {{", nest.part_begin, nest.part_end));
    for (const std::string& line : extreme(reduction, atom(term))) nest.once.push_back("  " + line);
    nest.once.emplace_back("}");
    return true;
  }
  const OperandText operands[] = {{sum, type}, {term, type}};
  nest.once.push_back(fmt::format("if ({} < {}) {} = {};", nest.part_begin, nest.part_end, sum,
                                  expression_text(*only, type, operands)));
  return true;
}

void ProgramWriter::accumulate(Nest& nest, Reduction& reduction) {
  const ir::Op& op = *reduction.op;
  std::vector<std::string> values;
  for (const ir::Value operand : op.operands) {
    const Placed value = element(nest, operand, nest.own);
    if (accumulate_once(nest, reduction, value)) return;
    values.push_back(value.text);
  }
  std::vector<std::string>& lines = nest.lines.back();
  const auto set_all = [&](const std::string& indent) {
    for (std::size_t k = 0; k < values.size(); ++k)
      lines.push_back(fmt::format("{}{} = {};", indent, reduction.sums[k], values[k]));
  };
  if (reduction.axis_loop < 0) return set_all("");
  if (!nest.sum.empty()) {
    const Type type = kernel_.type(op.operands[0]).element();
    const Type wide = reduction.wide.value_or(type);
    lines.push_back(fmt::format("return {};", cast_text(type, wide, values[0], "")));
    return;
  }
  if (!reduction.seen.empty()) {
    const bool is_name = values[0].find_first_of("([ ") == std::string::npos;
    const std::string value = is_name ? values[0] : nest.names.make("candidate");
    if (!is_name) lines.push_back(fmt::format("const auto {} = {};", value, values[0]));
    for (const std::string& line : extreme(reduction, value)) lines.push_back(line);
    return;
  }
  if (reduction.wide) {
    const Type type = kernel_.type(op.operands[0]).element();
    lines.push_back(fmt::format("{0} = {0} + {1};", reduction.sums[0],
                                atom(cast_text(type, *reduction.wide, values[0], ""))));
    return;
  }
  std::vector<std::string> combined;
  // The region's names must differ from those of the nest, which it stands in.
  std::swap(names_, nest.names);
  combine(op, reduction.sums, values, reduction.sums, combined);
  std::swap(names_, nest.names);
  if (reduction.has_identity) {
    lines.insert(lines.end(), combined.begin(), combined.end());
    return;
  }
  const std::string& at = nest.own.at[static_cast<std::size_t>(op.integer("axis"))].text;
  lines.push_back(fmt::format("if ({} == 0) {{", at));
  set_all("  ");
  lines.emplace_back("} else {");
  for (const std::string& line : combined) lines.push_back("  " + line);
  lines.emplace_back("}");
}

// targets = region(a.., b..)
void ProgramWriter::combine(const ir::Op& op, const std::vector<std::string>& a,
                            const std::vector<std::string>& b,
                            const std::vector<std::string>& targets,
                            std::vector<std::string>& lines) {
  const ir::Region& region = op.regions[0];
  if (const ir::Op* only = only_op(op)) {
    const Type type = kernel_.type(region.arguments[0]);
    const OperandText operands[] = {{a[0], type}, {b[0], type}};
    lines.push_back(fmt::format("{} = {};", targets[0], expression_text(*only, type, operands)));
    return;
  }
  for (std::size_t k = 0; k < a.size(); ++k) {
    texts_[region.arguments[k].id] = a[k];
    texts_[region.arguments[a.size() + k].id] = b[k];
  }
  TextWriter outside = std::exchange(out_, TextWriter());
  out_.open("do");
  steps(steps_of(region));
  // All results are read before any sum changes.
  const std::vector<ir::Value>& results = region.ops.back()->operands;
  std::vector<std::string> names;
  for (const ir::Value value : results) {
    names.push_back(names_.make("", "combined"));
    out_.format("const {} {} = {};", type_text(kernel_.type(value)), names.back(), text(value));
  }
  for (std::size_t k = 0; k < names.size(); ++k) out_.format("{} = {};", targets[k], names[k]);
  out_.close(" while (false);");
  const std::string written = std::exchange(out_, std::move(outside)).take();
  for (std::size_t at = 0; at < written.size();) {
    const std::size_t end = written.find('\n', at);
    lines.push_back(written.substr(at, end - at));
    at = end + 1;
  }
}

void ProgramWriter::finish_reductions(Nest& nest, const std::vector<Reduction>& reductions) {
  for (const Reduction& reduction : reductions) {
    if (!reduction.is_inner || kernel_.type(reduction.op->result()).is_scalar()) continue;
    if (!reduction.seen.empty())
      nest.after[static_cast<std::size_t>(reduction.axis_loop)].push_back(
          finished_extreme(reduction));
    for (std::size_t k = 0; k < reduction.sums.size(); ++k) {
      const ir::Value result = reduction.op->results[k];
      const Type type = kernel_.type(result).element();
      nest.after[static_cast<std::size_t>(reduction.axis_loop)].push_back(
          fmt::format("{}[{}] = {};", array(result), reduced_place(nest, *reduction.op).text,
                      cast_text(reduction.wide.value_or(type), type, reduction.sums[k], "")));
    }
  }
}

// Behind the loops: scalar results are variables of the function, wide sums are rounded.
void ProgramWriter::publish(const Reduction& reduction) {
  const std::vector<ir::Value>& results = reduction.op->results;
  const Type& type = kernel_.type(results[0]);
  if (!reduction.seen.empty() && type.is_scalar()) out_.line(finished_extreme(reduction));
  if (!reduction.wide) {
    for (std::size_t k = 0; k < results.size(); ++k)
      if (kernel_.type(results[k]).is_scalar()) texts_[results[k].id] = reduction.sums[k];
    return;
  }
  if (type.is_scalar())
    return define(results[0], cast_text(*reduction.wide, type, reduction.sums[0], ""));
  if (reduction.is_inner) return;
  const std::string wide = fmt::format("{}[i]", wide_arrays_.at(results[0].id));
  out_.line("#pragma omp simd");
  out_.format("for (i32 i = 0; i < {}; ++i) {}[i] = {};", type.numel(), array(results[0]),
              cast_text(*reduction.wide, type, wide, ""));
}

}  // namespace tilewright
