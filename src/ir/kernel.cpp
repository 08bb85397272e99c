// SPDX-License-Identifier: Apache-2.0
// ir/kernel.cpp — making values and ops, and reading attributes.
#include "ir/kernel.h"

#include <algorithm>

#include "base/check.h"

namespace tilewright::ir {

const AttributeValue* Op::find(std::string_view name) const {
  for (const Attribute& attribute : attributes)
    if (attribute.name == name) return &attribute.value;
  return nullptr;
}

std::int64_t Op::integer(std::string_view name, std::int64_t otherwise) const {
  const AttributeValue* value = find(name);
  return value ? std::get<std::int64_t>(*value) : otherwise;
}

double Op::number(std::string_view name, double otherwise) const {
  const AttributeValue* value = find(name);
  return value ? std::get<double>(*value) : otherwise;
}

std::string_view Op::text(std::string_view name, std::string_view otherwise) const {
  const AttributeValue* value = find(name);
  return value ? std::string_view(std::get<std::string>(*value)) : otherwise;
}

std::vector<std::int64_t> Op::integers(std::string_view name) const {
  const AttributeValue* value = find(name);
  return value ? std::get<std::vector<std::int64_t>>(*value) : std::vector<std::int64_t>{};
}

std::vector<std::string> Op::texts(std::string_view name) const {
  const AttributeValue* value = find(name);
  return value ? std::get<std::vector<std::string>>(*value) : std::vector<std::string>{};
}

namespace {

// Where the op table has the attribute.
std::size_t rank_of(const Op& op, std::string_view name) {
  const auto rules = op.facts().attributes;
  std::size_t i = 0;
  while (i < rules.size() && rules[i].name != name) ++i;
  TW_CHECK(i < rules.size(), "op '{}' has no attribute '{}'", op.facts().name, name);
  return i;
}

}  // namespace

void Op::set(std::string_view name, AttributeValue value) {
  for (Attribute& attribute : attributes) {
    if (attribute.name != name) continue;
    attribute.value = std::move(value);
    return;
  }
  // Kept in the table's order, so that equal ops print equally.
  const std::size_t rank = rank_of(*this, name);
  auto place = attributes.begin();
  while (place != attributes.end() && rank_of(*this, place->name) < rank) ++place;
  attributes.insert(place, {facts().attributes[rank].name, std::move(value)});
}

void Op::set(std::vector<Attribute> given) {
  const auto is_misplaced = [&](const Attribute& a, const Attribute& b) {
    return rank_of(*this, a.name) >= rank_of(*this, b.name);
  };
  const bool is_ordered =
      std::adjacent_find(given.begin(), given.end(), is_misplaced) == given.end();
  if (attributes.empty() && is_ordered) {
    for (Attribute& one : given) one.name = facts().attributes[rank_of(*this, one.name)].name;
    attributes = std::move(given);
  } else {
    for (Attribute& one : given) set(one.name, std::move(one.value));
  }
}

void Op::erase(std::string_view name) {
  std::erase_if(attributes, [&](const Attribute& attribute) { return attribute.name == name; });
}

Value Kernel::add_argument(const Type& type, std::string argument_name) {
  const Value value = make_value(type, std::move(argument_name), nullptr);
  arguments.push_back({.value = value});
  return value;
}

std::size_t Kernel::buffer_of(const Op& op) const { return buffer_named(op.text("buffer")); }

std::size_t Kernel::buffer_named(std::string_view wanted) const {
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].name == wanted) return i;
  TW_UNREACHABLE("kernel '{}' has no buffer '{}'", name, wanted);
}

const KernelLayout* Kernel::find_layout(std::string_view wanted) const {
  for (const KernelLayout& layout : layouts)
    if (layout.name == wanted) return &layout;
  return nullptr;
}

const KernelMap& Kernel::map_of(const Op& op) const {
  const auto found = std::find_if(maps.begin(), maps.end(),
                                  [&](const KernelMap& m) { return m.name == op.text("map"); });
  TW_CHECK(found != maps.end(), "kernel '{}' has no map '{}'", name, op.text("map"));
  return *found;
}

const KernelRing& Kernel::ring_of(const Op& op) const {
  const auto found = std::find_if(rings.begin(), rings.end(),
                                  [&](const KernelRing& r) { return r.name == op.text("ring"); });
  TW_CHECK(found != rings.end(), "kernel '{}' has no ring '{}'", name, op.text("ring"));
  return *found;
}

bool Kernel::is_in_ring(const KernelBuffer& buffer) const {
  return std::any_of(rings.begin(), rings.end(), [&](const KernelRing& ring) {
    return std::find(ring.buffers.begin(), ring.buffers.end(), buffer.name) != ring.buffers.end();
  });
}

Value Kernel::make_value(const Type& type, std::string value_name, Op* maker) {
  ValueFacts& made = values_.add();
  made.type = type;
  made.name = std::move(value_name);
  made.maker = maker;
  return {static_cast<std::uint32_t>(values_.size() - 1)};
}

Op* Kernel::make_op(OpKind kind, std::vector<Value> operands, std::span<const Type> result_types,
                    Location location, std::vector<Attribute> attributes) {
  Op& op = ops_.add();
  op.kind = kind;
  op.location = location;
  op.operands = std::move(operands);
  op.set(std::move(attributes));
  op.results.reserve(result_types.size());
  for (const Type& type : result_types) op.results.push_back(make_value(type, "", &op));
  return &op;
}

}  // namespace tilewright::ir
