// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_groups.cpp — matrix products that warpgroups start and that go on beside
// them: operands in shared memory as descriptors, the left one else as words in registers, and who
// waits for them.
#include "codegen/lower/thread_groups.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "codegen/lower/thread_families.h"
#include "machine/units.h"
#include "passes/laid/op_facts.h"
#include "passes/start_dots.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

constexpr int log_chunk_bytes = 4;
constexpr std::int64_t group_threads = 128;
constexpr std::size_t of_columns = 0, of_rows = 1, of_depth = 2;

const Type descriptor_type = Type::scalar(DType::UInt64);

}  // namespace

// ---- Operands

ir::Value ThreadGroups::warpgroup() {
  if (!warpgroup_) {
    const ir::Value number = FinalBuilder::make(OpKind::Digit, {whole_thread_}, Type::scalar(i32),
                                                {{"over", group_threads}});
    warpgroup_ = named(call(LibraryKind::Uniform, {number}, Type::scalar(i32)),
                       names_.make("warpgroup"), prologue_);
  }
  return warpgroup_;
}

// Where the operand of the thread's warpgroup begins.
ir::Value ThreadGroups::describe(const Step& step, const DescribedOperand& from, bool is_left) {
  const DotPlan& plan = layouts_.plan_of(*step.op);
  const Layout& layout = is_left ? plan.layouts.left : plan.layouts.right;
  std::vector<std::uint64_t> groups;
  for (int j = ProductPlans::log_group_warps; j < layout.warps().columns(); ++j)
    groups.push_back(from.view.map.matrix(layout.warps().column(j)));
  const bool has_parts =
      std::any_of(groups.begin(), groups.end(), [](std::uint64_t column) { return column != 0; });
  ir::Value offset = number(0);
  if (has_parts) {
    const int bits = static_cast<int>(groups.size());
    const Loop loop = loop_with(step, {{"warpgroup", bits}}, {warpgroup()});
    offset = linear(loop, {BitMatrix(from.view.map.matrix.rows(), std::move(groups)), 0});
  }
  const ir::Value made =
      FinalBuilder::make(OpKind::Call, {view(array(from.view.array), offset)}, descriptor_type,
                         {{"function", std::string(name_of(LibraryKind::Describe))},
                          {"numbers", std::vector<std::int64_t>{from.operand.line_bytes,
                                                                from.operand.leading_bytes,
                                                                from.operand.stride_bytes}}});
  const ir::Value operand = step.op->operands[is_left ? 0 : 1];
  return named(made,
               names_.make(kernel_.name_of(operand) + "_operand", is_left ? "left" : "right"),
               *list_);
}

// The operand of one instruction.
ir::Value ThreadGroups::further(const Loop& tiles, const DescribedOperand& from,
                                ir::Value descriptor, bool is_left) {
  const Step& step = *tiles.plan.frame.step;
  const DotPlan& plan = layouts_.plan_of(*step.op);
  const OperandIndex index = products_.operand_index(plan, is_left);
  const int log_bytes = std::countr_zero(size_of(is_left ? plan.left : plan.right));
  const auto& variables = tiles.plan.frame.space.variables;
  const std::size_t across = is_left ? of_rows : of_columns;
  std::vector<std::uint64_t> columns;
  const auto add = [&](int bit) {
    columns.push_back(from.view.map.matrix.column(bit) >> (log_chunk_bytes - log_bytes));
  };
  for (int j = 0; j < variables[of_depth].bits; ++j)
    add(index.depth_low + plan.shape.log_depth + j);
  for (int j = 0; j < variables[across].bits; ++j)
    add(index.across_low + index.instruction + j);
  const Loop loop = loop_with(step, {variables[of_depth], variables[across]},
                              {tiles.variables[of_depth], tiles.variables[across]});
  const ir::Value chunks =
      linear(loop, {BitMatrix(from.view.map.matrix.rows(), std::move(columns)), 0});
  return is_zero(chunks) ? descriptor
                         : call(LibraryKind::Further, {descriptor, chunks}, descriptor_type);
}

