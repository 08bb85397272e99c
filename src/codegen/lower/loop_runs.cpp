// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_runs.cpp — loops that read a tile of indices, one per element, for an
// address.
//
// That costs a gather. Whether the tile is a run of consecutive numbers is tested once, where it is
// made, and the loop has a form for either case.
#include <algorithm>

#include "codegen/lower/loop_sweeps.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

// Behind the loop that made such a tile.
void LoopSweeps::check_runs(const Step& step) {
  for (const ir::Value value : step.kept) {
    const ir::Value result = schedule_.result_of(value);
    if (!facts_.may_be_run(result)) continue;
    const ir::Value row = array(value);
    state_.is_run[result.id] =
        named(call(LibraryKind::IsRun, {row, number(kernel_.type(value).numel())},
                   Type::scalar(DType::Bool)),
              names_.make(out_.name_of(row) + "_is_run"), *list_);
  }
}

// Element j of a run, where j is the innermost loop's own: the first one and j.
bool LoopElements::add_run(LoweredNest& nest, ir::Value value, const ElementIndex& index,
                           Address& address) {
  const auto found = state_.is_run.find(value.id);
  if (!nest.assumes_runs || nest.loops.empty() || found == state_.is_run.end() ||
      !schedule_.is_in_array(value, *nest.step))
    return false;
  const ir::Value own = nest.index.back();
  for (const PlacedValue& coordinate : index.at)
    if (!is_zero(coordinate.value) && coordinate.value != own) return false;
  const PlacedValue at = linear(kernel_.type(value), index);
  if (at.value != own) return false;
  nest.runs[out_.name_of(found->second)] = found->second;
  PlacedValue& first = nest.known[{value.id, "first"}];
  if (!first.value) {
    const ir::Value row = array(value);
    const std::string name = nest.names.make(out_.name_of(row) + "_first");
    names_.reserve(name);
    const ir::Value read = make(OpKind::Read, {row, number(0)}, type_of(row).element());
    first = {named(cast(read, DType::Int64), name, nest.lines[0]), 0};
  }
  address.terms.push_back({first.value});
  address.terms.push_back({own});
  address.depth = std::max(address.depth, at.depth);
  return true;
}

// The loop as it is where tiles of indices are runs, and as it is where they are not.
LoweredPart LoopNests::lower_either(LoweredNest& nest, const LoopRange& range,
                                    const std::function<void()>& body) {
  nest.assumes_runs = true;
  nest.runs.clear();
  LoweredPart run = lower_part(nest, range, body);
  nest.assumes_runs = false;
  if (nest.runs.empty()) return run;
  std::vector<ir::Value> tests;
  for (const auto& [name, test] : nest.runs) tests.push_back(test);
  LoweredPart part = lower_part(nest, range, body);
  part.are_runs = all(tests);
  run.once.clear();
  part.run.push_back(std::move(run));
  return part;
}

void LoopNests::put_either(LoweredNest& nest, const LoweredPart& part, const LoopMarks& marks,
                           Statements& list) {
  list.insert(list.end(), part.once.begin(), part.once.end());
  LoweredPart plain = part;
  plain.are_runs = {};
  plain.once.clear();
  choose(
      part.are_runs, list, [&](Statements& inside) { put_part(nest, part.run[0], marks, inside); },
      [&](Statements& inside) { put_part(nest, plain, marks, inside); });
}

}  // namespace tilewright
