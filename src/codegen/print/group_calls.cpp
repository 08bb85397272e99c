// SPDX-License-Identifier: Apache-2.0
// codegen/print/group_calls.cpp — the functions of device_lib/cuda/wgmma.cuh and ring.cuh by their
// rows of the library's table.
#include "codegen/print/group_calls.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "machine/library.h"
#include "machine/units.h"

namespace tilewright {

using ir::OpKind;

namespace {

// The functions that are written here, and the parts of the device library that have them.
struct GroupPart {
  LibraryKind function;
  const char* name;
};
constexpr GroupPart group_parts[] = {
    {LibraryKind::SwapLanes, "warp"},       {LibraryKind::ShowToProducts, "wgmma"},
    {LibraryKind::BeginProducts, "wgmma"},  {LibraryKind::StartProduct, "wgmma"},
    {LibraryKind::CommitProducts, "wgmma"}, {LibraryKind::WaitProducts, "wgmma"},
    {LibraryKind::TakeProducts, "wgmma"},   {LibraryKind::ComputeBefore, "wgmma"},
    {LibraryKind::SetUpRing, "ring"},       {LibraryKind::PrefetchMap, "ring"},
    {LibraryKind::AcquireSlot, "ring"},     {LibraryKind::CopyBox, "ring"},
    {LibraryKind::AwaitSlot, "ring"},       {LibraryKind::ReleaseSlot, "ring"},
    {LibraryKind::StoreBox, "ring"},        {LibraryKind::WaitBoxes, "ring"},
};

LibraryKind called_kind(const ir::Op& op) {
  const LibraryFunction* function = find_library_function(op.text("function"));
  TW_CHECK(function, "the library has no function '{}'", op.text("function"));
  return function->kind;
}

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

// "tw::await<3>(words, u32(position));"
std::string call_text(const ExpressionPrinter& expressions, const ir::Op& op, std::string_view name,
                    const std::vector<std::int64_t>& templates, const std::string& more = "") {
  std::vector<std::string> arguments;
  for (const ir::Value value : op.operands) arguments.push_back(expressions.condition(value));
  if (!more.empty()) arguments.push_back(more);
  return fmt::format("tw::{}{}({});", name,
                     templates.empty() ? "" : fmt::format("<{}>", fmt::join(templates, ", ")),
                     fmt::join(arguments, ", "));
}

// The map comes behind where the box goes or comes from.
std::string box_text(const ExpressionPrinter& expressions, const ir::Op& op,
                     std::string_view name) {
  std::string arguments = expressions.condition(op.operands[0]);
  arguments += fmt::format(", {}", op.text("map"));
  for (std::size_t k = 1; k < op.operands.size(); ++k)
    arguments += ", " + expressions.condition(op.operands[k]);
  return fmt::format("tw::{}({});", name, arguments);
}

bool is_box(LibraryKind function) {
  return function == LibraryKind::CopyBox || function == LibraryKind::StoreBox;
}

}  // namespace

std::string group_call(const ExpressionPrinter& expressions, const ir::Kernel& kernel,
                       const ir::Op& op) {
  const LibraryKind function = called_kind(op);
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  if (function == LibraryKind::StoreBox && numbers[3] != 0)
    return box_text(expressions, op, "add_map");
  if (is_box(function)) return box_text(expressions, op, op.text("function"));
  if (function == LibraryKind::PrefetchMap)
    return fmt::format("tw::prefetch_map({});", op.text("map"));
  if (function == LibraryKind::SetUpRing || function == LibraryKind::AcquireSlot)
    return call_text(expressions, op, op.text("function"), {numbers[0]},
                   fmt::format("{}", numbers[1]));
  if (function == LibraryKind::StartProduct)
    return call_text(expressions, op, product_of(kernel, op).name(), {});
  return call_text(expressions, op, op.text("function"), numbers);
}

const char* group_part(const ir::Op& op) {
  const LibraryKind function = called_kind(op);
  for (const GroupPart& part : group_parts)
    if (part.function == function) return part.name;
  return nullptr;
}

std::set<WgmmaFunction> products_of(const ir::Kernel& kernel) {
  std::set<WgmmaFunction> out;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::Call && called_kind(op) == LibraryKind::StartProduct)
      out.insert(product_of(kernel, op));
  });
  return out;
}

std::map<std::string, CopiedBox> boxes_of(const ir::Kernel& kernel) {
  std::map<std::string, CopiedBox> out;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::Call || !is_box(called_kind(op))) return;
    const std::vector<std::int64_t> numbers = op.integers("numbers");
    out[std::string(op.text("map"))] = {static_cast<int>(numbers[0]), static_cast<int>(numbers[1]),
                                        static_cast<int>(numbers[2])};
  });
  return out;
}

}  // namespace tilewright
