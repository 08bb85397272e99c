// SPDX-License-Identifier: Apache-2.0
// compiler/known_launch.h — a launch that was seen, and the quick way to find another like it:
// its arguments are compared with what is expected as they are read, nothing is written or hashed.
#pragma once

#include "compiler/launch_key.h"
#include "compiler/specialization.h"

namespace tilewright {

// What a parameter's argument must be to lead to the same code.
struct ExpectedArgument {
  std::uint32_t type = UsualArgument::no_type;  // of a value (type_word)
  std::uint16_t position = max_slots;  // among what the compiled kernel takes; none: behind all
  std::uint8_t mask = 0;               // the traits of its value that matter, ...
  std::uint8_t traits = 0;             // ... and those of them it must have
  std::uint64_t value = 0;
  std::uint64_t value_mask = 0;  // 0 where the value itself does not matter
  bool is_rare = false;          // more than the usual traits is to be compared
};

// A value that matters, by its parameter: what tells launches of an autotuned kernel apart soonest.
struct ExpectedValue {
  std::size_t parameter = 0;
  std::uint64_t bits = 0;
};

struct KnownLaunch {
  std::uint64_t hash = 0;
  std::vector<std::uint64_t> words;  // of its key
  std::size_t given = 0;             // how many arguments it had
  Device device;
  bool has_tensors = false;
  std::vector<ExpectedArgument> expected;  // per parameter
  std::vector<ExpectedValue> values;       // some of them again
  std::size_t first_long = 0;              // the word of the first text, tuple or descriptor
  const Specialization* value = nullptr;

  KnownLaunch(const KeyRules& rules, const LaunchKey& key, Device place, const Specialization& of);

  bool is_of(const LaunchKey& key) const;
};

// All bits in which a value differs from what is expected.
inline std::uint64_t difference_of(const ExpectedArgument& expected, const Argument& value) {
  const std::uint64_t bits = value.bits;
  std::uint64_t traits = usual_traits(bits);
  std::uint64_t difference = type_word(value) ^ expected.type;
  if (expected.is_rare) {
    traits |= rare_traits(bits);
    difference |= (bits & expected.value_mask) ^ expected.value;
  }
  return difference | ((traits & expected.mask) ^ expected.traits);
}

inline std::uint64_t difference_of(const Device& a, const Device& b) {
  return (static_cast<std::uint64_t>(a.kind) ^ static_cast<std::uint64_t>(b.kind)) |
         (static_cast<std::uint64_t>(a.index) ^ static_cast<std::uint64_t>(b.index));
}

// Are these arguments, one per parameter, those of a launch like the known one? What is wrong with
// them is left to the long way. Takes no lock, allocates nothing.
bool repeats(const KnownLaunch& known, std::span<const Argument> arguments);

}  // namespace tilewright
