// SPDX-License-Identifier: Apache-2.0
// passes/laid/dot_plan.h — how a matrix product is made: by which instruction, and who holds what.
#pragma once

#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "layout/mma.h"
#include "tilewright/target.h"

namespace tilewright {

struct DotPlan {
  ProductSizes sizes;
  bool uses_mma = false;         // else plain multiplications and additions
  bool is_asynchronous = false;  // by warpgroups, where operands lie as they want
  WarpSplit warps;
  std::string_view instruction;  // the device library's function
  DType left = DType::Float16;   // what operands are converted to first
  DType right = DType::Float16;
  DType sum = DType::Float32;  // what is added up; the result may be a smaller type
  MmaShape shape;
  ProductLayouts layouts;  // of plain multiplications only that of the result
};

struct DotOptions {
  Target target;
  int log_warps = 2;
  bool keeps_rows_whole = false;  // a row of the result stays in one warp
  bool has_warpgroups = false;    // some product of the kernel is asynchronous: others share its layout
};

DotPlan plan_dot(const ir::Kernel& kernel, const ir::Op& dot, const DotOptions& options);
// As assign_layouts wrote it into the op's `unit` and `warps`: without these, plain multiplications.
DotPlan dot_plan_of(const ir::Kernel& kernel, const ir::Op& dot);

bool has_asynchronous_dots(const ir::Kernel& kernel);
// Whether some product's operand is made from the result of another.
bool has_chained_dots(const ir::Kernel& kernel);

// By value: whether it is stored to memory and nothing else, and made element by element from a
// product, whose threads hold too few neighbours of small elements to store them well.
std::vector<bool> stored_products(const ir::Kernel& kernel);

}  // namespace tilewright
