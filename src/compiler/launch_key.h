// SPDX-License-Identifier: Apache-2.0
// compiler/launch_key.h — what tells launches apart that need different code, as a row of words.
//
// Five words of options and of what overlaps; one for each parameter, 0 when it is absent, else the
// type of its argument and what is known of the value; the values that matter as a whole; a hash of
// each argument that is more than a value. Equal rows mean equal code. Arguments of different types
// may have rows of their own although the code is the same: the type of an integer, say, is that of
// the caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "runtime/arguments.h"
#include "tilewright/target.h"

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
  // The traits that matter and whether the value itself does, by parameter.
  struct Parameter {
    std::uint64_t traits = 0;
    bool is_keyed_by_value = false;
  };
  explicit KeyRules(std::span<const Parameter> kernel);
};

inline constexpr std::size_t option_words = 5;  // before those of the parameters
inline constexpr std::size_t long_words = 2;    // of each argument that is more, behind all
using OptionWords = std::array<std::uint64_t, option_words>;

// What tells launches apart beside their arguments and what the caller has set.
struct LaunchConditions {
  const Device& device;
  bool interpret = false;
  bool debug = false;
  std::uint64_t overlaps = 0;  // Overlaps::word of the arguments
};

// Of the target whose text is emulated; never 0.
std::uint64_t emulated_word(const Target& target);

// `Launch` is what the caller has set: TritonLaunch or IrLaunch.
template <class Launch>
OptionWords option_words_of(const Launch& launch, const LaunchConditions& conditions) {
  const auto pair = [](const std::optional<int>& low, const std::optional<int>& high) {
    return static_cast<std::uint32_t>(low.value_or(-1)) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(high.value_or(-1))) << 32;
  };
  std::uint64_t flags =
      static_cast<std::uint64_t>(conditions.device.kind) |
      std::uint64_t{conditions.interpret} << 8 | std::uint64_t{launch.fp_fusion} << 9 |
      std::uint64_t{launch.flush_to_zero} << 10 | std::uint64_t{conditions.debug} << 11 |
      static_cast<std::uint64_t>(conditions.device.index) << 32;
  if constexpr (requires { launch.bare; }) flags |= std::uint64_t{launch.bare} << 12;
  return {flags, pair(launch.num_warps, launch.num_stages), pair(launch.num_ctas, launch.maxnreg),
          conditions.overlaps, launch.emulate != nullptr ? emulated_word(*launch.emulate) : 0};
}

// The row of a launch, written down. Lives on its stack and allocates nothing.
class LaunchKey {
 public:
  explicit LaunchKey(const KeyRules& rules);

  // The argument of a parameter that has none yet: a value, or what is none, by its word and, where
  // that does not say all, its content.
  void add(std::size_t parameter, const Argument& value);
  void add_other(std::size_t parameter, std::uint64_t word);
  void add_content(const Hash128& content);
  void note_tensor() { has_tensors_ = true; }  // inside of an argument
  // After all arguments.
  void finish(const OptionWords& options);

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

// The word of a value: its type and its traits that matter. Never 0.
std::uint64_t word_of(const KeyRule& rule, const Argument& value);

// The traits that matter of values of a type, which is the first word of an argument (type_word):
// the others would be chance.
std::uint64_t telling_traits(std::uint32_t type);

}  // namespace tilewright
