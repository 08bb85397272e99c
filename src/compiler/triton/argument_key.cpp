// SPDX-License-Identifier: Apache-2.0
// compiler/triton/argument_key.cpp — the rules of a kernel's parameters, and what only some
// launches have.
#include "compiler/triton/argument_key.h"

#include "compiler/triton/specialize.h"

namespace tilewright {
namespace {

// As specialize.h says. The value of a constant matters as a whole; a null pointer is None.
std::uint64_t traits_for(const TritonParameter& parameter) {
  if (parameter.is_constexpr) return IsNull;
  std::uint64_t traits = IsNull | IsBeyondInt32 | IsBeyondInt63;
  if (parameter.specializes && !parameter.type) traits |= IsOne;
  if (parameter.specializes_alignment) traits |= IsMultipleOf16;
  return traits;
}

bool is_tensor(const TritonArgument& argument) {
  return argument.kind == TritonArgument::Kind::Value &&
         argument.value.kind == Argument::Kind::Memory;
}

}  // namespace

// Of what is no value: its kind and, of a type, which.
std::uint64_t word_of_other(const TritonArgument& argument) {
  return static_cast<std::uint64_t>(argument.kind) << 48 | static_cast<std::uint64_t>(argument.type)
                                                               << 56;
}

// Is it more than a word can say?
bool is_long(const TritonArgument& argument) {
  return argument.kind != TritonArgument::Kind::None && argument.kind != TritonArgument::Kind::Type;
}

// Of a text, tuple or descriptor.
Hash128 long_content(const KeyRule& rule, std::size_t parameter, const TritonArgument& argument) {
  using Kind = TritonArgument::Kind;
  Hasher hasher;
  const auto add = [&](std::uint64_t number) { hasher.add(static_cast<std::int64_t>(number)); };
  add(parameter);  // arguments with names come in any order
  if (argument.kind == Kind::Text) hasher.add(argument.text);
  if (argument.kind == Kind::Descriptor) {
    add(static_cast<std::uint64_t>(argument.descriptor->padding()));
    for (const std::int64_t size : argument.descriptor->block_shape()) hasher.add(size);
    add(word_of(rule, argument.descriptor->items()[0].value));
  }
  if (argument.kind == Kind::Tuple)
    for (const TritonArgument& item : argument.tuple->items()) {
      const bool is_value = item.kind == Kind::Value;
      add(is_value ? word_of(rule, item.value) : word_of_other(item));
      if (is_value && rule.value_mask != 0) add(item.value.bits);
      if (item.kind == Kind::Text) hasher.add(item.text);
    }
  return hasher.finish();
}

KeyRules key_rules_of(std::span<const TritonParameter> kernel) {
  std::vector<KeyRules::Parameter> parameters;
  for (const TritonParameter& parameter : kernel)
    parameters.push_back(
        {traits_for(parameter), parameter.is_constexpr || parameter.is_keyed_by_value});
  return KeyRules(parameters);
}

void add_argument(LaunchKey& key, const KeyRules& rules, std::size_t parameter,
                  const TritonArgument& argument) {
  if (argument.kind == TritonArgument::Kind::Value) return key.add(parameter, argument.value);
  key.add_other(parameter, word_of_other(argument));
  if (!is_long(argument)) return;
  for (const TritonArgument& item : items_of(argument))
    if (is_tensor(item)) key.note_tensor();
  key.add_content(long_content(rules.parameters[parameter], parameter, argument));
}

void add_pointers(Overlaps& overlaps, std::span<const TritonArgument* const> slots) {
  for (const TritonArgument* slot : slots) {
    if (slot == nullptr) continue;
    if (slot->kind == TritonArgument::Kind::Value) {
      overlaps.add(slot->value);
      continue;
    }
    for (const TritonArgument& item : items_of(*slot))
      if (item.kind == TritonArgument::Kind::Value) overlaps.add(item.value);
  }
}

}  // namespace tilewright
