// SPDX-License-Identifier: Apache-2.0
// codegen/lower/row_facts.h — what is known of loops along rows on the CPU before any of it is
// written: which are calls of the library, which row is left to be written beside the next program,
// and which rows of the next program are asked for meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/lower/nest_facts.h"

namespace tilewright {

// A sum of a loop, or its largest and the like.
struct ReductionShape {
  const ir::Op* op = nullptr;
  const ir::Op* only = nullptr;  // that combines two values; null: its region does
  int axis_loop = -1;            // along which it runs; -1: one element is the result
  bool is_inner = false;         // that is the innermost loop: the sum lives in a variable
  bool has_identity = false;
  std::string clause = {};            // of the loop's pragma; empty: none
  std::optional<ir::Type> wide = {};  // of the sum, where that is not the result's type
};

// The last loop of a program that is left to be run while the next one computes
// (device_lib/cpu/late.h).
struct DeferredLoop {
  const Step* step = nullptr;       // that loop; null: there is none
  const Step* meanwhile = nullptr;  // the loop of the next program that it runs beside
  std::set<std::uint32_t> reads;    // tiles that it reads from arrays
  std::set<std::uint32_t> arrays;   // those arrays, by the value that owns each: there are two
};

// What a value grows by from one program to the next along x: a sum of such (of none: 1), times a
// factor that may be none.
struct Growth {
  std::vector<Growth> terms = {};
  ir::Value factor = {};
  bool stays = false;  // it does not grow
};

class RowFacts : public NestFacts {
 public:
  RowFacts(const ir::Kernel& kernel, const Sweeps& schedule);

  std::vector<ReductionShape> reductions_of(const Step& step, const NestShape& nest) const;
  void widen_sum(const NestShape& nest, ReductionShape& reduction) const;

  // Of a loop whose only reduction is given; null: there are more, or none.
  bool is_plain_sum(const NestShape& nest, const ReductionShape* reduction) const;
  bool is_kept_sum(const NestShape& nest, const ReductionShape* reduction) const;
  bool is_plain_largest(const NestShape& nest, const ReductionShape* reduction) const;
  bool is_long_sum(const NestShape& nest, const ReductionShape& reduction) const;

  const DeferredLoop& deferred() const { return deferred_; }
  bool is_read_behind_mask(const NestShape& nest) const;

  bool may_read_ahead(const NestShape& nest) const;
  std::vector<const ir::Op*> rows_to_read(const ir::Type& row) const;
  std::optional<Growth> growth_of(ir::Value value) const;
  const ir::Op* large_result(const ir::Type& row) const;
  int block_beside_rows(const NestShape& nest, const ir::Op& result) const;

 private:
  void find_deferred();
  std::optional<Growth> growth_of(ir::Value value, int& budget) const;
  bool is_light(const NestShape& nest, ir::Value value, std::set<std::uint32_t>& seen) const;
  bool only_reads(const Step& step) const;
  bool reads_array(const Step& step, ir::Value value, ir::Value array,
                   std::set<std::uint32_t>& seen) const;
  bool can_be_deferred(const Step& step);
  bool is_beside(const Step& step, const ir::Type& row);
  void find_deferred_arrays(ir::Value value, std::set<std::uint32_t>& seen);

  DeferredLoop deferred_;
};

// A function or a division of floats.
bool is_costly(const ir::Op& op);

// The only element, or null.
template <class Reduction>
const ReductionShape* alone(const std::vector<Reduction>& reductions) {
  return reductions.size() == 1 ? &reductions[0] : nullptr;
}

// Elements of a block: of a long sum of floats, or of a large result (tw::part_size).
constexpr int elements_of_block = 1024;
// Rows of at most so many bytes are asked for two programs ahead: the end of the next one would
// not be there yet when its first loop comes to it. Longer ones would not stay in the caches.
constexpr std::int64_t longest_row_two_ahead = 32 << 10;

}  // namespace tilewright
