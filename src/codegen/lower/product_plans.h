// SPDX-License-Identifier: Apache-2.0
// codegen/lower/product_plans.h — how the operands of matrix products are read: words, whole
// matrices from shared memory, or descriptors of what warpgroups read there.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/lower/space.h"
#include "ir/kernel.h"
#include "layout/wgmma.h"
#include "passes/laid/sweeps.h"
#include "passes/laid/tile_layouts.h"
#include "tilewright/target.h"

namespace tilewright {

class ProductPlans {
 public:
  ProductPlans(const ir::Kernel& kernel, const Sweeps& sweeps, const TileLayouts& layouts,
               const Target& target)
      : kernel_(kernel), schedule_(sweeps), layouts_(layouts), target_(target) {}

  // An operand for one instruction after the other.
  struct DotOperand {
    ir::Value value;
    const Layout* layout = nullptr;
    DType dtype = DType::Float16;  // in which the instruction takes it
    bool is_left = false;
    int log_word = 0;   // bits of a register's number: the elements of a word,
    int log_words = 0;  // the words of one instruction,
    int log_tiles = 0;  // and the instructions along the rows or columns
  };
  // A tile in shared memory behind views, and where its elements are.
  struct SharedView {
    ir::Value array;
    IndexMap map;
  };
  // An operand that comes in whole matrices from shared memory.
  struct MatrixView {
    SharedView view;
    bool is_transposed = false;
    bool has_bytes = false;  // transposed in pairs
  };
  struct MatrixPlan {
    int log_matrices = 0;     // of one read
    int log_calls = 0;        // reads of one step along the depth
    IndexMap by_thread = {};  // the thread's place in the array
    std::uint64_t image = 0;  // the bits that it can have
    IndexMap by_loops = {};   // over reads, steps and batches: where they are from there
  };

  // An operand of a product of warpgroups in shared memory, as a descriptor says it.
  struct DescribedOperand {
    SharedView view;
    WgmmaOperand operand;
  };

  // ---- Operands of products (dot_operands.cpp)
  DotOperand operand_of(const Step& step, bool is_left) const;
  std::optional<SharedView> shared_view(const Step& step, ir::Value value) const;
  std::optional<MatrixView> matrix_view(const Step& step, const DotOperand& operand) const;
  MatrixPlan plan_matrices(const DotOperand& operand, const MatrixView& from) const;
  bool has_words(const Step& step, const DotOperand& operand) const;

  // ---- Products of warpgroups (group_operands.cpp)
  static constexpr int log_group_warps = 2, log_group_rows = 6;
  static int instruction_columns(const DotPlan& plan);  // log2 of those of one instruction
  static OperandIndex operand_index(const DotPlan& plan, bool is_left);
  std::optional<DescribedOperand> described_operand(const Step& step, bool is_left) const;
  bool is_by_warpgroups(const Step& step) const;
  bool starts_from_nothing(const Step& step) const;
  // While a product of the loop goes on.
  bool stays(const DescribedOperand& operand, const ir::Op* loop) const;
  // Whether the product reads slots of the ring that the op gives back.
  bool reads_released(const ir::Op& product, const ir::Op& release) const;

 private:
  const ir::Kernel& kernel_;
  const Sweeps& schedule_;
  const TileLayouts& layouts_;
  const Target& target_;
};

}  // namespace tilewright
