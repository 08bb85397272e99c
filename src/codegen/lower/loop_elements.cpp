// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_elements.cpp — one element of a tile: read from an array or memory, mapped to
// another tile's element, or computed by a statement of the loop.
#include "codegen/lower/loop_elements.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Divisors whose inverse is surely in range (device_lib/cpu/floats.h).
constexpr double least_sure_divisor = 0x1p-64, most_sure_divisor = 0x1p64;
constexpr double least_normal = 0x1p-126;

}  // namespace

std::string LoopElements::key_of(const ElementIndex& index) const {
  std::string key;
  for (const PlacedValue& coordinate : index.at) key += written_.key(coordinate.value) + ",";
  return key;
}

bool LoopElements::is_own(const LoweredNest& nest, const ElementIndex& index) const {
  return key_of(index) == key_of(nest.own);
}

// In a line of its own, in the loop of that depth. Before all loops it belongs to no line of the
// source more than to another.
PlacedValue LoopElements::name_in(LoweredNest& nest, ir::Value value, ir::Value made, int depth) {
  const std::string name = nest.names.make(kernel_.name_of(value));
  if (depth == 0) names_.reserve(name);
  const ir::Value line = named(made, name, nest.lines[static_cast<std::size_t>(depth)]);
  if (depth == 0 && !nest.loops.empty()) out_.maker(line)->location = {};
  return {line, depth};
}

PlacedValue LoopElements::element(LoweredNest& nest, ir::Value value, const ElementIndex& index) {
  const Type& type = kernel_.type(value);
  const std::pair<std::uint32_t, std::string> key{value.id, key_of(index)};
  if (const auto found = nest.known.find(key); found != nest.known.end()) return found->second;
  if (type.is_scalar()) return {scalar(value), 0};
  if (schedule_.is_in_array(value, *nest.step)) {
    const PlacedValue at = linear(type, index);
    const ir::Value read = make(OpKind::Read, {array(value), at.value}, type.element());
    if (at.depth >= nest.depth()) return {read, at.depth};
    // Read outside the innermost loop: inside, a store to another array may seem to change it, and
    // the loop would not become vector code.
    return nest.known[key] = name_in(nest, value, read, at.depth);
  }
  const ir::Op* op = kernel_.maker(value);
  TW_CHECK(op, "a carried tile has no array");
  if (op->kind == OpKind::Sweep) return element(nest, schedule_.source_of(value), index);
  const PlacedValue out = [&] {
    if (op->kind == OpKind::Load) return loaded(nest, *op, index);
    if (type.is_bool() && (op->kind == OpKind::And || op->kind == OpKind::Bounds)) {
      const KnownCondition holds = condition(nest, value, index);
      if (holds.known) return PlacedValue{constant_of(type, std::int64_t{*holds.known ? 1 : 0}), 0};
      return holds.value;
    }
    if (op->facts().has(ir::Elementwise) && op->kind != OpKind::Hint)
      return computed(nest, *op, value, index);
    return viewed(nest, *op, value, index);
  }();
  nest.known[key] = out;
  return out;
}

// What a condition chooses from is a variable before it: a loop that reads and computes under a
// condition does not become vector code.
PlacedValue LoopElements::arm(LoweredNest& nest, ir::Value value, const ElementIndex& index) {
  const PlacedValue written = element(nest, value, index);
  if (written.depth < nest.depth() || written_.is_plain(written.value)) return written;
  return nest.known[{value.id, key_of(index)}] =
             name_in(nest, value, copied(written.value), written.depth);
}

// ---- Views

