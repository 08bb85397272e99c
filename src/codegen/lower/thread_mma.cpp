// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_mma.cpp — products of units in the program of a thread: the words of a step
// along the depth come in matrices that the lanes of a warp read together, or are collected from
// the thread's elements; calls multiply them into its sums.
#include "codegen/lower/thread_mma.h"

#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

constexpr int most_held = 32;   // words of an operand that stays the same
constexpr int most_sums = 128;  // of the products beside it

Type word_type(DType dtype) { return Type::scalar(dtype == DType::Float64 ? dtype : DType::UInt32); }

// How a call of load_matrices reads (machine/library.def).
std::int64_t reading_of(const auto& operand, const auto& from) {
  if (from.has_bytes) return operand.is_left ? 2 : 3;
  return from.is_transposed ? 1 : 0;
}

// Whether an operand is in one place in shared memory from before the loop on.
bool can_hold(const ThreadState& state, const Step& loop, const Step& dot, ir::Value operand) {
  const ir::Kernel& kernel = state.laid;
  const std::optional<ProductPlans::SharedView> view = state.products.shared_view(dot, operand);
  if (!view || state.layouts.is_slot(view->array) || !kernel.maker(view->array) ||
      state.facts.sweeps.storage(view->array) != view->array)
    return false;
  bool is_outside = true;
  const auto look = [&](const ir::Region& region) {
    for (const ir::Value argument : region.arguments) is_outside &= argument != view->array;
  };
  look(loop.op->regions[0]);
  ir::walk(loop.op->regions[0], [&](const ir::Op& op) {
    is_outside &= &op != kernel.maker(view->array);
    for (const ir::Region& region : op.regions) look(region);
  });
  return is_outside;
}

}  // namespace

// ---- Operands

// The thread's place in the array of an operand that is read in matrices.
OperandWords ThreadMma::words_of(const Step& step, const DotOperand& operand) {
  OperandWords out{.operand = operand, .from = products_.matrix_view(step, operand)};
  if (!out.from) return out;
  out.plan = products_.plan_matrices(operand, *out.from);
  const Loop thread = loop_with(step, {{"thread", operand.layout->thread_bits()}}, {thread_});
  out.at = named(linear(thread, out.plan.by_thread),
                 names_.make(kernel_.name_of(out.from->view.array) + "_at", "at"), *list_);
  return out;
}

ir::Value ThreadMma::make_words(const OperandWords& words, int log_steps) {
  const DotOperand& operand = words.operand;
  return make_array(
      names_.make(kernel_.name_of(operand.value) + "_part", operand.is_left ? "left" : "right"),
      word_type(operand.dtype),
      std::int64_t{1} << (operand.log_words + operand.log_tiles + log_steps));
}

void ThreadMma::read_words(const Step& step, const OperandWords& words, ir::Value into,
                           const Loop& around, ir::Value from_array) {
  const auto& outer = around.plan.frame.space.variables;
  if (!from_array && words.from) from_array = array(words.from->view.array);
  if (!words.from) return collect_words(step, words.operand, into, around);
  const MatrixPlan& plan = words.plan;
  Loop loop = loop_with(step, {{names_.make("i"), plan.log_calls}, outer[0], outer[1]},
                        {{}, around.variables[0], around.variables[1]});
  const auto all = plan.by_loops.matrix.all_columns();
  const std::vector<std::uint64_t> columns(all.begin(),
                                           all.begin() + loop.plan.frame.space.bits());
  open(loop, 0, "elements", true);
  const Loop call = loop_with(step, {loop.plan.frame.space.variables[0]}, {loop.variables[0]});
  const ir::Value from = moved(words.at, plan.image, loop,
                               {BitMatrix(plan.by_loops.matrix.rows(), columns), 0});
  statement(OpKind::Call,
            {part(into, call, plan.log_matrices), view(from_array, from)}, *list_,
            {{"function", std::string(name_of(LibraryKind::LoadMatrices))},
             {"numbers", std::vector<std::int64_t>{std::int64_t{1} << plan.log_matrices,
                                                   reading_of(words.operand, *words.from)}}});
  close(loop, 0);
}

void ThreadMma::collect_words(const Step& step, const DotOperand& operand, ir::Value into,
                              const Loop& around) {
  const Layout& layout = *operand.layout;
  const auto& outer = around.plan.frame.space.variables;
  Loop loop = loop_with(
      step,
      {{names_.make("i"), operand.log_words + operand.log_tiles}, outer[0], outer[1],
       {"thread", layout.thread_bits()}},
      {{}, around.variables[0], around.variables[1], thread_});
  loop.plan.frame.layout = &layout;
  std::vector<std::uint64_t> columns;
  for (int j = operand.log_word; j < layout.registers().columns(); ++j)
    columns.push_back(layout.registers().column(j));
  const BitMatrix threads = layout.thread_matrix();
  columns.insert(columns.end(), threads.all_columns().begin(), threads.all_columns().end());
  const BitMatrix matrix(layout.element_bits(), std::move(columns));
  open(loop, 0, "elements", true);
  ir::Value word;
  if (products_.has_words(step, operand)) {
    const ir::Value from = view(array(operand.value), array_index(loop, operand.value, {matrix, 0}));
    word = call(LibraryKind::WordAt, {from}, word_type(operand.dtype));
  } else {
    std::vector<ir::Value> elements;
    for (std::uint64_t i = 0; i < std::uint64_t{1} << operand.log_word; ++i)
      elements.push_back(cast(element(loop, operand.value, {matrix, layout.registers()(i)}),
                              operand.dtype));
    word = operand.dtype == DType::Float64
               ? elements[0]
               : call(LibraryKind::WordOf, elements, word_type(operand.dtype));
  }
  statement(OpKind::Write, {into, register_of(loop), word}, *list_);
  close(loop, 0);
}

