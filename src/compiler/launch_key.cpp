// SPDX-License-Identifier: Apache-2.0
// compiler/launch_key.cpp — the rules of a kernel's parameters, and what only some launches have.
#include "compiler/launch_key.h"

#include <algorithm>

#include "base/hash.h"

namespace tilewright {
namespace {

// Odd numbers without a pattern (the mixer of splitmix64).
constexpr std::uint64_t weight_of(std::uint64_t word) {
  std::uint64_t bits = (word + 1) * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebULL;
  return (bits ^ bits >> 31) | 1;
}

// As specialize.h says. The value of a constant matters as a whole; a null pointer is None.
std::uint64_t telling_traits(const TritonParameter& parameter) {
  if (parameter.is_constexpr) return IsNull;
  std::uint64_t traits = IsNull | IsBeyondInt32 | IsBeyondInt63;
  if (parameter.specializes && !parameter.type) traits |= IsOne;
  if (parameter.specializes_alignment) traits |= IsMultipleOf16;
  return traits;
}

// Of what is no value: its kind and, of a type, which.
std::uint64_t word_of_other(const TritonArgument& argument) {
  return static_cast<std::uint64_t>(argument.kind) << 48 | static_cast<std::uint64_t>(argument.type)
                                                               << 56;
}

}  // namespace

KeyRules::KeyRules(std::span<const TritonParameter> kernel) {
  const std::size_t first_value = LaunchKey::option_words + kernel.size();
  for (const TritonParameter& parameter : kernel) {
    KeyRule rule{.traits = telling_traits(parameter),
                 .weight = weight_of(LaunchKey::option_words + parameters.size())};
    if (parameter.is_constexpr || parameter.is_keyed_by_value) {
      rule.value_word = first_value + values++;
      rule.value_weight = weight_of(rule.value_word);
    }
    parameters.push_back(rule);
  }
}

LaunchKey::LaunchKey(const KeyRules& rules)
    : rules_(rules.parameters.data()),
      count_(option_words + rules.parameters.size() + rules.values) {
  std::fill_n(words_ + option_words, count_ - option_words, 0);
}

std::uint64_t LaunchKey::set(std::size_t word, std::uint64_t content) {
  words_[word] = content;
  return content * weight_of(word);
}

std::uint64_t LaunchKey::add(std::size_t parameter, const TritonArgument& argument) {
  using Kind = TritonArgument::Kind;
  if (argument.kind == Kind::Value) return add(parameter, argument.value);
  const KeyRule& rule = rules_[parameter];
  const std::uint64_t share = set(option_words + parameter, word_of_other(argument));
  if (argument.kind == Kind::None || argument.kind == Kind::Type) return share;
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
      if (is_value && rule.value_weight != 0) add(item.value.bits);
      if (item.kind == Kind::Text) hasher.add(item.text);
    }
  const Hash128 content = hasher.finish();
  const std::size_t first = count_;
  count_ += long_words;
  return share + set(first, content.low) + set(first + 1, content.high);
}

void LaunchKey::finish(std::uint64_t hash, const TritonLaunch& launch, const Device& device,
                       bool interpret, bool debug) {
  const auto pair = [](const std::optional<int>& low, const std::optional<int>& high) {
    return static_cast<std::uint32_t>(low.value_or(-1)) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(high.value_or(-1))) << 32;
  };
  const std::uint64_t flags = static_cast<std::uint64_t>(device.kind) |
                              std::uint64_t{interpret} << 8 | std::uint64_t{launch.fp_fusion} << 9 |
                              std::uint64_t{launch.flush_to_zero} << 10 |
                              std::uint64_t{debug} << 11 | std::uint64_t{launch.bare} << 12 |
                              static_cast<std::uint64_t>(device.index) << 32;
  hash_ = hash + set(0, flags) + set(1, pair(launch.num_warps, launch.num_stages)) +
          set(2, pair(launch.num_ctas, launch.maxnreg));
}

}  // namespace tilewright
