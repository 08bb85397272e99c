// SPDX-License-Identifier: Apache-2.0
// codegen/print/thread_calls.cpp — the functions of device_lib/cuda by their rows of the library's
// table.
#include "codegen/print/thread_calls.h"

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/text/expressions.h"
#include "ir/calls.h"
#include "machine/units.h"

namespace tilewright {

using ir::OpKind;

namespace {

class ThreadCallText {
 public:
  ThreadCallText(const CudaExpressions& expressions, const ir::Kernel& kernel, const ir::Op& op)
      : expressions_(expressions), kernel_(kernel), op_(op), numbers_(op.integers("numbers")) {}

  std::vector<std::string> lines(ThreadCall function) const;
  std::vector<std::string> lines(TogetherCall function) const;

 private:
  std::string operand(std::size_t k) const { return expressions_.operand(op_.operands[k]); }
  // "tw::await<3>(words, u32(position));"
  std::string plain(std::string_view name, const std::vector<std::int64_t>& templates,
                    const std::string& more = "") const;
  // The same with all numbers of the call.
  std::string plain() const { return plain(op_.text("function"), numbers_); }
  std::string ring(std::string_view name, const std::string& more) const;
  std::string box(std::string_view name) const;
  std::string matrices() const;
  std::string scan(bool is_block) const;
  std::string scan_before(bool is_block) const;
  std::string sort() const;
  std::vector<std::string> reduction(bool is_block) const;
  std::string slots(bool is_block, std::size_t k) const;
  void need(std::initializer_list<const char*> parts) const {
    for (const char* part : parts) expressions_.need(part);
  }

