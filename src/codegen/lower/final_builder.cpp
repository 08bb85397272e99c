// SPDX-License-Identifier: Apache-2.0
// codegen/lower/final_builder.cpp — ops, and where they are put.
#include "codegen/lower/final_builder.h"

#include <utility>

namespace tilewright {

using ir::OpKind;
using ir::Type;

ir::Value FinalBuilder::make(OpKind kind, std::vector<ir::Value> operands, const Type& type,
                             std::vector<ir::Attribute> attributes, ir::Location location) {
  return out_.make_op(kind, std::move(operands), {type}, location, std::move(attributes))->result();
}

ir::Op* FinalBuilder::statement(OpKind kind, std::vector<ir::Value> operands, Statements& list,
                                std::vector<ir::Attribute> attributes, ir::Location location) {
  ir::Op* op = out_.make_op(kind, std::move(operands), {}, location, std::move(attributes));
  insert(op, list);
  return op;
}

// With all that it is computed from and that has no name; what stands elsewhere is made once more.
void FinalBuilder::insert(ir::Op* op, Statements& list) {
  for (ir::Value& operand : op->operands) {
    ir::Op* maker = out_.maker(operand);
    if (!maker || maker->facts().has(ir::Nested) || !out_.name_of(operand).empty()) continue;
    if (inserted_.contains(maker)) {
      operand = make(maker->kind, maker->operands, out_.type(operand), maker->attributes,
                     maker->location);
      maker = out_.maker(operand);
    }
    insert(maker, list);
  }
  inserted_.insert(op);
  list.push_back(op);
}

void FinalBuilder::put_into(Statements& list, const std::function<void()>& body) {
  Statements* const outside = std::exchange(list_, &list);
  body();
  list_ = outside;
}

// The value in a line of its own; one that has a line already gets another.
ir::Value FinalBuilder::named(ir::Value value, const std::string& name, Statements& list) {
  const ir::Op* maker = out_.maker(value);
  const bool is_free = maker && !inserted_.contains(maker) && !written_at_uses_.contains(maker) &&
                       out_.name_of(value).empty() && maker->kind != OpKind::Constant;
  if (!is_free) value = make(OpKind::Hint, {value}, type_of(value));
  out_.set_name(value, name);
  insert(out_.maker(value), list);
  return value;
}

void FinalBuilder::write_at_uses(ir::Value value, ir::Value made) {
  scalars_[value.id] = made;
  written_at_uses_.insert(out_.maker(made));
}

ir::Value FinalBuilder::constant_of(const Type& type, const ir::AttributeValue& value) {
  return make(OpKind::Constant, {}, type.element(), {{"value", value}});
}

ir::Value FinalBuilder::number(std::int64_t value, DType dtype) {
  return constant_of(Type::scalar(dtype), value);
}

ir::Value FinalBuilder::cast(ir::Value value, DType dtype) {
  if (type_of(value).dtype == dtype) return value;
  if (const auto known = number_of(value)) return number(*known, dtype);
  return make(OpKind::Cast, {value}, Type::scalar(dtype));
}

ir::Value FinalBuilder::call(LibraryKind function, std::vector<ir::Value> operands,
                             const Type& type) {
  return make(OpKind::Call, std::move(operands), type,
              {{"function", std::string(name_of(function))}});
}

ir::Op* FinalBuilder::call(LibraryKind function, std::vector<ir::Value> operands, Statements& list,
                           const std::vector<std::int64_t>& numbers, ir::Location location) {
  std::vector<ir::Attribute> attributes = {{"function", std::string(name_of(function))}};
  if (!numbers.empty()) attributes.push_back({"numbers", numbers});
  return statement(OpKind::Call, std::move(operands), list, std::move(attributes), location);
}

ir::Value FinalBuilder::compare(const char* is, ir::Value a, ir::Value b) {
  return make(OpKind::Compare, {a, b}, Type::scalar(DType::Bool), {{"is", std::string(is)}});
}

ir::Value FinalBuilder::all(const std::vector<ir::Value>& conditions) {
  return conditions.size() == 1 ? conditions[0]
                                : make(OpKind::All, conditions, Type::scalar(DType::Bool));
}

ir::Value FinalBuilder::zero_of(const Type& type) {
  return type.is_float() ? constant_of(type, 0.0) : constant_of(type, std::int64_t{0});
}

void FinalBuilder::choose(ir::Value condition, Statements& list, const FillList& body,
                          const FillList& otherwise) {
  ir::Op* branch = out_.make_op(OpKind::If, {condition}, {}, {});
  branch->regions.resize(2);
  insert(branch, list);
  if (body) body(branch->regions[0].ops);
  if (otherwise) otherwise(branch->regions[1].ops);
  for (ir::Region& side : branch->regions) statement(OpKind::Yield, {}, side.ops);
}

std::optional<std::int64_t> FinalBuilder::number_of(ir::Value value) const {
  const ir::Op* maker = out_.maker(value);
  if (!maker || maker->kind != OpKind::Constant || !type_of(value).is_int()) return std::nullopt;
  return maker->integer("value");
}

// Terms that are sums themselves are taken apart.
ir::Value FinalBuilder::sum(const std::vector<IndexTerm>& terms, DType dtype) {
  std::vector<ir::Value> indices, strides;
  std::vector<std::int64_t> factors;
  std::int64_t offset = 0;
  for (const IndexTerm& term : terms) {
    const std::optional<std::int64_t> known = number_of(term.index);
    if (known && !term.stride) {
      offset += *known * term.factor;
      continue;
    }
    const ir::Op* inner = out_.maker(term.index);
    const bool opens = inner && inner->kind == OpKind::Linear && term.factor == 1 && !term.stride &&
                       out_.name_of(term.index).empty();
    if (!opens) {
      indices.push_back(term.index);
      factors.push_back(term.stride ? 0 : term.factor);
      if (term.stride) strides.push_back(term.stride);
      continue;
    }
    const auto& more = std::get<std::vector<std::int64_t>>(*inner->find("factors"));
    indices.insert(indices.end(), inner->operands.begin(),
                   inner->operands.begin() + static_cast<std::ptrdiff_t>(more.size()));
    factors.insert(factors.end(), more.begin(), more.end());
    strides.insert(strides.end(),
                   inner->operands.begin() + static_cast<std::ptrdiff_t>(more.size()),
                   inner->operands.end());
    offset += inner->integer("offset");
  }
  if (indices.empty()) return number(offset);
  if (indices.size() == 1 && factors[0] == 1 && offset == 0) return indices[0];
  indices.insert(indices.end(), strides.begin(), strides.end());
  std::vector<ir::Attribute> attributes = {{"factors", std::move(factors)}};
  if (offset != 0) attributes.push_back({"offset", offset});
  return make(OpKind::Linear, std::move(indices), Type::scalar(dtype), std::move(attributes));
}

}  // namespace tilewright
