// SPDX-License-Identifier: Apache-2.0
// codegen/lower/dot_operands.cpp — how the operands of a unit's product are read: in whole matrices
// from shared memory where they lie in rows of 16 bytes, else word by word from wherever they are.
#include <algorithm>

#include "codegen/lower/product_plans.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

using ir::OpKind;

std::uint64_t power_of(int number) { return std::uint64_t{1} << number; }

// Index bits of an operand: of its depth, and of its rows (columns of the right one).
struct OperandBits {
  int depth;
  int across;
};
OperandBits bits_of(const ProductSizes& sizes, bool is_left) {
  return is_left ? OperandBits{0, sizes.depth} : OperandBits{sizes.columns, 0};
}

// Whether 2^count elements along the index bits from `first` on are neighbours in the array, in
// runs that begin at multiples of that.
bool has_runs(const IndexMap& map, int first, int count) {
  const std::uint64_t inside = power_of(count) - 1;
  for (int j = 0; j < map.matrix.columns(); ++j) {
    const std::uint64_t low = map.matrix.column(j) & inside;
    const bool is_run = j >= first && j < first + count;
    if (is_run ? map.matrix.column(j) != power_of(j - first) : low != 0) return false;
  }
  return (map.offset & inside) == 0;
}

}  // namespace

ProductPlans::DotOperand ProductPlans::operand_of(const Step& step, bool is_left) const {
  const DotPlan& plan = layouts_.plan_of(*step.op);
  const int across = is_left ? plan.shape.log_rows : plan.shape.log_columns;
  DotOperand out{.value = step.op->operands[is_left ? 0 : 1],
                 .layout = is_left ? &plan.layouts.left : &plan.layouts.right,
                 .dtype = is_left ? plan.left : plan.right,
                 .is_left = is_left};
  out.log_word = plan.shape.log_word;
  out.log_words = across - 3 + plan.shape.log_depth - plan.shape.log_word - 2;
  const int registers = out.layout->registers().columns();
  const int steps = plan.sizes.depth - plan.shape.log_depth;
  const int batches = plan.layouts.result.registers().columns();
  // What is neither a word, nor steps, nor batches is tiles.
  int tiles = registers - out.log_word - out.log_words - steps;
  for (int j = 0; j < batches; ++j)
    tiles -= plan.layouts.result.registers().column(j) >= power_of(plan.sizes.rows + plan.sizes.columns);
  out.log_tiles = tiles;
  return out;
}

std::optional<ProductPlans::SharedView> ProductPlans::shared_view(const Step& step,
                                                                  ir::Value value) const {
  IndexMap map = IndexMap::identity(bits_of_type(kernel_.type(value)));
  while (!schedule_.is_in_array(value, step)) {
    const ir::Op* maker = kernel_.maker(value);
    const bool goes_on = maker && is_view(*maker) && maker->operands.size() == 1 &&
                         is_tile(kernel_, maker->operands[0]);
    if (!goes_on) return std::nullopt;
    map = compose(view_map(kernel_, *maker, value), map);
    value = maker->operands[0];
  }
  if (!layouts_.is_shared(value)) return std::nullopt;
  return SharedView{value, layouts_.swizzle_of(value)(map)};
}

std::optional<ProductPlans::MatrixView> ProductPlans::matrix_view(const Step& step,
                                                                  const DotOperand& operand) const {
  const DotPlan& plan = layouts_.plan_of(*step.op);
  const OperandBits bits = bits_of(plan.sizes, operand.is_left);
  const std::optional<SharedView> view = shared_view(step, operand.value);
  const int bytes = static_cast<int>(size_of(operand.dtype));
  if (!view || kernel_.type(operand.value).dtype != operand.dtype || bytes > 4) return std::nullopt;
  const int run = bytes == 1 ? 4 : bytes == 2 ? 3 : 2;  // elements of 16 bytes
  if (has_runs(view->map, bits.depth, run)) return MatrixView{*view, false};
  const bool has_lines = has_runs(view->map, bits.across, run);
  if (bytes == 2 && has_lines) return MatrixView{*view, true};
  // Bytes of one read are two rows of an instruction, or columns of two.
  const bool is_paired = operand.is_left ? pairs_rows(plan.shape, plan.warps)
                                         : pairs_columns(plan.sizes, plan.shape, plan.warps);
  const bool has_pairs =
      is_paired && operand.log_words + (operand.is_left ? 0 : operand.log_tiles) >= 2;
  if (bytes == 1 && has_lines && has_pairs) return MatrixView{*view, true, true};
  return std::nullopt;
}

// The row of a matrix that a lane names: three bits of the lane choose it, the next ones choose the
// matrix, which is a word of the instruction or of the next tile.
ProductPlans::MatrixPlan ProductPlans::plan_matrices(const DotOperand& operand,
                                                     const MatrixView& from) const {
  const Layout& layout = *operand.layout;
  MatrixPlan out{.log_matrices = std::min(2, operand.log_words + operand.log_tiles)};
  std::vector<std::uint64_t> threads;
  for (int j = 0; j < 3; ++j) {
    // A word's lowest depth bit is that of the lane's row, when rows are along the depth.
    const std::uint64_t along =
        j == 0 ? layout.registers().column(0) : layout.lanes().column(j - 1);
    threads.push_back(from.is_transposed ? along : layout.lanes().column(2 + j));
  }
  for (int j = 0; j < target_.log_lanes() - 3; ++j)
    threads.push_back(j < out.log_matrices ? layout.registers().column(operand.log_word + j) : 0);
  if (from.has_bytes) {
    // The word's other depth bit, and its place along the depth.
    threads[3] = layout.registers().column(1);
    threads[4] = layout.registers().column(operand.log_word + (operand.is_left ? 1 : 0));
  }
  for (const std::uint64_t warp : layout.warps().all_columns()) threads.push_back(warp);
  out.by_thread = compose(from.view.map, {BitMatrix(layout.element_bits(), std::move(threads)), 0});
  out.log_calls = operand.log_words + operand.log_tiles - out.log_matrices;
  std::vector<std::uint64_t> rest;
  for (int j = operand.log_word + out.log_matrices; j < layout.registers().columns(); ++j)
    rest.push_back(from.view.map.matrix(layout.registers().column(j)));
  out.by_loops = {BitMatrix(from.view.map.matrix.rows(), std::move(rest)), 0};
  const Space thread{{{"thread", layout.thread_bits()}}};
  out.image = image_of(thread, out.by_thread, 0, 1) | out.by_thread.offset;
  return out;
}

// Whether a tile that a loop carries has the words of the operand as they are: halves would take a
// register each.
bool ProductPlans::has_words(const Step& step, const DotOperand& operand) const {
  const ir::Value value = operand.value;
  const bool is_carried = !kernel_.maker(value) || kernel_.maker(value)->kind == OpKind::For;
  if (!is_carried || layouts_.is_shared(value) || !schedule_.is_in_array(value, step)) return false;
  const Layout& array = layouts_.of_array(value).layout;
  return kernel_.type(value).dtype == operand.dtype && operand.log_word == 1 &&
         array.registers().columns() > 0 &&
         array.registers().column(0) == operand.layout->registers().column(0);
}

}  // namespace tilewright
