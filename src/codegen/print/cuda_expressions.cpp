// SPDX-License-Identifier: Apache-2.0
// codegen/print/cuda_expressions.cpp — what CUDA C++ spells otherwise than the host's.
#include "codegen/print/cuda_expressions.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "codegen/text/names.h"
#include "ir/calls.h"
#include "ir/roles.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Whether a pointer goes through control flow or an array, where one to const data could meet
// another.
bool mixes_pointers(const ir::Kernel& kernel) {
  bool mixes = false;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    const bool may_mix = op.facts().is(ir::Family::Control) ||
                         (op.facts().is(ir::Family::Elementwise) && op.kind != OpKind::Offset);
    for (const ir::Value value : op.results)
      mixes |= kernel.type(value).is_pointer && (may_mix || kernel.type(value).is_array());
  });
  return mixes;
}

int first_axis(const ir::Kernel& kernel) {
  std::int64_t axis = 3;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind == OpKind::ProgramId) axis = std::min(axis, op.integer("axis"));
  });
  return axis == 3 ? 0 : static_cast<int>(axis);
}

}  // namespace

CudaExpressions::CudaExpressions(const ir::Kernel& kernel)
    : ExpressionPrinter(kernel),
      keeps_const_(!mixes_pointers(kernel)),
      shared_axis_(first_axis(kernel)),
      is_persistent_(ir::is_persistent(kernel)) {}

std::string CudaExpressions::type(ir::Value value) const {
  const ir::Op* made = kernel_.maker(value);
  if (made && ir::calls(*made, LibraryKind::Describe)) return "tw::Descriptor";
  const std::string text = ExpressionPrinter::type(value);
  const Type& type = kernel_.type(value);
  if (!type.is_pointer || type.is_array() || !keeps_const_) return text;
  ir::Value root = value;
  for (const ir::Op* maker = kernel_.maker(root);
       maker && (maker->kind == OpKind::Offset || maker->kind == OpKind::Hint);
       maker = kernel_.maker(root))
    root = maker->operands[0];
  const bool is_const = std::any_of(kernel_.arguments.begin(), kernel_.arguments.end(),
                                    [&](const ir::KernelArgument& argument) {
                                      return argument.value == root && argument.is_const;
                                    });
  return is_const ? "const " + text : text;
}

std::string CudaExpressions::cache(const ir::Op& op) {
  const std::string_view how = op.text("cache");
  return how.empty() ? "" : fmt::format("<tw::Cache::{}>", camel_case(how));
}

// ---- Programs and threads

std::string CudaExpressions::program(int axis) const {
  if (kernel_.shape.programs > 1 && axis == shared_axis_) return "program_id";
  if (kernel_.shape.cluster > 1 && axis == 0)
    return fmt::format("tw::cluster_index<{}>()", kernel_.shape.cluster);
  return fmt::format("i32(blockIdx.{})", axes[static_cast<std::size_t>(axis)]);
}

std::string CudaExpressions::programs(int axis) const {
  const bool is_given =
      kernel_.shape.programs > 1 ? axis == shared_axis_ : is_persistent_ && axis == 0;
  if (is_given) return "programs";
  if (kernel_.shape.cluster > 1 && axis == 0)
    return fmt::format("tw::cluster_count<{}>()", kernel_.shape.cluster);
  return fmt::format("i32(gridDim.{})", axes[static_cast<std::size_t>(axis)]);
}

std::string CudaExpressions::blocks() const { return "int(gridDim.x)"; }
std::string CudaExpressions::thread() const { return "thread"; }
std::string CudaExpressions::thread_again() const { return "int(threadIdx.x)"; }

// ---- Ops

std::string CudaExpressions::digit(const ir::Op& op) const {
  const auto over = static_cast<std::uint64_t>(op.integer("over"));
  const auto of = static_cast<std::uint64_t>(op.integer("of", 1));
  if (!std::has_single_bit(over) || !std::has_single_bit(of)) return ExpressionPrinter::digit(op);
  std::string text = operand(op.operands[0]);
  if (over > 1) text += fmt::format(" >> {}", std::countr_zero(over));
  if (op.integer("of") > 0) text += fmt::format(" & {}", of - 1);
  return text;
}

std::string CudaExpressions::load(const ir::Op& op) const {
  need("memory");
  const Type& type = kernel_.type(op.result());
  const std::string pointer = condition(op.operands[0]);
  const bool is_volatile = op.integer("volatile") != 0;
  std::string text = is_volatile ? fmt::format("tw::load_volatile({})", pointer)
                                 : fmt::format("tw::load_one{}({})", cache(op), pointer);
  if (op.operands.size() > 1) {
    std::string other = operand(op.operands[2]);
    if (type.is_bool()) other = "u8(" + other + ")";
    text = is_volatile ? fmt::format("{} ? {} : {}", operand(op.operands[1]), text, other)
                       : fmt::format("tw::load_if{}({}, {}, {})", cache(op),
                                     condition(op.operands[1]), pointer, other);
  }
  return type.is_bool() ? atom(text) + " != 0" : text;
}

std::string CudaExpressions::atomic(const ir::Op& op) const {
  need("atomics");
  const bool is_cas = op.kind == OpKind::AtomicCas;
  std::string_view name = is_cas ? "cas" : op.text("op");
  if (name == "fadd") name = "add";
  std::string out = fmt::format("tw::atomic_{}<tw::Order::{}, tw::Scope::{}>({}, {}", name,
                                camel_case(op.text("order")), camel_case(op.text("scope")),
                                condition(op.operands[0]), condition(op.operands[1]));
  if (is_cas) out += ", " + condition(op.operands[2]);
  return out + ")";
}

// "reinterpret_cast<f16*>(shared_row) + int(threadIdx.x) * 8"
std::string CudaExpressions::own_row(const ir::Op& op) const {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const std::string place = kernel_.shape.cluster == 1
                                ? fmt::format("int(threadIdx.x) * {}", numbers[1])
                                : fmt::format("tw::own_place<{}, {}, {}>()", numbers[2], numbers[1],
                                              numbers[0] * numbers[2]);
  return fmt::format("reinterpret_cast<{}>(shared_row) + {}", type(op.result()), place);
}

// "x + thread * 4 + k * 512"
std::string CudaExpressions::offset(const ir::Op& op) const {
  const ir::Op* base = kernel_.maker(op.operands[0]);
  const bool is_sum = base && base->kind == OpKind::Offset && is_inlined(*base);
  const ir::Op* by = kernel_.maker(op.operands[1]);
  const bool is_product = by && by->kind == OpKind::Linear && by->integers("factors").size() == 1 &&
                          by->integer("offset") == 0;
  return fmt::format("{} + {}", is_sum ? expression(*base) : operand(op.operands[0]),
                     is_product ? argument(op.operands[1]) : operand(op.operands[1]));
}

std::string CudaExpressions::computed(const ir::Op& op) const {
  if (op.kind == OpKind::Offset) return offset(op);
  if (op.kind == OpKind::Hint) return condition(op.operands[0]);
  std::vector<OperandText> operands = operands_of(op);
  if (op.kind == OpKind::Cast || op.kind == OpKind::Math)
    for (std::size_t k = 0; k < operands.size(); ++k) operands[k].text = condition(op.operands[k]);
  const std::string wrapped = op.integer("wraps") != 0 ? wrapping_text(op, operands) : "";
  const std::string text =
      wrapped.empty() ? expression_text(op, kernel_.type(op.result()), operands) : wrapped;
  if (op.kind == OpKind::Math) need("math");
  if (text.find("tw::") != std::string::npos) need("arithmetic");
  return text;
}

}  // namespace tilewright
