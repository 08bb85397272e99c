// SPDX-License-Identifier: Apache-2.0
// codegen/print/dot_calls.cpp — the functions of device_lib/cuda/mma.cuh by their rows of the
// library's table.
#include "codegen/print/dot_calls.h"

#include <fmt/format.h>

#include "machine/library.h"

namespace tilewright {
namespace {

std::string called_name(const ir::Op& op) {
  if (op.text("function") == name_of(LibraryKind::Mma)) return std::string(op.text("unit"));
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  if (numbers[1] > 1) return fmt::format("load_bytes_transposed<{}>", numbers[1] - 1);
  return fmt::format("load_matrices{}<{}>", numbers[1] == 1 ? "_transposed" : "", numbers[0]);
}

}  // namespace

std::string dot_call(const ExpressionPrinter& expressions, const ir::Op& op) {
  std::string arguments;
  for (const ir::Value value : op.operands)
    arguments += (arguments.empty() ? "" : ", ") + expressions.condition(value);
  return fmt::format("tw::{}({});", called_name(op), arguments);
}

}  // namespace tilewright
