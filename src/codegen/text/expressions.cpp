// SPDX-License-Identifier: Apache-2.0
// codegen/text/expressions.cpp — types, casts and every elementwise op.
#include "codegen/text/expressions.h"

#include <cctype>

#include <fmt/format.h>

#include "base/check.h"

namespace tilewright {
namespace {

using ir::OpKind;
using ir::Type;

bool is_small_float(const Type& type) {
  return type.is_float() && type.dtype != DType::Float32 && type.dtype != DType::Float64;
}

bool is_narrow_int(const Type& type) { return type.is_int() && size_of(type.dtype) < 4; }

std::string element_name(DType dtype) {
  return dtype == DType::Bool ? "bool" : std::string(ir::short_name_of(dtype));
}

// ---- Casts

std::string call(std::string_view function, const std::string& argument) {
  return fmt::format("{}({})", function, argument);
}

// A float of any width as an f32 or f64 that holds it exactly.
std::string widened(const Type& from, const std::string& text) {
  return is_small_float(from) ? call("tw::to_f32", text) : text;
}

std::string cast_to_small_float(const Type& from, const Type& to, const std::string& text,
                                std::string_view rounding) {
  const std::string function =
      fmt::format("tw::to_{}{}{}", element_name(to.dtype), rounding.empty() ? "" : "_", rounding);
  if (from.is_float()) return call(function, widened(from, text));
  // By way of double, so that a wide integer is rounded to the small type only once.
  const bool is_wide = !from.is_bool() && size_of(from.dtype) >= 4;
  return call(function, call(is_wide ? "f64" : "f32", text));
}

std::string pointer_cast(const Type& to, const std::string& text) {
  return fmt::format("({}){}", type_text(to.element()), atom(text));
}

}  // namespace

std::string type_text(const Type& type) {
  if (!type.is_pointer) return element_name(type.dtype);
  return (type.dtype == DType::Bool ? "u8" : element_name(type.dtype)) + "*";
}

std::string atom(const std::string& text) {
  int depth = 0;
  bool is_plain = !text.empty() && text[0] != '(';
  for (const char c : text) {
    if (c == '(' || c == '<' || c == '[') ++depth;
    const bool is_word =
        std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':';
    if (depth == 0 && !is_word) is_plain = false;
    if (c == ')' || c == '>' || c == ']') --depth;
  }
  // "a < b" opens a bracket that never closes.
  if (is_plain && depth == 0 && text.find(" < ") == std::string::npos) return text;
  if (text.starts_with('(') && text.ends_with(')')) {
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (open == 0) {
        if (i + 1 == text.size()) return text;
        break;
      }
    }
  }
  return "(" + text + ")";
}

std::string cast_text(const Type& from, const Type& to, const std::string& text,
                      std::string_view rounding) {
  if (from.element() == to.element()) return text;
  if (from.is_pointer || to.is_pointer) return pointer_cast(to, text);
  if (to.is_bool()) {
    const std::string wide = widened(from, text);
    return fmt::format("{} != 0", atom(wide));
  }
  if (is_small_float(to)) return cast_to_small_float(from, to, text, rounding);
  const std::string name = element_name(to.dtype);
  if (to.is_float()) {
    const bool narrows = from.dtype == DType::Float64 && to.dtype == DType::Float32;
    if (narrows && rounding == "rtz") return call("tw::to_f32_rtz", text);
    if (is_small_float(from) && to.dtype == DType::Float32) return widened(from, text);
    return call(name, widened(from, text));
  }
  if (from.is_float()) return call(fmt::format("tw::to_int<{}>", name), widened(from, text));
  return call(name, text);
}

