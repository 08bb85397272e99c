// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/allocator_test.cpp — when memory is reused, by whom, and when it must not be.
#include "runtime/cuda/allocator.h"

#include <thread>

#include <gmock/gmock.h>

#include "fake_test.h"
#include "runtime/cuda/context.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

using AllocatorTest = FakeTest;

TEST(AllocatorSizes, WasteAtMostAQuarter) {
  for (std::size_t bytes = 1; bytes < 200 * mib; bytes += bytes / 7 + 1) {
    const std::size_t rounded = Allocator::rounded_size(bytes);
    ASSERT_GE(rounded, bytes);
    ASSERT_EQ(rounded % 512, 0u);
    ASSERT_TRUE(bytes <= 2048 || rounded - bytes <= bytes / 4) << bytes;
  }
  EXPECT_EQ(Allocator::rounded_size(1), 512u);
  EXPECT_EQ(Allocator::rounded_size(512), 512u);
}

TEST_F(AllocatorTest, SameStreamReusesAtOnce) {
  const CUstream s = stream();
  fake().hold(s, true);
  void* const first = allocate(1000, s);
  free(first, s);
  EXPECT_EQ(allocate(900, s), first) << "although its work is not done";
  EXPECT_EQ(fake().allocation_calls(), 1);
  free(first, s);
}

TEST_F(AllocatorTest, AnotherStreamDoesNot) {
  const CUstream s = stream(), other = stream();
  void* const first = allocate(1000, s);
  free(first, s);
  void* const second = allocate(1000, other);
  EXPECT_NE(second, first);
  free(second, other);
}

TEST_F(AllocatorTest, MuchLargerBlockIsKeptForLargerUses) {
  const CUstream s = stream();
  void* const large = allocate(1 * mib, s);
  free(large, s);
  void* const small = allocate(1000, s);
  EXPECT_NE(small, large);
  EXPECT_EQ(allocate(mib - 100 * 1024, s), large) << "a fifth larger is near enough";
  free(small, s);
  free(large, s);
}

TEST_F(AllocatorTest, OtherStreamsHoldABlockUntilTheyPassed) {
  const CUstream s = stream(), user = stream();
  fake().hold(user, true);
  void* const first = allocate(1000, s);
  free(first, s, {user, s, user});
  void* const second = allocate(1000, s);
  EXPECT_NE(second, first);
  fake().hold(user, false);
  EXPECT_EQ(allocate(1000, s), first);
  free(first, s);
  free(second, s);
}

TEST_F(AllocatorTest, TheLegacyStreamCountsAsAnother) {
  const CUstream s = stream();
  void* const first = allocate(1000, nullptr);
  free(first, nullptr, {s});
  EXPECT_EQ(allocate(1000, nullptr), first) << "that stream is idle";
  free(first, nullptr);
}

class HostKinds : public FakeTest, public ::testing::WithParamInterface<MemoryKind> {};

