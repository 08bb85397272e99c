// SPDX-License-Identifier: Apache-2.0
// frontend/triton/attributes.cpp — what follows a dot or stands in brackets.
#include <fmt/format.h>

#include "base/nearest.h"
#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/builtins.h"
#include "frontend/triton/constants.h"
#include "frontend/triton/names.h"

namespace tilewright::triton {
namespace {

Value integers(const std::vector<std::int64_t>& values) {
  std::vector<Value> items;
  for (const std::int64_t value : values) items.push_back(Value::integer(value));
  return Value::tuple(std::move(items));
}

Value tensors(const std::vector<ir::Value>& values) {
  return Value::tuple({values.begin(), values.end()});
}

std::optional<Value> tensor_attribute(Semantic& semantic, ir::Value tensor, std::string_view name) {
  const ir::Type type = semantic.type(tensor);
  if (name == "dtype") return TypeValue{type.element()};
  if (name == "type") return TypeValue{type};
  if (name == "shape") return integers(type.shape());
  if (name == "numel") return Value::integer(type.numel());
  if (name != "T") return {};
  if (type.rank != 2)
    throw Mistake{fmt::format(".T needs two dimensions, not {}", text_of(type)),
                  "use tl.permute(x, dims)"};
  return semantic.builder().permute(tensor, {1, 0});
}

int mantissa_bits(DType dtype) {
  switch (dtype) {
    case f64:
      return 52;
    case f32:
      return 23;
    case f16:
      return 10;
    case bf16:
      return 7;
    case f8e4m3:
      return 3;
    default:
      return 2;
  }
}

std::optional<Value> type_attribute(const ir::Type& type, std::string_view name) {
  if (name == "scalar" || (name == "element_ty" && type.is_tile()))
    return TypeValue{type.element()};
  if (name == "element_ty" && type.is_pointer) return TypeValue{type.pointee()};
  if (name == "shape") return integers(type.shape());
  if (name == "numel") return Value::integer(type.numel());
  if (name == "name") return Value::text(triton_text(type));
  if (name == "primitive_bitwidth" || (name == "int_bitwidth" && is_integral(type)))
    return Value::integer(bits_of(type));
  if (name == "itemsize") return Value::integer(static_cast<Int128>(type.element_bytes()));
  if (name == "fp_mantissa_width" && type.is_float())
    return Value::integer(mantissa_bits(type.dtype));
  return {};
}

// The sizes of a descriptor are int32; they are kept as int64, in which addresses are computed.
Value sizes_of_descriptor(Semantic& semantic, const BlockPointer& block) {
  std::vector<ir::Value> sizes;
  for (const ir::Value size : block.shape)
    sizes.push_back(semantic.cast(size, ir::Type::scalar(DType::Int32)));
  return tensors(sizes);
}

std::optional<Value> block_attribute(Semantic& semantic, const BlockPointer& block,
                                     bool is_descriptor, std::string_view name) {
  const ir::Type& base = semantic.type(block.base);
  if (name == "dtype" || name == "type")
    return TypeValue{is_descriptor ? base.pointee() : base.element()};
  if (name == "block_shape") return integers(block.block_shape);
  if (name == "shape" && is_descriptor) return sizes_of_descriptor(semantic, block);
  if (name == "shape") return tensors(block.shape);
  if (name == "strides") return tensors(block.strides);
  return {};
}

std::optional<Value> plain_attribute(Semantic& semantic, const Value& owner,
                                     std::string_view name) {
  if (const ir::Value* tensor = owner.get_if<ir::Value>())
    return tensor_attribute(semantic, *tensor, name);
  if (const TypeValue* type = owner.get_if<TypeValue>()) return type_attribute(type->type, name);
  if (const BlockPointer* block = owner.block_pointer())
    return block_attribute(semantic, *block, false, name);
  if (const Descriptor* descriptor = owner.descriptor())
    return block_attribute(semantic, descriptor->block, true, name);
  if (const Tuple* tuple = owner.tuple())
    for (std::size_t i = 0; i < tuple->names.size(); ++i)
      if (tuple->names[i] == name) return tuple->items[i];
  if (const Namespace* space = owner.get_if<Namespace>(); space && !space->module)
    return external_value(fmt::format("{}.{}", space->external, name));
  // A constant is its own value; a number has the type of the tensor that it becomes.
  if (owner.is_constant() && name == "value") return owner;
  if (is_number(owner) && name == "dtype")
    return TypeValue{ir::Type::scalar(type_of_number(owner))};
  if (is_number(owner) && name == "shape") return Value::tuple({});
  return {};
}

std::vector<std::string> names_for(const Value& owner) {
  std::vector<std::string> names;
  const auto add = [&](std::span<const BuiltinRow> rows) {
    for (const BuiltinRow& row : rows) names.emplace_back(row.name);
  };
  if (owner.get_if<TypeValue>()) {
    names = {"element_ty", "scalar", "shape", "name", "primitive_bitwidth", "int_bitwidth"};
    add(dtype_methods());
  } else if (owner.descriptor()) {
    names = {"dtype", "block_shape", "shape", "strides"};
    add(descriptor_methods());
  } else if (owner.block_pointer()) {
    names = {"dtype", "type", "block_shape", "advance"};
  } else if (const Tuple* tuple = owner.tuple()) {
    names = tuple->names;
  } else if (owner.is_tensor() || is_number(owner)) {
    names = tensor_method_names();
    names.insert(names.begin(), {"dtype", "type", "shape", "numel", "T"});
  }
  return names;
}

const BuiltinRow* row_in(std::span<const BuiltinRow> rows, std::string_view name) {
  for (const BuiltinRow& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

// ---- Brackets

// As in Triton a ':' beyond the dimensions says nothing, and a scalar's first None makes a tensor
// of one element wherever it stands: x[:, None] of a program id has the shape [1].
ir::Value indexed_tensor(Semantic& semantic, ir::Value tensor, const Value& index) {
  const std::vector<Value> items = index.tuple() && index.tuple()->class_name != "slice"
                                       ? index.tuple()->items
                                       : std::vector<Value>{index};
  int axis = 0;
  for (const Value& item : items) {
    const Tuple* slice = item.tuple();
    const bool is_whole = slice && slice->class_name == "slice" && slice->items[0].is_none() &&
                          slice->items[1].is_none() && slice->items[2].is_none();
    if (item.is_none())
      tensor = semantic.expand_dims(tensor, semantic.type(tensor).is_scalar() ? 0 : axis);
    else if (!is_whole)
      throw Mistake{
          fmt::format("{} can be indexed only with ':' and None", text_of(semantic.type(tensor))),
          "a block has no single elements; use tl.gather, tl.where or a reduction"};
    ++axis;
  }
  return tensor;
}

// Where a bound of a Python slice lies in a sequence of this length.
std::int64_t bound(Semantic& semantic, const Value& value, std::int64_t otherwise,
                   std::int64_t length) {
  if (value.is_none()) return otherwise;
  std::int64_t at = semantic.constant_integer(value, "a bound of the slice");
  if (at < 0) at += length;
  return std::min(std::max<std::int64_t>(at, 0), length);
}

Value indexed_tuple(Semantic& semantic, const Tuple& tuple, const Value& index) {
  const auto length = static_cast<std::int64_t>(tuple.items.size());
  if (const Tuple* slice = index.tuple(); slice && slice->class_name == "slice") {
    if (!slice->items[2].is_none() && semantic.constant_integer(slice->items[2], "a step") != 1)
      throw Mistake{"a slice of a tuple has no step", ""};
    const std::int64_t from = bound(semantic, slice->items[0], 0, length);
    const std::int64_t to = std::max(from, bound(semantic, slice->items[1], length, length));
    return Value::tuple({tuple.items.begin() + from, tuple.items.begin() + to});
  }
  const std::int64_t at = semantic.constant_integer(index, "the index of a tuple");
  if (at < -length || at >= length)
    throw Mistake{fmt::format("index {} of a tuple of {}", at, length), ""};
  return tuple.items[static_cast<std::size_t>(at < 0 ? at + length : at)];
}

}  // namespace

const BuiltinRow* method_row(const Value& owner, std::string_view name) {
  if (owner.get_if<TypeValue>()) return row_in(dtype_methods(), name);
  if (owner.descriptor()) return row_in(descriptor_methods(), name);
  if (owner.block_pointer()) return row_in(block_methods(), name);
  if (owner.is_tensor() || is_number(owner)) return tensor_method(name);
  return nullptr;
}

Value attribute(Semantic& semantic, const Value& owner, std::string_view name) {
  if (const std::optional<Value> found = plain_attribute(semantic, owner, name)) return *found;
  if (method_row(owner, name))
    return Method{.owner = std::make_shared<const Value>(owner), .name = std::string(name)};
  const TypeValue* type = owner.get_if<TypeValue>();
  if (type && name == "element_ty")
    throw Mistake{fmt::format("{} has no element_ty: it is no pointer", text_of(type->type)),
                  "x.dtype is the type of a tensor; p.dtype.element_ty what a pointer points to"};
  const std::vector<std::string> names = names_for(owner);
  const std::vector<std::string> near = nearest_names(name, names);
  throw Mistake{fmt::format("{} has no attribute '{}'{}", describe(semantic.kernel(), owner), name,
                            near.empty() ? "" : fmt::format("; did you mean '{}'?", near.front())),
                ""};
}

Value subscript(Semantic& semantic, const Value& owner, const Value& index) {
  if (const ir::Value* tensor = owner.get_if<ir::Value>())
    return indexed_tensor(semantic, *tensor, index);
  if (const Tuple* tuple = owner.tuple()) return indexed_tuple(semantic, *tuple, index);
  if (is_number(owner)) return indexed_tensor(semantic, semantic.tensor(owner), index);
  throw Mistake{fmt::format("{} cannot be indexed", describe(semantic.kernel(), owner)), ""};
}

}  // namespace tilewright::triton