namespace {

// ---- Ops

using Operands = std::span<const OperandText>;

std::string narrowed(const Type& type, std::string text) {
  return is_narrow_int(type) ? call(element_name(type.dtype), text) : text;
}

std::string infix(const Type& result, Operands in, std::string_view sign) {
  return narrowed(result, fmt::format("{} {} {}", in[0].text, sign, in[1].text));
}

std::string call2(std::string_view function, Operands in) {
  return fmt::format("tw::{}({}, {})", function, in[0].text, in[1].text);
}

std::string multiply(const Type& result, Operands in) {
  // A product of two u16 is one of two ints, which may overflow.
  if (result.dtype == DType::UInt16)
    return fmt::format("u16(u32({}) * u32({}))", in[0].text, in[1].text);
  return infix(result, in, "*");
}

// Whether a division of integers can neither overflow nor be one by zero.
bool is_safe_division(Operands in) {
  return in[1].constant && *in[1].constant != 0 && *in[1].constant != -1;
}

bool divides_fast(const ir::Op& op, const Type& result) {
  return result.dtype == DType::Float32 && op.integer("exact") == 0;
}

std::string divide(const ir::Op& op, const Type& result, Operands in) {
  if (result.is_float())
    return divides_fast(op, result) ? call2("divide_fast", in) : infix(result, in, "/");
  if (is_safe_division(in)) return infix(result, in, "/");
  return call2(op.number("divisor_from", 0) > 0 ? "divide_by_count" : "divide", in);
}

std::string remainder(const Type& result, Operands in) {
  if (result.is_float()) return call2("fmod", in);
  return is_safe_division(in) ? infix(result, in, "%") : call2("remainder", in);
}

bool is_plain_shift(const Type& result, Operands in) {
  const auto width = static_cast<std::int64_t>(size_of(result.dtype)) * 8;
  return in[1].constant && *in[1].constant >= 0 && *in[1].constant < width;
}

std::string shift(const ir::Op& op, const Type& result, Operands in) {
  const bool is_left = op.kind == OpKind::ShiftLeft;
  if (is_plain_shift(result, in))
    return narrowed(result,
                    fmt::format("{} {} {}", in[0].text, is_left ? "<<" : ">>", *in[1].constant));
  return call2(is_left ? "shift_left" : "shift_right", in);
}

std::string extreme(const ir::Op& op, const Type& result, Operands in) {
  const std::string name = op.kind == OpKind::Minimum ? "min" : "max";
  if (!result.is_float()) return call2(name, in);
  return call2(name + (op.text("nan") == "propagate" ? "_nan" : "_number"), in);
}

std::string compare(const ir::Op& op, Operands in) {
  static constexpr std::pair<std::string_view, std::string_view> signs[] = {
      {"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}};
  for (const auto& [name, sign] : signs)
    if (name == op.text("is")) return fmt::format("{} {} {}", in[0].text, sign, in[1].text);
  TW_UNREACHABLE("compare has no predicate '{}'", op.text("is"));
}

std::string bitwise(const Type& result, Operands in, std::string_view sign) {
  // Bools: & and | of bools are ints that are 0 or 1.
  const std::string text = fmt::format("{} {} {}", in[0].text, sign, in[1].text);
  return result.is_bool() ? call("bool", text) : narrowed(result, text);
}

std::string bitcast(const Type& result, Operands in) {
  if (in[0].type.is_pointer || result.is_pointer) return pointer_cast(result, in[0].text);
  if (in[0].type.element() == result.element()) return in[0].text;
  return fmt::format("tw::bit_cast<{}>({})", element_name(result.dtype), in[0].text);
}

// A call of the function that codegen/cuda/inline_asm writes.
std::string inline_asm(const ir::Op& op, Operands in) {
  std::string text = fmt::format("{}({}", op.text("function"), in[0].text);
  for (std::size_t i = 1; i < in.size(); ++i) text += ", " + in[i].text;
  return text + ")";
}

std::string math(const ir::Op& op, const Type& result, Operands in) {
  std::string text = fmt::format("tw::{}({}", op.text("function"), in[0].text);
  for (std::size_t i = 1; i < in.size(); ++i) text += ", " + in[i].text;
  text += ")";
  // Tests and counts are ints, in whichever type the op says.
  const std::string_view name = op.text("function");
  const bool gives_int =
      name.starts_with("is") || name == "signbit" || name == "popcount" || name == "clz";
  if (!gives_int) return text;
  return result.is_bool() ? text + " != 0" : call(element_name(result.dtype), text);
}

}  // namespace

std::string expression_text(const ir::Op& op, const Type& result, Operands in) {
  if (op.facts().maps(ir::Same)) return in[0].text;
  switch (ir::elementwise_op(op.kind)) {
    case ir::ElementwiseOp::Add:
      return infix(result, in, "+");
    case ir::ElementwiseOp::Subtract:
      return infix(result, in, "-");
    case ir::ElementwiseOp::Multiply:
      return multiply(result, in);
    case ir::ElementwiseOp::MultiplyHigh:
      return call2("mulhi", in);
    case ir::ElementwiseOp::Divide:
      return divide(op, result, in);
    case ir::ElementwiseOp::Remainder:
      return remainder(result, in);
    case ir::ElementwiseOp::Minimum:
    case ir::ElementwiseOp::Maximum:
      return extreme(op, result, in);
    case ir::ElementwiseOp::And:
      return bitwise(result, in, "&");
    case ir::ElementwiseOp::Or:
      return bitwise(result, in, "|");
    case ir::ElementwiseOp::Xor:
      return bitwise(result, in, "^");
    case ir::ElementwiseOp::ShiftLeft:
    case ir::ElementwiseOp::ShiftRight:
      return shift(op, result, in);
    case ir::ElementwiseOp::Negate:
      return narrowed(result, "-" + atom(in[0].text));
    case ir::ElementwiseOp::Absolute:
      return is_signed(result.dtype) || result.is_float() ? call("tw::abs", in[0].text)
                                                          : in[0].text;
    case ir::ElementwiseOp::Fma:
      if (result.is_int())
        return narrowed(result, fmt::format("{} * {} + {}", in[0].text, in[1].text, in[2].text));
      return fmt::format("tw::fma({}, {}, {})", in[0].text, in[1].text, in[2].text);
    case ir::ElementwiseOp::Compare:
      return compare(op, in);
    case ir::ElementwiseOp::Select:
      return fmt::format("{} ? {} : {}", in[0].text, in[1].text, in[2].text);
    case ir::ElementwiseOp::Cast:
      return cast_text(in[0].type, result, in[0].text, op.text("rounding"));
    case ir::ElementwiseOp::Bitcast:
      return bitcast(result, in);
    case ir::ElementwiseOp::Math:
      return math(op, result, in);
    case ir::ElementwiseOp::InlineAsm:
      return inline_asm(op, in);
    case ir::ElementwiseOp::Offset:
      return fmt::format("{} + {}", in[0].text, in[1].text);
  }
  TW_UNREACHABLE("'{}' is no op of one element", op.facts().name);
}

namespace {

bool casts_by_library(const Type& from, const Type& to, std::string_view rounding) {
  if (from.element() == to.element() || from.is_pointer || to.is_pointer) return false;
  if (is_small_float(from) || is_small_float(to)) return true;
  if (to.is_bool()) return false;
  if (!to.is_float()) return from.is_float();
  return from.dtype == DType::Float64 && to.dtype == DType::Float32 && rounding == "rtz";
}

}  // namespace

bool is_function_call(const ir::Op& op, const Type& result, Operands in) {
  const bool is_float = result.is_float();
  const bool wraps = op.integer("wraps") != 0;
  switch (ir::elementwise_op(op.kind)) {
    case ir::ElementwiseOp::Add:
    case ir::ElementwiseOp::Subtract:
    case ir::ElementwiseOp::Multiply:
    case ir::ElementwiseOp::Negate:
      return wraps;
    case ir::ElementwiseOp::MultiplyHigh:
    case ir::ElementwiseOp::Minimum:
    case ir::ElementwiseOp::Maximum:
    case ir::ElementwiseOp::Math:
    case ir::ElementwiseOp::InlineAsm:  // a function beside the kernel
      return true;
    case ir::ElementwiseOp::Divide:
      return is_float ? divides_fast(op, result) : !is_safe_division(in);
    case ir::ElementwiseOp::Remainder:
      return is_float || !is_safe_division(in);
    case ir::ElementwiseOp::ShiftLeft:
      return wraps || !is_plain_shift(result, in);
    case ir::ElementwiseOp::ShiftRight:
      return !is_plain_shift(result, in);
    case ir::ElementwiseOp::Absolute:
      return is_float || is_signed(result.dtype);
    case ir::ElementwiseOp::Fma:
      return is_float || wraps;
    case ir::ElementwiseOp::Cast:
      return casts_by_library(in[0].type, result, op.text("rounding"));
    case ir::ElementwiseOp::Bitcast:
      return !in[0].type.is_pointer && !result.is_pointer &&
             in[0].type.element() != result.element();
    case ir::ElementwiseOp::And:
    case ir::ElementwiseOp::Or:
    case ir::ElementwiseOp::Xor:
    case ir::ElementwiseOp::Compare:
    case ir::ElementwiseOp::Select:
    case ir::ElementwiseOp::Offset:
      return false;
  }
  TW_UNREACHABLE("'{}' is no op of one element", op.facts().name);
}

std::string wrapping_text(const ir::Op& op, std::span<const OperandText> in) {
  if (!op.facts().is(ir::Family::Elementwise)) return "";
  switch (ir::elementwise_op(op.kind)) {
    case ir::ElementwiseOp::Add:
      return fmt::format("tw::wrap_add({}, {})", in[0].text, in[1].text);
    case ir::ElementwiseOp::Subtract:
      return fmt::format("tw::wrap_subtract({}, {})", in[0].text, in[1].text);
    case ir::ElementwiseOp::Multiply:
      return fmt::format("tw::wrap_multiply({}, {})", in[0].text, in[1].text);
    case ir::ElementwiseOp::Negate:
      return fmt::format("tw::wrap_negate({})", in[0].text);
    case ir::ElementwiseOp::Fma:
      return fmt::format("tw::wrap_add(tw::wrap_multiply({}, {}), {})", in[0].text, in[1].text,
                         in[2].text);
    case ir::ElementwiseOp::ShiftLeft:
      return fmt::format("tw::shift_left({}, {})", in[0].text, in[1].text);
    case ir::ElementwiseOp::MultiplyHigh:
    case ir::ElementwiseOp::Divide:
    case ir::ElementwiseOp::Remainder:
    case ir::ElementwiseOp::Minimum:
    case ir::ElementwiseOp::Maximum:
    case ir::ElementwiseOp::And:
    case ir::ElementwiseOp::Or:
    case ir::ElementwiseOp::Xor:
    case ir::ElementwiseOp::ShiftRight:
    case ir::ElementwiseOp::Absolute:
    case ir::ElementwiseOp::Compare:
    case ir::ElementwiseOp::Select:
    case ir::ElementwiseOp::Cast:
    case ir::ElementwiseOp::Bitcast:
    case ir::ElementwiseOp::InlineAsm:
    case ir::ElementwiseOp::Math:
    case ir::ElementwiseOp::Offset:
      break;  // cannot overflow, or wraps by itself
  }
  return "";
}

}  // namespace tilewright
