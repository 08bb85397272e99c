// SPDX-License-Identifier: Apache-2.0
// compiler/launch_key.cpp — the rules of a kernel's parameters, and what only some launches have.
#include "compiler/launch_key.h"

#include <algorithm>
#include <array>

#include "compiler/triton/specialize.h"

namespace tilewright {

std::uint64_t emulated_bits(const Target& target) {
  const auto major = static_cast<std::uint64_t>(target.capability_major);
  const auto minor = static_cast<std::uint64_t>(target.capability_minor);
  const bool is_specific = target.name.ends_with('a');
  return (major << 6 | minor << 2 | std::uint64_t{is_specific} << 1 | 1) << 13;
}

namespace {

// As specialize.h says. The value of a constant matters as a whole; a null pointer is None.
std::uint64_t traits_for(const TritonParameter& parameter) {
  if (parameter.is_constexpr) return IsNull;
  std::uint64_t traits = IsNull | IsBeyondInt32 | IsBeyondInt63;
  if (parameter.specializes && !parameter.type) traits |= IsOne;
  if (parameter.specializes_alignment) traits |= IsMultipleOf16;
  return traits;
}

constexpr std::uint8_t telling(Argument::Kind kind, DType dtype) {
  if (kind == Argument::Kind::Memory) return IsMultipleOf16;
  if (kind == Argument::Kind::Pointer) return IsMultipleOf16 | IsNull;
  const bool is_integer_type = dtype >= DType::Int8 && dtype <= DType::UInt64;
  if (kind != Argument::Kind::Scalar || !is_integer_type) return 0;
  std::uint8_t traits = IsOne | IsMultipleOf16;
  if (dtype == DType::UInt64) traits |= IsBeyondInt63;
  if (dtype == DType::Int64 || dtype == DType::UInt32 || dtype == DType::UInt64)
    traits |= IsBeyondInt32;
  return traits;
}

constexpr auto telling_table = [] {
  std::array<std::uint8_t, 64> table{};
  for (unsigned i = 0; i < table.size(); ++i)
    table[i] = telling(static_cast<Argument::Kind>(i >> 4), static_cast<DType>(i & 15));
  return table;
}();
static_assert(dtype_count <= 16);

// Of a value: its type and its traits that matter. Never 0.
std::uint64_t word_of(const KeyRule& rule, const Argument& value) {
  const std::uint32_t type = type_word(value);
  const std::uint64_t traits = usual_traits(value.bits) | rare_traits(value.bits);
  return type | (traits & rule.traits & telling_traits(type)) << trait_shift |
         std::uint64_t{1} << 40;
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

std::uint64_t telling_traits(std::uint32_t type) {
  return telling_table[(type & 3) << 4 | (type >> 8 & 15)];
}

KeyRules::KeyRules(std::span<const TritonParameter> kernel) {
  for (const TritonParameter& parameter : kernel) {
    KeyRule rule{.traits = traits_for(parameter)};
    if (parameter.is_constexpr || parameter.is_keyed_by_value) {
      rule.value_mask = ~std::uint64_t{0};
      rule.value_word = option_words + kernel.size() + values++;
    }
    parameters.push_back(rule);
  }
}

LaunchKey::LaunchKey(const KeyRules& rules)
    : rules_(rules.parameters.data()),
      count_(option_words + rules.parameters.size() + rules.values) {
  std::fill_n(words_, count_, 0);
}

void LaunchKey::add(std::size_t parameter, const TritonArgument& argument) {
  const KeyRule& rule = rules_[parameter];
  ++given_;
  if (argument.kind == TritonArgument::Kind::Value) {
    const bool is_scalar = argument.value.kind == Argument::Kind::Scalar;
    has_tensors_ |= is_tensor(argument);
    words_[option_words + parameter] = word_of(rule, argument.value);
    words_[rule.value_word] = is_scalar ? argument.value.bits : 0;
    return;
  }
  words_[option_words + parameter] = word_of_other(argument);
  if (!is_long(argument)) return;
  for (const TritonArgument& item : items_of(argument)) has_tensors_ |= is_tensor(item);
  const Hash128 content = long_content(rule, parameter, argument);
  words_[count_++] = content.low;
  words_[count_++] = content.high;
}

void LaunchKey::finish(const LaunchOptions& options) {
  for (std::size_t i = 0; i < option_words; ++i) words_[i] = options.word(i);
  hash_ = hash_bytes(std::as_bytes(words())).low;
}

}  // namespace tilewright