PlacedValue LoopElements::viewed(LoweredNest& nest, const ir::Op& op, ir::Value value,
                                 const ElementIndex& index) {
  if (op.facts().is(ir::Family::Source)) return indexed(op, index);
  switch (ir::view_op(op.kind)) {
    case ir::ViewOp::Splat:
      return {scalar(op.operands[0]), 0};
    case ir::ViewOp::Hint:
    case ir::ViewOp::Broadcast:
    case ir::ViewOp::Reshape:
      return element(nest, op.operands[0], viewed_index(op, index));
    case ir::ViewOp::Permute: {
      ElementIndex inner{std::vector<PlacedValue>(kernel_.type(value).rank), {}};
      const std::vector<std::int64_t> order = op.integers("order");
      for (std::size_t d = 0; d < order.size(); ++d)
        inner.at[static_cast<std::size_t>(order[d])] = index.at[d];
      return element(nest, op.operands[0], inner);
    }
    case ir::ViewOp::Join:
      return joined(nest, op, index);
    case ir::ViewOp::Split: {
      ElementIndex inner{index.at, {}};
      inner.at.push_back({number(value == op.results[0] ? 0 : 1), 0});
      return element(nest, op.operands[0], inner);
    }
    case ir::ViewOp::Affine:
      return affine(nest, op, index);
    case ir::ViewOp::Bounds:
      break;  // a condition
  }
  TW_UNREACHABLE("'{}' is no view", op.facts().name);
}

// A constant, or the index itself.
PlacedValue LoopElements::indexed(const ir::Op& op, const ElementIndex& index) {
  if (op.kind == OpKind::Constant)
    return {constant_of(kernel_.type(op.result()), *op.find("value")), 0};
  TW_CHECK(op.kind == OpKind::Arange, "'{}' has no elements", op.facts().name);
  const PlacedValue& at = index.at[0];
  const std::int64_t start = op.integer("start");
  if (const auto known = number_of(at.value)) return {number(*known + start), 0};
  const ir::Value own = cast(at.value, DType::Int32);
  if (start == 0) return {own, at.depth};
  return {make(OpKind::Add, {own, number(start)}, Type::scalar(DType::Int32)), at.depth};
}

PlacedValue LoopElements::joined(LoweredNest& nest, const ir::Op& op, const ElementIndex& index) {
  ElementIndex inner{index.at, {}};
  const PlacedValue side = inner.at.back();
  inner.at.pop_back();
  if (const auto known = number_of(side.value))
    return element(nest, op.operands[*known == 1 ? 1 : 0], inner);
  const PlacedValue a = arm(nest, op.operands[0], inner);
  const PlacedValue b = arm(nest, op.operands[1], inner);
  const ir::Value is_first = compare("eq", side.value, number(0, type_of(side.value).dtype));
  return {make(OpKind::Select, {is_first, a.value, b.value}, type_of(a.value)),
          std::max({side.depth, a.depth, b.depth})};
}

PlacedValue LoopElements::affine(LoweredNest& nest, const ir::Op& op, const ElementIndex& index) {
  const Address found = affine_terms(op, index);
  const Type type = kernel_.type(op.result()).element();
  if (found.terms.empty()) return {found.base, 0};
  if (type.is_pointer)
    return {make(OpKind::Offset, {found.base, sum(found.terms)}, type), found.depth};
  const ir::Value offset = cast(sum(found.terms, type.dtype), type.dtype);
  return name_in(nest, op.result(), make(OpKind::Add, {found.base, offset}, type), found.depth);
}

// ---- Conditions

KnownCondition LoopElements::in_bounds(const ir::Op& op, const ElementIndex& index) {
  KnownCondition out;
  std::vector<ir::Value> tests;
  const Type& type = kernel_.type(op.result());
  for (int d = 0; d < type.rank; ++d) {
    const auto k = static_cast<std::size_t>(d);
    const ir::Value low = op.operands[2 * k], high = op.operands[2 * k + 1];
    const PlacedValue& at = index.at[k];
    const auto add = [&](const char* is, ir::Value bound) {
      tests.push_back(compare(is, at.value, scalar(bound)));
      out.value.depth = std::max(out.value.depth, at.depth);
    };
    const std::optional<std::int64_t> least = facts_.constant(low), most = facts_.constant(high);
    if (!least || *least > 0) add("ge", low);
    if (!most || *most < type.size(d)) add("lt", high);
  }
  if (tests.empty()) out.known = true;
  else out.value.value = all(tests);
  return out;
}

