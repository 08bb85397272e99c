// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/dot.cpp — matrix products: what they add up, and those without tensor cores.
#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"

namespace tilewright {
namespace {

// Which bits of a register's number choose rows, columns and batches.
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

}  // namespace

void Emitter::open_unrolled(const SpaceVariable& variable) {
  if (variable.bits == 0) return;
  out_.line("#pragma unroll");
  out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", variable.name, 1 << variable.bits));
}

void Emitter::close_unrolled(const SpaceVariable& variable) {
  if (variable.bits > 0) out_.close();
}

void Emitter::emit_dot(const Step& step) {
  const ir::Op& op = *step.op;
  declare_array(op.result());
  note_line(op.location);
  const bool is_wgmma = is_by_warpgroups(step);
  const Sums sums = begin_sums(step, is_wgmma && starts_from_nothing(step));
  const bool is_ahead = ahead_ && ahead_->dot == &step;
  if (is_ahead) begin_copies();  // they go to other slots than those that are read now
  const Frame anywhere{.step = &step};
  std::vector<ir::Value> read;
  for (const bool is_left : {true, false})
    if (!held_.contains({&op, is_left})) read.push_back(op.operands[is_left ? 0 : 1]);
  synchronize(anywhere, reads_of(kernel_, schedule_, step, read), {});
  if (is_ahead && ahead_->reads_ahead) multiply_ahead(step, sums);
  else if (is_wgmma) emit_wgmma(step, sums);
  else if (layouts_.fits(op)) emit_mma(step, sums);
  else emit_multiply_add(step, sums);
  end_sums(step, sums);
}

// `from_nothing`: whoever adds to them sets them first.
Emitter::Sums Emitter::begin_sums(const Step& step, bool from_nothing) {
  const ir::Op& op = *step.op;
  const ir::Type& type = kernel_.type(op.result());
  const ir::Type wide = ir::Type::scalar(layouts_.plan_of(op).sum);
  if (!layouts_.is_shared(op.result()) && wide.dtype == type.dtype) {
    if (!from_nothing) assign_tile(op.result(), op.operands[2], step);
    return {array_name(op.result()), false};
  }
  const TileLayout& layout = layouts_.of_array(op.result());
  const Sums sums{names_.make(kernel_.name_of(op.result()) + "_sums", "sums"), true};
  ElementLoop loop = make_loop(step, layout);
  if (!from_nothing) synchronize(loop.frame, reads_of(kernel_, schedule_, step, {op.operands[2]}), {});
  out_.format("{} {}[{}];", type_text(wide), sums.name, layout.layout.register_count());
  if (from_nothing) return sums;
  const SpaceVariable all{"k", layout.layout.registers().columns()};
  loop.frame.space.variables = {all, {"thread", layout.layout.thread_bits()}};
  loop.frame.index_from = 0;
  open_unrolled(all);
  const std::string value = element(loop.frame, op.operands[2], loop.frame.place);
  out_.format("{}[{}] = {};", sums.name, all.bits > 0 ? "k" : "0",
              cast_text(type.element(), wide, value, ""));
  close_unrolled(all);
  return sums;
}

void Emitter::end_sums(const Step& step, const Sums& sums) {
  if (!sums.is_own) return;
  const ir::Op& op = *step.op;
  const ir::Type wide = ir::Type::scalar(layouts_.plan_of(op).sum);
  const TileLayout& layout = layouts_.of_array(op.result());
  ElementLoop loop = make_loop(step, layout);
  synchronize(loop.frame, {}, {op.result()});
  const SpaceVariable all{"k", layout.layout.registers().columns()};
  loop.frame.space.variables = {all, {"thread", layout.layout.thread_bits()}};
  loop.frame.index_from = 0;
  open_unrolled(all);
  const std::string index = array_index(loop.frame, op.result(), loop.frame.place);
  const std::string owner = layouts_.is_shared(op.result()) ? owner_text(layout.layout) : "";
  const std::string sum = fmt::format("{}[{}]", sums.name, all.bits > 0 ? "k" : "0");
  out_.format("{}{}[{}] = {};", owner.empty() ? "" : "if (" + owner + ") ", array_name(op.result()),
              index, cast_text(wide, kernel_.type(op.result()).element(), sum, ""));
  close_unrolled(all);
}

// One step along the depth after the other: the thread's rows and columns are read once and every
// pair of them is multiplied.
void Emitter::emit_multiply_add(const Step& step, const Sums& sums) {
  const ir::Op& op = *step.op;
  const DotPlan& plan = layouts_.plan_of(op);
  const ProductSizes& sizes = plan.sizes;
  const Layout& layout = layouts_.of_array(op.result()).layout;
  const RegisterRoles roles = roles_of(layout, sizes);
  const SpaceVariable depth{names_.make("j"), sizes.depth};
  const SpaceVariable row{names_.make("row"), static_cast<int>(roles.rows.size())};
  const SpaceVariable column{names_.make("column"), static_cast<int>(roles.columns.size())};
  const SpaceVariable batch{names_.make("batch"), static_cast<int>(roles.batches.size())};

  // Over those variables: the element of the result with the depth above it, and its register.
  const int bits = layout.element_bits();
  std::vector<std::uint64_t> elements, registers;
  for (int i = 0; i < sizes.depth; ++i) {
    elements.push_back(std::uint64_t{1} << (bits + i));
    registers.push_back(0);
  }
  for (const std::vector<int>* role : {&roles.rows, &roles.columns, &roles.batches})
    for (int j : *role) {
      elements.push_back(layout.registers().column(j));
      registers.push_back(std::uint64_t{1} << j);
    }
  const BitMatrix threads = layout.thread_matrix();
  for (std::uint64_t thread : threads.all_columns()) {
    elements.push_back(thread);
    registers.push_back(0);
  }
  Frame frame{.step = &step};
  frame.space.variables = {depth, row, column, batch, {"thread", layout.thread_bits()}};
  const IndexMap place{BitMatrix(bits + sizes.depth, std::move(elements)), 0};
  const IndexMap sum{BitMatrix(layout.registers().columns(), std::move(registers)), 0};
  const IndexMap to_left =
      run_map(sizes.batch + sizes.rows + sizes.depth, bits + sizes.depth,
              {{sizes.columns, sizes.depth, sizes.rows + sizes.batch}, {bits, 0, sizes.depth}});
  const IndexMap to_right =
      run_map(sizes.batch + sizes.depth + sizes.columns, bits + sizes.depth,
              {{0, 0, sizes.columns},
               {sizes.columns + sizes.rows, sizes.columns + sizes.depth, sizes.batch},
               {bits, sizes.columns, sizes.depth}});
  const ir::Type wide = ir::Type::scalar(plan.sum);
  const auto read = [&](ir::Value value, const IndexMap& map, const std::string& part,
                        const SpaceVariable& variable) {
    out_.format("{} {}[{}];", type_text(wide), part, 1 << variable.bits);
    open_unrolled(variable);
    frame.scopes.emplace_back();
    const std::string text = element(frame, value, compose(map, place));
    out_.format("{}[{}] = {};", part, variable.bits > 0 ? variable.name : "0",
                cast_text(kernel_.type(value).element(), wide, text, ""));
    frame.scopes.pop_back();
    close_unrolled(variable);
  };
  const std::string left = names_.make(kernel_.name_of(op.operands[0]) + "_part", "left");
  const std::string right = names_.make(kernel_.name_of(op.operands[1]) + "_part", "right");
  open_unrolled(batch);
  out_.line("#pragma unroll 4");
  out_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", depth.name, 1 << depth.bits));
  read(op.operands[0], to_left, left, row);
  read(op.operands[1], to_right, right, column);
  open_unrolled(row);
  open_unrolled(column);
  out_.format("{}[{}] += {}[{}] * {}[{}];", sums.name, linear_text(frame.space, sum), left,
              row.bits > 0 ? row.name : "0", right, column.bits > 0 ? column.name : "0");
  close_unrolled(column);
  close_unrolled(row);
  out_.close();
  close_unrolled(batch);
}

}  // namespace tilewright
