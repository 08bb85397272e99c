// SPDX-License-Identifier: Apache-2.0
// base/hash.h — 128-bit content hashes for cache keys and checksums. Stable across processes and
// machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tilewright {

struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::string hex() const;  // 32 digits
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

// Not cryptographic: it tells different contents apart, it does not resist an attacker.
Hash128 hash_bytes(std::span<const std::byte> bytes);

// Hashes a sequence of fields; lengths are part of the hash, so that ("ab", "c") and ("a", "bc")
// differ.
class Hasher {
 public:
  Hasher& add(std::string_view text);
  Hasher& add(std::int64_t number);
  Hash128 finish() const { return state_; }

 private:
  Hash128 state_{0x9ae16a3b2f90404fULL, 0xc949d7c7509e6557ULL};
};

}  // namespace tilewright