// The left operand's words of all instructions, those of a step along the depth together.
ir::Value ThreadGroups::collect_all_words(const Step& step, const SpaceVariable& depth) {
  const DotOperand operand = products_.operand_of(step, true);
  const int log_words = operand.log_words + operand.log_tiles;
  const ir::Value all =
      make_array(names_.make(kernel_.name_of(operand.value) + "_words", "words"),
                 Type::scalar(DType::UInt32), std::int64_t{1} << (log_words + depth.bits));
  const OperandWords words = families().mma.words_of(step, operand);
  Loop around = loop_with(step, {depth, {"", 0}}, {{}, {}});
  open(around, 0, "depth", true);
  const Loop of_step = loop_with(step, {depth}, {around.variables[0]});
  families().mma.read_words(step, words, part(all, of_step, log_words), around);
  close(around, 0);
  return all;
}

// Those of an instruction.
ir::Value ThreadGroups::words_of_tile(const Loop& tiles, ir::Value words) {
  const Step& step = *tiles.plan.frame.step;
  const DotOperand operand = products_.operand_of(step, true);
  const auto& variables = tiles.plan.frame.space.variables;
  std::vector<std::uint64_t> columns;
  for (int j = 0; j < variables[of_rows].bits; ++j)
    columns.push_back(std::uint64_t{1} << (operand.log_words + j));
  for (int j = 0; j < variables[of_depth].bits; ++j)
    columns.push_back(std::uint64_t{1} << (operand.log_words + operand.log_tiles + j));
  const Loop loop = loop_with(step, {variables[of_rows], variables[of_depth]},
                              {tiles.variables[of_rows], tiles.variables[of_depth]});
  const int rows = operand.log_words + operand.log_tiles + variables[of_depth].bits;
  return view(words, linear(loop, {BitMatrix(rows, std::move(columns)), 0}));
}

// ---- The product

void ThreadGroups::start_product(const Step& step, const ProductSums& sums) {
  const ir::Op& op = *step.op;
  const DotPlan& plan = layouts_.plan_of(op);
  const int log_columns = products_.instruction_columns(plan);
  const SpaceVariable depth{names_.make("step"), plan.sizes.depth - plan.shape.log_depth};
  const SpaceVariable row{names_.make("row"), plan.sizes.rows - plan.warps.rows +
                                                  ProductPlans::log_group_warps -
                                                  ProductPlans::log_group_rows};
  const SpaceVariable column{names_.make("column"),
                             plan.sizes.columns - plan.warps.columns - log_columns};
  const DescribedOperand right = *products_.described_operand(step, false);
  const std::optional<DescribedOperand> left = products_.described_operand(step, true);
  const ir::Value a = left ? describe(step, *left, true) : collect_all_words(step, depth);
  const ir::Value b = describe(step, right, false);
  call_statement(LibraryKind::BeginProducts, {}, {}, op.location);
  Loop tiles = loop_with(step, {column, row, depth}, {{}, {}, {}});
  open(tiles, of_depth, "depth", true);
  open(tiles, of_rows, "rows", true);
  open(tiles, of_columns, "columns", true);
  const ir::Value keeps =
      products_.starts_from_nothing(step) && depth.bits > 0
          ? compare("gt", tiles.variables[of_depth], number(0))
          : constant_of(Type::scalar(b1), std::int64_t{!products_.starts_from_nothing(step)});
  const Loop of_sums =
      loop_with(step, {column, row}, {tiles.variables[of_columns], tiles.variables[of_rows]});
  call_statement(LibraryKind::StartProduct,
                 {part(sums.array, of_sums, log_columns - 1),
                  left ? further(tiles, *left, a, true) : words_of_tile(tiles, a),
                  further(tiles, right, b, false), keeps},
                 {std::int64_t{1} << log_columns, left && left->operand.is_transposed,
                  right.operand.is_transposed},
                 op.location,
                 {{"unit", std::string(find_group_unit(plan.left, plan.right)->name)}});
  close(tiles, of_columns);
  close(tiles, of_rows);
  close(tiles, of_depth);
  call_statement(LibraryKind::CommitProducts);
  started_.push_back({&op, sums.array});
  last_computed_ = {};
  // Sums that are copied before or behind it must be there.
  const bool is_in_place =
      !sums.is_own && (products_.starts_from_nothing(step) ||
                       schedule_.storage(op.operands[2]) == schedule_.storage(op.result()));
  const bool goes_on =
      is_in_place && products_.stays(right, loop_) && (!left || products_.stays(*left, loop_));
  wait_for_products(goes_on ? op.integer("pending", 0) : 0);
}

