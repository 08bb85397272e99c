// SPDX-License-Identifier: Apache-2.0
// base/hash.cpp — two lanes of multiply-and-fold over 16-byte pieces.
#include "base/hash.h"

#include <cstring>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr std::uint64_t k0 = 0xa0761d6478bd642fULL;
constexpr std::uint64_t k1 = 0xe7037ed1a0b428dbULL;
constexpr std::uint64_t k2 = 0x8ebc6af09c88c6e3ULL;

// The 128-bit product of two words, folded to 64 bits.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

Hash128 mix(Hash128 state, std::uint64_t a, std::uint64_t b) {
  return {fold(state.high ^ a ^ k0, b ^ k1) + state.low,
          fold(state.low ^ b ^ k2, a ^ state.high ^ k0) + k1};
}

Hash128 mix_bytes(Hash128 state, const std::byte* data, std::size_t size) {
  std::uint64_t piece[2];
  std::size_t i = 0;
  for (; i + 16 <= size; i += 16) {
    std::memcpy(piece, data + i, 16);
    state = mix(state, piece[0], piece[1]);
  }
  piece[0] = piece[1] = 0;
  if (size > i) std::memcpy(piece, data + i, size - i);
  state = mix(state, piece[0], piece[1]);
  return mix(state, size, k2);
}

}  // namespace

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 hash_bytes(std::span<const std::byte> bytes) {
  return mix_bytes({k1, k2}, bytes.data(), bytes.size());
}

Hasher& Hasher::add(std::string_view text) {
  state_ = mix_bytes(state_, reinterpret_cast<const std::byte*>(text.data()), text.size());
  return *this;
}

Hasher& Hasher::add(std::int64_t number) {
  state_ = mix(state_, static_cast<std::uint64_t>(number), k0);
  return *this;
}

}  // namespace tilewright
