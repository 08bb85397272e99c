// SPDX-License-Identifier: Apache-2.0
// ir/product.h — a dot of a Laid kernel, as its types and attributes say it: sizes, unit, parts of warps.
#pragma once

#include <optional>

#include "ir/kernel.h"
#include "layout/mma.h"
#include "machine/units.h"

namespace tilewright::ir {

ProductSizes product_sizes(const Kernel& kernel, const Op& dot);

// The row that `unit` names; of group_unit the one for the types of the operands. Null: there is none.
const ProductUnit* unit_of(const Kernel& kernel, const Op& dot);

// `warps`, which only products that are made by their unit have.
std::optional<WarpSplit> warps_of(const Op& dot);
std::vector<std::int64_t> warps_attribute(const WarpSplit& warps);

}  // namespace tilewright::ir
