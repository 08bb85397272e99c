// SPDX-License-Identifier: Apache-2.0
// compiler/specialize_kernel.cpp — facts of arguments first, then values that stand for others.
#include "compiler/specialize_kernel.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "compiler/memory_use.h"
#include "ir/builder.h"
#include "ir/rewrite.h"

namespace tilewright {
namespace {

bool is_plain_integer(const ir::Type& type) { return type.is_int() && !type.is_bool(); }

void set_divisible(ir::Kernel& kernel, std::span<const Argument> arguments,
                   bool specializes_integers) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    ir::KernelArgument& argument = kernel.arguments[i];
    const ir::Type& type = kernel.type(argument.value);
    if (!type.is_pointer && !(specializes_integers && is_plain_integer(type))) continue;
    if (arguments[i].bits % 16 == 0) argument.divisible = std::lcm(argument.divisible, 16);
  }
}

// Groups of arguments that may overlap: those that the text names, and those of the launch.
class Groups {
 public:
  explicit Groups(const ir::Kernel& kernel) : group_(kernel.arguments.size()) {
    std::iota(group_.begin(), group_.end(), 0);
    for (std::size_t i = 0; i < group_.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (kernel.arguments[i].memory >= 0 &&
            kernel.arguments[i].memory == kernel.arguments[j].memory)
          join(i, j);
  }

  void join(std::size_t i, std::size_t j) {
    const int left = group_[i];
    for (int& group : group_)
      if (group == left) group = group_[j];
  }

  void write(ir::Kernel& kernel) const {
    for (std::size_t i = 0; i < group_.size(); ++i) {
      const bool is_alone = std::count(group_.begin(), group_.end(), group_[i]) == 1;
      kernel.arguments[i].memory = is_alone ? -1 : group_[i];
    }
  }

 private:
  std::vector<int> group_;
};

std::size_t index_in(std::span<const Argument> arguments, const PointerMemory& pointer) {
  return static_cast<std::size_t>(pointer.argument - arguments.data());
}

void set_memory(ir::Kernel& kernel, std::span<const Argument> arguments, const Overlaps& overlaps) {
  Groups groups(kernel);
  std::map<int, std::size_t> first;  // by number of the launch's groups
  for (const PointerMemory& pointer : overlaps.pointers()) {
    if (pointer.memory < 0) continue;
    const std::size_t i = index_in(arguments, pointer);
    groups.join(i, first.try_emplace(pointer.memory, i).first->second);
  }
  groups.write(kernel);
}

void substitute(ir::Region& region, const ir::Substitution& substitution) {
  for (ir::Op* op : region.ops) {
    substitution.apply(op->operands);
    for (ir::Region& inner : op->regions) substitute(inner, substitution);
  }
}

// The same pointer once more is one value: what a kernel does at one element through both is then
// seen to be the same place.
void join_addresses(const ir::Kernel& kernel, std::span<const Argument> arguments,
                    const Overlaps& overlaps, ir::Substitution& substitution) {
  std::map<int, ir::Value> first;
  for (const PointerMemory& pointer : overlaps.pointers()) {
    if (pointer.address < 0) continue;
    const ir::Value value = kernel.arguments[index_in(arguments, pointer)].value;
    const ir::Value known = first.try_emplace(pointer.address, value).first->second;
    if (known != value && kernel.type(known) == kernel.type(value)) substitution.add(value, known);
  }
}

// An integer 1, mostly a stride, makes neighbours of elements.
void replace_ones(ir::Kernel& kernel, std::span<const Argument> arguments,
                  std::vector<std::pair<ir::Value, ir::Value>>& replaced) {
  ir::Region constants;
  ir::Builder builder(kernel);
  const ir::Builder::Into into(builder, constants);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ir::Value value = kernel.arguments[i].value;
    const ir::Type type = kernel.type(value);
    const bool is_one = is_plain_integer(type) && arguments[i].kind == Argument::Kind::Scalar &&
                        arguments[i].bits == 1;
    if (is_one) replaced.emplace_back(value, builder.constant(type, std::int64_t{1}));
  }
  kernel.body.ops.insert(kernel.body.ops.begin(), constants.ops.begin(), constants.ops.end());
}

}  // namespace

KeyRules key_rules_of(const ir::Kernel& kernel, bool specializes_integers) {
  std::vector<KeyRules::Parameter> parameters;
  for (const ir::KernelArgument& argument : kernel.arguments) {
    const ir::Type& type = kernel.type(argument.value);
    std::uint64_t traits = type.is_pointer ? IsMultipleOf16 : 0;
    if (specializes_integers && is_plain_integer(type)) traits = IsOne | IsMultipleOf16;
    parameters.push_back({.traits = traits});
  }
  return KeyRules(parameters);
}

void specialize_kernel(ir::Kernel& kernel, std::span<const Argument> arguments,
                       const Overlaps& overlaps, bool specializes_integers) {
  set_divisible(kernel, arguments, specializes_integers);
  set_memory(kernel, arguments, overlaps);
  const bool keeps_order = writes_overlap(kernel);
  if (!keeps_order)
    for (ir::KernelArgument& argument : kernel.arguments) argument.memory = -1;
  std::vector<std::pair<ir::Value, ir::Value>> ones;
  // A kernel at stage Tile has forms that were made of its arguments as they are.
  if (kernel.stage == ir::Stage::Source && specializes_integers) replace_ones(kernel, arguments, ones);
  ir::Substitution substitution(kernel.value_count());
  for (const auto& [from, to] : ones) substitution.add(from, to);
  if (keeps_order) join_addresses(kernel, arguments, overlaps, substitution);
  if (!substitution.is_empty()) substitute(kernel.body, substitution);
}

}  // namespace tilewright
