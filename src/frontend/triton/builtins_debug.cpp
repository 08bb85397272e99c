// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_debug.cpp — asserts, prints, barriers, and promises about values.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/constants.h"
#include "frontend/triton/printing.h"

namespace tilewright::triton {
namespace {

Value static_assert_(Call& call) {
  if (call["cond"].is_tensor())
    call.fail(fmt::format("needs a constant condition, not {}", call.describe(call["cond"])),
              "use tl.device_assert");
  if (call.semantic.truth(call["cond"])) return {};
  const std::string message = print_text(call["msg"], call.semantic.kernel());
  call.fail(message.empty() ? "does not hold" : fmt::format("does not hold: {}", message));
}

Value static_print(Call& call) {
  std::vector<std::string> texts;
  for (const Value& value : call["values"].tuple()->items)
    texts.push_back(print_text(value, call.semantic.kernel()));
  call.host.print(fmt::format("{}", fmt::join(texts, call.text("sep"))));
  return {};
}

Value device_print(Call& call) {
  return print_tensors(call, call.text("prefix"), call["args"].tuple()->items, call.flag("hex"));
}

Value device_assert(Call& call) {
  Semantic& semantic = call.semantic;
  const std::string message = call.text("msg");
  if (!semantic.options().debug) return {};
  ir::Value condition = semantic.cast(call.tensor("cond"), ir::Type::scalar(b1));
  std::vector<ir::Value> operands = {condition};
  if (call.has("mask")) {
    const ir::Value mask = semantic.cast(call.tensor("mask"), ir::Type::scalar(b1));
    const auto [x, y] = semantic.broadcast(condition, mask);
    operands = {x, y};
  }
  call.builder().create(ir::OpKind::Assert, operands, {}, {{"message", message}});
  return {};
}

Value debug_barrier(Call& call) {
  call.builder().create(ir::OpKind::Barrier, {}, {});
  return {};
}

Value assume(Call& call) {
  const Value& condition = call["cond"];
  if (!condition.is_tensor()) {
    if (!call.semantic.truth(condition)) call.fail("is told something that never holds");
    return {};
  }
  const ir::Value holds = call.tensor("cond");
  if (call.type(holds) != ir::Type::scalar(b1))
    call.fail(fmt::format("needs a scalar int1, not {}", call.describe(condition)));
  call.builder().create(ir::OpKind::Assume, {holds}, {});
  return {};
}

// ---- Promises

Value hint(Call& call, std::string_view attribute) {
  const ir::Value input = call.tensor("input");
  const std::vector<std::int64_t> values = call.integers("values");
  const ir::Type& type = call.type(input);
  const std::size_t wanted = std::max<std::size_t>(type.rank, 1);
  if (values.size() != wanted)
    call.fail(fmt::format("needs {} value{} for {}, but gets {}", wanted, wanted == 1 ? "" : "s",
                          text_of(type), values.size()));
  if (std::any_of(values.begin(), values.end(), [](std::int64_t value) { return value <= 0; }))
    call.fail("needs positive values");
  return call.builder().create_one(ir::OpKind::Hint, {input}, type, {{attribute, values}});
}

Value multiple_of(Call& call) { return hint(call, "divisible"); }
Value max_contiguous(Call& call) { return hint(call, "contiguous"); }
Value max_constancy(Call& call) { return hint(call, "constant"); }
Value expect_zero(Call& call) { return call.tensor("x"); }

constexpr BuiltinRow debug_rows[] = {
    {"static_assert", "cond, msg=\"\"", static_assert_},
    {"static_print", "*values, sep=\" \", end=\"\", file=None, flush=False", static_print},
    {"device_print", "prefix, *args, hex=False", device_print},
    {"device_assert", "cond, msg=\"\", mask=None", device_assert},
    {"debug_barrier", "", debug_barrier},
    {"assume", "cond", assume},
    {"multiple_of", "input, values", multiple_of},
    {"max_contiguous", "input, values", max_contiguous},
    {"max_constancy", "input, values", max_constancy},
    {"expect_zero", "x, mask", expect_zero},
};

}  // namespace

std::string print_text(const Value& value, const ir::Kernel& kernel) {
  if (const Constant* constant = value.get_if<Constant>()) {
    const auto* text = std::get_if<std::string>(&constant->value);
    return text ? *text : text_of(*constant);
  }
  if (const TypeValue* type = value.get_if<TypeValue>()) return triton_text(type->type);
  if (const Tuple* tuple = value.tuple()) {
    std::vector<std::string> items;
    for (const Value& item : tuple->items) items.push_back(print_text(item, kernel));
    return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
  }
  return describe(kernel, value);
}

Value print_tensors(Call& call, std::string prefix, const std::vector<Value>& values, bool hex) {
  for (const char c : prefix)
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126)
      call.fail("needs a prefix of printable ASCII characters");
  std::vector<ir::Value> operands;
  for (const Value& value : values) operands.push_back(call.semantic.tensor(value));
  while (!prefix.empty() && !operands.empty() && prefix.back() == ' ') prefix.pop_back();
  if (!operands.empty()) prefix += prefix.empty() || prefix.back() != ':' ? ": " : " ";
  std::vector<ir::Attribute> attributes = {{"prefix", prefix}};
  if (hex) attributes.push_back({"hex", std::int64_t{1}});
  call.builder().create(ir::OpKind::Print, operands, {}, std::move(attributes));
  return {};
}

std::span<const BuiltinRow> debug_builtins() { return debug_rows; }

}  // namespace tilewright::triton
