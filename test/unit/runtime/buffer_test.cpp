// SPDX-License-Identifier: Apache-2.0
// runtime/buffer_test.cpp — memory of the CPU: reuse, alignment, wrapping, copies and fills.
#include "tilewright/buffer.h"

#include <sys/resource.h>

#include <cstring>
#include <thread>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include "expect_error.h"
#include "runtime/buffer_state.h"

namespace tilewright {
namespace {

constexpr std::size_t mebibyte = 1 << 20;

Buffer cpu_buffer(std::size_t bytes) { return Buffer::allocate(bytes, Device::cpu()); }

Stream cpu_stream() { return Stream::default_of(Device::cpu()); }

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

TEST(Buffer, IsAlignedAndWritableForEverySize) {
  for (const std::size_t bytes : {1UL, 63UL, 64UL, 65UL, 1024UL, 1025UL, 100000UL, 2 * mebibyte - 1,
                                  2 * mebibyte, 2 * mebibyte + 1, 37 * mebibyte}) {
    const Buffer buffer = cpu_buffer(bytes);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U) << bytes;
    std::memset(buffer.data(), 0x5a, bytes);
  }
}

TEST(Buffer, LargeOnesLieOnHugePages) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(cpu_buffer(3 * mebibyte).data()) % (2 * mebibyte), 0U);
}

TEST(Buffer, WithoutMemory) {
  const Buffer none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.data(), nullptr);
  const Buffer empty = cpu_buffer(0);
  EXPECT_TRUE(empty);
  EXPECT_EQ(empty.size(), 0U);
}

TEST(Buffer, FreedMemoryIsHandedOutAgain) {
  for (const std::size_t bytes : {100UL, 5000UL, 4 * mebibyte}) {
    const void* const first = cpu_buffer(bytes).data();
    EXPECT_EQ(cpu_buffer(bytes).data(), first) << bytes;
  }
}

TEST(Buffer, RepeatedAllocationFaultsNoPage) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer's own memory has page faults";
#endif
  for (const std::size_t bytes : {300000UL, 9 * mebibyte + 5}) {
    std::memset(cpu_buffer(bytes).data(), 1, bytes);
    const long before = page_faults();
    for (int i = 0; i < 20; ++i) {
      const Buffer again = cpu_buffer(bytes);
      auto* const data = static_cast<volatile char*>(again.data());
      for (std::size_t at = 0; at < bytes; at += 4096) data[at] = 2;
    }
    // The sanitizers' own shadow memory may still be made here; the buffer's pages would be
    // thousands.
    EXPECT_LT(page_faults() - before, 30) << bytes;
  }
}

TEST(Buffer, CountsWhatIsInUseAndCached) {
  Device::cpu().release_cached_memory();
  const MemoryState before = Device::cpu().memory();
  {
    const Buffer buffer = cpu_buffer(8 * mebibyte);
    EXPECT_GE(Device::cpu().memory().in_use, before.in_use + 8 * mebibyte);
  }
  EXPECT_EQ(Device::cpu().memory().in_use, before.in_use);
  EXPECT_GE(Device::cpu().memory().cached, before.cached + 8 * mebibyte);
  Device::cpu().release_cached_memory();
  EXPECT_EQ(Device::cpu().memory().cached, 0U);
  EXPECT_GT(Device::cpu().memory().total, Device::cpu().memory().free / 2);
}

TEST(Buffer, AbsurdSizesFailAtOnce) {
  for (const std::size_t bytes : {std::size_t{1} << 45, std::size_t{1} << 62, ~std::size_t{0}}) {
    try {
      cpu_buffer(bytes);
      ADD_FAILURE() << bytes;
    } catch (const OutOfMemory& error) {
      EXPECT_EQ(error.asked(), bytes);
      EXPECT_GT(error.free(), 0U);
      EXPECT_TRUE(std::string(error.what()).starts_with("out of memory on cpu: ")) << error.what();
    }
  }
}

