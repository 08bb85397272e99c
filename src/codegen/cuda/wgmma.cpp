// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/wgmma.cpp — matrix products that warpgroups start and that go on beside them: operands in shared memory as
// descriptors (layout/wgmma.h), the left one else as words in registers.
#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "codegen/cuda/emitter.h"
#include "ir/constant.h"
#include "passes/laid/op_facts.h"
#include "passes/start_dots.h"

namespace tilewright {
namespace {

using ir::OpKind;

constexpr int log_unit_bytes = 4;

}  // namespace

// ---- Which products

bool Emitter::is_by_warpgroups_of(const Step& loop) const {
  return std::any_of(loop.regions[0].begin(), loop.regions[0].end(), [&](const Step& step) {
    return step.kind == Step::Kind::Across && step.op->kind == OpKind::Dot &&
           layouts_.plan_of(*step.op).is_asynchronous;
  });
}

// ---- Operands

// Where the operand of the thread's warpgroup begins.
std::string Emitter::describe(const Step& step, const DescribedOperand& from, bool is_left) {
  const DotPlan& plan = layouts_.plan_of(*step.op);
  const Layout& layout = is_left ? plan.layouts.left : plan.layouts.right;
  std::vector<std::uint64_t> groups;
  for (int j = log_group_warps; j < layout.warps().columns(); ++j)
    groups.push_back(from.view.map.matrix(layout.warps().column(j)));
  const bool has_parts = std::any_of(groups.begin(), groups.end(), [](std::uint64_t c) { return c != 0; });
  if (has_parts && warpgroup_.empty()) {
    warpgroup_ = names_.make("warpgroup");
    prologue_.push_back(fmt::format("const int {} = tw::uniform(thread / 128);", warpgroup_));
  }
  const Space space{{{warpgroup_, static_cast<int>(groups.size())}}};
  const std::string offset =
      has_parts ? linear_text(space, {BitMatrix(from.view.map.matrix.rows(), std::move(groups)), 0}) : "0";
  const std::string name =
      names_.make(kernel_.name_of(step.op->operands[is_left ? 0 : 1]) + "_operand", is_left ? "left" : "right");
  out_.format("const tw::Descriptor {} = tw::describe<{}>({}, {}, {});", name, from.operand.line_bytes,
              sum_text(array_name(from.view.array), bare(offset)), from.operand.leading_bytes,
              from.operand.stride_bytes);
  return name;
}

// The operand of one instruction.
std::string Emitter::further_text(const Step& step, const DescribedOperand& from, const WgmmaLoops& loops,
                                  const std::string& descriptor, bool is_left) {
  const DotPlan& plan = layouts_.plan_of(*step.op);
  const OperandIndex index = operand_index(plan, is_left);
  const int log_bytes = std::countr_zero(size_of(is_left ? plan.left : plan.right));
  std::vector<std::uint64_t> columns;
  const auto add = [&](int index_bit) {
    columns.push_back(from.view.map.matrix.column(index_bit) >> (log_unit_bytes - log_bytes));
  };
  for (int j = 0; j < loops.step.bits; ++j) add(index.depth_low + plan.shape.log_depth + j);
  const SpaceVariable& across = is_left ? loops.row : loops.column;
  for (int j = 0; j < across.bits; ++j) add(index.across_low + index.instruction + j);
  const Space space{{loops.step, across}};
  const std::string chunks = linear_text(space, {BitMatrix(from.view.map.matrix.rows(), std::move(columns)), 0});
  return chunks == "0" ? descriptor : fmt::format("tw::further({}, {})", descriptor, bare(chunks));
}

// The left operand's words of all instructions: [step][row][word].
std::string Emitter::collect_all_words(const Step& step, const WgmmaLoops& loops) {
  DotOperand operand = dot_operand(step, true);
  const std::string all = names_.make(kernel_.name_of(operand.value) + "_words", "words");
  out_.format("u32 {}[{}][{}];", all, 1 << loops.step.bits, 1 << (operand.log_words + operand.log_tiles));
  operand.part = step_part(all, loops.step);
  const DotLoops by_step{loops.step, {"", 0}};
  const std::function<void()> read = prepare_operand(step, operand, by_step);
  open_unrolled(loops.step);
  read();
  close_unrolled(loops.step);
  return all;
}

// ---- The product

void Emitter::emit_wgmma(const Step& step, const Sums& sums) {
  parts_.insert({"mma", "wgmma"});
  const DotPlan& plan = layouts_.plan_of(*step.op);
  const int log_columns = instruction_columns(plan);
  const WgmmaLoops loops{
      .step = {names_.make("step"), plan.sizes.depth - plan.shape.log_depth},
      .row = {names_.make("row"), plan.sizes.rows - plan.warps.rows + log_group_warps - log_group_rows},
      .column = {names_.make("column"), plan.sizes.columns - plan.warps.columns - log_columns},
      .log_columns = log_columns};
  const DescribedOperand right = *described_operand(step, false);
  const std::optional<DescribedOperand> left = described_operand(step, true);
  const WgmmaFunction function{.columns = 1 << log_columns,
                               .left = plan.left,
                               .right = plan.right,
                               .has_words = !left,
                               .transposes_left = left && left->operand.is_transposed,
                               .transposes_right = right.operand.is_transposed};
  wgmmas_.insert(function);
  const std::string a = left ? describe(step, *left, true) : collect_all_words(step, loops);
  const std::string b = describe(step, right, false);
  out_.line("tw::begin_products();");
  open_unrolled(loops.step);
  open_unrolled(loops.row);
  open_unrolled(loops.column);
  const std::string keeps = !starts_from_nothing(step) ? "true" : loops.step.bits > 0 ? loops.step.name + " > 0" : "false";
  out_.format("tw::{}({}, {}, {}, {});", function.name(), part_text(sums.name, {{loops.column, loops.row}}, log_columns - 1),
              left ? further_text(step, *left, loops, a, true) : part_text(step_part(a, loops.step), {{loops.row}}, 2),
              further_text(step, right, loops, b, false), keeps);
  close_unrolled(loops.column);
  close_unrolled(loops.row);
  close_unrolled(loops.step);
  out_.line("tw::commit_products();");
  started_.push_back({step.op, sums.name});
  last_computed_.clear();
  // Sums that are copied before or behind it must be there.
  const bool is_in_place =
      !sums.is_own && (starts_from_nothing(step) || schedule_.storage(step.op->operands[2]) == schedule_.storage(step.op->result()));
  const bool goes_on = is_in_place && stays(right, loop_) && (!left || stays(*left, loop_));
  wait_for_products(goes_on ? step.op->integer("pending", 0) : 0);
}

// Those of the round before that go on when a round begins, where others of the loop are looked at
// in their round.
std::vector<Emitter::Started> Emitter::lagging_products(const ir::Op& loop) const {
  const ir::Region& body = loop.regions[0];
  std::vector<Started> out;
  bool all_lag = true;
  for (const ir::Op* op : body.ops) {
    if (op->kind != OpKind::Dot || op->integer("pending", 0) == 0) continue;
    const auto array = arrays_.find(schedule_.storage(op->operands[2]).id);
    const bool lags = only_adds_up(body, *op) && array != arrays_.end() &&
                      schedule_.storage(op->operands[2]) == schedule_.storage(op->result());
    if (lags) out.push_back({op, array->second});
    else all_lag = false;
  }
  return all_lag ? std::vector<Started>{} : out;
}

// Whether those and no others go on.
bool Emitter::are_lagging(const std::vector<Started>& lagging) const {
  return std::equal(started_.begin(), started_.end(), lagging.begin(), lagging.end(),
                    [](const Started& a, const Started& b) { return a.product == b.product; });
}

// All but the `pending` newest products are done. A loop that drains has some of the round before.
void Emitter::wait_for_products(std::int64_t pending) {
  if (started_.empty()) return;
  const auto kept = static_cast<std::size_t>(pending);
  if (!drains_ && started_.size() <= kept) return;
  out_.format("tw::wait_products<{}>();", pending);
  const std::size_t done = started_.size() - std::min(started_.size(), kept);
  const std::vector<Started> rest(started_.begin() + static_cast<std::ptrdiff_t>(done), started_.end());
  std::set<std::string> taken;
  for (std::size_t i = 0; i < done; ++i) taken.insert(started_[i].sums);
  for (const Started& other : rest) taken.erase(other.sums);
  for (const std::string& sums : taken) out_.format("tw::take_products({});", sums);
  started_ = rest;
  emit_owed_releases();
}

// Before a step that touches sums of products that go on. What was computed beside them is there first: the assembler would put
// the wait before it otherwise. Of consumers it may: another warpgroup's products run meanwhile, and conversions and rescaling mix
// into the exponentials (head dim 128 on an H200: 646 against 634 TFLOP/s).
void Emitter::wait_for_touched(const ir::Op& op) {
  if (started_.empty() || drains_) return;
  std::size_t pending = started_.size();
  const auto note = [&](ir::Value value) {
    if (!is_tile(kernel_, value)) return;
    const auto array = arrays_.find(schedule_.storage(value).id);
    if (array == arrays_.end()) return;
    for (std::size_t i = 0; i < started_.size(); ++i)
      if (started_[i].sums == array->second) pending = std::min(pending, started_.size() - 1 - i);
  };
  const std::function<void(const ir::Op&)> visit = [&](const ir::Op& inner) {
    for (const ir::Value value : inner.operands) note(value);
    for (const ir::Value value : inner.results) note(value);
    for (const ir::Region& region : inner.regions)
      for (const ir::Op* nested : region.ops) visit(*nested);
  };
  visit(op);
  if (pending == started_.size()) return;
  if (!last_computed_.empty() && !is_consuming_)
    out_.format("tw::compute_before_waiting({});", last_computed_);
  last_computed_.clear();
  wait_for_products(static_cast<std::int64_t>(pending));
}

// Whether the slot that is given back must wait for them. In loops that drain, slots of rounds before are given back.
bool Emitter::is_read_by_products(const ir::Op& release) const {
  return !drains_ && std::any_of(started_.begin(), started_.end(), [&](const Started& started) {
    return reads_released(*started.product, release);
  });
}

// Those whose products are done now.
void Emitter::emit_owed_releases() {
  const std::vector<const ir::Op*> owed = std::exchange(owed_, {});
  for (const ir::Op* release : owed) {
    if (is_read_by_products(*release)) owed_.push_back(release);
    else emit_release(*release);
  }
}

// The smallest array of words that a step beside products has computed.
void Emitter::note_computed(const Step& step) {
  if (started_.empty() || drains_) return;
  int least = 1 << 30;
  for (const ir::Value value : step.op->results) {
    if (!is_tile(kernel_, value) || !schedule_.is_placed(value) || layouts_.is_shared(value)) continue;
    const auto array = arrays_.find(schedule_.storage(value).id);
    const int count = layouts_.of_array(value).layout.register_count();
    if (array == arrays_.end() || kernel_.type(value).element_bytes() != 4 || count >= least) continue;
    last_computed_ = array->second;
    least = count;
  }
}

// What this thread wrote to shared memory.
void Emitter::show_to_products() {
  parts_.insert({"mma", "wgmma"});
  out_.line("tw::show_to_products();");
}

// The same after a step and before threads meet within it, if it wrote what a product reads: shown after the barrier, other
// threads' products need not see it.
void Emitter::show_written() {
  const std::set<std::string> written = shared_.take_written();
  const bool is_read = std::any_of(written.begin(), written.end(), [&](const std::string& name) {
    return product_operands_.contains(name);
  });
  if (is_read) show_to_products();
}

}  // namespace tilewright
