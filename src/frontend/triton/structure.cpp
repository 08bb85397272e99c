// SPDX-License-Identifier: Apache-2.0
// frontend/triton/structure.cpp — patterns of values, walked side by side.
#include "frontend/triton/structure.h"

#include <cmath>

#include "base/check.h"
#include "frontend/triton/constants.h"

namespace tilewright::triton {
namespace {

void append(const Value& value, std::vector<ir::Value>& out);

void append(const BlockPointer& block, std::vector<ir::Value>& out) {
  out.push_back(block.base);
  for (const auto* list : {&block.shape, &block.strides, &block.offsets})
    out.insert(out.end(), list->begin(), list->end());
}

void append(const Value& value, std::vector<ir::Value>& out) {
  if (const auto* tensor = value.get_if<ir::Value>()) out.push_back(*tensor);
  if (const BlockPointer* block = value.block_pointer()) append(*block, out);
  if (const Descriptor* descriptor = value.descriptor()) append(descriptor->block, out);
  if (const Tuple* tuple = value.tuple())
    for (const Value& item : tuple->items) append(item, out);
}

ir::Value take(std::span<const ir::Value>& values) {
  TW_CHECK(!values.empty(), "a pattern has more holes than there are values");
  const ir::Value first = values.front();
  values = values.subspan(1);
  return first;
}

BlockPointer with_ir_values(BlockPointer block, std::span<const ir::Value>& values) {
  block.base = take(values);
  for (auto* list : {&block.shape, &block.strides, &block.offsets})
    for (ir::Value& item : *list) item = take(values);
  return block;
}

// The parts that hold no IR value; `Equal` compares those that do.
template <class Equal>
bool compare(const Value& a, const Value& b, const Equal& equal);

template <class Equal>
bool compare(const BlockPointer& a, const BlockPointer& b, const Equal& equal) {
  if (a.block_shape != b.block_shape) return false;
  std::vector<ir::Value> left;
  std::vector<ir::Value> right;
  append(a, left);
  append(b, right);
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(), right.end(), equal);
}

template <class Equal>
bool compare(const Tuple& a, const Tuple& b, const Equal& equal) {
  if (a.items.size() != b.items.size() || a.class_name != b.class_name) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!compare(a.items[i], b.items[i], equal)) return false;
  return true;
}

// NaN is the constant that it was.
bool is_same_constant(const Constant& a, const Constant& b) {
  const auto* x = std::get_if<double>(&a.value);
  const auto* y = std::get_if<double>(&b.value);
  return a.value == b.value || (x != nullptr && y != nullptr && std::isnan(*x) && std::isnan(*y));
}

template <class Equal>
bool compare(const Value& a, const Value& b, const Equal& equal) {
  if (a.storage().index() != b.storage().index()) return false;
  if (const auto* constant = a.get_if<Constant>())
    return is_same_constant(*constant, *b.get_if<Constant>());
  if (const auto* tensor = a.get_if<ir::Value>()) return equal(*tensor, *b.get_if<ir::Value>());
  if (const auto* type = a.get_if<TypeValue>()) return type->type == b.get_if<TypeValue>()->type;
  if (const Tuple* tuple = a.tuple()) return compare(*tuple, *b.tuple(), equal);
  if (const auto* function = a.get_if<Function>())
    return function->node == b.get_if<Function>()->node;
  if (const auto* builtin = a.get_if<Builtin>()) return builtin->name == b.get_if<Builtin>()->name;
  if (const auto* method = a.get_if<Method>())
    return method->name == b.get_if<Method>()->name &&
           compare(*method->owner, *b.get_if<Method>()->owner, equal);
  if (const auto* space = a.get_if<Namespace>())
    return space->module == b.get_if<Namespace>()->module &&
           space->external == b.get_if<Namespace>()->external;
  if (const auto* type = a.get_if<Class>()) return type->node == b.get_if<Class>()->node;
  if (const BlockPointer* block = a.block_pointer())
    return compare(*block, *b.block_pointer(), equal);
  return a.descriptor()->pads_with_nan == b.descriptor()->pads_with_nan &&
         compare(a.descriptor()->block, b.descriptor()->block, equal);
}

// A tuple with each item replaced.
template <class Change>
Value mapped(const Tuple& tuple, const Change& change) {
  Tuple result{.items = {}, .names = tuple.names, .class_name = tuple.class_name};
  for (std::size_t i = 0; i < tuple.items.size(); ++i) result.items.push_back(change(i));
  return std::make_shared<const Tuple>(std::move(result));
}

}  // namespace

std::vector<ir::Value> ir_values(const Value& value) {
  std::vector<ir::Value> out;
  append(value, out);
  return out;
}

Value with_ir_values(const Value& pattern, std::span<const ir::Value>& values) {
  if (pattern.is_tensor()) return take(values);
  if (const BlockPointer* block = pattern.block_pointer())
    return std::make_shared<const BlockPointer>(with_ir_values(*block, values));
  if (const Descriptor* descriptor = pattern.descriptor())
    return std::make_shared<const Descriptor>(
        Descriptor{with_ir_values(descriptor->block, values), descriptor->pads_with_nan});
  if (const Tuple* tuple = pattern.tuple())
    return mapped(*tuple, [&](std::size_t i) { return with_ir_values(tuple->items[i], values); });
  return pattern;
}

bool same(const Value& a, const Value& b) {
  return compare(a, b, [](ir::Value x, ir::Value y) { return x == y; });
}

bool alike(const ir::Kernel& kernel, const Value& a, const Value& b) {
  return compare(a, b, [&](ir::Value x, ir::Value y) { return kernel.type(x) == kernel.type(y); });
}

bool holds_numbers(const Value& value) {
  const Tuple* tuple = value.tuple();
  if (tuple == nullptr) return is_number(value);
  if (!tuple->class_name.empty()) return false;
  for (const Value& item : tuple->items)
    if (holds_numbers(item)) return true;
  return false;
}

Value stored(Semantic& semantic, const Value& value) {
  const Tuple* tuple = value.tuple();
  if (tuple != nullptr && tuple->class_name.empty())
    return mapped(*tuple, [&](std::size_t i) { return stored(semantic, tuple->items[i]); });
  return is_number(value) ? semantic.materialize(value) : value;
}

Value matched(Semantic& semantic, const Value& value, const Value& other) {
  const Tuple* tuple = value.tuple();
  const Tuple* other_tuple = other.tuple();
  if (tuple != nullptr && other_tuple != nullptr &&
      tuple->items.size() == other_tuple->items.size())
    return mapped(*tuple, [&](std::size_t i) {
      return matched(semantic, tuple->items[i], other_tuple->items[i]);
    });
  const bool differs = is_number(value) && !same(value, other);
  return differs ? semantic.materialize(value) : value;
}

}  // namespace tilewright::triton
