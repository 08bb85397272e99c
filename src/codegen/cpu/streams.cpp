// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/streams.cpp — stores of large results, which go around the caches
// (device_lib/cpu/stream.h): the loop writes a short part, or, when the results of a launch are
// small, the same loop writes memory itself.
#include <algorithm>

#include "codegen/cpu/program.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Shorter rows have too few whole lines.
constexpr std::int64_t shortest_row_bytes = 256;

}  // namespace

// Arguments that the kernel only writes, and that it writes through no other pointer.
void ProgramWriter::find_streams() {
  const auto is_used_otherwise = [&](const ir::Value argument) {
    bool is_used = false;
    ir::walk(kernel_.body, [&](const ir::Op& op) {
      is_used |= ir::is_access(kernel_, op) &&
                 order_of_memory_.may_overlap(op.operands[0], argument) &&
                 (op.facts().has(ir::Reads) || argument_of(op) != argument);
    });
    return is_used;
  };
  ir::walk(kernel_.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::Store || !kernel_.type(op.operands[0]).is_tile()) return;
    const ir::Value argument = argument_of(op);
    if (argument && !is_used_otherwise(argument)) streamed_arguments_.insert(argument.id);
  });
}

bool ProgramWriter::is_streamed(const Nest& nest, const ir::Op& store) const {
  if (store.kind != OpKind::Store || nest.loops.empty() || nest.own.linear || !is_simd(*nest.step))
    return false;
  const ir::Op* pointer = kernel_.maker(store.operands[0]);
  if (!pointer || pointer->kind != OpKind::Affine || constant(pointer->operands.back()) != 1)
    return false;
  const Type& type = kernel_.type(store.operands[1]);
  const Loop& row = nest.loops.back();
  return !type.is_bool() && !type.is_pointer &&
         row.size * static_cast<std::int64_t>(type.element_bytes()) >= shortest_row_bytes &&
         row.last == type.rank && streamed_arguments_.contains(argument_of(store).id) &&
         is_vector_access(nest, store);
}

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
