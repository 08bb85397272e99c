// SPDX-License-Identifier: Apache-2.0
// frontend/triton/value.cpp — the kinds of value told apart, and named for messages.
#include "frontend/triton/value.h"

#include <fmt/format.h>

#include "frontend/triton/constants.h"

namespace tilewright::triton {
namespace {

std::string describe_constant(const Constant& constant) {
  if (std::holds_alternative<None>(constant.value)) return "None";
  const bool is_text = std::holds_alternative<std::string>(constant.value);
  return fmt::format("{} {}", is_text ? "the text" : "the constant", text_of(constant));
}

std::string describe_namespace(const Namespace& space) {
  return fmt::format("the module '{}'", space.module ? space.module->name : space.external);
}

// Tuples in tuples are walked again and again: shared parts could make a short kernel take forever.
constexpr int max_tuple_values = 1000;

int count_values(const Tuple& tuple, int so_far) {
  for (const Value& item : tuple.items) {
    if (++so_far > max_tuple_values) break;
    if (const Tuple* inner = item.tuple()) so_far = count_values(*inner, so_far);
  }
  return so_far;
}

}  // namespace

Value Value::tuple(std::vector<Value> items) {
  Tuple made{.items = std::move(items)};
  if (count_values(made, 0) > max_tuple_values)
    throw Mistake{fmt::format("a tuple holds more than {} values", max_tuple_values), ""};
  return std::make_shared<const Tuple>(std::move(made));
}

bool Value::is_none() const {
  const auto* constant = get_if<Constant>();
  return constant != nullptr && std::holds_alternative<None>(constant->value);
}

const Tuple* Value::tuple() const {
  const auto* shared = get_if<std::shared_ptr<const Tuple>>();
  return shared == nullptr ? nullptr : shared->get();
}

const BlockPointer* Value::block_pointer() const {
  const auto* shared = get_if<std::shared_ptr<const BlockPointer>>();
  return shared == nullptr ? nullptr : shared->get();
}

const Descriptor* Value::descriptor() const {
  const auto* shared = get_if<std::shared_ptr<const Descriptor>>();
  return shared == nullptr ? nullptr : shared->get();
}

std::string describe(const ir::Type& type) {
  std::string text(type.dtype == b1 ? "int1" : name_of(type.dtype));
  if (type.is_pointer) text = fmt::format("pointer<{}>", text);
  if (type.is_tile()) text += fmt::format("[{}]", fmt::join(type.shape(), ", "));
  return text;
}

std::string describe(const ir::Kernel& kernel, const Value& value) {
  if (const auto* constant = value.get_if<Constant>()) return describe_constant(*constant);
  if (const auto* tensor = value.get_if<ir::Value>()) return describe(kernel.type(*tensor));
  if (const auto* type = value.get_if<TypeValue>())
    return fmt::format("the type {}", describe(type->type));
  if (const Tuple* tuple = value.tuple())
    return tuple->class_name.empty() ? fmt::format("a tuple of {}", tuple->items.size())
                                     : fmt::format("a {}", tuple->class_name);
  if (const auto* function = value.get_if<Function>())
    return fmt::format("the function '{}'", function->name);
  if (const auto* builtin = value.get_if<Builtin>())
    return fmt::format("the function '{}'", builtin->name);
  if (const auto* type = value.get_if<Class>()) return fmt::format("the class '{}'", type->name);
  if (const auto* method = value.get_if<Method>())
    return fmt::format("the method '.{}'", method->name);
  if (const auto* space = value.get_if<Namespace>()) return describe_namespace(*space);
  return value.descriptor() ? "a tensor descriptor" : "a block pointer";
}

}  // namespace tilewright::triton
