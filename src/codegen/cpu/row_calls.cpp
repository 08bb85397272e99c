// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/row_calls.cpp — loops along a row that are calls of the library
// (device_lib/cpu/rows.h). Those that only add floats (a mean, a variance) are tw::sum, which adds
// to several sums by turns: one alone waits for each addition. Those that only write a long
// function of f32 (a GELU) are tw::map, which computes many elements side by side. Programs that
// leave their row to the next one (late.cpp) have more of them.
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

// A function or a division of floats.
bool is_costly(const ir::Op& op) { return op.facts().flops > 0 && op.facts().cost >= 4; }

}  // namespace

std::vector<std::string> with_long_position(const std::vector<std::string>& lines,
                                            std::string_view name) {
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    const std::vector<CppToken> tokens = tokenize_cpp(line, "a term");
    std::string written;
    std::size_t at = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool is_subscript = i > 0 && tokens[i - 1].is_one_of({"[", "+"}) &&
                                i + 1 < tokens.size() && tokens[i + 1].is("]");
      if (!tokens[i].is(name) || is_subscript) continue;
      written += line.substr(at, tokens[i].offset - at) + fmt::format("i32({})", name);
      at = tokens[i].end();
    }
    out.push_back(written + line.substr(at));
  }
  return out;
}

bool ProgramWriter::is_light(const Nest& nest, ir::Value value,
                             std::set<std::uint32_t>& seen) const {
  const ir::Op* op = met_first(nest, value, seen);
  if (!op) return true;
  const bool is_long = is_costly(*op) || seen.size() > most_ops;
  return !is_long && std::all_of(op->operands.begin(), op->operands.end(),
                                 [&](ir::Value operand) { return is_light(nest, operand, seen); });
}

bool ProgramWriter::only_reads(const Step& step) const {
  return std::none_of(step.ops.begin(), step.ops.end(),
                      [](const ir::Op* op) { return op->facts().has(ir::Writes); });
}

bool ProgramWriter::is_plain_sum(const Nest& nest, const std::vector<Reduction>& reductions) const {
  const Step& step = *nest.step;
  if (reductions.size() != 1 || !step.kept.empty() || nest.loops.empty()) return false;
  const Reduction& reduction = reductions[0];
  const Type own = kernel_.type(reduction.op->operands[0]).element();
  const Type type = reduction.wide.value_or(own);
  const bool is_exact = reduction.wide && type.dtype == DType::Float64;
  std::set<std::uint32_t> seen;
  const ir::Op* only = only_op(*reduction.op);
  return reduction.is_inner && only && only->kind == OpKind::Add && type.is_float() && !is_exact &&
         size_of(type.dtype) >= 4 && nest.loops.back().size >= shortest_row &&
         surely_vectorises(nest) && only_reads(step) &&
         is_light(nest, reduction.op->operands[0], seen);
}

void ProgramWriter::print_map(const Nest& nest, const Part& part) {
  uses_rows_ = uses_maps_ = true;
  fetch_ahead(nest, part, part.range.begin, part.range.end);
  const std::string& name = nest.loops.back().name;
  out_.open(fmt::format("tw::map({}, {}, &{}, streams, [&](i64 {}) TW_ALWAYS", part.range.begin,
                        part.range.end, part.streamed[0].place, name));
  for (const std::string& line : with_long_position(part.lines, name)) out_.line(line);
  out_.outdent();
  out_.line("});");
}

void ProgramWriter::print_sum(Nest& nest, const Part& part) {
  uses_rows_ = true;
  const std::string& name = nest.loops.back().name;
  const std::string range = fmt::format("{}, {}", part.range.begin, part.range.end);
  const bool has_more = nest.step == late_.meanwhile;
  if (nest.is_largest)
    out_.open(fmt::format("{0} = tw::max_number({0}, tw::largest({1}, [&](i64 {2}) TW_ALWAYS",
                          nest.sum, range, name));
  else if (!nest.keeps.empty())
    out_.open(fmt::format("{} += tw::sum_kept({}, {}, [&](i64 {}) TW_ALWAYS", nest.sum, range,
                          nest.keeps, name));
  else
    out_.open(fmt::format("{} += tw::sum{}({}, [&](i64 {}) TW_ALWAYS", nest.sum,
                          nest.sum_type == "f32" ? "" : "_" + nest.sum_type, range, name));
  for (const std::string& line : with_long_position(part.lines, name)) out_.line(line);
  if (has_more) print_meanwhile(nest);
  out_.outdent();
  out_.line(nest.is_largest ? "}));" : "});");
}

}  // namespace tilewright
