// SPDX-License-Identifier: Apache-2.0
// compiler/numba/random_states.cpp — states of xoroshiro128+ (Blackman and Vigna), seeded by
// splitmix64.
#include <array>

#include "tilewright/error.h"
#include "tilewright/numba.h"

namespace tilewright {
namespace {

using State = std::array<std::uint64_t, 2>;

std::uint64_t rotated(std::uint64_t word, int by) { return word << by | word >> (64 - by); }

void advance(State& state) {
  const std::uint64_t first = state[0], second = state[1] ^ first;
  state = {rotated(first, 55) ^ second ^ second << 14, rotated(second, 36)};
}

// Both words are one number of splitmix64.
State seeded(std::uint64_t seed) {
  std::uint64_t z = seed + 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  z ^= z >> 31;
  return {z, z};
}

// By 2^64 numbers: the generator's polynomial of that step.
void jump(State& state) {
  State sum{};
  for (const std::uint64_t word : {0xBEAC0467EBA5FACBull, 0xD86B048B86AA9922ull})
    for (int bit = 0; bit < 64; ++bit) {
      if ((word >> bit & 1) != 0) {
        sum[0] ^= state[0];
        sum[1] ^= state[1];
      }
      advance(state);
    }
  state = sum;
}

}  // namespace

Tensor xoroshiro128p_states(std::int64_t count, std::uint64_t seed, std::int64_t subsequence_start,
                            Device device) {
  if (count < 1 || subsequence_start < 0)
    throw ArgumentError("xoroshiro128p_states needs 1 or more states, and a first one from 0 on");
  State state = seeded(seed);
  for (std::int64_t i = 0; i < subsequence_start; ++i) jump(state);
  std::vector<std::uint64_t> words;
  for (std::int64_t i = 0; i < count; ++i) {
    words.insert(words.end(), state.begin(), state.end());
    jump(state);
  }
  return tensor(words, {count, 2}, device);
}

}  // namespace tilewright
