// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/addresses.cpp — the place in memory that an element of a pointer tile points to.
//
// An address is a pointer and a sum of terms. A term that is read from a tile of indices, one per
// element of the innermost loop, costs a gather; such tiles are often consecutive numbers (an index
// that may wrap, or was loaded). That is tested once, where the tile is made, and the loop has a
// form for either case.
#include <algorithm>

#include "codegen/cpu/program.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

// The place in the view's operand that an index of the view shows.
Index ProgramWriter::viewed_index(const ir::Op& view, const Index& index) const {
  const Type& type = kernel_.type(view.result());
  const Type& from = kernel_.type(view.operands[0]);
  if (view.kind == OpKind::Reshape) return reshaped(type, from, index);
  Index inner = index;
  if (view.kind == OpKind::Hint) return inner;
  if (!(from == type)) inner.linear.reset();
  for (int d = 0; d < from.rank; ++d)
    if (from.size(d) == 1) inner.at[static_cast<std::size_t>(d)] = {"0", 0};
  return inner;
}

// Element j of a run, where j is the innermost loop's own.
std::optional<Placed> ProgramWriter::run_term(Nest& nest, ir::Value value, const Index& index) {
  const auto found = runs_.find(value.id);
  if (!nest.assumes_runs || nest.loops.empty() || found == runs_.end() || found->second.empty() ||
      !schedule_.is_in_array(value, *nest.step))
    return std::nullopt;
  const std::string& loop = nest.loops.back().name;
  for (const Placed& coordinate : index.at)
    if (coordinate.text != "0" && coordinate.text != loop) return std::nullopt;
  const Placed at = linear(kernel_.type(value), index);
  if (at.text != loop) return std::nullopt;
  nest.runs.insert(found->second);
  Placed& first = nest.known[{value.id, "first"}];
  if (first.text.empty()) {
    first = {nest.names.make(array(value) + "_first"), 0};
    names_.reserve(first.text);
    nest.lines[0].push_back(fmt::format("const i64 {} = {}[0];", first.text, array(value)));
  }
  return Placed{fmt::format("{} + {}", first.text, loop), at.depth};
}

// Index arithmetic is taken not to overflow, so its terms may be added in 64 bits.
void ProgramWriter::add_terms(Nest& nest, ir::Value offset, const Index& index,
                              std::vector<Placed>& terms) {
  const Type& type = kernel_.type(offset);
  const ir::Op* op = kernel_.maker(offset);
  if (type.is_scalar()) {
    terms.push_back({atom(text(offset)), 0});
    return;
  }
  const bool is_open = op && is_index_type(type) && !schedule_.is_in_array(offset, *nest.step);
  if (is_open && op->kind == OpKind::Add) {
    for (const ir::Value operand : op->operands) add_terms(nest, operand, index, terms);
    return;
  }
  if (is_open && op->kind == OpKind::Splat) return add_terms(nest, op->operands[0], {}, terms);
  if (is_open && op->kind == OpKind::Cast && is_index_type(kernel_.type(op->operands[0])))
    return add_terms(nest, op->operands[0], index, terms);
  if (is_open && hands_elements_on(*op))
    return add_terms(nest, op->operands[0], viewed_index(*op, index), terms);
  if (const std::optional<Placed> run = run_term(nest, offset, index)) {
    terms.push_back(*run);
    return;
  }
  Placed term = element(nest, offset, index);
  if (term.text != "0") {
    if (type.dtype == DType::Int32) term.text = fmt::format("i64({})", term.text);
    terms.push_back({atom(term.text), term.depth});
  }
}

ProgramWriter::Address ProgramWriter::address(Nest& nest, ir::Value pointer, const Index& index) {
  const Type& type = kernel_.type(pointer);
  const ir::Op* op = kernel_.maker(pointer);
  const bool is_open = op && type.is_tile() && !schedule_.is_in_array(pointer, *nest.step);
  if (is_open && op->kind == OpKind::Affine) {
    std::vector<std::pair<ir::Value, Placed>> terms;
    for (std::size_t d = 0; d < index.at.size(); ++d)
      terms.emplace_back(op->operands[d + 1], index.at[d]);
    const Placed offset = sum_of(terms);
    Address out{text(op->operands[0]), {}, 0};
    if (offset.text != "0") out.terms.push_back(offset);
    return out;
  }
  if (is_open && op->kind == OpKind::Offset) {
    Address out = address(nest, op->operands[0], index);
    add_terms(nest, op->operands[1], index, out.terms);
    return out;
  }
  if (is_open && op->kind == OpKind::Splat) return {text(op->operands[0]), {}, 0};
  if (is_open && hands_elements_on(*op))
    return address(nest, op->operands[0], viewed_index(*op, index));
  // A scalar pointer that was not given a name of its own.
  if (op && op->kind == OpKind::Offset && type.is_scalar() && text(pointer).starts_with('('))
    return {text(op->operands[0]), {{text(op->operands[1]), 0}}, 0};
  const Placed at = element(nest, pointer, index);
  return {at.text, {}, at.depth};
}

// "x[i * 64 + j]"
Placed ProgramWriter::access(Nest& nest, ir::Value pointer, const Index& index) {
  const Address found = address(nest, pointer, index);
  Placed out{"", found.depth};
  for (const Placed& term : found.terms) {
    out.text += (out.text.empty() ? "" : " + ") + term.text;
    out.depth = std::max(out.depth, term.depth);
  }
  out.text = fmt::format("{}[{}]", atom(found.base), out.text.empty() ? "0" : out.text);
  return out;
}

// ---- Tiles of indices

// Behind the loop that made such a tile.
void ProgramWriter::check_runs(const Step& step) {
  for (const ir::Value value : step.kept) {
    const ir::Value result = schedule_.result_of(value);
    if (!may_be_runs_.contains(result.id)) continue;
    const std::string& name = runs_[result.id] = names_.make(array(value) + "_is_run");
    out_.format("const bool {} = tw::is_run({}, {});", name, array(value),
                kernel_.type(value).numel());
  }
}

}  // namespace tilewright
