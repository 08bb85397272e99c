// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/row_calls.cpp — loops along a row that are calls of the library
// (device_lib/cpu/rows.h). Those that only add floats (a mean, a variance) are tw::sum, which adds
// to several sums by turns: one alone waits for each addition. Those that only write a long
// function of f32 (a GELU) are tw::map, which computes many elements side by side.
#include <algorithm>

#include "codegen/cpu/program.h"
#include "codegen/text/cpp_tokens.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Shorter rows are not worth it.
constexpr std::int64_t shortest_row = 256;
// Longer terms keep the processor busy as they are, and take the compiler four times as long.
constexpr std::size_t most_ops = 16;

// Whether the loop's variable is nothing but the last term of subscripts: x[i], x[8 * k + i].
bool is_only_position(const std::vector<std::string>& lines, std::string_view name) {
  for (const std::string& line : lines) {
    const std::vector<CppToken> tokens = tokenize_cpp(line, "a term");
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i].is(name) && (i == 0 || !tokens[i - 1].is_one_of({"[", "+"}) ||
                                 i + 1 == tokens.size() || !tokens[i + 1].is("]")))
        return false;
  }
  return true;
}

}  // namespace

// The op that computes the value in this loop, if it is met for the first time.
const ir::Op* ProgramWriter::met_first(const Nest& nest, ir::Value value,
                                       std::set<std::uint32_t>& seen) const {
  const bool is_here = kernel_.type(value).is_tile() && !schedule_.is_in_array(value, *nest.step);
  return is_here && seen.insert(value.id).second ? kernel_.maker(value) : nullptr;
}

bool ProgramWriter::is_light(const Nest& nest, ir::Value value,
                             std::set<std::uint32_t>& seen) const {
  const ir::Op* op = met_first(nest, value, seen);
  if (!op) return true;
  const bool is_long = op->kind == OpKind::Math || op->kind == OpKind::Divide ||
                       op->kind == OpKind::Remainder || seen.size() > most_ops;
  return !is_long && std::all_of(op->operands.begin(), op->operands.end(),
                                 [&](ir::Value operand) { return is_light(nest, operand, seen); });
}

bool ProgramWriter::is_plain_sum(const Nest& nest, const std::vector<Reduction>& reductions) const {
  const Step& step = *nest.step;
  if (reductions.size() != 1 || !step.kept.empty() || nest.loops.empty()) return false;
  const Reduction& reduction = reductions[0];
  const Type own = kernel_.type(reduction.op->operands[0]).element();
  const Type type = reduction.wide.value_or(own);
  const bool is_exact = reduction.wide && type.dtype == DType::Float64;
  std::set<std::uint32_t> seen;
  return reduction.is_inner && reduction.clause.starts_with("reduction(+ ") && type.is_float() &&
         !is_exact && nest.loops.back().size >= shortest_row && surely_vectorises(nest) &&
         std::all_of(step.ops.begin(), step.ops.end(),
                     [](const ir::Op* op) { return !op->facts().has(ir::Writes); }) &&
         is_light(nest, reduction.op->operands[0], seen);
}

// Whether a value that the loop computes takes an exponential or the like.
bool ProgramWriter::has_math(const Nest& nest, ir::Value value,
                             std::set<std::uint32_t>& seen) const {
  const ir::Op* op = met_first(nest, value, seen);
  return op && (op->kind == OpKind::Math ||
                std::any_of(op->operands.begin(), op->operands.end(),
                            [&](ir::Value operand) { return has_math(nest, operand, seen); }));
}

// The f32 that a loop of one store computes for each element; none when there is more to do, or
// little. Smaller floats are rounded when the row is written.
ir::Value ProgramWriter::mapped_value(const Nest& nest) const {
  const Step& step = *nest.step;
  if (!step.kept.empty() || !step.reductions.empty() || !surely_vectorises(nest)) return {};
  const ir::Op* store = nullptr;
  for (const ir::Op* op : step.ops) {
    if (!op->facts().has(ir::Writes)) continue;
    if (store || !is_streamed(nest, *op)) return {};
    store = op;
  }
  if (!store) return {};
  ir::Value value = store->operands[1];
  const DType dtype = kernel_.type(value).dtype;
  const ir::Op* cast = kernel_.maker(value);
  const bool is_rounded = (dtype == DType::Float16 || dtype == DType::BFloat16) && cast &&
                          cast->kind == OpKind::Cast && cast->text("rounding").empty() &&
                          !schedule_.is_in_array(value, *nest.step);
  if (is_rounded) value = cast->operands[0];
  std::set<std::uint32_t> seen;
  const bool is_long = kernel_.type(value).dtype == DType::Float32 && has_math(nest, value, seen);
  return is_long ? value : ir::Value{};
}

void ProgramWriter::print_map(const Nest& nest, const Range& range, const Part& part) {
  uses_maps_ = true;
  const Streamed& streamed = part.streamed[0];
  out_.open(fmt::format("tw::map({}, {}, {}, [&](i32 {})", range.begin, range.end, streamed.row,
                        nest.loops.back().name));
  for (const std::string& line : part.lines) out_.line(line);
  out_.outdent();
  const Type type = kernel_.type(streamed.store->operands[1]).element();
  const Type wide{.dtype = DType::Float32};
  if (type == wide) out_.line("});");
  else out_.format("}}, [](f32 y) {{ return {}; }});", cast_text(wide, type, "y", ""));
}

void ProgramWriter::print_sum(const Nest& nest, const Part& part) {
  uses_sums_ = true;
  const std::string& name = nest.loops.back().name;
  out_.open(fmt::format("{} += tw::sum<{}>({}, {}, [&]({} {})", nest.sum, nest.sum_type,
                        part.range.begin, part.range.end,
                        is_only_position(part.lines, name) ? "i64" : "i32", name));
  for (const std::string& line : part.lines) out_.line(line);
  out_.outdent();
  out_.line("});");
}

}  // namespace tilewright
