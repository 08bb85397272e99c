// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_builder.cpp — loops, lines of the source and variables of a range of programs.
#include "codegen/lower/loop_builder.h"

#include <algorithm>

#include "codegen/lower/loop_lowering.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

LoopBuilder::LoopBuilder(LoopState& state)
    : FinalBuilder(state),
      state_(state),
      kernel_(state.laid),
      schedule_(state.sweeps),
      facts_(state.facts),
      written_(state.written),
      arrays_(state.arrays) {}

ir::Value LoopBuilder::scalar(ir::Value value) { return families().program.scalar(value); }

void LoopBuilder::define(ir::Value value, ir::Value made) {
  families().program.define(value, made);
}

// A short value without a name is written where it is used.
bool LoopBuilder::is_inlined(const ir::Op& op, ir::Value made) const {
  constexpr std::size_t longest = 48;
  return op.facts().has(ir::Elementwise) && kernel_.name_of(op.result()).empty() &&
         written_.length(*out_.maker(made)) <= longest;
}

// The lines of the user's source that a nest does, in their order.
void LoopBuilder::note_lines(const std::vector<const ir::Op*>& ops) {
  std::vector<std::pair<std::int64_t, std::int64_t>> lines;
  for (const ir::Op* op : ops)
    if (op->location.line > 0) lines.emplace_back(op->location.file, op->location.line);
  std::stable_sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  if (lines.empty()) return;
  std::vector<std::int64_t> files, numbers;
  for (const auto& [file, line] : lines) {
    files.push_back(file);
    numbers.push_back(line);
  }
  statement(OpKind::Lines, {}, *list_, {{"files", files}, {"numbers", numbers}});
}

ir::Value LoopBuilder::current(ir::Value variable) {
  return make(OpKind::Read, {variable, number(0)}, type_of(variable).element());
}

ir::Op* LoopBuilder::loop_over(ir::Value index, const LoopRange& range, std::int64_t by,
                               const char* over, Statements& list) {
  ir::Op* loop = out_.make_op(OpKind::For, {range.begin, range.end, number(by)}, {}, {});
  loop->set("over", std::string(over));
  loop->regions.resize(1);
  loop->regions[0].arguments = {index};
  insert(loop, list);
  return loop;
}

ir::Op* LoopBuilder::count_to(std::int64_t end, ir::Value index, Statements& list,
                              const std::function<void(Statements&)>& body) {
  ir::Op* loop = loop_over(index, {number(0), number(end), {}}, 1, "elements", list);
  Statements& inside = loop->regions[0].ops;
  body(inside);
  statement(OpKind::Yield, {}, inside);
  return loop;
}

}  // namespace tilewright
