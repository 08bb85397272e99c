// SPDX-License-Identifier: Apache-2.0
// passes/axis_info.h — what is known of integers and pointers along each dimension: how they grow
// and what divides them. An analysis; it changes nothing, and works at every stage.
//
// It starts from what arguments, constants, ranges and hints promise, follows arithmetic, and takes
// loops to a fixed point. Index arithmetic is taken not to overflow. Everything is a
// power of two.
//
//   %o = pid * 1024 + arange(1024)   contiguous 1024, divisible 1024: groups of 1024 elements that
//                                    grow by 1, each starting at a multiple of 1024
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/small_vector.h"
#include "ir/kernel.h"

namespace tilewright {

struct AxisFacts {
  // Elements of each aligned group of this many grow by 1 (pointers: by one element).
  std::int64_t contiguous = 1;
  // The first element of each such group is a multiple of this (pointers: bytes).
  std::int64_t divisible = 1;
  // Elements of each aligned group of this many are equal.
  std::int64_t constant = 1;
  friend bool operator==(const AxisFacts&, const AxisFacts&) = default;
};

struct AxisInfo {
  static constexpr std::int64_t most = std::int64_t{1} << 40;  // what divides 0

  SmallVector<AxisFacts, 2> dimensions;  // a scalar has one, of size 1
  std::optional<std::int64_t> value;  // of every element
  bool is_not_negative = false;

  // What divides every element whose index along `dimension` is a multiple of `step`.
  std::int64_t divisor_at(std::size_t dimension, std::int64_t step) const;
  // What divides every element.
  std::int64_t divisor() const;
  friend bool operator==(const AxisInfo&, const AxisInfo&) = default;
};

class AxisAnalysis {
 public:
  explicit AxisAnalysis(const ir::Kernel& kernel);

  // Values made after the analysis are not known to it.
  const AxisInfo& of(ir::Value value) const;
  // A scalar, or every element of a tile, is a multiple of `number` (a pointer: of as many bytes).
  // False for what the analysis does not know.
  bool is_multiple(ir::Value value, std::int64_t number) const;

  // False for what the analysis does not know.
  bool is_not_negative(ir::Value value) const;

  // How many neighbours along `dimension` a load, store or atomic may touch at once: contiguous,
  // aligned to their size together, within 16 bytes, and all masked alike.
  std::int64_t vector_width(const ir::Op& access, int dimension) const;
  // The same without the mask, for code that checks it per vector.
  std::int64_t pointer_width(const ir::Op& access, int dimension) const;

 private:
  friend class AxisVisitor;
  const ir::Kernel& kernel_;
  std::vector<AxisInfo> infos_;
};

// The largest power of two that divides a number; AxisInfo::most for 0.
std::int64_t power_of_two_in(std::int64_t number);

}  // namespace tilewright
