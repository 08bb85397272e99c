// SPDX-License-Identifier: Apache-2.0
// ir/product.cpp — attributes of a dot to what layout/mma.h knows.
#include "ir/product.h"

namespace tilewright::ir {

ProductSizes product_sizes(const Kernel& kernel, const Op& dot) {
  const Type& a = kernel.type(dot.operands[0]);
  const Type& result = kernel.type(dot.result());
  const auto rank = static_cast<std::size_t>(result.rank);
  ProductSizes sizes{.rows = result.log_sizes[rank - 2],
                     .columns = result.log_sizes[rank - 1],
                     .depth = a.log_sizes[rank - 1]};
  for (std::size_t d = 0; d + 2 < rank; ++d) sizes.batch += result.log_sizes[d];
  return sizes;
}

const ProductUnit* unit_of(const Kernel& kernel, const Op& dot) {
  const DType left = kernel.type(dot.operands[0]).dtype;
  const DType right = kernel.type(dot.operands[1]).dtype;
  const std::string_view unit = dot.text("unit");
  const std::string_view precision = left == DType::Float32 ? dot.text("precision", "tf32") : "";
  for (const ProductUnit& row : product_units()) {
    const bool is_for_types = row.left == left && row.right == right && row.precision == precision;
    if (unit == group_unit ? is_for_types : row.name == unit) return &row;
  }
  return nullptr;
}

std::optional<WarpSplit> warps_of(const Op& dot) {
  const std::vector<std::int64_t> bits = dot.integers("warps");
  if (bits.size() != 5) return std::nullopt;
  const auto at = [&](std::size_t i) { return static_cast<int>(bits[i]); };
  return WarpSplit{at(0), at(1), at(2), at(3), at(4)};
}

std::vector<std::int64_t> warps_attribute(const WarpSplit& warps) {
  return {warps.batch, warps.rows, warps.columns, warps.copies, warps.neighbours};
}

}  // namespace tilewright::ir
