// SPDX-License-Identifier: Apache-2.0
// graph/lower/contract.h — stacks of matrix products as a kernel of the tile IR.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::graph {

// What the code of a product depends on; sizes and other strides are arguments.
struct ContractClass {
  DType dtype = DType::Float32;  // of both operands and the result
  bool has_bias = false;         // one number for each column, added to the sums
  std::uint8_t batch_rank = 0;
  // Which of an operand's two strides is 1: its row's (0), its column's (1), or none (2).
  std::uint8_t unit_a = 1, unit_b = 1;
  bool is_aligned = false;   // strides and sizes are multiples of 16
  bool allows_tf32 = false;  // of float32
  std::uint16_t tall = 64, wide = 64, deep = 32;
  friend bool operator==(const ContractClass&, const ContractClass&) = default;
};

// Blocks that products of this thread take while it lives, instead of those for their sizes;
// without blocks it changes nothing.
struct ContractBlocks {
  std::uint16_t tall = 64, wide = 64, deep = 32;
  int num_warps = 0;  // 0: what suits the kernel
  friend bool operator==(const ContractBlocks&, const ContractBlocks&) = default;
};
class ContractChoice {
 public:
  explicit ContractChoice(const std::optional<ContractBlocks>& blocks);
  ~ContractChoice();
  ContractChoice(const ContractChoice&) = delete;
  ContractChoice& operator=(const ContractChoice&) = delete;
  static const ContractBlocks* current();

 private:
  const ContractBlocks* const before_;
};

// Arguments: a, b, (bias,) out, sizes m, n, k, the batch's sizes, its strides in a, its strides in
// b, (row stride of a unless it is 1), (column stride of a), the same of b, (stride of bias). The
// result is contiguous.
ir::Kernel lower_contract(const ContractClass& made_for);

}  // namespace tilewright::graph