// ---- Operands that stay the same in all rounds of a loop

// They are read before the loop, where there are registers for them.
void ThreadMma::hold_operands(const Step& loop) {
  std::vector<const Step*> dots;
  int sums = 0;
  for (const Step& step : loop.regions[0]) {
    if (step.kind != Step::Kind::Across || step.op->kind != OpKind::Dot) continue;
    // Products of warpgroups read their operands where they are.
    if (!layouts_.fits(*step.op) || products_.is_by_warpgroups(step)) return;
    dots.push_back(&step);
    sums += layouts_.plan_of(*step.op).layouts.result.register_count();
  }
  if (sums > most_sums) return;
  for (const Step* dot : dots)
    for (const bool is_left : {true, false}) hold_operand(loop, *dot, is_left);
}

void ThreadMma::hold_operand(const Step& loop, const Step& dot, bool is_left) {
  const DotPlan& plan = layouts_.plan_of(*dot.op);
  if (plan.sizes.batch > 0 || !can_hold(state_, loop, dot, dot.op->operands[is_left ? 0 : 1]))
    return;
  const DotOperand operand = products_.operand_of(dot, is_left);
  const int steps = plan.sizes.depth - plan.shape.log_depth;
  const int log_words = operand.log_words + operand.log_tiles;
  if (!products_.matrix_view(dot, operand) || (1 << (log_words + steps)) > most_held) return;
  const OperandWords words = words_of(dot, operand);
  const ir::Value held = make_words(words, steps);
  Loop around = loop_with(dot, {{names_.make("step"), steps}, {"", 0}}, {{}, {}});
  open(around, 0, "depth", true);
  const Loop of_step = loop_with(dot, {around.plan.frame.space.variables[0]}, {around.variables[0]});
  read_words(dot, words, part(held, of_step, log_words), around);
  close(around, 0);
  held_[{dot.op, is_left}] = held;
}

// ---- The product

void ThreadMma::multiply_matrices(const Step& step, ir::Value sums) {
  const ir::Op& op = *step.op;
  const DotPlan& plan = layouts_.plan_of(op);
  const DotOperand left = products_.operand_of(step, true),
                   right = products_.operand_of(step, false);
  const int log_sums = 1 + plan.shape.log_rows - 3;  // of one instruction
  const int batches =
      plan.layouts.result.registers().columns() - log_sums - left.log_tiles - right.log_tiles;
  const int steps = plan.sizes.depth - plan.shape.log_depth;
  Loop around =
      loop_with(step, {{names_.make("step"), steps}, {names_.make("batch"), batches}}, {{}, {}});
  std::vector<std::pair<OperandWords, ir::Value>> both;
  for (const DotOperand* operand : {&left, &right}) {
    const auto held = held_.find({&op, operand->is_left});
    if (held != held_.end()) both.emplace_back(OperandWords{.operand = *operand}, held->second);
    else both.emplace_back(words_of(step, *operand), ir::Value{});
  }
  open(around, 1, "batches", true);
  open_rounds(around, 0, "depth", -1, op.location);
  for (auto& [words, into] : both)
    if (!held_.contains({&op, words.operand.is_left})) into = make_words(words, 0);
  for (const auto& [words, into] : both)
    if (!held_.contains({&op, words.operand.is_left})) read_words(step, words, into, around);
  LoopAhead* const ahead = families().ahead.loop_of(step);
  if (ahead)
    for (CopyBeside& copy : ahead->beside) families().ahead.start_beside(copy, around, 0);
  multiply_words(step, sums, both, around);
  close(around, 0);
  close(around, 1);
  if (ahead) statement(OpKind::CommitCopies, {}, *list_, {}, ahead->commit->op->location);
}

void ThreadMma::multiply_words(const Step& step, ir::Value sums,
                               const std::vector<std::pair<OperandWords, ir::Value>>& both,
                               const Loop& around) {
  const ir::Op& op = *step.op;
  const DotPlan& plan = layouts_.plan_of(op);
  const int log_sums = 1 + plan.shape.log_rows - 3;  // of one instruction
  const SpaceVariable row{names_.make("row"), both[0].first.operand.log_tiles};
  const SpaceVariable column{names_.make("column"), both[1].first.operand.log_tiles};
  const SpaceVariable depth = around.plan.frame.space.variables[0],
                      batch = around.plan.frame.space.variables[1];
  Loop tiles = loop_with(step, {column, row, batch}, {{}, {}, around.variables[1]});
  open(tiles, 1, "rows", true);
  open(tiles, 0, "columns", true);
  std::vector<ir::Value> operands = {part(sums, tiles, log_sums)};
  for (const auto& [words, into] : both) {
    const DotOperand& operand = words.operand;
    const std::size_t along = operand.is_left ? 1 : 0;
    std::vector<SpaceVariable> variables = {tiles.plan.frame.space.variables[along]};
    std::vector<ir::Value> values = {tiles.variables[along]};
    if (held_.contains({&op, operand.is_left})) {
      variables.push_back(depth);
      values.push_back(around.variables[0]);
    }
    operands.push_back(part(into, loop_with(step, variables, values), operand.log_words));
  }
  statement(OpKind::Call, operands, *list_,
            {{"function", std::string(name_of(LibraryKind::Mma))},
             {"unit", std::string(plan.instruction)}},
            op.location);
  close(tiles, 0);
  close(tiles, 1);
}

}  // namespace tilewright
