// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_rows.h — loops along rows that are calls of the library, the row that is left
// to be written beside the next program, and rows of later programs that are prefetched.
#pragma once

#include <optional>
#include <vector>

#include "codegen/lower/loop_builder.h"

namespace tilewright {

class LoopRows : private LoopBuilder {
 public:
  using LoopBuilder::LoopBuilder;

  // ---- Calls
  void find_row_call(LoweredNest& nest, const std::vector<LoweredReduction>& reductions);
  void put_row_call(const LoweredNest& nest, const LoweredPart& part, Statements& list);
  void map_row(const LoweredPart& part, Statements& list);
  void defer_row(const LoweredPart& part, Statements& list);

  // ---- Rows of later programs
  void find_rows_ahead(LoweredNest& nest);
  void fetch_ahead(const LoweredNest& nest, const LoweredPart& part, const LoopRange& range,
                   Statements& list);

 private:
  ir::Op* row_call(LibraryKind function, std::vector<ir::Value> operands, const LoweredPart& part,
                   Statements& list);
  void put_meanwhile(const LoweredNest& nest, ir::Op& sum);
  bool is_made(ir::Value scalar) const;
  ir::Value in_order(const std::vector<Term>& terms);
  std::optional<std::vector<Term>> grown(const Growth& growth);
  std::vector<RowAhead> later_rows(const ir::Type& row);
  ir::Value row_ahead(const RowAhead& row, ir::Value index);

  bool has_fetched_ahead_ = false;
};

}  // namespace tilewright