KnownCondition LoopElements::condition(LoweredNest& nest, ir::Value value,
                                       const ElementIndex& index) {
  if (nest.split_holds && is_own(nest, index) && facts_.is_split(nest, value))
    return {nest.split_holds, {}};
  const ir::Op* op = kernel_.maker(value);
  if (kernel_.type(value).is_tile() && schedule_.is_in_array(value, *nest.step)) op = nullptr;
  if (op && op->kind == OpKind::Hint) return condition(nest, op->operands[0], index);
  if (op && op->kind == OpKind::Constant) return {op->integer("value") != 0, {}};
  if (op && op->kind == OpKind::Bounds) return in_bounds(*op, index);
  if (op && op->kind == OpKind::And && kernel_.type(value).is_tile()) {
    const KnownCondition a = condition(nest, op->operands[0], index);
    if (a.known && !*a.known) return a;
    const KnownCondition b = condition(nest, op->operands[1], index);
    if (a.known || (b.known && !*b.known)) return b;
    if (b.known) return a;
    return {std::nullopt,
            {make(OpKind::And, {a.value.value, b.value.value}, Type::scalar(DType::Bool)),
             std::max(a.value.depth, b.value.depth)}};
  }
  const PlacedValue written = element(nest, value, index);
  const ir::Op* made = out_.maker(written.value);
  if (made && made->kind == OpKind::Constant) return {made->integer("value") != 0, {}};
  return {std::nullopt, written};
}

// ---- Computed elements

// A division of f32 need not be rounded once: by what the innermost loop does not change, it is a
// product with the inverse. It must be the same number wherever it is computed: m - x / y is not
// below 0 where m is the largest of the quotients, so none is fused with a sum.
std::optional<ir::Value> LoopElements::divided(LoweredNest& nest, const ir::Op& op,
                                               const std::vector<ir::Value>& operands,
                                               const ElementIndex& index) {
  if (op.kind != OpKind::Divide || kernel_.type(op.result()).dtype != DType::Float32 ||
      op.integer("exact") != 0 || nest.loops.empty())
    return std::nullopt;
  const PlacedValue by = element(nest, op.operands[1], index);
  const PlacedValue over = element(nest, op.operands[0], index);
  if (by.depth >= nest.depth() || over.depth < nest.depth()) return std::nullopt;
  PlacedValue& divisor = nest.known[{op.operands[1].id, "divisor " + written_.key(by.value)}];
  if (!divisor.value) {
    const bool is_in_range = !facts_.may_be_term(op.result()) &&
                             op.number("divisor_from", 0) >= least_sure_divisor &&
                             op.number("divisor_to", HUGE_VAL) <= most_sure_divisor;
    const std::string name = nest.names.make("divisor");
    if (by.depth == 0) names_.reserve(name);
    const LibraryKind kind = is_in_range ? LibraryKind::PlainDivisor : LibraryKind::Divisor;
    divisor = {named(call(kind, {by.value}, Type::scalar(DType::Float32)), name,
                     nest.lines[static_cast<std::size_t>(by.depth)]),
               by.depth};
  }
  return call(LibraryKind::Divide, {divisor.value, operands[0]}, Type::scalar(DType::Float32));
}

