// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_dots.cpp — matrix products of the program of a thread: what they add up, and
// those that multiply-adds make of the thread's patch of rows and columns.
#include "codegen/lower/thread_dots.h"

#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// The variables of a product's loops; those of the patch are the registers of the sums.
constexpr std::size_t over_depth = 0, over_rows = 1, over_columns = 2, over_batches = 3;

// Which bits of a register's number choose columns, rows and batches.
struct RegisterRoles {
  std::vector<int> rows, columns, batches;
};

RegisterRoles roles_of(const Layout& layout, const ProductSizes& sizes) {
  RegisterRoles out;
  for (int j = 0; j < layout.registers().columns(); ++j) {
    const std::uint64_t column = layout.registers().column(j);
    if (column < std::uint64_t{1} << sizes.columns) out.columns.push_back(j);
    else if (column < std::uint64_t{1} << (sizes.columns + sizes.rows)) out.rows.push_back(j);
    else out.batches.push_back(j);
  }
  return out;
}

// Which element of an operand a place in the result with the depth above it needs.
IndexMap left_map(const ProductSizes& sizes, int bits) {
  return run_map(sizes.batch + sizes.rows + sizes.depth, bits + sizes.depth,
                 {{sizes.columns, sizes.depth, sizes.rows + sizes.batch}, {bits, 0, sizes.depth}});
}
IndexMap right_map(const ProductSizes& sizes, int bits) {
  return run_map(sizes.batch + sizes.depth + sizes.columns, bits + sizes.depth,
                 {{0, 0, sizes.columns},
                  {sizes.columns + sizes.rows, sizes.columns + sizes.depth, sizes.batch},
                  {bits, sizes.columns, sizes.depth}});
}

}  // namespace

void ThreadDots::dot(const Step& step) {
  declare(step.op->result());
  const bool is_of_groups = products_.is_by_warpgroups(step);
  const Sums sums = begin_sums(step, is_of_groups && products_.starts_from_nothing(step));
  const LoopAhead* const ahead = families().ahead.loop_of(step);
  // They go to other slots than those that are read now.
  if (ahead) families().ahead.begin_beside();
  if (is_of_groups) families().groups.start_product(step, sums);
  else if (ahead && ahead->reads_ahead) families().ahead.multiply_ahead(step, sums.array);
  else if (layouts_.fits(*step.op)) families().mma.multiply_matrices(step, sums.array);
  else multiply_add(step, sums.array);
  end_sums(step, sums);
}

// ---- Sums

// A loop over all of the thread's registers of a product's result, written out.
ThreadLoop ThreadDots::loop_over_sums(const Step& step) {
  const TileLayout& layout = layouts_.of_array(step.op->result());
  Loop loop = make(step, layout);
  loop.plan.frame.space.variables = {{"k", layout.layout.registers().columns()},
                                     {"thread", layout.layout.thread_bits()}};
  loop.plan.frame.index_from = 0;
  loop.variables = {{}, thread_};
  return loop;
}

// In the array of the result, or in one of their own where that has small elements or is shared.
ThreadDots::Sums ThreadDots::begin_sums(const Step& step, bool from_nothing) {
  const ir::Op& op = *step.op;
  const Type wide = Type::scalar(layouts_.plan_of(op).sum);
  const ir::Value from = op.operands[2];
  if (!layouts_.is_shared(op.result()) && wide.dtype == kernel_.type(op.result()).dtype) {
    const bool is_there = schedule_.is_placed(from) && schedule_.is_in_array(from, step) &&
                          schedule_.storage(from) == schedule_.storage(op.result());
    if (!is_there && !from_nothing) families().tiles.copy(step, op.result(), from);
    return {array(op.result()), false};
  }
  const Sums sums{make_array(names_.make(kernel_.name_of(op.result()) + "_sums", "sums"), wide,
                             layouts_.of_array(op.result()).layout.register_count(), op.location),
                  true};
  if (from_nothing) return sums;
  Loop loop = loop_over_sums(step);
  open(loop, 0, "elements", true);
  const ir::Value first = element(loop, from, loop.plan.frame.place);
  statement(OpKind::Write, {sums.array, register_of(loop), cast(first, wide.dtype)}, *list_);
  close(loop, 0);
  return sums;
}

void ThreadDots::end_sums(const Step& step, const Sums& sums) {
  if (!sums.is_own) return;
  const ir::Value result = step.op->result();
  const Type wide = Type::scalar(layouts_.plan_of(*step.op).sum);
  Loop loop = loop_over_sums(step);
  open(loop, 0, "elements", true);
  const ir::Value sum =
      FinalBuilder::make(OpKind::Read, {sums.array, register_of(loop)}, wide);
  write_element(loop, result, cast(sum, kernel_.type(result).dtype));
  close(loop, 0);
}

