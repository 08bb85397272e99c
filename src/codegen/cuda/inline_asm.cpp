// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/inline_asm.cpp — Triton's templates ($0) as those of CUDA (%0), and registers for
// values of other types.
#include "codegen/cuda/inline_asm.h"

#include <set>
#include <vector>

#include <fmt/format.h>

#include "codegen/text/expressions.h"

namespace tilewright {
namespace {

// A text of the user's as a literal of C++: nothing in it can end the literal.
std::string asm_literal(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool is_escaped = text[i] == '$' && i + 1 < text.size() && text[i + 1] == '$';
    if (is_escaped) ++i;
    if (c == '%') out += "%%";
    else if (c == '$' && !is_escaped) out += '%';
    else if (c == '"' || c == '\\' || c < 32 || c > 126) out += fmt::format("\\{:03o}", c);
    else out += text[i];
  }
  return out + "\"";
}

std::string_view register_type(char constraint) {
  switch (constraint) {
    case 'h':
      return "unsigned short";
    case 'r':
      return "unsigned";
    case 'f':
      return "float";
    case 'l':
      return "long long";
    default:
      return "double";
  }
}

// A value in a register of this constraint, and back. Floats of 16 bits are structures around them.
std::string to_register(char constraint, const ir::Type& type, const std::string& value) {
  if (type.is_float() && constraint == 'h')
    return fmt::format("tw::bit_cast<unsigned short>({})", value);
  if (type.is_float() && constraint == 'r') return fmt::format("__float_as_uint({})", value);
  if (type.is_float() && constraint == 'l') return fmt::format("__double_as_longlong({})", value);
  if (!type.is_float() && constraint == 'f') return fmt::format("__uint_as_float({})", value);
  if (!type.is_float() && constraint == 'd') return fmt::format("__longlong_as_double({})", value);
  return value;
}

std::string from_register(char constraint, const ir::Type& type, const std::string& value) {
  if (type.is_float() && constraint == 'h')
    return fmt::format("tw::bit_cast<{}>({})", type_text(type), value);
  if (type.is_float() && constraint == 'r') return fmt::format("__uint_as_float({})", value);
  if (type.is_float() && constraint == 'l') return fmt::format("__longlong_as_double({})", value);
  if (!type.is_float() && constraint == 'f') return fmt::format("__float_as_uint({})", value);
  if (!type.is_float() && constraint == 'd') return fmt::format("__double_as_longlong({})", value);
  return value;
}

// "rr&*r" as {"r", "r&*", "r"}: & is written before all is read, * is what the kernel asks for.
std::vector<std::string> constraints_of(std::string_view text) {
  std::vector<std::string> out;
  for (const char c : text) {
    if (c == '&' || c == '*') out.back() += c;
    else out.emplace_back(1, c);
  }
  return out;
}

// Registers that the kernel has no use for are made and left.
std::string function_of(const ir::Kernel& kernel, const ir::Op& op) {
  const std::vector<std::string> constraints = constraints_of(op.text("constraints"));
  const std::size_t made = constraints.size() - op.operands.size();
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < made; ++i)
    if (constraints[i].back() == '*') wanted = i;
  std::string parameters, inputs, variables, outputs;
  for (std::size_t i = 0; i < made; ++i) {
    const std::string name = made == 1 ? "result" : fmt::format("result{}", i);
    variables += fmt::format("  {} {};\n", register_type(constraints[i][0]), name);
    outputs += fmt::format("{}\"={}{}\"({})", i == 0 ? "" : ", ",
                           constraints[i].find('&') != std::string::npos ? "&" : "",
                           constraints[i][0], name);
  }
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const ir::Type type = kernel.type(op.operands[i]).element();
    const std::string name(1, static_cast<char>('a' + i));
    const char constraint = constraints[made + i][0];
    parameters += fmt::format("{}{} {}", i == 0 ? "" : ", ", type_text(type), name);
    inputs += fmt::format("{}\"{}\"({})", i == 0 ? "" : ", ", constraint,
                          to_register(constraint, type, name));
  }
  const ir::Type result = kernel.type(op.result()).element();
  const std::string value = made == 1 ? "result" : fmt::format("result{}", wanted);
  return fmt::format(
      "__device__ __forceinline__ {} {}({}) {{\n{}  asm({} : {} : {});\n"
      "  return {};\n}}\n\n",
      type_text(result), op.text("function"), parameters, variables, asm_literal(op.text("asm")),
      outputs, inputs, from_register(constraints[wanted][0], result, value));
}

}  // namespace

std::string inline_asm_functions(const ir::Kernel& kernel) {
  std::string text;
  std::set<std::string, std::less<>> known;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind != ir::OpKind::InlineAsm) return;
    if (known.emplace(op.text("function")).second) text += function_of(kernel, op);
  });
  return text;
}

}  // namespace tilewright