// ---- Who waits

// All but the `pending` newest products are done. A loop that drains has some of the round before.
void ThreadGroups::wait_for_products(std::int64_t pending) {
  if (started_.empty()) return;
  const auto kept = static_cast<std::size_t>(pending);
  if (!drains_ && started_.size() <= kept) return;
  call_statement(LibraryKind::WaitProducts, {}, {pending});
  const std::size_t done = started_.size() - std::min(started_.size(), kept);
  const std::vector<Started> rest(started_.begin() + static_cast<std::ptrdiff_t>(done),
                                  started_.end());
  std::map<std::string, ir::Value> taken;
  for (std::size_t i = 0; i < done; ++i)
    taken[out_.name_of(started_[i].sums)] = started_[i].sums;
  for (const Started& other : rest) taken.erase(out_.name_of(other.sums));
  for (const auto& [name, sums] : taken) call_statement(LibraryKind::TakeProducts, {sums});
  started_ = rest;
  for (const ir::Op* release : std::exchange(owed_, {})) families().rings.give_back(*release);
}

// What was computed beside them is there first: the assembler would put the wait before it
// otherwise. Of consumers it may: another warpgroup's products run meanwhile, and conversions and
// rescaling mix into the exponentials (head dim 128 on an H200: 646 against 634 TFLOP/s).
void ThreadGroups::wait_for_touched(const ir::Op& op) {
  if (started_.empty() || drains_) return;
  std::size_t pending = started_.size();
  const auto note = [&](ir::Value value) {
    if (!is_tile(kernel_, value)) return;
    const auto found = arrays_.find(schedule_.storage(value).id);
    if (found == arrays_.end()) return;
    for (std::size_t i = 0; i < started_.size(); ++i)
      if (started_[i].sums == found->second) pending = std::min(pending, started_.size() - 1 - i);
  };
  const std::function<void(const ir::Op&)> visit = [&](const ir::Op& inner) {
    for (const ir::Value value : inner.operands) note(value);
    for (const ir::Value value : inner.results) note(value);
    for (const ir::Region& region : inner.regions)
      for (const ir::Op* nested : region.ops) visit(*nested);
  };
  visit(op);
  if (pending == started_.size()) return;
  if (last_computed_ && !state_.is_consuming)
    call_statement(LibraryKind::ComputeBefore, {last_computed_});
  last_computed_ = {};
  wait_for_products(static_cast<std::int64_t>(pending));
}

void ThreadGroups::note_computed(const Step& step) {
  if (started_.empty() || drains_) return;
  int least = 1 << 30;
  for (const ir::Value value : step.op->results) {
    if (!is_tile(kernel_, value) || !schedule_.is_placed(value) || layouts_.is_shared(value))
      continue;
    const auto found = arrays_.find(schedule_.storage(value).id);
    const int count = layouts_.of_array(value).layout.register_count();
    if (found == arrays_.end() || kernel_.type(value).element_bytes() != 4 || count >= least)
      continue;
    last_computed_ = found->second;
    least = count;
  }
}

// In loops that drain, slots of rounds before are given back.
bool ThreadGroups::puts_off(const ir::Op& release) {
  const bool is_read =
      !drains_ && std::any_of(started_.begin(), started_.end(), [&](const Started& started) {
        return products_.reads_released(*started.product, release);
      });
  if (is_read) owed_.push_back(&release);
  return is_read;
}

