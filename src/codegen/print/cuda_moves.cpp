// SPDX-License-Identifier: Apache-2.0
// codegen/print/cuda_moves.cpp — the name of the function says what is guarded, its template
// arguments how much moves.
#include "codegen/print/cuda_moves.h"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "codegen/text/names.h"

namespace tilewright {

using ir::OpKind;

namespace {

std::string template_arguments(const ir::Op& op) {
  const std::int64_t count = op.integer("count"), width = op.integer("width");
  const std::string cache = CudaExpressions::cache(op);
  std::string out = fmt::format("{}", count);
  if (width != count || !cache.empty()) out += fmt::format(", {}", width);
  if (!cache.empty()) out += ", " + cache.substr(1, cache.size() - 2);
  return out;
}

// "tw::copy_whole<8, tw::lingering>(x_row + k * 4096, x + i, i < n, 0.0f);"
std::string copied_vector(const ir::Op& op, std::size_t guards, const std::string& arguments) {
  return fmt::format("tw::copy{}<{}{}>({});", guards == 1 ? "_whole" : "_guarded",
                     op.integer("count"), op.text("cache").empty() ? "" : ", tw::lingering",
                     arguments);
}

// Stored elements come last there.
std::string rotated_vector(const CudaExpressions& expressions, const ir::Op& op) {
  const std::string numbers = fmt::format("{}, {}", op.integer("rotates"), template_arguments(op));
  if (op.kind == OpKind::LoadTo)
    return fmt::format("tw::{}<{}>({});",
                       op.integer("shifted") != 0 ? "load_apart" : "load_rotated", numbers,
                       expressions.conditions(op));
  std::string row = expressions.condition(op.operands[0]);
  for (std::size_t k = 2; k < op.operands.size(); ++k)
    row += ", " + expressions.condition(op.operands[k]);
  return fmt::format("tw::store_rotated<{}>({}, {});", numbers, row,
                     expressions.condition(op.operands[1]));
}

std::string vector(const CudaExpressions& expressions, const ir::Kernel& kernel, const ir::Op& op) {
  const bool loads = op.kind == OpKind::LoadTo;
  const std::size_t guards = op.operands.size() == 2 ? 0 : op.operands.size() - (loads ? 3 : 2);
  const std::string arguments = expressions.conditions(op);
  expressions.need("memory");
  if (op.integer("copies") != 0) {
    expressions.need("async_copy");
    return copied_vector(op, guards, arguments);
  }
  if (op.integer("rotates") != 0) return rotated_vector(expressions, op);
  std::string name = loads ? "load" : "store", numbers = template_arguments(op);
  if (!loads && kernel.type(op.operands[0]).is_array()) name = "store_shared";
  if (const std::string_view order = op.text("adds"); !order.empty()) {
    expressions.need("atomics");
    name = "add_vector";
    numbers = fmt::format("tw::Order::{}, tw::Scope::{}, {}, {}", camel_case(order),
                          camel_case(op.text("scope")), op.integer("count"), op.integer("width"));
  }
  const char* moves = op.integer("parts") != 0 ? "_parts" : "_guarded";
  return fmt::format("tw::{}{}<{}>({});", name,
                     guards == 0   ? ""
                     : guards == 1 ? "_whole"
                                   : moves,
                     numbers, arguments);
}

// "tw::copy_async<16>(a_slot + at, a_ptr + i, i < n);"
std::string copy(const CudaExpressions& expressions, const ir::Kernel& kernel, const ir::Op& op) {
  expressions.need("async_copy");
  const std::size_t bytes = kernel.type(op.operands[0]).element().element_bytes();
  std::string arguments =
      expressions.condition(op.operands[0]) + ", " + expressions.condition(op.operands[1]);
  const bool may_start = op.operands.size() > 3;
  if (may_start) arguments += ", " + expressions.condition(op.operands[3]);
  if (op.operands.size() > 2) arguments += ", " + expressions.condition(op.operands[2]);
  return fmt::format("tw::copy_async{}<{}>({});", may_start ? "_if" : "",
                     op.integer("count") * static_cast<std::int64_t>(bytes), arguments);
}

std::string store(const CudaExpressions& expressions, const ir::Kernel& kernel, const ir::Op& op) {
  expressions.need("memory");
  const std::string cache = CudaExpressions::cache(op);
  const std::string pointer = expressions.condition(op.operands[0]);
  std::string value = expressions.condition(op.operands[1]);
  if (kernel.type(op.operands[1]).is_bool()) value = "u8(" + value + ")";
  if (op.operands.size() < 3) return fmt::format("tw::store_one{}({}, {});", cache, pointer, value);
  return fmt::format("tw::store_if{}({}, {}, {});", cache, expressions.condition(op.operands[2]),
                     pointer, value);
}

}  // namespace

std::string move_text(const CudaExpressions& expressions, const ir::Kernel& kernel,
                      const ir::Op& op) {
  if (op.kind == OpKind::Store) return store(expressions, kernel, op);
  if (op.kind == OpKind::CopyTo) return copy(expressions, kernel, op);
  return vector(expressions, kernel, op);
}

}  // namespace tilewright