// The host does not wait for the stream, so even the stream's own use must have passed.
TEST_P(HostKinds, WaitForTheirOwnStream) {
  const CUstream s = stream(), other = stream();
  fake().hold(s, true);
  void* const first = allocate(1000, s, GetParam());
  free(first, s, {}, GetParam());
  void* const second = allocate(1000, s, GetParam());
  EXPECT_NE(second, first);
  fake().hold(s, false);
  EXPECT_EQ(allocate(1000, other, GetParam()), first) << "then any stream may have it";
  free(first, other, {}, GetParam());
  free(second, s, {}, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Kinds, HostKinds,
                         ::testing::Values(MemoryKind::Pinned, MemoryKind::Managed));

TEST_F(AllocatorTest, NothingForNothing) {
  EXPECT_EQ(allocate(0, nullptr), nullptr);
  free(nullptr, nullptr);
  EXPECT_EQ(fake().allocation_calls(), 0);
}

TEST_F(AllocatorTest, KindsDoNotMix) {
  void* const device = allocate(1000, nullptr);
  free(device, nullptr);
  void* const pinned = allocate(1000, nullptr, MemoryKind::Pinned);
  EXPECT_NE(pinned, device);
  free(pinned, nullptr, {}, MemoryKind::Pinned);
}

TEST_F(AllocatorTest, CountsWhatItHolds) {
  void* const a = allocate(1 * mib, nullptr);
  void* const b = allocate(2 * mib, nullptr, MemoryKind::Managed);
  void* const c = allocate(2 * mib, nullptr, MemoryKind::Pinned);
  MemoryState memory = backend().memory(fake_device);
  EXPECT_EQ(memory.in_use, 3 * mib) << "pinned memory is the host's";
  EXPECT_EQ(memory.cached, 0u);
  EXPECT_EQ(memory.total, fake_memory_bytes);
  EXPECT_EQ(memory.free, fake_memory_bytes - 3 * mib);
  free(a, nullptr);
  free(b, nullptr, {}, MemoryKind::Managed);
  free(c, nullptr, {}, MemoryKind::Pinned);
  memory = backend().memory(fake_device);
  EXPECT_EQ(memory.in_use, 0u);
  EXPECT_EQ(memory.cached, 3 * mib);
  backend().release_cached_memory(fake_device);
  EXPECT_EQ(backend().memory(fake_device).cached, 0u);
  EXPECT_EQ(backend().memory(fake_device).free, fake_memory_bytes);
}

TEST_F(AllocatorTest, DevicesAreApart) {
  void* const first = allocate(1000, nullptr, MemoryKind::Device, 0);
  void* const second = allocate(1000, nullptr, MemoryKind::Device, 1);
  EXPECT_EQ(backend().memory(0).in_use, 1024u);
  EXPECT_EQ(backend().memory(1).in_use, 1024u);
  EXPECT_EQ(fake().allocated_bytes(1), 1024u);
  free(first, nullptr, {}, MemoryKind::Device, 0);
  free(second, nullptr, {}, MemoryKind::Device, 1);
}

// ---- Out of memory.

TEST_F(AllocatorTest, CachedMemoryIsGivenBackBeforeGivingUp) {
  void* const first = allocate(40 * mib, nullptr);
  free(first, nullptr);
  void* const second = allocate(50 * mib, nullptr);
  EXPECT_NE(second, nullptr);
  free(second, nullptr);
}

TEST_F(AllocatorTest, ParkedMemoryIsWaitedForBeforeGivingUp) {
  const CUstream s = stream(), user = stream();
  fake().hold(user, true);
  void* const first = allocate(40 * mib, s);
  free(first, s, {user});
  void* const second = allocate(50 * mib, s);
  EXPECT_NE(second, nullptr);
  free(second, s);
}

TEST_F(AllocatorTest, OutOfMemorySaysHowMuch) {
  void* const held = allocate(16 * mib, nullptr);
  try {
    allocate(60 * mib, nullptr);
    FAIL() << "must throw";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.asked(), 60 * mib);
    EXPECT_EQ(error.free(), 48 * mib);
    EXPECT_STREQ(
        error.what(),
        "out of memory on cuda:0: 60.0 MiB asked, 48.0 MiB free; free tensors or use smaller ones");
  }
  EXPECT_THROW(allocate(SIZE_MAX - 5, nullptr), OutOfMemory);
  EXPECT_THROW(allocate(100 * mib, nullptr, MemoryKind::Managed), OutOfMemory);
  try {
    allocate(100 * mib, nullptr, MemoryKind::Pinned);
    FAIL() << "must throw";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith(
                                  "out of memory on the host (pinned memory): 100 MiB asked, "));
  }
  free(held, nullptr);
}

TEST_F(AllocatorTest, FreeingTwiceIsOurBug) {
  void* const data = allocate(1000, nullptr);
  free(data, nullptr);
  EXPECT_THROW(free(data, nullptr), InternalError);
}

TEST_F(AllocatorTest, FreeingAfterTheDriverIsShutDownIsQuiet) {
  void* const data = allocate(1000, nullptr);
  fake().shut_down(true);
  free(data, nullptr);
  fake().shut_down(false);
  free(data, nullptr);
}

