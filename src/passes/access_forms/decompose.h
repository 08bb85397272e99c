// SPDX-License-Identifier: Apache-2.0
// passes/access_forms/decompose.h — tiles of integers, pointers and bools as functions of the
// element's index.
//
// An integer tile is base + sum(stride_d * i_d), a pointer tile a scalar pointer moved by such a
// sum, a mask the conjunction of bounds per dimension, conditions on the whole tile, and a residue
// that has no such form. Signed arithmetic of 32 and 64 bits on index tiles is taken not to
// overflow, as an index that wraps is no index (a mask of what may wrap has no form: masks.cpp);
// narrower and unsigned tiles have a form only where their range is known from constants.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/access_forms/sum.h"

namespace tilewright {

struct Linear {
  Sum base;
  std::vector<Sum> strides;  // 0 for dimensions of size 1
};

struct PointerForm {
  ir::Value pointer;  // a scalar
  Linear elements;
};

struct MaskForm {
  std::vector<std::vector<Sum>> lows, highs;  // per dimension: low <= i, i < high, all of them
  std::vector<ir::Value> conditions;          // scalar bools
  std::vector<ir::Value> residues;            // tiles of the mask's shape

  bool has_form() const;
};

// Decomposes values that are visible where `sums` builds; scalars that it needs are built there,
// also when it finds no form at last.
class Decomposer {
 public:
  explicit Decomposer(SumBuilder& sums) : sums_(sums), kernel_(sums.build().kernel()) {}

  std::optional<Linear> integers(ir::Value tile);
  std::optional<PointerForm> pointers(ir::Value tile);
  MaskForm mask(ir::Value tile);

 private:
  const ir::Type& type(ir::Value value) const { return kernel_.type(value); }

  std::optional<Linear> find_integers(ir::Value tile);
  std::optional<Linear> computed(const ir::Op& op);
  std::optional<Linear> arithmetic(const ir::Op& op);
  std::optional<Linear> scaled(const ir::Op& op);
  std::optional<Linear> cast(const ir::Op& op);
  std::optional<Linear> remainder(const ir::Op& op);
  std::optional<Linear> reshaped(const Linear& from, const ir::Op& op) const;

  MaskForm compare(const ir::Op& op, std::string_view is);
  bool compare_with_zero(MaskForm& form, const Linear& left, const Linear& right,
                         std::string_view is);
  void bound(MaskForm& form, std::size_t dimension, std::int64_t stride, const Sum& limit);
  Sum quotient(const Sum& sum, std::int64_t divisor);
  MaskForm mask_of_shape_op(const ir::Op& op);
  MaskForm mask_of_bounds(const ir::Op& op);
  MaskForm mask_of_negation(const ir::Op& op);
  MaskForm residue(ir::Value tile) const;
  MaskForm empty_mask(const ir::Type& shape) const;

  SumBuilder& sums_;
  const ir::Kernel& kernel_;
  std::unordered_map<std::uint32_t, std::optional<Linear>> known_;
  int conjunctions_left_ = 256;  // more are not taken apart
};

}  // namespace tilewright
