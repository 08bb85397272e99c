// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/dot_mma.cpp — matrix products by tensor cores: operands come in whole matrices from
// shared memory where they lie in rows of 16 bytes, else word by word from wherever they are.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"
#include "codegen/schedule/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

std::uint64_t bit(int number) { return std::uint64_t{1} << number; }

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
  const std::uint64_t inside = bit(count) - 1;
  for (int j = 0; j < map.matrix.columns(); ++j) {
    const std::uint64_t low = map.matrix.column(j) & inside;
    const bool is_run = j >= first && j < first + count;
    if (is_run ? map.matrix.column(j) != bit(j - first) : low != 0) return false;
  }
  return (map.offset & inside) == 0;
}

}  // namespace

// ---- Operands

Emitter::DotOperand Emitter::dot_operand(const Step& step, const DotPlan& plan, bool is_left) {
  const ir::Value value = step.op->operands[is_left ? 0 : 1];
  const int across = is_left ? plan.shape.log_rows : plan.shape.log_columns;
  DotOperand out{.value = value,
                 .layout = is_left ? &plan.layouts.left : &plan.layouts.right,
                 .dtype = is_left ? plan.left : plan.right,
                 .is_left = is_left};
  out.part = names_.make(kernel_.name_of(value) + "_part", is_left ? "left" : "right");
  out.log_word = plan.shape.log_word;
  out.log_words = across - 3 + plan.shape.log_depth - plan.shape.log_word - 2;
  const int registers = out.layout->registers().columns();
  const int steps = plan.sizes.depth - plan.shape.log_depth;
  const int batches = plan.layouts.result.registers().columns();
  // What is neither a word, nor steps, nor batches is tiles.
  int tiles = registers - out.log_word - out.log_words - steps;
  for (int j = 0; j < batches; ++j)
    tiles -= plan.layouts.result.registers().column(j) >= bit(plan.sizes.rows + plan.sizes.columns);
  out.log_tiles = tiles;
  return out;
}

