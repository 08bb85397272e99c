// SPDX-License-Identifier: Apache-2.0
// compiler/launch_key.h — what tells launches apart that need different code, as a row of words.
//
// Three words of options; one for each parameter, 0 when it is absent, else the type of its
// argument and what is known of the value (specialize.h); the values that are constants or that
// heuristics and the autotuner read; a hash of each text, tuple and descriptor. Equal rows mean
// equal code. Arguments of different types may have rows of their own although the code is the
// same: the type of an integer, say, is that of the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/parameters.h"
#include "runtime/arguments.h"
#include "tilewright/triton.h"

namespace tilewright {

// The most parameters of a kernel.
inline constexpr std::size_t max_slots = 256;

// What may be known of a value, as bits.
enum ValueTrait : std::uint8_t {
  IsOne = 1,
  IsMultipleOf16 = 2,
  IsBeyondInt32 = 4,
  IsBeyondInt63 = 8,
  IsNull = 16,
};

// What a parameter's argument means for the key.
struct KeyRule {
  std::uint64_t traits = 0;      // that matter
  std::uint64_t value_mask = 0;  // all bits when the value itself matters
  std::size_t value_word = 0;    // where the value goes; 0, which is an option, when it does not
};

// Those of a kernel, made once.
struct KeyRules {
  std::vector<KeyRule> parameters;
  std::size_t values = 0;  // how many values matter

  KeyRules() = default;
  explicit KeyRules(std::span<const TritonParameter> kernel);
};

inline constexpr std::size_t option_words = 3;  // before those of the parameters
inline constexpr std::size_t long_words = 2;    // of each text, tuple and descriptor, behind all

// What a launch says beside its arguments.
struct LaunchOptions {
  const TritonLaunch& launch;
  const Device& device;
  bool interpret;
  bool debug;

  std::uint64_t word(std::size_t i) const;
};

// The row of a launch, written down. Lives on its stack and allocates nothing.
class LaunchKey {
 public:
  explicit LaunchKey(const KeyRules& rules);

  // The argument of a parameter that has none yet.
  // These return 0, as those of a LaunchComparison may.
  std::uint64_t add(std::size_t parameter, const TritonArgument& argument);
  std::uint64_t add(std::size_t parameter, const Argument& value);
  // After all arguments.
  std::uint64_t finish(const LaunchOptions& options);

  std::uint64_t hash() const { return hash_; }
  std::size_t given() const { return given_; }  // how many arguments there were
  std::span<const std::uint64_t> words() const { return {words_, count_}; }

 private:
  static constexpr std::size_t most_words = option_words + (2 + long_words) * max_slots;

  const KeyRule* rules_;
  std::uint64_t hash_ = 0;
  std::size_t given_ = 0;
  std::size_t count_;
  std::uint64_t words_[most_words];  // not initialised: most launches use a few
};

// Whether a launch has the row of an earlier one, compared as it is made: nothing is written down
// or looked up. Most launches are like the last.
class LaunchComparison {
 public:
  LaunchComparison(const KeyRules& rules, std::span<const std::uint64_t> words)
      : rules_(rules.parameters.data()),
        words_(words),
        next_(option_words + rules.parameters.size() + rules.values) {}

  // These return bits that differ; none: it is the same. So far, if there are as many arguments.
  std::uint64_t add(std::size_t parameter, const TritonArgument& argument);
  std::uint64_t add(std::size_t parameter, const Argument& value);
  std::uint64_t finish(const LaunchOptions& options);

 private:
  const KeyRule* rules_;
  std::span<const std::uint64_t> words_;
  std::size_t next_;  // of the words of texts, tuples and descriptors
};

// ---- Inlined into the loop over the arguments.

// Four bits per type of a scalar: the traits that matter. The others would be chance.
constexpr std::uint64_t scalar_traits = [] {
  std::uint64_t all = 0;
  for (int i = static_cast<int>(DType::Int8); i < static_cast<int>(DType::Bool); ++i) {
    const auto dtype = static_cast<DType>(i);
    std::uint64_t traits = IsOne | IsMultipleOf16;
    if (dtype == DType::Int64 || dtype == DType::UInt32 || dtype == DType::UInt64)
      traits |= IsBeyondInt32;
    if (dtype == DType::UInt64) traits |= IsBeyondInt63;
    all |= traits << 4 * i;
  }
  return all;
}();
static_assert(dtype_count <= 16);

inline std::uint64_t traits_of(const Argument& value) {
  const std::uint64_t bits = value.bits;
  const std::uint64_t is_multiple = std::uint64_t{bits % 16 == 0} << 1;
  if (value.kind == Argument::Kind::Memory) return is_multiple;
  if (value.kind == Argument::Kind::Scalar) {
    const bool is_beyond = static_cast<std::int64_t>(bits) != static_cast<std::int32_t>(bits);
    return (std::uint64_t{bits == 1} | is_multiple | std::uint64_t{is_beyond} << 2 |
            bits >> 63 << 3) &
           scalar_traits >> 4 * static_cast<unsigned>(value.dtype);
  }
  return is_multiple | std::uint64_t{bits == 0} << 4;
}

// Of a value: its type and its traits that matter. Never 0.
inline std::uint64_t word_of(const KeyRule& rule, const Argument& value) {
  return type_word(value) | (traits_of(value) & rule.traits) << 32 | std::uint64_t{1} << 40;
}

// The value itself, where it matters. Addresses never do.
inline std::uint64_t content_of(const Argument& value) {
  return value.kind == Argument::Kind::Scalar ? value.bits : 0;
}

inline std::uint64_t LaunchOptions::word(std::size_t i) const {
  const auto pair = [](const std::optional<int>& low, const std::optional<int>& high) {
    return static_cast<std::uint32_t>(low.value_or(-1)) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(high.value_or(-1))) << 32;
  };
  if (i == 1) return pair(launch.num_warps, launch.num_stages);
  if (i == 2) return pair(launch.num_ctas, launch.maxnreg);
  return static_cast<std::uint64_t>(device.kind) | std::uint64_t{interpret} << 8 |
         std::uint64_t{launch.fp_fusion} << 9 | std::uint64_t{launch.flush_to_zero} << 10 |
         std::uint64_t{debug} << 11 | std::uint64_t{launch.bare} << 12 |
         static_cast<std::uint64_t>(device.index) << 32;
}

inline std::uint64_t LaunchKey::add(std::size_t parameter, const Argument& value) {
  const KeyRule& rule = rules_[parameter];
  ++given_;
  words_[option_words + parameter] = word_of(rule, value);
  words_[rule.value_word] = content_of(value);
  return 0;
}

inline std::uint64_t LaunchComparison::add(std::size_t parameter, const Argument& value) {
  const KeyRule& rule = rules_[parameter];
  return (word_of(rule, value) ^ words_[option_words + parameter]) |
         ((content_of(value) ^ words_[rule.value_word]) & rule.value_mask);
}

inline std::uint64_t LaunchComparison::finish(const LaunchOptions& options) {
  return (options.word(0) ^ words_[0]) | (options.word(1) ^ words_[1]) |
         (options.word(2) ^ words_[2]);
}

}  // namespace tilewright