  const CudaExpressions& expressions_;
  const ir::Kernel& kernel_;
  const ir::Op& op_;
  const std::vector<std::int64_t> numbers_;
};

WgmmaFunction product_of(const ir::Kernel& kernel, const ir::Op& op) {
  const GroupUnit& unit = *group_unit_named(op.text("unit"));
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  return {.columns = static_cast<int>(numbers[0]),
          .left = unit.left,
          .right = unit.right,
          .has_words = kernel.type(op.operands[1]).is_array(),
          .transposes_left = numbers[1] != 0,
          .transposes_right = numbers[2] != 0};
}

std::vector<std::string> ThreadCallText::lines(ThreadCall function) const {
  switch (function) {
    case ThreadCall::FinishCopies:
      need({"async_copy"});
      return {"tw::commit_copies();", "tw::wait_copies<0>();"};
    case ThreadCall::CountOne:
      need({"reduce"});
      return {fmt::format("atomicAdd(&{}, 1);",
                          expressions_.element(op_.operands[0], op_.operands[1]))};
    case ThreadCall::ShowToProducts:
    case ThreadCall::TakeProducts:
    case ThreadCall::ComputeBefore:
      need({"wgmma", "mma"});
      return {plain()};
    case ThreadCall::SetUpRing:
    case ThreadCall::AcquireSlot:
      return {ring(op_.text("function"), fmt::format("{}", numbers_[1]))};
    case ThreadCall::PrefetchMap:
      need({"ring"});
      return {fmt::format("tw::prefetch_map({});", op_.text("map"))};
    case ThreadCall::CopyBox:
      return {box(op_.text("function"))};
    case ThreadCall::StoreBox:
      return {box(numbers_[3] != 0 ? "add_map" : op_.text("function"))};
    case ThreadCall::WaitBoxes:
      need({"ring"});
      return {plain()};
  }
  return {};
}

std::vector<std::string> ThreadCallText::lines(TogetherCall function) const {
  switch (function) {
    case TogetherCall::ReduceLanes:
      return reduction(false);
    case TogetherCall::ReduceBlock:
    case TogetherCall::ReduceCluster:
      return reduction(true);
    case TogetherCall::ScanLanes:
    case TogetherCall::ScanBlock:
      return {scan(function == TogetherCall::ScanBlock)};
    case TogetherCall::BeforeLanes:
    case TogetherCall::BeforeBlock:
      return {scan_before(function == TogetherCall::BeforeBlock)};
    case TogetherCall::SortBlock:
      return {sort()};
    case TogetherCall::ClusterWait:
      need({"reduce"});
      return {"tw::cluster_wait();"};
    case TogetherCall::LoadMatrices:
      return {matrices()};
    case TogetherCall::Mma:
      need({"mma"});
      return {plain(op_.text("unit"), {})};
    case TogetherCall::SwapLanes:
      need({"warp"});
      return {plain()};
    case TogetherCall::StartProduct:
      need({"wgmma", "mma"});
      return {plain(product_of(kernel_, op_).name(), {})};
    case TogetherCall::BeginProducts:
    case TogetherCall::CommitProducts:
    case TogetherCall::WaitProducts:
      need({"wgmma", "mma"});
      return {plain()};
    case TogetherCall::AwaitSlot:
    case TogetherCall::ReleaseSlot:
      need({"ring"});
      return {plain()};
  }
  return {};
}

std::string ThreadCallText::plain(std::string_view name, const std::vector<std::int64_t>& templates,
                                  const std::string& more) const {
  std::string arguments = expressions_.conditions(op_);
  if (!more.empty()) arguments += ", " + more;
  return fmt::format("tw::{}{}({});", name,
                     templates.empty() ? "" : fmt::format("<{}>", fmt::join(templates, ", ")),
                     arguments);
}

std::string ThreadCallText::ring(std::string_view name, const std::string& more) const {
  need({"ring"});
  return plain(name, {numbers_[0]}, more);
}

// The map comes behind where the box goes or comes from.
std::string ThreadCallText::box(std::string_view name) const {
  need({"ring"});
  std::string arguments = expressions_.condition(op_.operands[0]);
  arguments += fmt::format(", {}", op_.text("map"));
  for (std::size_t k = 1; k < op_.operands.size(); ++k)
    arguments += ", " + expressions_.condition(op_.operands[k]);
  return fmt::format("tw::{}({});", name, arguments);
}

std::string ThreadCallText::matrices() const {
  need({"mma"});
  const std::int64_t how = numbers_[1];
  if (how > 1) return plain("load_bytes_transposed", {how - 1});
  return plain(how == 1 ? "load_matrices_transposed" : "load_matrices", {numbers_[0]});
}

// What the warps of a block meet in.
std::string ThreadCallText::slots(bool is_block, std::size_t k) const {
  return is_block ? operand(k)
                  : fmt::format("static_cast<{}*>(nullptr)", combined_type(kernel_, op_));
}

// "tw::scan_registers<tw::ScanBits<2, 3, 31, 3, 0>, false>(running, running_slots, combine);"
std::string ThreadCallText::scan(bool is_block) const {
  need({"reduce", "scan"});
  const std::size_t last = numbers_.size() - 1;
  return fmt::format("tw::scan_registers<tw::ScanBits<{}, {}, {}, {}, {}>, {}>({}, {}, {});",
                     std::countr_zero(static_cast<std::uint64_t>(numbers_[last - 1])),
                     numbers_[last - 3], numbers_[0], is_block ? numbers_[1] : 0,
                     numbers_[last - 2], numbers_[last] != 0, operand(0),
                     slots(is_block, op_.regions[0].arguments.size() / 2), op_.text("named"));
}

// "tw::scan_before<32, 2>(running, before, running_slots, combine);"
std::string ThreadCallText::scan_before(bool is_block) const {
  need({"reduce", "scan"});
  const std::size_t members = op_.regions[0].arguments.size() / 2;
  return fmt::format("tw::scan_before<{}, {}>({}, {}, {}, {});", numbers_[0] + 1,
                     is_block ? numbers_[1] + 1 : 1, operand(0), operand(members),
                     slots(is_block, 2 * members), op_.text("named"));
}

std::string ThreadCallText::sort() const {
  need({"reduce", "sort"});
  return fmt::format("tw::merge_runs<{}, {}, tw::SortOrder::{}, {}, {}>({});", numbers_[0],
                     numbers_[1], sort_orders[numbers_[2]], numbers_[3], numbers_[4], operand(0));
}

// "total = tw::reduce_block<31, 3>(total, total_slots, [&](f32 a, f32 b) { return a + b; });"
std::vector<std::string> ThreadCallText::reduction(bool is_block) const {
  need({"reduce"});
  const std::int64_t count = numbers_[numbers_.size() - 2];
  const std::size_t members = op_.regions[0].arguments.size() / 2;
  const std::string total = operand(0);
  std::string bits = fmt::format("{}", numbers_[0]);
  if (is_block) bits += fmt::format(", {}", numbers_[1]);
  if (const std::int64_t blocks = kernel_.shape.cluster; is_block && blocks > 1)
    bits = fmt::format("{}, {}", blocks, (numbers_[1] + 1) / blocks);
  std::string head = fmt::format("{} = tw::{}<{}>({}", total, op_.text("function"), bits, total);
  if (count > 1 && is_block) head = fmt::format("tw::reduce_block<{}, {}>({}", bits, count, total);
  const bool is_loop = count > 1 && !is_block;
  if (is_loop)
    head = fmt::format("for (int k = 0; k < {1}; ++k) {0}[k] = tw::reduce_lanes<{2}>({0}[k]", total,
                       count, bits);
  if (is_block) head += ", " + operand(members);
  const std::string function(op_.text("named"));
  const std::string call =
      fmt::format("{}, {});", head,
                  numbers_.back() != 0 ? fmt::format("tw::in_order({})", function) : function);
  if (is_loop) return {"#pragma unroll", call};
  return {call};
}

}  // namespace

std::vector<std::string> thread_call_lines(const CudaExpressions& expressions,
                                           const ir::Kernel& kernel, const ir::Op& op) {
  const LibraryFunction& function = ir::function_of(op);
  const ThreadCallText text(expressions, kernel, op);
  return function.is(LibraryFamily::Thread) ? text.lines(thread_call(function))
                                            : text.lines(together_call(function));
}

std::string combined_type(const ir::Kernel& kernel, const ir::Op& op) {
  const ir::Op* made = kernel.maker(op.operands[0]);
  return made->kind == OpKind::Group ? std::string(made->text("type"))
                                     : type_text(kernel.type(op.operands[0]).element());
}

std::set<WgmmaFunction> products_of(const ir::Kernel& kernel) {
  std::set<WgmmaFunction> out;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (ir::calls(op, LibraryKind::StartProduct)) out.insert(product_of(kernel, op));
  });
  return out;
}

std::map<std::string, CopiedBox> boxes_of(const ir::Kernel& kernel) {
  std::map<std::string, CopiedBox> out;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (!ir::calls(op, LibraryKind::CopyBox) && !ir::calls(op, LibraryKind::StoreBox)) return;
    const std::vector<std::int64_t> numbers = op.integers("numbers");
    out[std::string(op.text("map"))] = {static_cast<int>(numbers[0]), static_cast<int>(numbers[1]),
                                        static_cast<int>(numbers[2])};
  });
  return out;
}

}  // namespace tilewright
