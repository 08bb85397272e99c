// SPDX-License-Identifier: Apache-2.0
// ir/op.cpp — the op table as data.
#include "ir/op.h"

#include <deque>
#include <vector>

#include "base/check.h"

namespace tilewright::ir {
namespace {

constexpr int Any = -1;
constexpr int NoMask = -1;
constexpr int Never = OpFacts::never;
constexpr int ByShape = OpFacts::by_shape;
constexpr std::uint8_t Every = 0b1111;
constexpr std::uint8_t FromTile = 0b1110;
constexpr std::uint8_t OnlyLaid = 0b0100;
constexpr std::uint8_t OnlyFinal = 0b1000;

AttributeRule parse_rule(std::string_view text) {
  const auto colon = text.find(':');
  AttributeRule rule{text.substr(0, colon), AttributeRule::Kind::Int, text.ends_with('?')};
  std::string_view kind = text.substr(colon + 1);
  if (rule.is_optional) kind.remove_suffix(1);
  if (kind == "int") rule.kind = AttributeRule::Kind::Int;
  else if (kind == "float") rule.kind = AttributeRule::Kind::Float;
  else if (kind == "text") rule.kind = AttributeRule::Kind::Text;
  else if (kind == "ints") rule.kind = AttributeRule::Kind::Ints;
  else if (kind == "texts") rule.kind = AttributeRule::Kind::Texts;
  else if (kind == "value") rule.kind = AttributeRule::Kind::Value;
  else TW_UNREACHABLE("ops.def: '{}' is no kind of attribute", kind);
  return rule;
}

// "axis:int, reverse:int?" -> rules; they live as long as the process.
std::span<const AttributeRule> parse_rules(std::string_view text) {
  static std::deque<std::vector<AttributeRule>> storage;
  std::vector<AttributeRule>& rules = storage.emplace_back();
  while (!text.empty()) {
    const auto comma = text.find(", ");
    rules.push_back(parse_rule(text.substr(0, comma)));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 2);
  }
  return rules;
}

std::vector<OpFacts> make_table() {
  using enum IntegerUse;
  using enum Neutral;
  using enum VectorForm;
  return {
#define OP(kind, family, name, operands, results, regions, traits, map, integers, mask, neutral, \
           cost, flops, vector, stages, attributes, meaning)                                     \
  OpFacts{OpKind::kind, Family::family, name,    operands,                                       \
          results,      regions,        traits,  map,                                            \
          integers,     mask,           neutral, cost,                                           \
          flops,        vector,         stages,  parse_rules(attributes),                        \
          meaning},
#include "ir/ops.def"
  };
}

const std::vector<OpFacts>& table() {
  static const std::vector<OpFacts> ops = make_table();
  return ops;
}

constexpr MathFacts math_functions[] = {
#define FN(name, operands, zero, meaning) {#name, operands, ZeroOfMath::zero, meaning},
#include "ir/math.def"
#undef FN
};

template <class Kinds>
Kinds of_family(OpKind kind, Family family) {
  TW_CHECK(facts_of(kind).family == family, "'{}' is of another family of ops",
           facts_of(kind).name);
  return static_cast<Kinds>(kind);
}

}  // namespace

SourceOp source_op(OpKind kind) { return of_family<SourceOp>(kind, Family::Source); }
ViewOp view_op(OpKind kind) { return of_family<ViewOp>(kind, Family::View); }
ElementwiseOp elementwise_op(OpKind kind) {
  return of_family<ElementwiseOp>(kind, Family::Elementwise);
}
AccessOp access_op(OpKind kind) { return of_family<AccessOp>(kind, Family::Access); }
FinalOp final_op(OpKind kind) { return of_family<FinalOp>(kind, Family::Final); }
AcrossOp across_op(OpKind kind) { return of_family<AcrossOp>(kind, Family::Across); }
ControlOp control_op(OpKind kind) { return of_family<ControlOp>(kind, Family::Control); }
SyncOp sync_op(OpKind kind) { return of_family<SyncOp>(kind, Family::Sync); }
CheckOp check_op(OpKind kind) { return of_family<CheckOp>(kind, Family::Check); }

std::span<const OpFacts> all_ops() { return table(); }

std::optional<OpKind> op_named(std::string_view name) {
  for (std::size_t i = 0; i < table().size(); ++i)
    if (table()[i].name == name) return static_cast<OpKind>(i);
  return std::nullopt;
}

std::span<const MathFacts> all_math_functions() { return math_functions; }

const MathFacts* math_function(std::string_view name) {
  for (const MathFacts& function : math_functions)
    if (function.name == name) return &function;
  return nullptr;
}

}  // namespace tilewright::ir
