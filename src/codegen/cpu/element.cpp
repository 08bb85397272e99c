// SPDX-License-Identifier: Apache-2.0
// codegen/cpu/element.cpp — one element of a tile as text: read from an array or memory, mapped to
// another tile's element, or computed by a statement of the loop.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "codegen/cpu/program.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Divisors whose inverse is surely in range (device_lib/cpu/floats.h).
constexpr double least_plain_divisor = 0x1p-64, most_plain_divisor = 0x1p64;

std::string key_of(const Index& index) {
  std::string key;
  for (const Placed& coordinate : index.at) key += coordinate.text + ",";
  return key;
}

// Factors and shifts of powers of two as they read best.
std::string scaled(const std::string& text, std::int64_t factor) {
  if (text == "0" || factor == 0) return "0";
  return factor == 1 ? text : fmt::format("{} * {}", atom(text), factor);
}

}  // namespace

bool ProgramWriter::is_own(const Nest& nest, const Index& index) {
  return key_of(index) == key_of(nest.own);
}

Placed ProgramWriter::linear(const Type& type, const Index& index) const {
  if (index.linear) return *index.linear;
  Placed out;
  std::int64_t stride = 1;
  std::vector<std::string> terms;
  for (int d = type.rank - 1; d >= 0; --d) {
    const Placed& coordinate = index.at[static_cast<std::size_t>(d)];
    if (type.size(d) > 1 && coordinate.text != "0") {
      terms.push_back(scaled(coordinate.text, stride));
      out.depth = std::max(out.depth, coordinate.depth);
    }
    stride *= type.size(d);
  }
  for (auto term = terms.rbegin(); term != terms.rend(); ++term)
    out.text += (out.text.empty() ? "" : " + ") + *term;
  if (out.text.empty()) out.text = "0";
  return out;
}

// Row-major coordinates of the same element in another shape.
Index ProgramWriter::reshaped(const Type& from, const Type& to, const Index& index) const {
  std::vector<int> old_dims, new_dims;
  for (int d = 0; d < from.rank; ++d)
    if (from.size(d) > 1) old_dims.push_back(d);
  for (int d = 0; d < to.rank; ++d)
    if (to.size(d) > 1) new_dims.push_back(d);
  Index out{std::vector<Placed>(to.rank, Placed{"0", 0}), index.linear};
  bool is_plain = old_dims.size() == new_dims.size();
  for (std::size_t k = 0; is_plain && k < old_dims.size(); ++k)
    is_plain = from.size(old_dims[k]) == to.size(new_dims[k]);
  if (is_plain) {
    for (std::size_t k = 0; k < old_dims.size(); ++k)
      out.at[static_cast<std::size_t>(new_dims[k])] =
          index.at[static_cast<std::size_t>(old_dims[k])];
    return out;
  }
  const Placed number = linear(from, index);
  out.linear = number;
  std::int64_t stride = to.numel();
  for (int d = 0; d < to.rank; ++d) {
    stride /= to.size(d);
    if (to.size(d) == 1) continue;
    std::string text = atom(number.text);
    if (stride > 1) text = fmt::format("{} / {}", text, stride);
    if (stride * to.size(d) < to.numel()) text = fmt::format("{} % {}", text, to.size(d));
    // Unsigned, so that the compiler shifts and masks.
    out.at[static_cast<std::size_t>(d)] = {
        number.text == "0"
            ? "0"
            : fmt::format("i32(u32({}) {})", number.text, text.substr(atom(number.text).size())),
        number.depth};
    // A coordinate is an operand of whatever is computed from it.
    if (text == atom(number.text)) out.at[static_cast<std::size_t>(d)] = {text, number.depth};
  }
  return out;
}

Placed ProgramWriter::named(Nest& nest, ir::Value value, const std::string& expression, int depth) {
  const Type& type = kernel_.type(value);
  const std::string name = nest.names.make(kernel_.name_of(value));
  if (depth == 0) {
    names_.reserve(name);
    declared_[name] = type_text(type);
  }
  const std::string prefix = type.is_pointer ? fmt::format("{} const", type_text(type))
                                             : fmt::format("const {}", type_text(type));
  nest.lines[static_cast<std::size_t>(depth)].push_back(
      fmt::format("{} {} = {};", prefix, name, expression));
  return {name, depth};
}