TEST(Buffer, WrappedMemoryIsReleasedOnce) {
  int released = 0;
  int value = 7;
  {
    const Buffer wrapped = Buffer::wrap(&value, sizeof value, Device::cpu(), [&] { ++released; });
    const Buffer copy = wrapped;
    EXPECT_EQ(copy.data(), &value);
    EXPECT_EQ(copy.use_count(), 2);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(value, 7);
  expect_error("a null address cannot be wrapped as 4 bytes of cpu",
               [] { Buffer::wrap(nullptr, 4, Device::cpu()); });
}

TEST(Buffer, PinnedAndManagedArePlainMemoryOnTheCpu) {
  for (const MemoryKind kind : {MemoryKind::Pinned, MemoryKind::Managed}) {
    const Buffer buffer = Buffer::allocate(100, Device::cpu(), kind);
    EXPECT_EQ(buffer.kind(), kind);
    EXPECT_TRUE(buffer.is_host_accessible());
    std::memset(buffer.data(), 1, 100);
  }
}

TEST(Buffer, OfManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (std::size_t i = 1; i < 300; ++i) {
        const Buffer buffer = cpu_buffer(i * 100);
        std::memset(buffer.data(), t, buffer.size());
        EXPECT_EQ(static_cast<const char*>(buffer.data())[buffer.size() - 1], t);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Buffer, OnlyOtherStreamsAreRemembered) {
  StreamSet set;
  int handles[8];
  EXPECT_TRUE(set.all().empty());
  for (int round = 0; round < 3; ++round) {
    set.add(nullptr);
    for (int& handle : handles) set.add(&handle);
  }
  const std::vector<void*> all = set.all();
  ASSERT_EQ(all.size(), 9U);
  EXPECT_EQ(all[0], nullptr);
  EXPECT_EQ(all[8], &handles[7]);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(Buffer, TailsAndFreedBlocksArePoisoned) {
  for (const std::size_t bytes : {1UL, 100UL, 4096UL, 2 * mebibyte, 2 * mebibyte + 100}) {
    char* data = nullptr;
    {
      const Buffer buffer = cpu_buffer(bytes);
      data = static_cast<char*>(buffer.data());
      EXPECT_FALSE(__asan_address_is_poisoned(data));
      EXPECT_FALSE(__asan_address_is_poisoned(data + bytes - 1));
      EXPECT_TRUE(__asan_address_is_poisoned(data + bytes)) << bytes;
    }
    EXPECT_TRUE(__asan_address_is_poisoned(data)) << bytes;
    EXPECT_TRUE(__asan_address_is_poisoned(data + bytes - 1)) << bytes;
  }
}
#endif

// ---- Copies.

TEST(Copy, MovesBytesAtOffsetsForEverySize) {
  for (const std::size_t bytes : {0UL, 1UL, 1000UL, mebibyte, 5 * mebibyte + 3}) {
    const Buffer source = cpu_buffer(bytes + 16);
    const Buffer destination = cpu_buffer(bytes + 16);
    auto* const from = static_cast<unsigned char*>(source.data());
    auto* const to = static_cast<unsigned char*>(destination.data());
    for (std::size_t i = 0; i < bytes + 16; ++i)
      from[i] = static_cast<unsigned char>(i * 7 + i / 256);
    std::memset(to, 0, bytes + 16);
    copy_async({destination, 5}, {source, 11}, bytes, cpu_stream());
    EXPECT_EQ(std::memcmp(to + 5, from + 11, bytes), 0);
    EXPECT_EQ(to[4], 0);
    EXPECT_EQ(to[5 + bytes], 0);
  }
}

TEST(Copy, ChecksBounds) {
  const Buffer small = cpu_buffer(16);
  const Buffer large = cpu_buffer(64);
  expect_error("a copy of 17 bytes at offset 0 does not fit in the destination of 16 bytes",
               [&] { copy_async({small}, {large}, 17, cpu_stream()); });
  expect_error("a copy of 8 bytes at offset 60 does not fit in the source of 64 bytes", [&] {
    copy_async({small}, {large, 60}, 8, cpu_stream());
  });
  expect_error(
      "a copy of 18446744073709551615 bytes at offset 8 does not fit in the destination of 16 "
      "bytes",
      [&] {
        copy_async({small, 8}, {large}, ~std::size_t{0}, cpu_stream());
      });
  expect_error("the source of a copy has no memory; allocate the buffer first",
               [&] { copy_async({small}, {Buffer()}, 1, cpu_stream()); });
}

// ---- Fills.

TEST(Fill, RepeatsEveryPatternSize) {
  const std::uint64_t word = 0x0123456789abcdefULL;
  const auto* const pattern = reinterpret_cast<const std::byte*>(&word);
  for (const std::size_t width : {1UL, 2UL, 4UL, 8UL})
    for (const std::size_t count : {0UL, 1UL, 3UL, 1000UL, mebibyte}) {
      const std::size_t bytes = width * count;
      const Buffer buffer = cpu_buffer(bytes + 16);
      auto* const data = static_cast<std::byte*>(buffer.data());
      std::memset(data, 0, bytes + 16);
      fill_async({buffer, 8}, bytes, {pattern, width}, cpu_stream());
      bool is_right = data[7] == std::byte{0} && data[8 + bytes] == std::byte{0};
      for (std::size_t i = 0; i < bytes; ++i)
        is_right = is_right && data[8 + i] == pattern[i % width];
      EXPECT_TRUE(is_right) << width << " x " << count;
    }
}

TEST(Fill, ChecksItsArguments) {
  const Buffer buffer = cpu_buffer(64);
  const std::byte pattern[8] = {};
  const auto fill = [&](std::size_t offset, std::size_t bytes, std::size_t width) {
    fill_async({buffer, offset}, bytes, {pattern, width}, cpu_stream());
  };
  expect_error("a fill pattern has 1, 2, 4 or 8 bytes, got 3", [&] { fill(0, 9, 3); });
  expect_error("a fill of 10 bytes is not a whole number of 4-byte patterns",
               [&] { fill(0, 10, 4); });
  expect_error("a fill at offset 2 is not aligned to its 4-byte pattern", [&] { fill(2, 8, 4); });
  expect_error("a fill of 64 bytes at offset 8 does not fit in the destination of 64 bytes",
               [&] { fill(8, 64, 8); });
}

}  // namespace
}  // namespace tilewright
