// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_asm.cpp — tl.inline_asm_elementwise: PTX on each element.
#include <fmt/format.h>

#include "base/hash.h"
#include "frontend/triton/builtin_tables.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;

constexpr std::size_t most_operands = 3;

// "=r,r,r" as {"=r", "r", "r"}.
std::vector<std::string> constraints_of(const std::string& text) {
  std::vector<std::string> all(1);
  for (const char c : text) {
    if (c == ',') all.emplace_back();
    else if (c != ' ' && c != '\n') all.back() += c;
  }
  return all;
}

// Registers r and f have 32 bits, l and d 64.
void check_register(Call& call, const std::string& constraint, const ir::Type& type) {
  const std::size_t bytes = constraint == "r" || constraint == "f"   ? 4
                            : constraint == "l" || constraint == "d" ? 8
                                                                     : 0;
  if (bytes == 0)
    call.fail(fmt::format("has the constraint '{}', which is not supported", constraint),
              "use r, f, l or d");
  if (type.is_pointer || type.is_bool() || type.element_bytes() != bytes)
    call.fail(fmt::format("puts {} into a register '{}' of {} bits", describe(type.element()),
                          constraint, 8 * bytes),
              "cast it to a type of that size");
}

std::vector<ir::Value> operands_of(Call& call) {
  std::vector<ir::Value> operands;
  for (const Value& item : unpacked(call["args"])) {
    if (!item.is_tensor() && !item.is_constant())
      call.fail(fmt::format("takes tensors and numbers, not {}", call.describe(item)));
    operands.push_back(call.semantic.tensor(item));
  }
  if (operands.empty() || operands.size() > most_operands)
    call.fail(fmt::format("takes 1 to {} arguments here, not {}", most_operands, operands.size()));
  for (std::size_t i = 1; i < operands.size(); ++i)
    operands[0] = call.semantic.broadcast(operands[0], operands[i]).first;
  for (std::size_t i = 1; i < operands.size(); ++i)
    operands[i] = call.semantic.broadcast(operands[0], operands[i]).second;
  return operands;
}

// Equal texts with equal types are one function of the generated source.
std::string function_name(const std::string& text) {
  Hasher hasher;
  hasher.add(text);
  return "inline_asm_" + hasher.finish().hex().substr(0, 12);
}

Value inline_asm_elementwise(Call& call) {
  if (call.integer("pack") != 1)
    call.fail(fmt::format("has pack={}, which is not supported", call.integer("pack")),
              "write it for one element, pack=1");
  if (!call.flag("is_pure"))
    call.fail("has is_pure=False, which is not supported", "only PTX without side effects can be");
  if (call["dtype"].tuple() != nullptr)
    call.fail("has several results, which is not supported", "write one call for each");
  const std::string text = call.text("asm");
  const std::vector<ir::Value> operands = operands_of(call);
  const ir::Type result = call.type(operands[0]).with_element(call.element_type("dtype").dtype);
  const std::vector<std::string> constraints = constraints_of(call.text("constraints"));
  if (constraints.size() != operands.size() + 1 || !constraints[0].starts_with('='))
    call.fail(
        fmt::format("has the constraints '{}', but one result and {} argument{}",
                    call.text("constraints"), operands.size(), operands.size() == 1 ? "" : "s"),
        "write them as '=r,r'");
  const std::string made = constraints[0].substr(constraints[0].starts_with("=&") ? 2 : 1);
  check_register(call, made, result);
  std::string joined = made, types = describe(result.element());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    check_register(call, constraints[i + 1], call.type(operands[i]));
    joined += constraints[i + 1];
    types += "," + describe(call.type(operands[i]).element());
  }
  return call.builder().create_one(
      OpKind::InlineAsm, operands, result,
      {{"function", function_name(text + "\n" + joined + "\n" + types)},
       {"asm", text},
       {"constraints", joined}});
}

constexpr BuiltinRow asm_rows[] = {
    {"inline_asm_elementwise", "asm, constraints, args, dtype, is_pure, pack",
     inline_asm_elementwise},
};

}  // namespace

std::span<const BuiltinRow> asm_builtins() { return asm_rows; }

}  // namespace tilewright::triton
