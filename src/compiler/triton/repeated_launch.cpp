// SPDX-License-Identifier: Apache-2.0
// compiler/triton/repeated_launch.cpp — part of every launch: what the loop does per argument is
// what a warm launch costs.
#include "compiler/triton/repeated_launch.h"

#include <algorithm>

#include "base/settings.h"
#include "compiler/triton/argument_key.h"
#include "compiler/triton/place_arguments.h"

namespace tilewright {
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
  Overlaps overlaps;
  add_pointers(overlaps, {slots, known.expected.size()});
  const OptionWords options =
      option_words_of(launch, {known.device, launch.interpret || process.interpret,
                               launch.debug || process.debug, overlaps.word()});
  if (!std::equal(options.begin(), options.end(), known.words.begin())) return false;
  return known.has_tensors || device_without_tensors(launch) == known.device;
}

}  // namespace tilewright
