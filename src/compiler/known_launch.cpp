// SPDX-License-Identifier: Apache-2.0
// compiler/known_launch.cpp — what a launch leaves behind to know the next one by.
#include "compiler/known_launch.h"

#include <algorithm>

namespace tilewright {
namespace {

ExpectedArgument expected_argument(const KeyRule& rule, const LaunchKey& key, std::size_t i) {
  const std::uint64_t word = key.words()[option_words + i];
  const auto type = static_cast<std::uint32_t>(word);
  ExpectedArgument expected;
  if (type == 0) return expected;  // absent, or no value
  expected.type = type;
  expected.mask = static_cast<std::uint8_t>(rule.traits & telling_traits(type));
  expected.traits = static_cast<std::uint8_t>(word >> trait_shift);
  expected.value_mask = kind_of(type) == Argument::Kind::Scalar ? rule.value_mask : 0;
  expected.value = key.words()[rule.value_word] & expected.value_mask;
  const bool has_rare_traits = (expected.mask & ~(IsOne | IsMultipleOf16)) != 0;
  expected.is_rare = expected.value_mask != 0 || has_rare_traits;
  return expected;
}

}  // namespace

KnownLaunch::KnownLaunch(const KeyRules& rules, const LaunchKey& key, Device place,
                         const Specialization& of)
    : hash(key.hash()),
      words(key.words().begin(), key.words().end()),
      given(key.given()),
      device(place),
      has_tensors(key.has_tensors()),
      first_long(option_words + rules.parameters.size() + rules.values),
      value(&of) {
  for (std::size_t i = 0; i < rules.parameters.size(); ++i) {
    expected.push_back(expected_argument(rules.parameters[i], key, i));
    if (expected[i].value_mask != 0) values.push_back({i, expected[i].value});
  }
  for (std::size_t i = 0; i < of.sources.size(); ++i)
    if (of.sources[i].item < 0)
      expected[of.sources[i].parameter].position = static_cast<std::uint16_t>(i);
}

bool KnownLaunch::is_of(const LaunchKey& key) const {
  const std::span<const std::uint64_t> others = key.words();
  return hash == key.hash() && std::equal(words.begin(), words.end(), others.begin(), others.end());
}

bool repeats(const KnownLaunch& known, std::span<const Argument> arguments) {
  if (arguments.size() != known.expected.size()) return false;
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    difference |= difference_of(known.expected[i], arguments[i]);
    if (arguments[i].kind == Argument::Kind::Memory)
      difference |= difference_of(arguments[i].device, known.device);
  }
  return difference == 0;
}

}  // namespace tilewright
