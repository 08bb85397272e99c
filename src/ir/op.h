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
};

// What an op does with elements, which says where it may stand and who writes it.
enum class Family : std::uint8_t {
  Source,       // a value from nothing
  View,         // elements of operands by an index, or made of scalars and the index
  Elementwise,  // an element from those of the operands at the same place
  Access,       // memory, element by element
  Final,        // of stage Final alone: arrays, places, library functions
  Reduction,    // elements combined while a loop goes over them
  Across,       // elements that meet others
  Control,      // regions
  Sync,         // threads and copies that wait
  Check,        // what must hold
  Ends,         // the last op of a region
};

// The kinds of one family, with the values that they have in OpKind. A `switch` over them has no
// default: a new op of the family does not compile until all who ask are told.
enum class SourceOp : std::uint8_t {
#define SOURCE(kind, ...) kind = static_cast<std::uint8_t>(OpKind::kind),
#include "ir/ops.def"
};
enum class ViewOp : std::uint8_t {
#define VIEW(kind, ...) kind = static_cast<std::uint8_t>(OpKind::kind),
#include "ir/ops.def"
};
enum class ElementwiseOp : std::uint8_t {
#define ELEMENTWISE(kind, ...) kind = static_cast<std::uint8_t>(OpKind::kind),
#include "ir/ops.def"
};
enum class AccessOp : std::uint8_t {
#define ACCESS(kind, ...) kind = static_cast<std::uint8_t>(OpKind::kind),
#include "ir/ops.def"
};
enum class FinalOp : std::uint8_t {
#define FINAL(kind, ...) kind = static_cast<std::uint8_t>(OpKind::kind),
#include "ir/ops.def"
};
enum class AcrossOp : std::uint8_t {
#define ACROSS(kind, ...) kind = static_cast<std::uint8_t>(OpKind::kind),
#include "ir/ops.def"
};
enum class ControlOp : std::uint8_t {
#define CONTROL(kind, ...) kind = static_cast<std::uint8_t>(OpKind::kind),
#include "ir/ops.def"
};
enum class SyncOp : std::uint8_t {
#define SYNC(kind, ...) kind = static_cast<std::uint8_t>(OpKind::kind),
#include "ir/ops.def"
};
enum class CheckOp : std::uint8_t {
#define CHECK(kind, ...) kind = static_cast<std::uint8_t>(OpKind::kind),
#include "ir/ops.def"
};

// How far a kernel has come; each stage is printed, parsed, verified and interpreted.
enum class Stage : std::uint8_t {
  Source,  // what the front end made
  Tile,    // canonical, with access forms
  Laid,    // tile ops stand in sweeps: walks over the elements of a shape
  Final,   // the program of a thread or of a range of programs: scalars, arrays, loops
};

enum Trait : std::uint16_t {
  Pure = 1,
  Elementwise = 2,
  Commutative = 4,
  Idempotent = 8,
  Inexact = 16,
  Reads = 32,
  Writes = 64,
  Effect = 128,
  Nested = 256,
  Combines = 512,
  AnyOrder = 1024,
  Repeatable = 2048,
  FixedShape = 4096,
  Loops = 8192,
};

// How the elements of a view are found. Bits, so that a question can name several.
enum ElementMap : std::uint16_t {
  NoMap = 0,
  Same = 1,       // at the same index
  Spread = 2,     // the one scalar
  Repeated = 4,   // dimensions of size 1 repeated
  Reshaped = 8,   // the same in row-major order
  Permuted = 16,  // at other dimensions
  Halved = 32,    // every second one
  Merged = 64,    // of one operand or the other
  ByIndex = 128,  // from scalars and the index
  Alike = 256,    // all are one number
};

// What the operands of an op are if they are integers.
enum class IntegerUse : std::uint8_t { Data, Index, HandsOn, ByUse };
// The right operand that leaves the left one as it is.
enum class Neutral : std::uint8_t { NoNumber, Zero, One, AllOnes };
enum class VectorForm : std::uint8_t { HasVector, NoVector, ByType };

// One attribute that an op may have.
struct AttributeRule {
  enum class Kind : std::uint8_t { Int, Float, Text, Ints, Texts, Value };
  std::string_view name;
  Kind kind;
  bool is_optional;
};

struct OpFacts {
  static constexpr int never = 1000;   // a cost beyond any limit
  static constexpr int by_shape = -1;  // flops that the operands say

  OpKind kind;
  Family family;
  std::string_view name;
  int operands;  // -1: any number
  int results;   // -1: any number
  int regions;  // -1: any number
  std::uint16_t traits;
  ElementMap map;
  IntegerUse integers;
  int mask;  // the number of the operand; -1: it has none
  Neutral neutral;
  int cost;
  int flops;
  VectorForm vector;
  std::uint8_t stages;  // bit s: legal at Stage s
  std::span<const AttributeRule> attributes;
  std::string_view meaning;

  bool has(Trait trait) const { return (traits & trait) != 0; }
  bool is(Family wanted) const { return family == wanted; }
  bool is_atomic() const { return has(Reads) && has(Writes); }
  // Whether the elements are found in one of these ways.
  bool maps(int any_of) const { return (map & any_of) != 0; }
  bool is_legal_at(Stage stage) const { return (stages >> static_cast<int>(stage) & 1) != 0; }
};

std::span<const OpFacts> all_ops();
// Asked of every op again and again, so it is inline.
inline const OpFacts& facts_of(OpKind kind) {
  static const OpFacts* const table = all_ops().data();
  return table[static_cast<std::size_t>(kind)];
}
std::optional<OpKind> op_named(std::string_view name);

// The kind as one of its family; throws InternalError for an op of another one.
SourceOp source_op(OpKind kind);
ViewOp view_op(OpKind kind);
ElementwiseOp elementwise_op(OpKind kind);
AccessOp access_op(OpKind kind);
FinalOp final_op(OpKind kind);
AcrossOp across_op(OpKind kind);
ControlOp control_op(OpKind kind);
SyncOp sync_op(OpKind kind);
CheckOp check_op(OpKind kind);

// The functions of the `math` op.
enum class ZeroOfMath : std::uint8_t { Hidden, Kept, Shown };
struct MathFacts {
  std::string_view name;
  int operands;
  ZeroOfMath zero;
  std::string_view meaning;
};
std::span<const MathFacts> all_math_functions();
const MathFacts* math_function(std::string_view name);  // null when there is none

}  // namespace tilewright::ir
