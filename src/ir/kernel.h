// SPDX-License-Identifier: Apache-2.0
// ir/kernel.h — a kernel in the IR: values in SSA form, ops, and regions instead of a control-flow
// graph.
//
// Ops live in the kernel that made them; a Value is a number that the kernel knows the type, name
// and maker of. A region is a list of ops with arguments. Regions by op: reduce and scan have one
// (2n scalar arguments, yields n); for has one (index, carried..); while has two (condition, body);
// if has two (then, else); sweep has one, without arguments. A region sees the values outside it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/stable_vector.h"
#include "ir/attribute.h"
#include "ir/op.h"
#include "ir/tables.h"
#include "ir/type.h"

namespace tilewright::ir {

struct Value {
  static constexpr std::uint32_t none = 0xffffffffu;
  std::uint32_t id = none;
  explicit operator bool() const { return id != none; }
  friend bool operator==(const Value&, const Value&) = default;
};

// A place in the user's source; line 0 means unknown.
struct Location {
  std::uint16_t file = 0;  // index into Kernel::files
  std::int32_t line = 0;
  std::int32_t column = 0;
  friend bool operator==(const Location&, const Location&) = default;
};

struct Op;

struct Region {
  std::vector<Value> arguments;
  std::vector<Op*> ops;
};

struct Op {
  OpKind kind = {};
  Location location;
  std::vector<Value> operands;
  std::vector<Value> results;
  std::vector<Attribute> attributes;  // in the order of the op table
  std::vector<Region> regions;

  const OpFacts& facts() const { return facts_of(kind); }
  Value result() const { return results.front(); }
  // The operand that says which elements count; none when all do.
  Value mask() const {
    const int at = facts().mask;
    return at >= 0 && operands.size() > static_cast<std::size_t>(at)
               ? operands[static_cast<std::size_t>(at)]
               : Value{};
  }

  const AttributeValue* find(std::string_view name) const;  // null when absent
  // The attribute's value, or `otherwise` when it is absent.
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const;
  double number(std::string_view name, double otherwise) const;
  std::string_view text(std::string_view name, std::string_view otherwise = {}) const;
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  void set(std::string_view name, AttributeValue value);
  void set(std::vector<Attribute> given);
  void erase(std::string_view name);
};

// What is known of a kernel argument by specialisation.
struct KernelArgument {
  Value value;
  int divisible = 1;      // the address or integer is a multiple of this
  bool is_const = false;  // a pointer that is only read
  int memory = -1;        // pointers with the same number may overlap; -1: with no other argument
  // An integer above 0. A pass may ask for it: launches with another one take Kernel::otherwise.
  bool is_positive = false;
};

// A number that the launch knows: a factor, times integer arguments.
struct LaunchNumber {
  std::vector<int> arguments = {};
  std::int64_t factor = 1;
  friend bool operator==(const LaunchNumber&, const LaunchNumber&) = default;
};

// A tensor behind a pointer argument, tiles of which are copied by a tensor map that is made at launch.
struct KernelMap {
  // From fastest to slowest.
  struct Dimension {
    int of_tile = 0;  // which dimension of the tile it is; -1: the tile lies at one index of it
    LaunchNumber size;
    LaunchNumber stride;  // in elements; 1 for the fastest
    friend bool operator==(const Dimension&, const Dimension&) = default;
  };
  std::string name;
  int argument = 0;
  std::vector<Dimension> dimensions;
  bool rounds_to_tf32 = false;  // the copies, of float32: products cut off what they do not take
  friend bool operator==(const KernelMap&, const KernelMap&) = default;
};

// Slots that a producer fills and consumers empty, in turns: slot s of all of its buffers together.
struct KernelRing {
  std::string name;
  std::vector<std::string> buffers;
  std::string words = {};  // the scratch with what both wait for; none: it is not decided
  friend bool operator==(const KernelRing&, const KernelRing&) = default;
};

class Kernel {
 public:
  std::string name;
  Stage stage = Stage::Source;
  std::vector<std::string> files;
  std::vector<KernelArgument> arguments;
  KernelShape shape;                  // of a Laid kernel for a machine with threads
  std::vector<KernelLayout> layouts;  // alike
  std::vector<KernelBuffer> buffers;
  std::vector<KernelMap> maps;
  std::vector<KernelRing> rings;
  Region body;
  // What launches take whose arguments are not as the passes asked for; null where they asked for
  // nothing. It is of the same stage, and no part of the text.
  std::shared_ptr<const Kernel> otherwise;

  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  Kernel(Kernel&&) = default;
  Kernel& operator=(Kernel&&) = default;

  Value add_argument(const Type& type, std::string argument_name);
  // A value that an op or a region defines. `value_name` is the user's name for it, or empty.
  Value make_value(const Type& type, std::string value_name, Op* maker);
  Op* make_op(OpKind kind, std::vector<Value> operands, std::span<const Type> result_types,
              Location location, std::vector<Attribute> attributes = {});
  Op* make_op(OpKind kind, std::vector<Value> operands, std::initializer_list<Type> result_types,
              Location location, std::vector<Attribute> attributes = {}) {
    return make_op(kind, std::move(operands),
                   std::span<const Type>(result_types.begin(), result_types.size()), location,
                   std::move(attributes));
  }

  // The number of the buffer that the op names; throws InternalError when there is none.
  std::size_t buffer_of(const Op& op) const;
  std::size_t buffer_named(std::string_view buffer) const;
  const KernelLayout* find_layout(std::string_view layout) const;  // null when there is none
  // The map or ring that the op names; throws InternalError when there is none.
  const KernelMap& map_of(const Op& op) const;
  const KernelRing& ring_of(const Op& op) const;
  int slots_of(const KernelRing& ring) const { return buffers[buffer_named(ring.buffers.front())].slots; }
  // Whether positions of a ring, not slots, say where in the buffer a tile lies.
  bool is_in_ring(const KernelBuffer& buffer) const;

  const Type& type(Value value) const { return values_[value.id].type; }
  const std::string& name_of(Value value) const { return values_[value.id].name; }
  Op* maker(Value value) const {
    return values_[value.id].maker;
  }  // null for arguments of kernels and regions
  void set_name(Value value, std::string value_name) {
    values_[value.id].name = std::move(value_name);
  }
  std::size_t value_count() const { return values_.size(); }

 private:
  struct ValueFacts {
    Type type;
    std::string name;
    Op* maker = nullptr;
  };
  StableVector<ValueFacts> values_;  // a Type& stays valid while values are added
  StableVector<Op> ops_;
};

// Calls `visit` for every op, outer before inner, in order.
template <class Visit>
void walk(const Region& region, const Visit& visit) {
  for (Op* op : region.ops) {
    visit(*op);
    for (const Region& inner : op->regions) walk(inner, visit);
  }
}

}  // namespace tilewright::ir
