// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/streams.cpp — stores of large results, which go around the caches
// (device_lib/cpu/stream.h): the loop writes a short part, or, when the results of a launch are
// small, the same loop writes memory itself.
#include <algorithm>

#include "codegen/cpu/program.h"
#include "codegen/schedule/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

void ProgramWriter::count_streamed(const ir::Op& store) {
  if (!streamed_stores_.insert(&store).second) return;
  const Type& type = kernel_.type(store.operands[1]);
  streamed_bytes_ += type.numel() * static_cast<std::int64_t>(type.element_bytes());
}

// The element of the row that a streamed store writes; the row is that of the block being written.
std::string ProgramWriter::streamed_element(Nest& nest, const ir::Op& store) {
  const Loop& row = nest.loops.back();
  const std::string& first = nest.block_first;
  auto found = std::find_if(nest.streamed.begin(), nest.streamed.end(),
                            [&](const Streamed& streamed) { return streamed.store == &store; });
  if (found == nest.streamed.end()) {
    Index start = nest.own;
    start.at.back() = {first, nest.depth() - 1};
    const Type type = kernel_.type(store.operands[1]);
    const std::string name = kernel_.name_of(argument_of(store));
    nest.streamed.push_back({&store, type_text(type.element()), nest.names.make(name + "_row"),
                             nest.names.make(name + "_part"),
                             access(nest, store.operands[0], start).text});
    found = nest.streamed.end() - 1;
    // A single loop has them in the function's own scope.
    names_.reserve(found->row);
    names_.reserve(found->part);
    count_streamed(store);
  }
  // In 64 bits: a difference that may wrap is no row to g++ 13.
  if (first == "0") return fmt::format("{}[{}]", found->row, row.name);
  return fmt::format("{}[i64({}) - {}]", found->row, row.name, first);
}

void ProgramWriter::begin_streams(const std::vector<Streamed>& streamed) {
  for (const Streamed& one : streamed) {
    out_.format("alignas(64) {} {}[tw::part_size];", one.type, one.part);
    out_.format("{}* const {} = streams ? {} : &{};", one.type, one.row, one.part, one.place);
  }
}

void ProgramWriter::finish_streams(const std::vector<Streamed>& streamed, const std::string& first,
                                   const std::string& last) {
  const std::string count = first == "0" ? last : last + " - " + first;
  for (const Streamed& one : streamed)
    out_.format("if (streams) tw::stream(launch, &{}, {}, {});", one.place, one.part, count);
}

}  // namespace tilewright