TEST_F(AllocatorTest, ManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([this] {
      const CUstream mine = stream(), other = stream();
      for (std::size_t i = 0; i < 200; ++i) {
        auto* const data = static_cast<char*>(allocate(100 + i * 37 % 5000, mine));
        *data = static_cast<char>(i);
        EXPECT_EQ(*data, static_cast<char>(i)) << "two owners of one block";
        free(data, mine, i % 3 == 0 ? std::vector<void*>{other} : std::vector<void*>{});
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(backend().memory(fake_device).in_use, 0u);
}

// ---- During the caller's graph capture.

TEST_F(AllocatorTest, CapturedMemoryBelongsToTheGraph) {
  const CUstream s = blocking_stream();
  void* const eager = allocate(1000, s);
  free(eager, s);
  fake().begin_capture(s);
  void* const first = allocate(1000, s);
  EXPECT_NE(first, eager) << "eager work may still use that block when the graph runs elsewhere";
  free(first, s);
  EXPECT_EQ(allocate(1000, s), first) << "reused inside the graph";
  free(first, s);
  const CUgraph graph = fake().end_capture(s);
  ASSERT_NE(graph, nullptr) << "the capture was spoilt";
  EXPECT_EQ(backend().memory(fake_device).in_use, 1024u) << "the graph has it";
  EXPECT_EQ(allocate(1000, s), eager);
  void* const another = allocate(1000, s);
  EXPECT_NE(another, first);
  free(eager, s);
  free(another, s);
  fake().destroy_graph(graph);
  backend().release_cached_memory(fake_device);
  EXPECT_EQ(fake().allocated_bytes(fake_device), 0u);
}

TEST_F(AllocatorTest, MemoryThatOutlivesItsGraph) {
  const CUstream s = blocking_stream();
  fake().begin_capture(s);
  void* const data = allocate(1000, s);
  const CUgraph graph = fake().end_capture(s);
  ASSERT_NE(graph, nullptr);
  fake().destroy_graph(graph);
  EXPECT_EQ(backend().memory(fake_device).in_use, 1024u);
  free(data, s);
  EXPECT_EQ(backend().memory(fake_device).in_use, 0u);
  EXPECT_EQ(fake().allocated_bytes(fake_device), 0u) << "given back to the driver";
}

TEST_F(AllocatorTest, BlockUsedByACapturedStreamWaitsForTheEndOfTheCapture) {
  const CUstream s = stream(), captured = blocking_stream();
  void* const data = allocate(1000, s);
  fake().begin_capture(captured);
  free(data, s, {captured});
  void* const second = allocate(1000, s);
  EXPECT_NE(second, data);
  const CUgraph graph = fake().end_capture(captured);
  ASSERT_NE(graph, nullptr) << "the capture was spoilt";
  EXPECT_EQ(allocate(1000, s), data);
  free(data, s);
  free(second, s);
  fake().destroy_graph(graph);
}

// Touching the legacy stream would spoil the capture of a stream that it waits for.
TEST_F(AllocatorTest, LegacyStreamIsLeftAloneDuringACapture) {
  const CUstream s = stream(), captured = blocking_stream();
  void* const data = allocate(1000, s);
  void* const pinned = allocate(1000, nullptr, MemoryKind::Pinned);
  fake().begin_capture(captured);
  free(data, s, {nullptr});
  free(pinned, nullptr, {}, MemoryKind::Pinned);
  void* const eager = allocate(1000, nullptr);
  const CUgraph graph = fake().end_capture(captured);
  ASSERT_NE(graph, nullptr) << "the capture was spoilt";
  EXPECT_EQ(allocate(1000, s), data);
  free(data, s);
  free(eager, nullptr);
  fake().destroy_graph(graph);
}

TEST_F(AllocatorTest, OutOfMemoryDuringACaptureDoesNotSpoilIt) {
  const CUstream captured = blocking_stream(), s = stream(), user = stream();
  fake().hold(user, true);
  free(allocate(40 * mib, s), s, {user});
  fake().begin_capture(captured);
  void* const data = allocate(50 * mib, captured);
  EXPECT_THROW(allocate(50 * mib, captured), OutOfMemory);
  free(data, captured);
  const CUgraph graph = fake().end_capture(captured);
  ASSERT_NE(graph, nullptr) << "the capture was spoilt";
  fake().destroy_graph(graph);
}

// A stream of another thread that is being captured must survive what this thread does.
TEST_F(AllocatorTest, AnotherThreadsCaptureIsNotSpoilt) {
  const CUstream captured = blocking_stream(), s = stream();
  fake().begin_capture(captured);
  std::thread([&] {
    void* const data = allocate(1000, s);
    free(data, s);
    backend().release_cached_memory(fake_device);
  }).join();
  const CUgraph graph = fake().end_capture(captured);
  ASSERT_NE(graph, nullptr) << "the capture was spoilt";
  fake().destroy_graph(graph);
}

}  // namespace
}  // namespace tilewright::cuda
