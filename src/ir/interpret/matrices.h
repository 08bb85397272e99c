// SPDX-License-Identifier: Apache-2.0
// ir/interpret/matrices.h — units of products at stage Final: instructions of a warp (matrices.cpp)
// and of a warpgroup (warpgroups.cpp).
#pragma once

#include "ir/interpret/program_view.h"

namespace tilewright::ir {

class Matrices : private ProgramView {
 public:
  explicit Matrices(ProgramState& state) : ProgramView(state) {}

  // ---- Of a warp
  std::int64_t word_of(const Op& op) const;
  void load_matrices(const Op& op);
  void multiply_matrices(const Op& op);
  void swap_lanes(const Op& op);

  // ---- Of a warpgroup
  std::int64_t descriptor_of(const Op& op) const;
  void begin_products();
  void start_products(const Op& op);
  void commit_products();
  void wait_products(const Op& op);

 private:
  void for_each_group(const std::function<void(std::int64_t)>& run);
  std::vector<Element> described_operand(const Op& op, std::size_t operand, std::int64_t group,
                                         std::size_t lines, GroupProducts::Product& product);
  std::vector<Element> operand_in_words(const Op& op, std::int64_t group);
  void start_product(const Op& op, std::int64_t group);
};

}  // namespace tilewright::ir