Placed ProgramWriter::element(Nest& nest, ir::Value value, const Index& index) {
  const Type& type = kernel_.type(value);
  const std::pair<std::uint32_t, std::string> key{value.id, key_of(index)};
  if (const auto found = nest.known.find(key); found != nest.known.end()) return found->second;
  if (type.is_scalar()) return {text(value), 0};
  if (schedule_.is_in_array(value, *nest.step)) {
    const Placed at = linear(type, index);
    const std::string read = fmt::format("{}[{}]", array(value), at.text);
    if (at.depth >= nest.depth()) return {read, at.depth};
    // Read outside the innermost loop: inside, a store to another array may seem to change it, and
    // the loop would not become vector code.
    return nest.known[key] = named(nest, value, read, at.depth);
  }
  const ir::Op* op = kernel_.maker(value);
  TW_CHECK(op, "a carried tile has no array");
  if (op->kind == OpKind::Sweep) return element(nest, schedule_.source_of(value), index);
  const Placed out = [&] {
    if (op->kind == OpKind::Load) return loaded(nest, *op, index);
    if (type.is_bool() && (op->kind == OpKind::And || op->kind == OpKind::Bounds)) {
      const Condition holds = condition(nest, value, index);
      if (holds.known) return Placed{*holds.known ? "true" : "false", 0};
      return holds.text;
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
Placed ProgramWriter::arm(Nest& nest, ir::Value value, const Index& index) {
  const Placed written = element(nest, value, index);
  if (written.depth < nest.depth() || written.text.find_first_of("([") == std::string::npos)
    return written;
  return nest.known[{value.id, key_of(index)}] =
             named(nest, value, copied(kernel_.type(value), written.text), written.depth);
}

// ---- Views

Placed ProgramWriter::viewed(Nest& nest, const ir::Op& op, ir::Value value, const Index& index) {
  const Type& type = kernel_.type(value);
  const auto& at = index.at;
  const ir::OpFacts& facts = op.facts();
  if (facts.is(ir::Family::Source)) return indexed(op, index);
  switch (ir::view_op(op.kind)) {
    case ir::ViewOp::Splat:
      return {text(op.operands[0]), 0};
    case ir::ViewOp::Hint:
      return element(nest, op.operands[0], index);
    case ir::ViewOp::Broadcast: {
      const Type& from = kernel_.type(op.operands[0]);
      Index inner = index;
      if (!(from == type)) inner.linear.reset();
      for (int d = 0; d < from.rank; ++d)
        if (from.size(d) == 1) inner.at[static_cast<std::size_t>(d)] = {"0", 0};
      return element(nest, op.operands[0], inner);
    }
    case ir::ViewOp::Reshape:
      return element(nest, op.operands[0], reshaped(type, kernel_.type(op.operands[0]), index));
    case ir::ViewOp::Permute: {
      Index inner{std::vector<Placed>(type.rank), {}};
      const std::vector<std::int64_t> order = op.integers("order");
      for (std::size_t d = 0; d < order.size(); ++d)
        inner.at[static_cast<std::size_t>(order[d])] = at[d];
      return element(nest, op.operands[0], inner);
    }
    case ir::ViewOp::Join:
      return joined(nest, op, index);
    case ir::ViewOp::Split: {
      Index inner{at, {}};
      inner.at.push_back({value == op.results[0] ? "0" : "1", 0});
      return element(nest, op.operands[0], inner);
    }
    case ir::ViewOp::Affine:
      return affine(nest, op, index);
    case ir::ViewOp::Bounds:
      break;  // a condition
  }
  TW_UNREACHABLE("'{}' is no view", facts.name);
}

// A constant, or the index itself.
Placed ProgramWriter::indexed(const ir::Op& op, const Index& index) {
  if (op.kind == OpKind::Constant)
    return {literal_text(kernel_.type(op.result()), *op.find("value")), 0};
  TW_CHECK(op.kind == OpKind::Arange, "'{}' has no elements", op.facts().name);
  const Placed& at = index.at[0];
  const std::int64_t start = op.integer("start");
  if (at.text == "0") return {fmt::format("{}", start), 0};
  return {start == 0 ? at.text : fmt::format("({} + {})", at.text, start), at.depth};
}

Placed ProgramWriter::joined(Nest& nest, const ir::Op& op, const Index& index) {
  Index inner{index.at, {}};
  const Placed side = inner.at.back();
  inner.at.pop_back();
  if (side.text == "0" || side.text == "1")
    return element(nest, op.operands[side.text == "1" ? 1 : 0], inner);
  const Placed a = arm(nest, op.operands[0], inner);
  const Placed b = arm(nest, op.operands[1], inner);
  return {fmt::format("({} == 0 ? {} : {})", side.text, a.text, b.text),
          std::max({side.depth, a.depth, b.depth})};
}

Placed ProgramWriter::sum_of(const std::vector<std::pair<ir::Value, Placed>>& terms) {
  Placed out;
  for (const auto& [stride, coordinate] : terms) {
    const std::optional<std::int64_t> known = constant(stride);
    if (coordinate.text == "0" || (known && *known == 0)) continue;
    const std::string factor = known ? fmt::format("{}", *known) : text(stride);
    const std::string term = known && *known == 1
                                 ? coordinate.text
                                 : fmt::format("{} * {}", atom(coordinate.text), atom(factor));
    out.text += (out.text.empty() ? "" : " + ") + term;
    out.depth = std::max(out.depth, coordinate.depth);
  }
  if (out.text.empty()) out.text = "0";
  return out;
}

Placed ProgramWriter::affine(Nest& nest, const ir::Op& op, const Index& index) {
  std::vector<std::pair<ir::Value, Placed>> terms;
  for (std::size_t d = 0; d < index.at.size(); ++d)
    terms.emplace_back(op.operands[d + 1], index.at[d]);
  const Placed offset = sum_of(terms);
  const Type& type = kernel_.type(op.result());
  const std::string& base = text(op.operands[0]);
  if (offset.text == "0") return {base, 0};
  if (type.is_pointer) return {fmt::format("({} + ({}))", base, offset.text), offset.depth};
  return named(nest, op.result(), fmt::format("{}({} + ({}))", type_text(type), base, offset.text),
               offset.depth);
}

// ---- Conditions

Condition ProgramWriter::in_bounds(Nest&, const ir::Op& op, const Index& index) {
  Condition out;
  const Type& type = kernel_.type(op.result());
  for (int d = 0; d < type.rank; ++d) {
    const auto k = static_cast<std::size_t>(d);
    const ir::Value low = op.operands[2 * k], high = op.operands[2 * k + 1];
    const Placed& at = index.at[k];
    const auto add = [&](const std::string& test) {
      out.text.text += (out.text.text.empty() ? "" : " && ") + test;
      out.text.depth = std::max(out.text.depth, at.depth);
    };
    const std::optional<std::int64_t> least = constant(low), most = constant(high);
    if (!least || *least > 0) add(fmt::format("{} >= {}", atom(at.text), atom(text(low))));
    if (!most || *most < type.size(d)) add(fmt::format("{} < {}", atom(at.text), atom(text(high))));
  }
  if (out.text.text.empty()) out.known = true;
  else out.text.text = "(" + out.text.text + ")";
  return out;
}

Condition ProgramWriter::condition(Nest& nest, ir::Value value, const Index& index) {
  if (nest.split_holds && is_own(nest, index) && is_split(nest, value))
    return {nest.split_holds, {}};
  const ir::Op* op = kernel_.maker(value);
  if (kernel_.type(value).is_tile() && schedule_.is_in_array(value, *nest.step)) op = nullptr;
  if (op && op->kind == OpKind::Hint) return condition(nest, op->operands[0], index);
  if (op && op->kind == OpKind::Constant) return {op->integer("value") != 0, {}};
  if (op && op->kind == OpKind::Bounds) return in_bounds(nest, *op, index);
  if (op && op->kind == OpKind::And && kernel_.type(value).is_tile()) {
    const Condition a = condition(nest, op->operands[0], index);
    if (a.known && !*a.known) return a;
    const Condition b = condition(nest, op->operands[1], index);
    if (a.known || (b.known && !*b.known)) return b;
    if (b.known) return a;
    return {
        std::nullopt,
        {fmt::format("({} & {})", a.text.text, b.text.text), std::max(a.text.depth, b.text.depth)}};
  }
  Placed written = element(nest, value, index);
  if (written.text == "true" || written.text == "false") return {written.text == "true", {}};
  return {std::nullopt, written};
}

// ---- Computed elements

// A division of f32 need not be rounded once: by what the innermost loop does not change, it is a
// product with the inverse.
std::optional<std::string> ProgramWriter::divided(Nest& nest, const ir::Op& op,
                                                  const std::vector<OperandText>& operands,
                                                  const Index& index) {
  if (op.kind != OpKind::Divide || kernel_.type(op.result()).dtype != DType::Float32 ||
      op.integer("exact") != 0 || nest.loops.empty())
    return std::nullopt;
  const Placed by = element(nest, op.operands[1], index);
  const Placed over = element(nest, op.operands[0], index);
  if (by.depth >= nest.depth() || over.depth < nest.depth()) return std::nullopt;
  Placed& divisor = nest.known[{op.operands[1].id, "divisor " + by.text}];
  const bool is_in_range = op.number("divisor_from", 0) >= least_plain_divisor &&
                           op.number("divisor_to", HUGE_VAL) <= most_plain_divisor;
  const char* kind = is_in_range ? "tw::PlainDivisor" : "tw::Divisor";
  if (divisor.text.empty()) {
    divisor = {nest.names.make("divisor"), by.depth};
    if (by.depth == 0) {
      names_.reserve(divisor.text);
      declared_[divisor.text] = kind;
    }
    nest.lines[static_cast<std::size_t>(by.depth)].push_back(
        fmt::format("const auto {} = {}({});", divisor.text, kind, by.text));
  }
  return fmt::format("{}.divide({})", divisor.text, operands[0].text);
}

// exp(x) + c and x * (1 / y), of which sigmoids are made, as one function each.
std::optional<Placed> ProgramWriter::merged(Nest& nest, const ir::Op& op, const Index& index) {
  constexpr double least = 0x1p-60;
  const auto call = [&](std::string_view function, ir::Value a, ir::Value b) {
    const Placed first = element(nest, a, index), second = element(nest, b, index);
    return Placed{fmt::format("tw::{}({}, {})", function, first.text, second.text),
                  std::max(first.depth, second.depth)};
  };
  if (op.kind != OpKind::Add && op.kind != OpKind::Multiply) return std::nullopt;
  for (const std::size_t k : {0, 1}) {
    const ir::Value other = op.operands[1 - k];
    if (op.kind == OpKind::Add) {
      const ir::Op* power = only_for_this(nest, op.operands[k], OpKind::Math);
      const std::optional<double> c = float_constant(other);
      if (power && power->text("function") == "exp" && c && std::abs(*c) >= least)
        return call("exp_plus", power->operands[0], other);
    } else if (const ir::Op* inverse = only_for_this(nest, op.operands[k], OpKind::Divide)) {
      const bool is_fast = inverse->integer("exact") == 0;
      if (is_fast && float_constant(inverse->operands[0]) == 1.0 &&
          element(nest, inverse->operands[1], index).depth == nest.depth())
        return call("divide_fast", other, inverse->operands[1]);
    }
  }
  return std::nullopt;
}

Placed ProgramWriter::computed(Nest& nest, const ir::Op& op, ir::Value value, const Index& index) {
  if (op.kind == OpKind::Select) {
    const Condition holds = condition(nest, op.operands[0], index);
    if (holds.known) return element(nest, op.operands[*holds.known ? 1 : 2], index);
  }
  if (const std::optional<Placed> whole = merged(nest, op, index)) {
    const bool is_inner = whole->depth == nest.depth();
    if (is_inner && is_inlined(op, whole->text)) return {atom(whole->text), whole->depth};
    return named(nest, value, whole->text, whole->depth);
  }
  std::vector<OperandText> operands;
  int depth = 0;
  for (const ir::Value input : op.operands) {
    const bool is_arm = op.kind == OpKind::Select && input != op.operands[0];
    const Placed written = is_arm ? arm(nest, input, index) : element(nest, input, index);
    operands.push_back(operand(input, written.text));
    depth = std::max(depth, written.depth);
  }
  const std::optional<std::string> product = divided(nest, op, operands, index);
  std::string expression = product ? *product : expression_text(op, kernel_.type(value), operands);
  const bool is_power = op.kind == OpKind::Math && op.text("function") == "exp" &&
                        kernel_.type(op.result()).dtype == DType::Float32;
  if (is_power && op.number("argument_to", HUGE_VAL) <= 0)
    expression = fmt::format("tw::exp_down({})", operands[0].text);
  if (depth == nest.depth() && is_inlined(op, expression)) return {atom(expression), depth};
  return named(nest, value, expression, depth);
}

// ---- Memory

// Small floats are structs, and a copy of a whole struct keeps a loop from becoming vector code.
std::string ProgramWriter::copied(const Type& type, const std::string& written) {
  const bool is_struct = type.is_float() && !type.is_pointer && size_of(type.dtype) < 4;
  return is_struct && !written.ends_with(')') ? fmt::format("tw::copy({})", written) : written;
}

Placed ProgramWriter::loaded(Nest& nest, const ir::Op& op, const Index& index) {
  const Type type = kernel_.type(op.result());
  Condition mask{true, {}};
  if (op.operands.size() > 1) mask = condition(nest, op.operands[1], index);
  Placed other{type.is_float() ? literal_text(type, 0.0) : literal_text(type, std::int64_t{0}), 0};
  if (op.operands.size() > 2 && !(mask.known && *mask.known))
    other = element(nest, op.operands[2], index);
  if (mask.known && !*mask.known) return other;
  const Placed place = access(nest, op.operands[0], index);
  int depth = place.depth;
  // Under the split mask the element exists only inside the loop.
  if (op.operands.size() > 1 && mask.known && nest.split) depth = nest.depth();
  std::string read = place.text;
  if (op.integer("volatile") != 0) read = fmt::format("tw::load_volatile(&{})", place.text);
  else if (type.is_tile()) read = copied(type, read);
  if (type.is_bool()) read += " != 0";
  if (!mask.known) {
    depth = std::max({depth, mask.text.depth, other.depth});
    read = fmt::format("{} ? {} : {}", mask.text.text, type.is_bool() ? "(" + read + ")" : read,
                       other.text);
  }
  if (type.is_scalar()) return {read, 0};
  return named(nest, op.result(), read, depth);
}

}  // namespace tilewright
