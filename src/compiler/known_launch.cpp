// SPDX-License-Identifier: Apache-2.0
// compiler/known_launch.cpp — part of every launch: what the loop does per argument is what a warm
// launch costs.
#include "compiler/known_launch.h"

#include <algorithm>

#include "base/settings.h"
#include "compiler/overlap.h"
#include "compiler/triton/place_arguments.h"

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

// All bits that differ from what is expected.
std::uint64_t difference_of(const ExpectedArgument& expected, const Argument& value) {
  const std::uint64_t bits = value.bits;
  std::uint64_t traits = usual_traits(bits);
  std::uint64_t difference = type_word(value) ^ expected.type;
  if (expected.is_rare) {
    traits |= rare_traits(bits);
    difference |= (bits & expected.value_mask) ^ expected.value;
  }
  return difference | ((traits & expected.mask) ^ expected.traits);
}

std::uint64_t difference_of(const Device& a, const Device& b) {
  return (static_cast<std::uint64_t>(a.kind) ^ static_cast<std::uint64_t>(b.kind)) |
         (static_cast<std::uint64_t>(a.index) ^ static_cast<std::uint64_t>(b.index));
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

namespace {

// The arguments one by one, from values by position, which most are, to the rest.
class Repetition {
 public:
  Repetition(const KnownLaunch& known, const TritonKernel::State& state)
      : known_(known), state_(state), next_long_(known.first_long) {}

  // A glance at what differs most: false when that alone tells. Arguments by position behind some
  // with names, as Python has none, are taken for others; their launches go by the key.
  bool may_hold(std::span<const TritonArgument> arguments) const {
    for (const ExpectedValue& value : known_.values) {
      if (value.parameter >= arguments.size()) break;
      const TritonArgument& argument = arguments[value.parameter];
      if (argument.name.empty() && argument.kind == TritonArgument::Kind::Value &&
          argument.value.bits != value.bits)
        return false;
    }
    return true;
  }

  bool holds(std::span<const TritonArgument> arguments, const TritonArgument** slots,
             const Argument** passed) {
    const std::size_t count = known_.expected.size();
    const std::size_t most = std::min(count, arguments.size());
    std::uint64_t difference = 0;
    std::size_t i = 0;
    for (; i < most; ++i) {
      const TritonArgument& argument = arguments[i];
      if (!argument.name.empty() || argument.kind != TritonArgument::Kind::Value) break;
      slots[i] = &argument;
      difference |= take(known_.expected[i], argument.value, passed);
    }
    std::fill(slots + i, slots + count, nullptr);
    return difference == 0 && hold_others(arguments, i, slots, passed);
  }

 private:
  std::uint64_t take(const ExpectedArgument& expected, const Argument& value,
                     const Argument** passed) const {
    passed[expected.position] = &value;
    std::uint64_t difference = difference_of(expected, value);
    if (value.kind == Argument::Kind::Memory)
      difference |= difference_of(value.device, known_.device);
    return difference;
  }

  bool hold_others(std::span<const TritonArgument> arguments, std::size_t position,
                   const TritonArgument** slots, const Argument** passed) {
    std::size_t last = position - 1;
    for (const TritonArgument& argument : arguments.subspan(position)) {
      last = argument.name.empty() ? position++ : index_of(state_, argument.name, last + 1);
      if (last >= known_.expected.size() || slots[last] != nullptr) return false;
      slots[last] = &argument;
      const bool is_value = argument.kind == TritonArgument::Kind::Value;
      if (is_value ? take(known_.expected[last], argument.value, passed) != 0
                   : !holds_other(last, argument))
        return false;
    }
    return true;
  }

  bool holds_other(std::size_t parameter, const TritonArgument& argument) {
    if (word_of_other(argument) != known_.words[option_words + parameter]) return false;
    if (!is_long(argument)) return true;
    for (const TritonArgument& item : items_of(argument))
      if (item.kind == TritonArgument::Kind::Value && item.value.kind == Argument::Kind::Memory &&
          item.value.device != known_.device)
        return false;
    const Hash128 content =
        long_content(state_.key_rules.parameters[parameter], parameter, argument);
    const std::size_t first = next_long_;
    next_long_ += long_words;
    return content.low == known_.words[first] && content.high == known_.words[first + 1];
  }

  const KnownLaunch& known_;
  const TritonKernel::State& state_;
  std::size_t next_long_;
};

}  // namespace

bool repeats(const KnownLaunch& known, const TritonKernel::State& state, const TritonLaunch& launch,
             std::span<const TritonArgument> arguments, const TritonArgument** slots,
             const Argument** passed) {
  Repetition repetition(known, state);
  if (arguments.size() != known.given || !repetition.may_hold(arguments) ||
      !repetition.holds(arguments, slots, passed))
    return false;
  const Settings& process = settings();
  const LaunchOptions options{launch, known.device, launch.interpret || process.interpret,
                              launch.debug || process.debug,
                              Overlaps({slots, known.expected.size()}).word()};
  for (std::size_t i = 0; i < option_words; ++i)
    if (options.word(i) != known.words[i]) return false;
  return known.has_tensors || device_without_tensors(launch) == known.device;
}

}  // namespace tilewright
