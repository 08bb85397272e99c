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
#include <cstring>
#include <span>
#include <vector>

#include "compiler/parameters.h"
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
  std::uint64_t traits = 0;        // that matter
  std::uint64_t weight = 1;        // of its word in the hash
  std::uint64_t value_weight = 0;  // the same for the value; 0: it does not matter
  std::size_t value_word = 0;      // where the value goes; 0 is an option's in the end
};

// Those of a kernel, made once.
struct KeyRules {
  std::vector<KeyRule> parameters;
  std::size_t values = 0;  // how many values matter

  KeyRules() = default;
  explicit KeyRules(std::span<const TritonParameter> kernel);
};

// Part of every launch: lives on its stack and allocates nothing. Its hash finds a row, its words
// are what is compared.
class LaunchKey {
 public:
  explicit LaunchKey(const KeyRules& rules);

  // The argument of a parameter that has none yet. Returns its share of the hash, a sum.
  std::uint64_t add(std::size_t parameter, const TritonArgument& argument);
  std::uint64_t add(std::size_t parameter, const Argument& value);
  // After all arguments, with the sum of their shares.
  void finish(std::uint64_t hash, const TritonLaunch& launch, const Device& device, bool interpret,
              bool debug);

  std::uint64_t hash() const { return hash_; }
  std::span<const std::uint64_t> words() const { return {words_, count_}; }

 private:
  friend struct KeyRules;
  static constexpr std::size_t option_words = 3;
  static constexpr std::size_t long_words = 2;  // the hash of a text, tuple or descriptor
  static constexpr std::size_t most_words = option_words + (2 + long_words) * max_slots;

  std::uint64_t set(std::size_t word, std::uint64_t content);

  const KeyRule* rules_;
  std::uint64_t hash_ = 0;
  std::size_t count_;
  std::uint64_t words_[most_words];  // not initialised: most launches use a few
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

// Of a value: its type, which is the first four bytes, and its traits that matter. Never 0.
inline std::uint64_t word_of(const KeyRule& rule, const Argument& value) {
  static_assert(offsetof(Argument, kind) == 0 && offsetof(Argument, dtype) == 1 &&
                offsetof(Argument, any_pointee) == 2 && offsetof(Argument, is_defined) == 3);
  std::uint32_t type;
  std::memcpy(&type, &value, sizeof type);
  return type | (traits_of(value) & rule.traits) << 32 | std::uint64_t{1} << 40;
}

inline std::uint64_t LaunchKey::add(std::size_t parameter, const Argument& value) {
  const KeyRule& rule = rules_[parameter];
  const std::uint64_t word = word_of(rule, value);
  const std::uint64_t content = value.kind == Argument::Kind::Scalar ? value.bits : 0;
  words_[option_words + parameter] = word;
  words_[rule.value_word] = content;
  return word * rule.weight + content * rule.value_weight;
}

}  // namespace tilewright
