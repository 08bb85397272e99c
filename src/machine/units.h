// SPDX-License-Identifier: Apache-2.0
// machine/units.h — instructions that multiply small matrices, as rows of a table.
#pragma once

#include <span>
#include <string_view>

#include "layout/mma.h"
#include "tilewright/dtype.h"
#include "tilewright/target.h"

namespace tilewright {

struct ProductUnit {
  std::string_view name;  // the device library's function
  DType left;
  DType right;
  std::string_view precision;  // of f32 operands
  Feature feature;             // what a machine that has it says
  MmaShape shape;
  int lanes = 32;  // of the warp that calls it together, as layout/mma.h deals matrices out
};

std::span<const ProductUnit> product_units();
// The first of that name, or null: those of one name differ in what they are asked for alone.
const ProductUnit* unit_named(std::string_view name);

// The name of the units of warpgroups (Feature::Wgmma), whose products go on beside the threads that start them.
inline constexpr std::string_view group_unit = "wgmma";

// One of them, by the types of the operands.
struct GroupUnit {
  std::string_view name;
  DType left;
  DType right;
};
const GroupUnit* group_unit_named(std::string_view name);  // null when there is none
const GroupUnit* find_group_unit(DType left, DType right);

// The target's unit for operands of these types, or null: then products are made by plain
// multiplications. f32 as "ieee" is one of those.
const ProductUnit* find_unit(const Target& target, DType left, DType right,
                             std::string_view precision);

// Whether warpgroups multiply operands of these types into such sums; 16-bit results are sums of f32.
bool has_group_unit(DType left, DType right, DType sum, std::string_view precision);

}  // namespace tilewright
