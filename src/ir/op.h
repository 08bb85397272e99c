// SPDX-License-Identifier: Apache-2.0
// ir/op.h — kinds of op and what the table says of each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tilewright::ir {

enum class OpKind : std::uint8_t {
#define OP(kind, ...) kind,
#include "ir/ops.def"
#undef OP
};

// How far a kernel has come; each stage is printed, parsed, verified and interpreted.
enum class Stage : std::uint8_t {
  Source,  // what the front end made
  Tile,    // canonical, with access forms
  Laid,    // tile ops stand in sweeps: walks over the elements of a shape
  Final,   // buffers, barriers and issue of asynchronous work are ops
};

enum Trait : std::uint16_t {
  Pure = 1,
  Elementwise = 2,
  Commutative = 4,
  Reads = 8,
  Writes = 16,
  Effect = 32,
  Ends = 64,
};

// One attribute that an op may have.
struct AttributeRule {
  enum class Kind : std::uint8_t { Int, Float, Text, Ints, Value };
  std::string_view name;
  Kind kind;
  bool is_optional;
};

struct OpFacts {
  std::string_view name;
  int operands;  // -1: any number
  int results;   // -1: any number
  std::uint16_t traits;
  std::uint8_t stages;  // bit s: legal at Stage s
  std::span<const AttributeRule> attributes;
  std::string_view meaning;

  bool has(Trait trait) const { return (traits & trait) != 0; }
  bool is_legal_at(Stage stage) const { return (stages >> static_cast<int>(stage) & 1) != 0; }
};

const OpFacts& facts_of(OpKind kind);
std::span<const OpFacts> all_ops();
std::optional<OpKind> op_named(std::string_view name);

// The functions of the `math` op.
struct MathFacts {
  std::string_view name;
  int operands;
  std::string_view meaning;
};
std::span<const MathFacts> all_math_functions();
const MathFacts* math_function(std::string_view name);  // null when there is none

}  // namespace tilewright::ir