// What this thread wrote to shared memory, before others meet it there: shown behind the barrier,
// other threads' products need not see it.
void ThreadGroups::show_written() {
  if (std::exchange(is_unshown_, false)) call_statement(LibraryKind::ShowToProducts);
}

void ThreadGroups::outside_functions(const std::function<void()>& lower) {
  const bool was_unshown = std::exchange(is_unshown_, false);
  lower();
  is_unshown_ = was_unshown;
}

void ThreadGroups::note_written(ir::Value tile) {
  is_unshown_ |= layouts_.is_shared(tile) && layouts_.is_product_operand(schedule_.storage(tile));
}

// ---- Loops

// Those of the round before that go on when a round begins, where others of the loop are looked at
// in their round.
std::vector<ThreadGroups::Started> ThreadGroups::lagging_products(const ir::Op& loop) const {
  const ir::Region& body = loop.regions[0];
  std::vector<Started> out;
  bool all_lag = true;
  for (const ir::Op* op : body.ops) {
    if (op->kind != OpKind::Dot || op->integer("pending", 0) == 0) continue;
    const auto found = arrays_.find(schedule_.storage(op->operands[2]).id);
    const bool lags = only_adds_up(body, *op) && found != arrays_.end() &&
                      schedule_.storage(op->operands[2]) == schedule_.storage(op->result());
    if (lags) out.push_back({op, found->second});
    else all_lag = false;
  }
  return all_lag ? std::vector<Started>{} : out;
}

// Whether those and no others go on.
bool ThreadGroups::are_lagging(const std::vector<Started>& lagging) const {
  return std::equal(started_.begin(), started_.end(), lagging.begin(), lagging.end(),
                    [](const Started& a, const Started& b) { return a.product == b.product; });
}

// Products that go on end before the loop's branch meets the one around it: where both meet,
// registers may be copied.
void ThreadGroups::rounds(const Step& step, const std::vector<ir::Value>& initial,
                          const std::function<void()>& lower) {
  const ir::Op& op = *step.op;
  if (op.integer("drains") == 0) {
    const bool drained_before = std::exchange(drains_, false);
    lower();
    drains_ = drained_before;
    return;
  }
  const std::vector<Started> lagging = lagging_products(op);
  const bool drained_before = std::exchange(drains_, lagging.empty());
  started_.insert(started_.end(), lagging.begin(), lagging.end());
  std::vector<Type> types;
  for (const ir::Value value : initial) types.push_back(type_of(value));
  ir::Op* branch = out_.make_op(
      OpKind::If, {compare("lt", scalar(op.operands[0]), scalar(op.operands[1]))}, types,
      op.location);
  for (const ir::Value result : branch->results) out_.set_name(result, names_.make("carried"));
  branch->regions.resize(2);
  insert(branch, *list_);
  region(branch->regions[0], [&] {
    lagging_ = lagging;
    lower();
    wait_for_products(0);
    std::vector<ir::Value> ends;
    for (const ir::Value result : op.results)
      if (kernel_.type(result).is_scalar()) ends.push_back(scalar(result));
    statement(OpKind::Yield, ends, *list_);
  });
  region(branch->regions[1], [&] { statement(OpKind::Yield, initial, *list_); });
  std::size_t number_of_result = 0;
  for (const ir::Value result : op.results)
    if (kernel_.type(result).is_scalar()) scalars_[result.id] = branch->results[number_of_result++];
  drains_ = drained_before;
}

void ThreadGroups::round(const Step& step, const std::function<void()>& lower) {
  const bool drains = step.op->integer("drains") != 0;
  const std::vector<Started> lagging = std::exchange(lagging_, {});
  const ir::Op* const outer = std::exchange(loop_, step.op);
  lower();
  loop_ = outer;
  if (!drains || (!lagging.empty() && !are_lagging(lagging))) wait_for_products(0);
}

}  // namespace tilewright
