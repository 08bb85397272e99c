// SPDX-License-Identifier: Apache-2.0
// compiler/launch_key.h — what tells launches apart that need different code, as a row of words.
//
// Four words of options and of what overlaps; one for each parameter, 0 when it is absent, else the type of its
// argument and what is known of the value (specialize.h); the values that are constants or that
// heuristics and the autotuner read; a hash of each text, tuple and descriptor. Equal rows mean
// equal code. Arguments of different types may have rows of their own although the code is the
// same: the type of an integer, say, is that of the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"
#include "compiler/triton/parameters.h"
#include "runtime/arguments.h"
#include "tilewright/triton.h"

namespace tilewright {

// The most parameters of a kernel.
inline constexpr std::size_t max_slots = 256;

// What may be known of a value, as bits. In a parameter's word they are above its type.
inline constexpr int trait_shift = 32;
enum ValueTrait : std::uint8_t {
  IsOne = 1,
  IsMultipleOf16 = 2,
  IsBeyondInt32 = 4,
  IsBeyondInt63 = 8,
  IsNull = 16,
};

// Those that integers mostly are compared by, and the others.
inline std::uint64_t usual_traits(std::uint64_t bits) {
  static_assert(IsOne == 1 && IsMultipleOf16 == 2);
  return std::uint64_t{bits == 1} | std::uint64_t{bits % 16 == 0} << 1;
}
inline std::uint64_t rare_traits(std::uint64_t bits) {
  static_assert(IsBeyondInt32 == 4 && IsBeyondInt63 == 8 && IsNull == 16);
  return std::uint64_t{!is_int32(bits)} << 2 | bits >> 63 << 3 | std::uint64_t{bits == 0} << 4;
}

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

inline constexpr std::size_t option_words = 4;  // before those of the parameters
inline constexpr std::size_t long_words = 2;    // of each text, tuple and descriptor, behind all

// What a launch says beside its arguments.
struct LaunchOptions {
  const TritonLaunch& launch;
  const Device& device;
  bool interpret;
  bool debug;
  std::uint64_t overlaps = 0;  // Overlaps::word of the arguments

  std::uint64_t word(std::size_t i) const;
};

// The row of a launch, written down. Lives on its stack and allocates nothing.
class LaunchKey {
 public:
  explicit LaunchKey(const KeyRules& rules);

  // The argument of a parameter that has none yet.
  void add(std::size_t parameter, const TritonArgument& argument);
  // After all arguments.
  void finish(const LaunchOptions& options);

  std::uint64_t hash() const { return hash_; }
  std::size_t given() const { return given_; }       // how many arguments there were
  bool has_tensors() const { return has_tensors_; }  // among them, or inside of them
  std::span<const std::uint64_t> words() const { return {words_, count_}; }

 private:
  static constexpr std::size_t most_words = option_words + (2 + long_words) * max_slots;

  const KeyRule* rules_;
  std::uint64_t hash_ = 0;
  std::size_t given_ = 0;
  bool has_tensors_ = false;
  std::size_t count_;
  std::uint64_t words_[most_words];  // not initialised: most launches use a few
};

// In bits 13 to 31: which target's text is emulated; never 0.
std::uint64_t emulated_bits(const Target& target);

inline std::uint64_t LaunchOptions::word(std::size_t i) const {
  const auto pair = [](const std::optional<int>& low, const std::optional<int>& high) {
    return static_cast<std::uint32_t>(low.value_or(-1)) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(high.value_or(-1))) << 32;
  };
  if (i == 1) return pair(launch.num_warps, launch.num_stages);
  if (i == 2) return pair(launch.num_ctas, launch.maxnreg);
  if (i == 3) return overlaps;
  return static_cast<std::uint64_t>(device.kind) | std::uint64_t{interpret} << 8 |
         std::uint64_t{launch.fp_fusion} << 9 | std::uint64_t{launch.flush_to_zero} << 10 |
         std::uint64_t{debug} << 11 | std::uint64_t{launch.bare} << 12 |
         (launch.emulate != nullptr ? emulated_bits(*launch.emulate) : 0) |
         static_cast<std::uint64_t>(device.index) << 32;
}

// The word of None or a type, and of what has more to say than a word: that it is one.
std::uint64_t word_of_other(const TritonArgument& argument);
bool is_long(const TritonArgument& argument);
Hash128 long_content(const KeyRule& rule, std::size_t parameter, const TritonArgument& argument);

// The traits that matter of values of a type, which is the first word of an argument (type_word):
// the others would be chance.
std::uint64_t telling_traits(std::uint32_t type);

}  // namespace tilewright
