// SPDX-License-Identifier: Apache-2.0
// compiler/launch_key.cpp — the words of values, and the row that they make.
#include "compiler/launch_key.h"

#include <algorithm>

namespace tilewright {

std::uint64_t emulated_word(const Target& target) {
  return hash_bytes(std::as_bytes(std::span(target.name))).low | 1;
}

namespace {

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

}  // namespace

std::uint64_t telling_traits(std::uint32_t type) {
  return telling_table[(type & 3) << 4 | (type >> 8 & 15)];
}

std::uint64_t word_of(const KeyRule& rule, const Argument& value) {
  const std::uint32_t type = type_word(value);
  const std::uint64_t traits = usual_traits(value.bits) | rare_traits(value.bits);
  return type | (traits & rule.traits & telling_traits(type)) << trait_shift |
         std::uint64_t{1} << 40;
}

KeyRules::KeyRules(std::span<const Parameter> kernel) {
  for (const Parameter& parameter : kernel) {
    KeyRule rule{.traits = parameter.traits};
    if (parameter.is_keyed_by_value) {
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

void LaunchKey::add(std::size_t parameter, const Argument& value) {
  const KeyRule& rule = rules_[parameter];
  ++given_;
  has_tensors_ |= value.kind == Argument::Kind::Memory;
  words_[option_words + parameter] = word_of(rule, value);
  words_[rule.value_word] = value.kind == Argument::Kind::Scalar ? value.bits : 0;
}

void LaunchKey::add_other(std::size_t parameter, std::uint64_t word) {
  ++given_;
  words_[option_words + parameter] = word;
}

void LaunchKey::add_content(const Hash128& content) {
  words_[count_++] = content.low;
  words_[count_++] = content.high;
}

void LaunchKey::finish(const OptionWords& options) {
  std::copy(options.begin(), options.end(), words_);
  hash_ = hash_bytes(std::as_bytes(words())).low;
}

}  // namespace tilewright