std::optional<Emitter::SharedView> Emitter::shared_view(const Step& step, ir::Value value) const {
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

std::optional<Emitter::MatrixView> Emitter::matrix_view(const Step& step,
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

// Returns what writes the reading of one step's words.
std::function<void()> Emitter::prepare_operand(const Step& step, const DotOperand& operand,
                                               const DotLoops& loops) {
  const std::optional<MatrixView> from = matrix_view(step, operand);
  if (!from) return [this, &step, &operand, &loops] { collect_words(step, operand, loops); };
  const MatrixReads reads = prepare_matrices(operand, *from);
  const std::string array = array_name(from->view.array);
  return [=, this, &operand, &loops] { read_matrices(reads, array, operand.part, &loops); };
}

// The row of a matrix that a lane names: three bits of the lane choose it, the next ones choose the
// matrix, which is a word of the instruction or of the next tile.
Emitter::MatrixReads Emitter::prepare_matrices(const DotOperand& operand, const MatrixView& from) {
  const Layout& layout = *operand.layout;
  MatrixReads out{.log_matrices = std::min(2, operand.log_words + operand.log_tiles)};
  std::vector<std::uint64_t> threads;
  for (int j = 0; j < 3; ++j) {
    // A word's lowest depth bit is that of the lane's row, when rows are along the depth.
    const std::uint64_t along =
        j == 0 ? layout.registers().column(0) : layout.lanes().column(j - 1);
    threads.push_back(from.is_transposed ? along : layout.lanes().column(2 + j));
  }
  for (int j = 0; j < options_.target.log_lanes() - 3; ++j)
    threads.push_back(j < out.log_matrices ? layout.registers().column(operand.log_word + j) : 0);
  if (from.has_bytes) {
    // The word's other depth bit, and its place along the depth.
    threads[3] = layout.registers().column(1);
    threads[4] = layout.registers().column(operand.log_word + (operand.is_left ? 1 : 0));
  }
  out.function = fmt::format("load_matrices{}<{}>", from.is_transposed ? "_transposed" : "",
                             1 << out.log_matrices);
  if (from.has_bytes)
    out.function = fmt::format("load_bytes_transposed<{}>", operand.is_left ? 1 : 2);
  for (std::uint64_t warp : layout.warps().all_columns()) threads.push_back(warp);
  const IndexMap by_thread =
      compose(from.view.map, {BitMatrix(layout.element_bits(), std::move(threads)), 0});
  const Space thread{{{"thread", layout.thread_bits()}}};
  out.at = names_.make(kernel_.name_of(from.view.array) + "_at", "at");
  out_.format("const i32 {} = {};", out.at, bare(linear_text(thread, by_thread)));

  out.call = {names_.make("i"), operand.log_words + operand.log_tiles - out.log_matrices};
  std::vector<std::uint64_t> rest;
  for (int j = operand.log_word + out.log_matrices; j < layout.registers().columns(); ++j)
    rest.push_back(from.view.map.matrix(layout.registers().column(j)));
  out.by_loops = {BitMatrix(from.view.map.matrix.rows(), std::move(rest)), 0};
  out.image = image_of(thread, by_thread, 0, 1) | by_thread.offset;
  return out;
}

void Emitter::read_matrices(const MatrixReads& reads, const std::string& array,
                            const std::string& part, const DotLoops* loops) {
  Space space{{reads.call}};
  if (loops) space.variables.insert(space.variables.end(), {loops->step, loops->batch});
  const auto all = reads.by_loops.matrix.all_columns();
  const std::vector<std::uint64_t> columns(all.begin(), all.begin() + space.bits());
  const IndexMap by_loops{BitMatrix(reads.by_loops.matrix.rows(), columns), 0};
  open_unrolled(reads.call);
  const std::string into =
      sum_text(part, reads.call.bits == 0
                         ? "0"
                         : fmt::format("{} * {}", reads.call.name, 1 << reads.log_matrices));
  out_.format("tw::{}({}, {});", reads.function, into,
              sum_text(array, added_text(reads.at, reads.image, space, by_loops)));
  close_unrolled(reads.call);
}

// Whether a tile that a loop carries has the words of the operand as they are: halves would take a register each.
bool Emitter::has_words(const Step& step, const DotOperand& operand) const {
  const ir::Value value = operand.value;
  const bool is_carried = !kernel_.maker(value) || kernel_.maker(value)->kind == OpKind::For;
  if (!is_carried || layouts_.is_shared(value) || !schedule_.is_in_array(value, step)) return false;
  const Layout& array = layouts_.of_array(value).layout;
  return kernel_.type(value).dtype == operand.dtype && operand.log_word == 1 && array.registers().columns() > 0 &&
         array.registers().column(0) == operand.layout->registers().column(0);
}

void Emitter::collect_words(const Step& step, const DotOperand& operand, const DotLoops& loops) {
  const Layout& layout = *operand.layout;
  const SpaceVariable word{names_.make("i"), operand.log_words + operand.log_tiles};
  Frame frame{.step = &step, .layout = &layout};
  frame.space.variables = {word, loops.step, loops.batch, {"thread", layout.thread_bits()}};
  std::vector<std::uint64_t> columns;
  for (int j = operand.log_word; j < layout.registers().columns(); ++j)
    columns.push_back(layout.registers().column(j));
  const BitMatrix threads = layout.thread_matrix();
  columns.insert(columns.end(), threads.all_columns().begin(), threads.all_columns().end());
  const BitMatrix matrix(layout.element_bits(), std::move(columns));
  const ir::Type from = kernel_.type(operand.value).element();
  const ir::Type to = ir::Type::scalar(operand.dtype);
  const std::string target = fmt::format("{}[{}]", operand.part, word.bits > 0 ? word.name : "0");
  open_unrolled(word);
  if (has_words(step, operand)) {
    out_.format("{} = tw::word_at({});", target,
                sum_text(array_name(operand.value), array_index(frame, operand.value, {matrix, 0})));
    return close_unrolled(word);
  }
  std::vector<std::string> elements;
  for (std::uint64_t i = 0; i < bit(operand.log_word); ++i) {
    const std::string text = element(frame, operand.value, {matrix, layout.registers()(i)});
    elements.push_back(bare(cast_text(from, to, text, "")));
  }
  if (operand.dtype == DType::Float64) out_.format("{} = {};", target, elements[0]);
  else out_.format("{} = tw::word_of({});", target, fmt::join(elements, ", "));
  close_unrolled(word);
}

// ---- The product

void Emitter::emit_mma(const Step& step, const Sums& sums) {
  parts_.insert("mma");
  const DotPlan& plan = layouts_.plan_of(*step.op);
  DotOperand left = dot_operand(step, plan, true);
  DotOperand right = dot_operand(step, plan, false);
  const int log_sums = 1 + plan.shape.log_rows - 3;  // of one instruction
  const int batches =
      plan.layouts.result.registers().columns() - log_sums - left.log_tiles - right.log_tiles;
  const DotLoops loops{{names_.make("step"), plan.sizes.depth - plan.shape.log_depth},
                       {names_.make("batch"), batches}};
  std::vector<std::function<void()>> reads;
  for (DotOperand* operand : {&left, &right}) {
    const auto held = held_.find({step.op, operand->is_left});
    if (held != held_.end()) operand->part = step_part(held->second, loops.step);
    else reads.push_back(prepare_operand(step, *operand, loops));
  }
  open_unrolled(loops.batch);
  open_unrolled(loops.step);
  for (const DotOperand* operand : {&left, &right})
    if (!held_.contains({step.op, operand->is_left}))
      out_.format("{} {}[{}];", operand->dtype == DType::Float64 ? "f64" : "u32", operand->part,
                  1 << (operand->log_words + operand->log_tiles));
  for (const std::function<void()>& read : reads) read();
  const bool weaves = ahead_ && ahead_->dot == &step;
  for (std::size_t i = 0; weaves && i < ahead_->woven.size(); ++i)
    weave(ahead_->woven[i], loops.step, 0);
  multiply_parts(plan, sums.name, left, right, loops.batch);
  close_unrolled(loops.step);
  close_unrolled(loops.batch);
  if (weaves) emit_commit(*ahead_->commit->op);
}

void Emitter::multiply_parts(const DotPlan& plan, const std::string& sums, const DotOperand& left,
                             const DotOperand& right, const SpaceVariable& batch) {
  const SpaceVariable row{names_.make("row"), left.log_tiles};
  const SpaceVariable column{names_.make("column"), right.log_tiles};
  const int log_sums = 1 + plan.shape.log_rows - 3;  // of one instruction
  open_unrolled(row);
  open_unrolled(column);
  out_.format("tw::{}({}, {}, {});", plan.instruction,
              part_text(sums, {{column, row, batch}}, log_sums),
              part_text(left.part, {{row}}, left.log_words),
              part_text(right.part, {{column}}, right.log_words));
  close_unrolled(column);
  close_unrolled(row);
}

}  // namespace tilewright
