// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_streams.cpp — stores of large results, which go around the caches
// (device_lib/cpu/stream.h): the loop writes a staging array, or, when the results of a launch are
// small, the same loop writes memory itself.
#include "codegen/lower/loop_streams.h"

#include <algorithm>

#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

// A streamed store of the range that is lowered; its row is that of the block being written.
StreamedStore& LoopStreams::streamed_store(LoweredNest& nest, const ir::Op& store) {
  const auto found =
      std::find_if(nest.streamed.begin(), nest.streamed.end(),
                   [&](const StreamedStore& streamed) { return streamed.store == &store; });
  if (found != nest.streamed.end()) return *found;
  ElementIndex start = nest.own;
  start.at.back() = {nest.block_first, nest.depth() - 1};
  const Type type = Type::array(kernel_.type(store.operands[1]).element(), ir::Space::Staging);
  const std::string base = kernel_.name_of(facts_.argument_of(store));
  const std::string row = nest.names.make(base + "_row"), staging = nest.names.make(base + "_part");
  // A single loop has them in the function's own scope.
  names_.reserve(row);
  names_.reserve(staging);
  StreamedStore streamed{&store, {}, {}, access(nest, store.operands[0], start).value};
  streamed.staging = make(OpKind::Array, {}, type, {{"count", std::int64_t{1024}}});
  out_.set_name(streamed.staging, staging);
  streamed.row = call(LibraryKind::RowOf, {state_.streams, streamed.staging, streamed.place}, type);
  out_.set_name(streamed.row, row);
  nest.streamed.push_back(streamed);
  count_streamed(store);
  return nest.streamed.back();
}

void LoopStreams::count_streamed(const ir::Op& store) {
  if (!counted_.insert(&store).second) return;
  const Type& type = kernel_.type(store.operands[1]);
  bytes_ += type.numel() * static_cast<std::int64_t>(type.element_bytes());
}

void LoopStreams::write_streamed(LoweredNest& nest, const ir::Op& store, ir::Value value) {
  const ir::Value row = streamed_store(nest, store).row, index = nest.index.back();
  // In 64 bits: a difference that may wrap is no row to g++ 13.
  const ir::Value at = is_zero(nest.block_first)
                           ? index
                           : sum({{cast(index, DType::Int64)}, {nest.block_first, -1}});
  statement(OpKind::Write, {row, at, value}, nest.lines.back(), {}, store.location);
}

void LoopStreams::begin_streams(const std::vector<StreamedStore>& streamed, Statements& list) {
  for (const StreamedStore& one : streamed) {
    insert(out_.maker(one.staging), list);
    insert(out_.maker(one.row), list);
  }
}

void LoopStreams::finish_streams(const std::vector<StreamedStore>& streamed, const LoopRange& range,
                                 Statements& list) {
  for (const StreamedStore& one : streamed)
    call(LibraryKind::Stream,
         {state_.streams, one.place, one.staging,
          is_zero(range.begin) ? range.end : sum({{range.end}, {range.begin, -1}})},
         list);
}

}  // namespace tilewright