// exp(x) + c and x * (1 / y), of which sigmoids are made, as one function each; the latter where
// the inverse is surely a number.
std::optional<PlacedValue> LoopElements::merged(LoweredNest& nest, const ir::Op& op,
                                                const ElementIndex& index) {
  constexpr double least = 0x1p-60;
  const auto of_both = [&](LibraryKind function, ir::Value a, ir::Value b) {
    const PlacedValue first = element(nest, a, index), second = element(nest, b, index);
    return PlacedValue{call(function, {first.value, second.value}, Type::scalar(DType::Float32)),
                       std::max(first.depth, second.depth)};
  };
  if (op.kind != OpKind::Add && op.kind != OpKind::Multiply) return std::nullopt;
  for (const std::size_t k : {0, 1}) {
    const ir::Value other = op.operands[1 - k];
    if (op.kind == OpKind::Add) {
      const ir::Op* power = facts_.only_for_this(nest, op.operands[k], OpKind::Math);
      const std::optional<double> c = facts_.float_constant(other);
      if (power && power->text("function") == "exp" && c && std::abs(*c) >= least)
        return of_both(LibraryKind::ExpPlus, power->operands[0], other);
    } else if (const ir::Op* inverse = facts_.only_for_this(nest, op.operands[k], OpKind::Divide)) {
      // The inverse of a smaller divisor is infinite, and so is the product.
      const bool is_fast =
          inverse->integer("exact") == 0 && inverse->number("divisor_from", 0) >= least_normal;
      if (is_fast && facts_.float_constant(inverse->operands[0]) == 1.0 &&
          element(nest, inverse->operands[1], index).depth == nest.depth())
        return of_both(LibraryKind::DivideFast, other, inverse->operands[1]);
    }
  }
  return std::nullopt;
}

PlacedValue LoopElements::computed(LoweredNest& nest, const ir::Op& op, ir::Value value,
                                   const ElementIndex& index) {
  if (op.kind == OpKind::Select) {
    const KnownCondition holds = condition(nest, op.operands[0], index);
    if (holds.known) return element(nest, op.operands[*holds.known ? 1 : 2], index);
  }
  const auto placed = [&](ir::Value made, int depth) -> PlacedValue {
    if (depth == nest.depth() && is_inlined(op, made)) return {made, depth};
    return name_in(nest, value, made, depth);
  };
  if (const std::optional<PlacedValue> whole = merged(nest, op, index))
    return placed(whole->value, whole->depth);
  std::vector<ir::Value> operands;
  int depth = 0;
  for (const ir::Value input : op.operands) {
    const bool is_arm = op.kind == OpKind::Select && input != op.operands[0];
    const PlacedValue written = is_arm ? arm(nest, input, index) : element(nest, input, index);
    operands.push_back(written.value);
    depth = std::max(depth, written.depth);
  }
  const std::optional<ir::Value> product = divided(nest, op, operands, index);
  return placed(
      product ? *product
              : make(op.kind, operands, kernel_.type(value).element(), op.attributes, op.location),
      depth);
}

// ---- Memory

ir::Value LoopElements::copied(ir::Value value) {
  const Type& type = type_of(value);
  const bool is_struct = type.is_float() && size_of(type.dtype) < 4;
  if (!is_struct || written_.is_computed(value)) return value;
  return call(LibraryKind::Copy, {value}, type);
}

PlacedValue LoopElements::loaded(LoweredNest& nest, const ir::Op& op, const ElementIndex& index) {
  const Type type = kernel_.type(op.result());
  KnownCondition mask{true, {}};
  if (op.operands.size() > 1) mask = condition(nest, op.operands[1], index);
  PlacedValue other;
  if (op.operands.size() > 2 && !(mask.known && *mask.known))
    other = element(nest, op.operands[2], index);
  else other.value = zero_of(type);
  if (mask.known && !*mask.known) return other;
  const PlacedValue place = access(nest, op.operands[0], index);
  int depth = place.depth;
  // Under the split mask the element exists only inside the loop.
  if (op.operands.size() > 1 && mask.known && nest.split) depth = nest.depth();
  std::vector<ir::Value> operands = {place.value};
  if (!mask.known) {
    depth = std::max({depth, mask.value.depth, other.depth});
    operands.push_back(mask.value.value);
    operands.push_back(other.value);
  }
  std::vector<ir::Attribute> attributes;
  if (op.integer("volatile") != 0) attributes.push_back({"volatile", std::int64_t{1}});
  const ir::Value read = make(OpKind::Load, operands, type.element(), attributes, op.location);
  if (type.is_scalar()) return {read, 0};
  return name_in(nest, op.result(), read, depth);
}

}  // namespace tilewright
