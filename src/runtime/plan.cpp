// SPDX-License-Identifier: Apache-2.0
// runtime/plan.cpp — a stack machine over the postfix form.
#include "runtime/plan.h"

#include <algorithm>

#include "base/check.h"

namespace tilewright {
namespace {

constexpr int max_depth = 16;

// How many values an op takes off the stack; every op puts one on.
constexpr int operands_of(PlanOp::Kind kind) {
  if (kind <= PlanOp::Kind::Processors) return 0;
  return kind == PlanOp::Kind::IsAligned ? 1 : 2;
}
static_assert(operands_of(PlanOp::Kind::Constant) == 0 && operands_of(PlanOp::Kind::Add) == 2 &&
              operands_of(PlanOp::Kind::IsMultiple) == 2);

[[noreturn]] void throw_no_value(const PlanInputs& inputs, const char* problem) {
  throw ArgumentError(fmt::format(
      "kernel '{}' cannot be launched with these arguments and sizes: its launch plan {}",
      inputs.kernel, problem));
}

std::int64_t checked_divisor(std::int64_t divisor, const PlanInputs& inputs) {
  if (divisor == 0) throw_no_value(inputs, "divides by zero");
  // The one quotient that does not fit, minimum / -1, is not worth a case of its own.
  if (divisor == -1) throw_no_value(inputs, "divides by -1");
  return divisor;
}

std::int64_t ceil_divide(std::int64_t left, std::int64_t right) {
  const std::int64_t quotient = left / right;
  const bool rounds_up = left % right != 0 && (left < 0) == (right < 0);
  return quotient + (rounds_up ? 1 : 0);
}

std::int64_t combine(PlanOp::Kind kind, std::int64_t left, std::int64_t right,
                     const PlanInputs& inputs) {
  std::int64_t result = 0;
  bool overflows = false;
  switch (kind) {
    case PlanOp::Kind::Add:
      overflows = __builtin_add_overflow(left, right, &result);
      break;
    case PlanOp::Kind::Subtract:
      overflows = __builtin_sub_overflow(left, right, &result);
      break;
    case PlanOp::Kind::Multiply:
      overflows = __builtin_mul_overflow(left, right, &result);
      break;
    case PlanOp::Kind::Divide:
      result = left / checked_divisor(right, inputs);
      break;
    case PlanOp::Kind::CeilDivide:
      result = ceil_divide(left, checked_divisor(right, inputs));
      break;
    case PlanOp::Kind::Modulo:
      result = left % checked_divisor(right, inputs);
      break;
    case PlanOp::Kind::Minimum:
      result = std::min(left, right);
      break;
    case PlanOp::Kind::Maximum:
      result = std::max(left, right);
      break;
    case PlanOp::Kind::IsMultiple:
      result = left % checked_divisor(right, inputs) == 0;
      break;
    default:
      TW_UNREACHABLE("plan op {} takes no two operands", static_cast<int>(kind));
  }
  if (overflows) throw_no_value(inputs, "overflows 64 bits");
  return result;
}

std::int64_t leaf(const PlanOp& op, const PlanInputs& inputs) {
  const auto index = static_cast<std::size_t>(op.value);
  switch (op.kind) {
    case PlanOp::Kind::Constant:
      return op.value;
    case PlanOp::Kind::Grid:
      return inputs.grid[index];
    case PlanOp::Kind::Block:
      return inputs.block[index];
    case PlanOp::Kind::SharedBytes:
      return inputs.shared_bytes;
    case PlanOp::Kind::Argument:
      return integer_of_bits(inputs.parameters[index].dtype, inputs.values[index]);
    case PlanOp::Kind::Processors:
      return inputs.processors;
    default:
      TW_UNREACHABLE("plan op {} is no leaf", static_cast<int>(op.kind));
  }
}

bool refers_to_what_exists(const PlanOp& op, std::span<const Parameter> parameters) {
  const auto index = static_cast<std::size_t>(op.value);
  switch (op.kind) {
    case PlanOp::Kind::Grid:
    case PlanOp::Kind::Block:
      return index < 3;
    case PlanOp::Kind::Argument:
      return index < parameters.size() && parameters[index].kind == Parameter::Kind::Scalar &&
             !is_floating(parameters[index].dtype);
    case PlanOp::Kind::IsAligned:
      return index < parameters.size() && parameters[index].kind == Parameter::Kind::Pointer;
    default:
      return true;
  }
}

}  // namespace

std::int64_t integer_of_bits(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::Int8:
      return static_cast<std::int8_t>(bits);
    case DType::Int16:
      return static_cast<std::int16_t>(bits);
    case DType::Int32:
      return static_cast<std::int32_t>(bits);
    case DType::Bool:
    case DType::UInt8:
      return static_cast<std::uint8_t>(bits);
    case DType::UInt16:
      return static_cast<std::uint16_t>(bits);
    case DType::UInt32:
      return static_cast<std::uint32_t>(bits);
    default:
      return static_cast<std::int64_t>(bits);
  }
}

