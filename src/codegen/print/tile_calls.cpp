// SPDX-License-Identifier: Apache-2.0
// codegen/print/tile_calls.cpp — calls that work on whole tiles in arrays, and lines that are
// printed.
#include <fmt/format.h>

#include "base/check.h"
#include "base/quote.h"
#include "codegen/print/statements.h"
#include "ir/calls.h"

namespace tilewright {

using ir::Type;

void StatementPrinter::tile_call(const ir::Op& op) {
  const LibraryKind function = ir::function_of(op).kind;
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const std::string arguments = expressions_.arguments(op);
  if (function == LibraryKind::Dot)
    return out_.format("tw::dot<{}, {}, {}>({});", numbers[0], numbers[1], numbers[2], arguments);
  if (function == LibraryKind::RunningSum)
    return out_.format("tw::running_sum<{}>({});", numbers[0] != 0, arguments);
  TW_CHECK(function == LibraryKind::MergeRuns, "'{}' works on no tile", op.text("function"));
  out_.format("tw::merge_runs<{}, {}, tw::SortOrder::{}>({});", numbers[0], numbers[1],
              sort_orders[numbers[2]], arguments);
}

void StatementPrinter::print(const ir::Op& op) {
  const std::string prefix = cpp_string(op.text("prefix"));
  if (op.operands.empty()) return out_.format("tw::print_line(id, -1, {}, {{}});", prefix);
  const Type& type = kernel_.type(op.operands[0]);
  const std::string written = operand(op.operands[0]);
  std::string shown = fmt::format("tw::print_text({})", written);
  if (type.is_pointer || (op.integer("hex") != 0 && !type.is_float()))
    shown = fmt::format("tw::print_hex((u64)({}))", written);
  else if (!type.is_float())
    shown =
        fmt::format("tw::print_text({}({}))", type.dtype == DType::UInt64 ? "u64" : "i64", written);
  out_.format("tw::print_line(id, {}, {}, {});",
              op.operands.size() > 1 ? expressions_.argument(op.operands[1]) : "-1", prefix, shown);
}

}  // namespace tilewright
