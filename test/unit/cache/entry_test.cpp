// SPDX-License-Identifier: Apache-2.0
// cache/entry_test.cpp — an entry comes back as it was, and no damage goes unnoticed.
#include "runtime/cache_entry.h"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "cache_testing.h"

namespace tilewright {
namespace {

TEST(CacheEntry, RoundTripOfAllSizes) {
  for (const std::size_t size : {0, 1, 7, 8, 15, 16, 17, 1000, 1 << 20}) {
    const Binary binary = test_binary(size, size);
    const auto decoded = decode_cache_entry(test_key(1), encode_cache_entry(test_key(1), binary));
    ASSERT_TRUE(decoded) << size;
    EXPECT_TRUE(same(*decoded, binary)) << size;
  }
}

TEST(CacheEntry, EmptyBinary) {
  const auto decoded = decode_cache_entry(test_key(1), encode_cache_entry(test_key(1), {}));
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(same(*decoded, {}));
}

TEST(CacheEntry, AnotherKeyIsRefused) {
  const auto file = encode_cache_entry(test_key(1), test_binary(1));
  EXPECT_FALSE(decode_cache_entry(test_key(2), file));
  EXPECT_FALSE(is_intact_cache_entry(test_key(2), file));
}

TEST(CacheEntry, EveryFlippedBitIsDetected) {
  auto file = encode_cache_entry(test_key(1), test_binary(1, 100));
  for (std::size_t i = 0; i < file.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      file[i] ^= static_cast<std::byte>(1 << bit);
      EXPECT_FALSE(decode_cache_entry(test_key(1), file)) << "byte " << i << " bit " << bit;
      EXPECT_FALSE(is_intact_cache_entry(test_key(1), file)) << "byte " << i << " bit " << bit;
      file[i] ^= static_cast<std::byte>(1 << bit);
    }
  EXPECT_TRUE(decode_cache_entry(test_key(1), file));
}

TEST(CacheEntry, EveryOverwrittenByteIsDetected) {
  const auto original = encode_cache_entry(test_key(1), test_binary(1, 100));
  for (const std::byte value : {std::byte{0x00}, std::byte{0xff}, std::byte{0x5a}})
    for (std::size_t i = 0; i < original.size(); ++i) {
      if (original[i] == value) continue;
      auto file = original;
      file[i] = value;
      EXPECT_FALSE(decode_cache_entry(test_key(1), file)) << "byte " << i;
    }
}

TEST(CacheEntry, EveryTruncationIsDetected) {
  const auto file = encode_cache_entry(test_key(1), test_binary(1));
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(decode_cache_entry(test_key(1), std::span(file).first(size))) << size;
}

// A crash can leave a file of the right length whose end was never written.
TEST(CacheEntry, EveryZeroedTailIsDetected) {
  const auto original = encode_cache_entry(test_key(1), test_binary(1));
  for (std::size_t size = 0; size < original.size(); ++size) {
    auto file = original;
    std::fill(file.begin() + static_cast<std::ptrdiff_t>(size), file.end(), std::byte{0});
    if (file == original) continue;
    EXPECT_FALSE(decode_cache_entry(test_key(1), file)) << size;
  }
}

TEST(CacheEntry, AppendedBytesAreDetected) {
  auto file = encode_cache_entry(test_key(1), test_binary(1));
  for (int i = 0; i < 40; ++i) {
    file.push_back(std::byte{0});
    EXPECT_FALSE(decode_cache_entry(test_key(1), file)) << i;
  }
}

// Lengths that lie under a checksum that fits (not damage, but a file made so) must not be
// followed.
TEST(CacheEntry, LyingLengthsAreRefused) {
  const auto original = encode_cache_entry(test_key(1), test_binary(1, 100));
  const auto with_number = [&](std::size_t offset, std::uint64_t value) {
    auto file = original;
    std::memcpy(file.data() + offset, &value, sizeof value);
    const Hash128 checksum = hash_bytes(std::span(file).first(file.size() - 16));
    std::memcpy(file.data() + file.size() - 16, &checksum.high, 8);
    std::memcpy(file.data() + file.size() - 8, &checksum.low, 8);
    return file;
  };
  EXPECT_TRUE(
      decode_cache_entry(test_key(1), with_number(40, 100)));  // the true length of the code
  for (const std::uint64_t length : {0ULL, 99ULL, 101ULL, 1ULL << 32, ~0ULL, ~0ULL - 7})
    EXPECT_FALSE(decode_cache_entry(test_key(1), with_number(40, length))) << length;
}

TEST(CacheEntry, AnotherFormatVersionIsIntactButNotRead) {
  auto file = encode_cache_entry(test_key(1), test_binary(1));
  file[8] = std::byte{99};
  const Hash128 checksum = hash_bytes(std::span(file).first(file.size() - 16));
  std::memcpy(file.data() + file.size() - 16, &checksum.high, 8);
  std::memcpy(file.data() + file.size() - 8, &checksum.low, 8);
  EXPECT_TRUE(is_intact_cache_entry(test_key(1), file));
  EXPECT_FALSE(decode_cache_entry(test_key(1), file));
}

}  // namespace
}  // namespace tilewright
