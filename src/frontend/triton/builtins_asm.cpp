// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_asm.cpp — tl.inline_asm_elementwise: PTX on each element, or on groups
// of neighbours, whose short elements share registers of 32 bits.
#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;

constexpr std::size_t most_registers = 16;

// "=r,r,r" as {"=r", "r", "r"}.
std::vector<std::string> constraints_of(const std::string& text) {
  std::vector<std::string> all(1);
  for (const char c : text) {
    if (c == ',') all.emplace_back();
    else if (c != ' ' && c != '\n') all.back() += c;
  }
  return all;
}

// How many neighbours of `pack` share a register.
std::int64_t sharing(const ir::Type& type, std::int64_t pack) {
  return std::min<std::int64_t>(pack, std::max(1, 32 / bits_of(type)));
}

// Registers r and f have 32 bits, l and d 64, h 16. Gives the type of what the register holds.
ir::Type register_type(Call& call, const std::string& constraint, const ir::Type& type,
                       std::int64_t pack) {
  const int bits = constraint == "h"                        ? 16
                   : constraint == "r" || constraint == "f" ? 32
                   : constraint == "l" || constraint == "d" ? 64
                                                            : 0;
  if (bits == 0)
    call.fail(fmt::format("has the constraint '{}', which is not supported", constraint),
              "use h, r, f, l or d");
  const std::int64_t shared = sharing(type, pack);
  const bool is_number = !type.is_pointer && !type.is_bool();
  if (is_number && shared == 1 && bits_of(type) == bits) return type.element();
  // What is left of the register is 0.
  const bool is_word = bits_of(type) < 32 && (constraint == "r" || constraint == "h");
  if (!is_number || !is_word || bits_of(type) * shared > bits) {
    const std::string what = shared == 1 ? describe(type.element())
                                         : fmt::format("{} {}", shared, describe(type.element()));
    call.fail(fmt::format("puts {} into a register '{}' of {} bits", what, constraint, bits),
              "cast it to a type of that size");
  }
  return ir::Type::scalar(constraint == "h" ? u16 : u32);
}

DType bits_type(const ir::Type& type) { return bits_of(type) == 8 ? u8 : u16; }

// Neighbours in one register, the first one in its lowest bits.
ir::Value into_register(Call& call, std::span<const ir::Value> parts, const ir::Type& as) {
  ir::Builder& b = call.builder();
  const ir::Type& type = call.type(parts[0]);
  if (type.element() == as) return parts[0];
  ir::Value word;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ir::Value bits = b.cast(b.bitcast(parts[i], bits_type(type)), as.dtype);
    if (i > 0) {
      const auto by = static_cast<std::int64_t>(i) * bits_of(type);
      bits = b.binary(OpKind::ShiftLeft, bits, b.constant(call.type(bits), by));
    }
    word = i == 0 ? bits : b.binary(OpKind::Or, word, bits);
  }
  return word;
}

std::vector<ir::Value> out_of_register(Call& call, ir::Value word, DType dtype,
                                       std::int64_t count) {
  ir::Builder& b = call.builder();
  const ir::Type type = ir::Type::scalar(dtype);
  if (call.type(word).element() == type) return {word};
  std::vector<ir::Value> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const ir::Value by = b.constant(call.type(word), i * bits_of(type));
    const ir::Value bits = b.cast(b.binary(OpKind::ShiftRight, word, by), bits_type(type));
    parts.push_back(b.bitcast(bits, dtype));
  }
  return parts;
}

std::vector<ir::Value> operands_of(Call& call) {
  std::vector<ir::Value> operands;
  for (const Value& item : unpacked(call["args"])) {
    if (!item.is_tensor() && !item.is_constant())
      call.fail(fmt::format("takes tensors and numbers, not {}", call.describe(item)));
    operands.push_back(call.semantic.tensor(item));
  }
  if (operands.empty()) call.fail("needs at least one argument here");
  for (std::size_t i = 1; i < operands.size(); ++i)
    operands[0] = call.semantic.broadcast(operands[0], operands[i]).first;
  for (std::size_t i = 1; i < operands.size(); ++i)
    operands[i] = call.semantic.broadcast(operands[0], operands[i]).second;
  return operands;
}

std::vector<DType> results_of(Call& call) {
  const Tuple* several = call["dtype"].tuple();
  if (several == nullptr) return {call.element_type("dtype").dtype};
  std::vector<DType> results;
  for (const Value& item : several->items) {
    const TypeValue* found = item.get_if<TypeValue>();
    if (found == nullptr || found->type.is_pointer)
      call.fail(fmt::format("takes types as dtype, not {}", call.describe(item)));
    results.push_back(found->type.dtype);
  }
  if (results.empty()) call.fail("needs at least one type as dtype");
  return results;
}

// Equal texts with equal types are one function of the generated source.
std::string function_name(const std::string& text) {
  Hasher hasher;
  hasher.add(text);
  return "inline_asm_" + hasher.finish().hex().substr(0, 12);
}

