// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/rows_ahead.cpp — rows that the next program will read, asked for while this one
// writes its result. A program that goes over its row several times (a softmax, a norm) leaves the
// memory idle except in its first and its last loop; the processor's own prefetcher does not know
// of the next row.
#include <algorithm>

#include "codegen/cpu/program.h"
#include "passes/axis_info.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

bool is_row_of(const Type& type, const Type& row) {
  return type.rank == 1 && row.rank == 1 && type.size(0) == row.size(0);
}

// A program without a reduction reads its row in the loop that writes the result.
bool has_reduction_of(const ir::Kernel& kernel, const Type& row) {
  return std::any_of(kernel.body.ops.begin(), kernel.body.ops.end(), [&](const ir::Op* op) {
    return op->kind == OpKind::Reduce && is_row_of(kernel.type(op->operands[0]), row);
  });
}

}  // namespace

// What a scalar or pointer grows by from one program to the next along x, as text; empty: it stays;
// none: not known.
std::optional<std::string> ProgramWriter::growth(ir::Value value) {
  const ir::Op* op = kernel_.maker(value);
  if (!op) {
    const auto is_value = [&](const ir::KernelArgument& argument) {
      return argument.value == value;
    };
    const bool is_argument =
        std::any_of(kernel_.arguments.begin(), kernel_.arguments.end(), is_value);
    return is_argument ? std::optional<std::string>("") : std::nullopt;
  }
  if (op->kind == OpKind::ProgramId) return op->integer("axis") == 0 ? "1" : "";
  if (!op->regions.empty()) return std::nullopt;
  std::vector<std::string> parts;
  for (const ir::Value operand : op->operands) {
    const std::optional<std::string> part = growth(operand);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  if (std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); }))
    return "";
  switch (op->kind) {
    case OpKind::Cast:
    case OpKind::Hint:
      return parts[0];
    case OpKind::Add:
    case OpKind::Offset:
      if (parts[0].empty() || parts[1].empty()) return parts[0] + parts[1];
      return fmt::format("{} + {}", parts[0], parts[1]);
    case OpKind::Multiply: {
      const std::size_t grows = parts[0].empty() ? 1 : 0;
      if (!parts[1 - grows].empty()) return std::nullopt;
      const std::string factor = atom(text(op->operands[1 - grows]));
      return parts[grows] == "1" ? factor : fmt::format("{} * {}", atom(parts[grows]), factor);
    }
    default:
      return std::nullopt;
  }
}

// Where the next program's rows begin that are as long as the one that `store` writes.
std::vector<std::string> ProgramWriter::rows_ahead(const ir::Op& store) {
  std::vector<std::string> rows;
  const Type& row = kernel_.type(store.operands[1]);
  if (!has_reduction_of(kernel_, row)) return rows;
  for (const ir::Op* op : kernel_.body.ops) {
    if (op->kind != OpKind::Load || !is_row_of(kernel_.type(op->operands[0]), row)) continue;
    const ir::Op* pointer = kernel_.maker(op->operands[0]);
    if (!pointer || pointer->kind != OpKind::Affine || constant(pointer->operands[1]) != 1)
      continue;
    const std::optional<std::string> step = growth(pointer->operands[0]);
    if (!step || step->empty()) continue;
    rows.push_back(fmt::format("{} + {}", text(pointer->operands[0]), *step));
  }
  return rows;
}

// Whether the row that `store` writes begins where a cache line does, as far as can be known. Parts
// of any other row end within lines, which are then written twice.
bool ProgramWriter::begins_at_line(const ir::Op& store) const {
  constexpr std::int64_t known_alignment = 16;
  return AxisAnalysis(kernel_).is_multiple(kernel_.maker(store.operands[0])->operands[0],
                                           known_alignment);
}

}  // namespace tilewright
