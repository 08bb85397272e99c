// SPDX-License-Identifier: Apache-2.0
// ir/builder.cpp — result types of the ops that builders make.
#include "ir/builder.h"

#include "base/check.h"

namespace tilewright::ir {

Op* Builder::create(OpKind kind, std::vector<Value> operands, const std::vector<Type>& results,
                    std::vector<Attribute> attributes) {
  Op* op = kernel_.make_op(kind, std::move(operands), results, location_, std::move(attributes));
  region_->ops.push_back(op);
  return op;
}

Value Builder::constant(const Type& type, std::int64_t value) {
  return create_one(OpKind::Constant, {}, type, {{"value", value}});
}

Value Builder::constant(const Type& type, double value) {
  return create_one(OpKind::Constant, {}, type, {{"value", value}});
}

Value Builder::program_id(int axis) {
  return create_one(OpKind::ProgramId, {}, Type::scalar(i32), {{"axis", std::int64_t{axis}}});
}

Value Builder::num_programs(int axis) {
  return create_one(OpKind::NumPrograms, {}, Type::scalar(i32), {{"axis", std::int64_t{axis}}});
}

Value Builder::arange(std::int64_t start, std::int64_t end) {
  return create_one(OpKind::Arange, {}, Type::tile(i32, {end - start}), {{"start", start}});
}

Value Builder::splat(Value scalar, const Type& shape) {
  if (shape.is_scalar()) return scalar;
  return create_one(OpKind::Splat, {scalar}, type(scalar).with_shape_of(shape));
}

Value Builder::broadcast(Value tile, const Type& shape) {
  if (same_shape(type(tile), shape)) return tile;
  return create_one(OpKind::Broadcast, {tile}, type(tile).with_shape_of(shape));
}

Value Builder::reshape(Value tile, const std::vector<std::int64_t>& shape) {
  return create_one(OpKind::Reshape, {tile}, type(tile).with_shape(shape));
}

Value Builder::permute(Value tile, const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> shape;
  for (const std::int64_t dimension : order)
    shape.push_back(type(tile).size(static_cast<int>(dimension)));
  return create_one(OpKind::Permute, {tile}, type(tile).with_shape(shape), {{"order", order}});
}

Value Builder::math(std::string_view function, std::vector<Value> operands) {
  TW_CHECK(math_function(function) && !operands.empty(), "no math function '{}'", function);
  const Type result = type(operands.front());
  return create_one(OpKind::Math, std::move(operands), result,
                    {{"function", std::string(function)}});
}

Value Builder::compare(std::string_view is, Value a, Value b) {
  return create_one(OpKind::Compare, {a, b}, type(a).with_element(b1), {{"is", std::string(is)}});
}

Value Builder::cast(Value value, DType dtype) {
  const Type result = type(value).with_element(dtype);
  if (result == type(value)) return value;
  return create_one(OpKind::Cast, {value}, result);
}

Value Builder::bitcast(Value value, DType dtype) {
  const Type result = type(value).with_element(dtype);
  if (result == type(value)) return value;
  return create_one(OpKind::Bitcast, {value}, result);
}

Value Builder::affine(Value base, const std::vector<Value>& strides, const Type& shape) {
  std::vector<Value> operands = {base};
  operands.insert(operands.end(), strides.begin(), strides.end());
  return create_one(OpKind::Affine, std::move(operands), type(base).with_shape_of(shape));
}

Value Builder::bounds(std::vector<Value> bounds, const Type& shape) {
  return create_one(OpKind::Bounds, std::move(bounds), Type::scalar(b1).with_shape_of(shape));
}

Value Builder::load(Value pointers, Value mask, Value other) {
  std::vector<Value> operands = {pointers};
  if (mask) operands.push_back(mask);
  if (other) operands.push_back(other);
  return create_one(OpKind::Load, std::move(operands), type(pointers).pointee());
}

void Builder::store(Value pointers, Value value, Value mask) {
  std::vector<Value> operands = {pointers, value};
  if (mask) operands.push_back(mask);
  create(OpKind::Store, std::move(operands), {});
}

}  // namespace tilewright::ir