// ---- Multiply-adds

// The loops over the depth and over the thread's patch: an element of the result with the depth
// above it, and its register.
ThreadDots::Patch ThreadDots::patch_of(const Step& step) {
  const ProductSizes& sizes = layouts_.plan_of(*step.op).sizes;
  const Layout& layout = layouts_.of_array(step.op->result()).layout;
  const RegisterRoles roles = roles_of(layout, sizes);
  const int bits = layout.element_bits();
  std::vector<std::uint64_t> elements, registers;
  for (int i = 0; i < sizes.depth; ++i) {
    elements.push_back(std::uint64_t{1} << (bits + i));
    registers.push_back(0);
  }
  for (const std::vector<int>* role : {&roles.rows, &roles.columns, &roles.batches})
    for (const int j : *role) {
      elements.push_back(layout.registers().column(j));
      registers.push_back(std::uint64_t{1} << j);
    }
  const BitMatrix threads = layout.thread_matrix();
  for (const std::uint64_t thread : threads.all_columns()) {
    elements.push_back(thread);
    registers.push_back(0);
  }
  Patch out;
  Frame& frame = out.loop.plan.frame;
  frame.step = &step;
  frame.space.variables = {{names_.make("j"), sizes.depth},
                           {names_.make("row"), static_cast<int>(roles.rows.size())},
                           {names_.make("column"), static_cast<int>(roles.columns.size())},
                           {names_.make("batch"), static_cast<int>(roles.batches.size())},
                           {"thread", layout.thread_bits()}};
  frame.place = {BitMatrix(bits + sizes.depth, std::move(elements)), 0};
  out.loop.variables = {{}, {}, {}, {}, thread_};
  out.sum = {BitMatrix(layout.registers().columns(), std::move(registers)), 0};
  return out;
}

// The elements of an operand that a step along the depth needs, for the rows or columns of the
// patch.
ir::Value ThreadDots::read_operand(Loop& loop, ir::Value value, const IndexMap& map,
                                   std::size_t variable) {
  const ir::Op& op = *loop.plan.frame.step->op;
  const Type wide = Type::scalar(layouts_.plan_of(op).sum);
  const SpaceVariable& along = loop.plan.frame.space.variables[variable];
  const ir::Value part =
      make_array(names_.make(kernel_.name_of(value) + "_part", variable == over_rows ? "left" : "right"),
                 wide, std::int64_t{1} << along.bits);
  open(loop, variable, variable == over_rows ? "rows" : "columns", true);
  if (along.bits == 0) loop.scopes.emplace_back();
  const ir::Value read = element(loop, value, compose(map, loop.plan.frame.place));
  statement(OpKind::Write,
            {part, along.bits > 0 ? loop.variables[variable] : number(0), cast(read, wide.dtype)},
            *list_);
  if (along.bits == 0) loop.scopes.pop_back();
  close(loop, variable);
  return part;
}

// One step along the depth after the other: the thread's rows and columns are read once and every
// pair of them is multiplied.
void ThreadDots::multiply_add(const Step& step, ir::Value sums) {
  constexpr std::int64_t unrolled_steps = 4;
  const ir::Op& op = *step.op;
  const ProductSizes& sizes = layouts_.plan_of(op).sizes;
  const int bits = layouts_.of_array(op.result()).layout.element_bits();
  const Type wide = Type::scalar(layouts_.plan_of(op).sum);
  Patch patch = patch_of(step);
  Loop& loop = patch.loop;
  const auto at = [&](std::size_t variable) {
    return loop.plan.frame.space.variables[variable].bits > 0 ? loop.variables[variable] : number(0);
  };
  open(loop, over_batches, "batches", true);
  open_rounds(loop, over_depth, "depth", unrolled_steps, op.location);
  const ir::Value left = read_operand(loop, op.operands[0], left_map(sizes, bits), over_rows);
  const ir::Value right = read_operand(loop, op.operands[1], right_map(sizes, bits), over_columns);
  open(loop, over_rows, "rows", true);
  open(loop, over_columns, "columns", true);
  const ir::Value product = FinalBuilder::make(
      OpKind::Multiply,
      {FinalBuilder::make(OpKind::Read, {left, at(over_rows)}, wide),
       FinalBuilder::make(OpKind::Read, {right, at(over_columns)}, wide)},
      wide);
  const ir::Value before = FinalBuilder::make(OpKind::Read, {sums, linear(loop, patch.sum)}, wide);
  statement(OpKind::Write,
            {sums, linear(loop, patch.sum), FinalBuilder::make(OpKind::Add, {before, product}, wide)},
            *list_);
  close(loop, over_columns);
  close(loop, over_rows);
  close(loop, over_depth);
  close(loop, over_batches);
}

}  // namespace tilewright