// The registers of a call: those that it makes and those that it reads.
struct Registers {
  std::vector<ir::Type> made;
  std::vector<ir::Value> read;
  std::string constraints;  // one letter for each, and & behind those written before all are read
  std::vector<std::size_t> ends;  // of those made, in the constraints
};

std::int64_t count_registers(const ir::Type& type, std::int64_t pack) {
  return (pack + sharing(type, pack) - 1) / sharing(type, pack);
}

Registers registers_of(Call& call, const std::vector<ir::Value>& operands,
                       const std::vector<DType>& results, std::int64_t pack) {
  const std::vector<std::string> constraints = constraints_of(call.text("constraints"));
  std::size_t made = 0, read = 0;
  for (const DType dtype : results)
    made += static_cast<std::size_t>(count_registers(ir::Type::scalar(dtype), pack));
  for (const ir::Value operand : operands)
    read += static_cast<std::size_t>(count_registers(call.type(operand), pack));
  const auto is_made = [](const std::string& constraint) { return constraint.starts_with('='); };
  if (constraints.size() != made + read ||
      !std::all_of(constraints.begin(), constraints.begin() + static_cast<std::ptrdiff_t>(made),
                   is_made))
    call.fail(fmt::format("has the constraints '{}', but {} result{} and {} argument{}",
                          call.text("constraints"), made == 1 ? "one" : std::to_string(made),
                          made == 1 ? "" : "s", read, read == 1 ? "" : "s"),
              "write them as '=r,r'");
  if (constraints.size() > most_registers)
    call.fail(fmt::format("has {} registers, which is not supported", constraints.size()),
              fmt::format("{} can be", most_registers));
  Registers out;
  std::size_t next = 0;
  for (const DType dtype : results)
    for (std::int64_t i = count_registers(ir::Type::scalar(dtype), pack); i > 0; --i) {
      const std::string& constraint = constraints[next++];
      const std::string letter = constraint.substr(constraint.starts_with("=&") ? 2 : 1);
      out.made.push_back(register_type(call, letter, ir::Type::scalar(dtype), pack));
      out.constraints += letter + (constraint.starts_with("=&") ? "&" : "");
      out.ends.push_back(out.constraints.size());
    }
  for (const ir::Value operand : operands) {
    const std::vector<ir::Value> parts = apart(call.semantic, operand, pack);
    const auto shared = static_cast<std::size_t>(sharing(call.type(operand), pack));
    for (std::size_t i = 0; i < parts.size(); i += shared) {
      const ir::Type type = register_type(call, constraints[next], call.type(operand), pack);
      out.read.push_back(into_register(
          call, std::span(parts).subspan(i, std::min(shared, parts.size() - i)), type));
      out.constraints += constraints[next++];
    }
  }
  return out;
}

Value inline_asm_elementwise(Call& call) {
  const std::int64_t pack = call.integer("pack");
  if (!call.flag("is_pure"))
    call.fail("has is_pure=False, which is not supported", "only PTX without side effects can be");
  const std::string text = call.text("asm");
  const std::vector<ir::Value> operands = operands_of(call);
  const ir::Type whole = call.type(operands[0]);
  check_pack(call, pack, whole);
  const std::vector<DType> dtypes = results_of(call);
  const Registers registers = registers_of(call, operands, dtypes, pack);
  std::string types;
  for (const ir::Type& type : registers.made) types += describe(type) + ",";
  for (const ir::Value operand : registers.read) types += describe(call.type(operand).element());
  // Each register is a call of its own, marked *, which leaves the others.
  std::vector<ir::Value> made;
  for (std::size_t i = 0; i < registers.made.size(); ++i) {
    std::string constraints = registers.constraints;
    if (registers.made.size() > 1) constraints.insert(registers.ends[i], "*");
    std::vector<ir::Attribute> attributes = {
        {"function", function_name(text + "\n" + constraints + "\n" + types)},
        {"asm", text},
        {"constraints", constraints}};
    const ir::Type type = registers.made[i].with_shape_of(call.type(registers.read[0]));
    made.push_back(call.builder().create_one(OpKind::InlineAsm, registers.read, type, attributes));
  }
  std::vector<Value> out;
  auto next = made.begin();
  for (const DType dtype : dtypes) {
    const ir::Type type = ir::Type::scalar(dtype);
    std::vector<ir::Value> parts;
    for (std::int64_t left = pack; left > 0; left -= sharing(type, pack))
      for (const ir::Value part : out_of_register(call, *next++, dtype, sharing(type, pack)))
        parts.push_back(part);
    out.emplace_back(together(call.semantic, parts, whole));
  }
  if (call["dtype"].tuple() == nullptr) return out[0];
  return Value::tuple(std::move(out));
}

constexpr BuiltinRow asm_rows[] = {
    {"inline_asm_elementwise", "asm, constraints, args, dtype, is_pure, pack",
     inline_asm_elementwise},
};

}  // namespace

std::span<const BuiltinRow> asm_builtins() { return asm_rows; }

}  // namespace tilewright::triton