// The topmost value is kept out of the stack, and so is a leaf that the next op takes at once: most
// operators have a constant on their right.
std::int64_t evaluate(const PlanExpression& expression, const PlanInputs& inputs) {
  std::int64_t below[max_depth];
  int depth = 0;
  std::int64_t top = 0;
  const PlanOp* const last = expression.data() + expression.size();
  for (const PlanOp* op = expression.data(); op != last; ++op) {
    std::int64_t left = 0, right = 0;
    if (operands_of(op->kind) == 0) {
      const std::int64_t value = leaf(*op, inputs);
      if (op + 1 == last || operands_of(op[1].kind) != 2) {
        below[depth++] = top;
        top = value;
        continue;
      }
      ++op;
      left = top;
      right = value;
    } else if (operands_of(op->kind) == 1) {
      const auto divisor = static_cast<std::uint64_t>(checked_divisor(top, inputs));
      top = inputs.values[op->value] % divisor == 0;
      continue;
    } else {
      right = top;
      left = below[--depth];
    }
    top = combine(op->kind, left, right, inputs);
  }
  return top;
}

PlanExpression simplified(const PlanExpression& expression, std::int64_t processors) {
  PlanExpression out;
  const auto is_constant = [&](std::size_t from_end) {
    return out.size() >= from_end && out[out.size() - from_end].kind == PlanOp::Kind::Constant;
  };
  for (PlanOp op : expression) {
    if (op.kind == PlanOp::Kind::Processors) op = {PlanOp::Kind::Constant, processors};
    out.push_back(op);
    if (operands_of(op.kind) != 2 || !is_constant(2) || !is_constant(3)) continue;
    const std::int64_t grid[3] = {}, block[3] = {};
    const std::string kernel;
    try {
      op = {PlanOp::Kind::Constant,
            evaluate({out.end() - 3, out.end()}, {kernel, {}, nullptr, grid, block})};
    } catch (const ArgumentError&) {
      continue;  // the launch will say so, with the kernel's name
    }
    out.resize(out.size() - 3);
    out.push_back(op);
  }
  return out;
}

void check_expression(const PlanExpression& expression, const std::string& kernel,
                      std::span<const Parameter> parameters) {
  if (expression.empty()) return;
  int depth = 0;
  for (const PlanOp& op : expression) {
    const int operands = operands_of(op.kind);
    TW_CHECK(depth >= operands, "a plan expression of kernel '{}' takes more values than it has",
             kernel);
    TW_CHECK(refers_to_what_exists(op, parameters),
             "a plan expression of kernel '{}' refers to number {}", kernel, op.value);
    depth += 1 - operands;
    TW_CHECK(depth <= max_depth, "a plan expression of kernel '{}' is too deep", kernel);
  }
  TW_CHECK(depth == 1, "a plan expression of kernel '{}' leaves {} values", kernel, depth);
}

}  // namespace tilewright
