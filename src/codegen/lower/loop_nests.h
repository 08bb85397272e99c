// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_nests.h — loop nests over the elements of a shape: the nest, whose innermost
// loop a mask splits into ranges (loop_nests.cpp), and what each range is (loop_parts.cpp).
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/lower/loop_elements.h"

namespace tilewright {

class LoopNests : protected LoopElements {
 protected:
  using LoopElements::LoopElements;

  LoweredNest make_nest(const Step& step, const ir::Type& shape, const std::vector<int>& axes = {});
  // `body` fills the nest's lines for one range of the innermost loop.
  void lower_nest(LoweredNest& nest, const LoopMarks& marks, const std::function<void()>& body);
  // Copies of whole tiles: `first` gets the elements of `second`, all of one shape at once.
  void copy(const Step& step, const std::vector<std::pair<ir::Value, ir::Value>>& copies);

 private:
  void set_own(LoweredNest& nest);
  ir::Value bounds_without_loop(const LoweredNest& nest, const ir::Op& bounds);
  std::vector<LoopRange> ranges(LoweredNest& nest, bool rest);

  // ---- Ranges of the innermost loop (loop_parts.cpp)
  bool will_map(const LoweredNest& nest, const LoopRange& range) const;
  LoweredPart lower_part(LoweredNest& nest, const LoopRange& range,
                         const std::function<void()>& body);
  LoweredPart lower_range(LoweredNest& nest, const LoopRange& range, bool has_long_index,
                          const std::function<void()>& body);
  void put_off(LoweredNest& nest, LoweredPart& part, std::size_t before);
  void reserve_outer_names(LoweredNest& nest) const;
  void put_loop(const LoweredPart& part, const LoopRange& range, const LoopMarks& marks,
                Statements& list);
  std::vector<ir::Value> begin_long_sums(LoweredNest& nest, const LoweredPart& part,
                                         Statements& list);
  void put_blocks(LoweredNest& nest, const LoweredPart& part, const LoopMarks& marks,
                  Statements& list);
  void put_part(LoweredNest& nest, const LoweredPart& part, const LoopMarks& marks,
                Statements& list);
  bool has_whole_rows(const LoweredNest& nest, const std::vector<LoweredPart>& parts) const;
  void put_parts(LoweredNest& nest, const std::vector<LoweredPart>& parts,
                 const std::optional<LoweredPart>& whole, const LoopMarks& marks);

  // ---- Tiles of indices (loop_runs.cpp)
  LoweredPart lower_either(LoweredNest& nest, const LoopRange& range,
                           const std::function<void()>& body);
  void put_either(LoweredNest& nest, const LoweredPart& part, const LoopMarks& marks,
                  Statements& list);
};

}  // namespace tilewright
