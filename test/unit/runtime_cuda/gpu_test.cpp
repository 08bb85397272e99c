// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/gpu_test.cpp — the runtime on a real GPU: memory, copies, launches. Skipped where
// there is none.
#include "gpu_test.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include "runtime/cuda/nvrtc_api.h"
#include "tilewright/error.h"

namespace tilewright {

void Gpu::SetUp() {
  if (cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
}

Function Gpu::function(const char* name) {
  static const Module& module = *new Module(Module::load(gpu_kernel_source(), device()));
  return module.function(name);
}

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// ---- The device.

TEST_F(Gpu, Properties) {
  const DeviceProperties& p = device().properties();
  EXPECT_FALSE(p.name.empty());
  EXPECT_GT(p.target.processors, 0);
  EXPECT_GE(p.target.capability_major, 7);
  EXPECT_EQ(p.target.warp_size, 32);
  EXPECT_GE(p.target.shared_bytes_per_block_optin, p.target.shared_bytes_per_block);
  EXPECT_GE(p.max_grid[0], 65535);
  EXPECT_EQ(p.max_block[0], 1024);
  const MemoryState memory = device().memory();
  EXPECT_GT(p.total_memory, 0u);
  EXPECT_GT(memory.total, 0u);
  EXPECT_LE(memory.free, memory.total);
  EXPECT_EQ(why_no_cuda(), "");
  EXPECT_EQ(default_device(), Device::cuda());
}

// ---- Memory.

TEST_F(Gpu, FreedMemoryIsReusedByItsStream) {
  const Stream s = Stream::create(device()), other = Stream::create(device());
  void* first = nullptr;
  for (int i = 0; i < 5; ++i) {
    const Buffer buffer = Buffer::allocate(100000, device(), MemoryKind::Device, s);
    if (!first) first = buffer.data();
    EXPECT_EQ(buffer.data(), first);
  }
  EXPECT_NE(Buffer::allocate(100000, device(), MemoryKind::Device, other).data(), first);
}

TEST_F(Gpu, MemoryInUseElsewhereIsNotReused) {
  const Stream s = Stream::create(device()), user = Stream::create(device());
  constexpr std::size_t bytes = 777 << 10;  // of no other test
  const Buffer flag = Buffer::allocate(sizeof(int), device(), MemoryKind::Pinned);
  *static_cast<int*>(flag.data()) = 0;
  Buffer buffer = Buffer::allocate(bytes, device(), MemoryKind::Device, s);
  void* const used = buffer.data();
  function("wait_for")[{.stream = user}](flag.data(), buffer.data());
  buffer.record_use(user);
  buffer = Buffer();
  Buffer second = Buffer::allocate(bytes, device(), MemoryKind::Device, s);
  EXPECT_NE(second.data(), used) << "the other stream still writes there";
  *static_cast<volatile int*>(flag.data()) = 1;
  user.synchronize();
  const Buffer third = Buffer::allocate(bytes, device(), MemoryKind::Device, s);
  EXPECT_EQ(third.data(), used);
}

TEST_F(Gpu, ManagedMemoryIsSeenByBoth) {
  if (!device().properties().has_managed_memory) GTEST_SKIP() << "no managed memory";
  const Buffer buffer = Buffer::allocate(1000 * sizeof(int), device(), MemoryKind::Managed);
  auto* const x = static_cast<int*>(buffer.data());
  std::fill(x, x + 1000, 1);
  function("set_all")[{.block = 128}](x, 42, 999);
  device().synchronize();
  EXPECT_EQ(x[0], 42);
  EXPECT_EQ(x[998], 42);
  EXPECT_EQ(x[999], 1);
}

TEST_F(Gpu, OutOfMemorySaysHowMuchAndCanGoOn) {
  const std::size_t asked = device().properties().total_memory * 2;
  try {
    Buffer::allocate(asked, device());
    FAIL() << "must throw";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.asked(), asked);
    EXPECT_GT(error.free(), 0u);
    EXPECT_THAT(error.what(), ::testing::StartsWith("out of memory on cuda:0: "));
  }
  EXPECT_NE(Buffer::allocate(1000, device()).data(), nullptr);
  device().synchronize();
}

TEST_F(Gpu, CachedMemoryIsGivenBack) {
  { const Buffer buffer = Buffer::allocate(256 * mib, device()); }
  EXPECT_GE(device().memory().cached, 256 * mib);
  const std::size_t before = device().memory().free;
  device().release_cached_memory();
  EXPECT_EQ(device().memory().cached, 0u);
  EXPECT_GE(device().memory().free, before + 256 * mib);
}

// ---- Copies and fills.

TEST_F(Gpu, CopiesBetweenAllKinds) {
  const Stream s = Stream::create(device());
  for (std::size_t bytes : {std::size_t{1}, std::size_t{17}, std::size_t{4096}, 3 * mib + 5}) {
    std::vector<unsigned char> values(bytes), back(bytes);
    std::iota(values.begin(), values.end(), static_cast<unsigned char>(1));
    const Buffer from = Buffer::wrap(values.data(), bytes, Device::cpu());
    const Buffer to = Buffer::wrap(back.data(), bytes, Device::cpu());
    const Buffer pinned = Buffer::allocate(bytes, device(), MemoryKind::Pinned, s);
    const Buffer first = Buffer::allocate(bytes, device(), MemoryKind::Device, s);
    const Buffer second = Buffer::allocate(bytes, device(), MemoryKind::Device, s);
    copy_async({first}, {from}, bytes, s);
    copy_async({second}, {first}, bytes, s);
    copy_async({pinned}, {second}, bytes, s);
    copy_async({to}, {pinned}, bytes, s);
    s.synchronize();
    EXPECT_EQ(std::memcmp(pinned.data(), values.data(), bytes), 0);
    EXPECT_EQ(back, values) << bytes << " bytes";
  }
}

TEST_F(Gpu, FillsWithEveryPattern) {
  const std::byte pattern[8] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};
  for (std::size_t width : {1, 2, 4, 8})
    for (std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{1000}, 5 * mib / 8 + 3}) {
      const std::size_t bytes = width * count;
      const Buffer buffer = Buffer::allocate(bytes + 8, device());
      fill_async({buffer}, bytes + 8, std::span(pattern + 7, 1), Stream());
      fill_async({buffer}, bytes, std::span(pattern, width), Stream());
      const std::vector<std::byte> values = download<std::byte>(buffer);
      for (std::size_t i = 0; i < bytes; ++i)
        if (values[i] != pattern[i % width])
          FAIL() << "byte " << i << " of " << bytes << " by " << width;
      EXPECT_EQ(values[bytes], std::byte{8}) << "wrote past the end";
    }
}

// ---- Streams and events.

TEST_F(Gpu, EventsTimeWork) {
  const Stream s = Stream::create(device());
  Event start(device()), end(device());
  start.record(s);
  function("spin")[{.stream = s}](2000000L);
  end.record(s);
  const double seconds = end.seconds_since(start);
  EXPECT_GT(seconds, 2e6 / 10e9) << "no GPU runs at 10 GHz";
  EXPECT_LT(seconds, 5);
  EXPECT_TRUE(end.is_done());
  EXPECT_TRUE(s.is_idle());
}

TEST_F(Gpu, StreamsWaitForEvents) {
  const Stream first = Stream::create(device()), second = Stream::create(device());
  const Buffer flag = Buffer::allocate(sizeof(int), device(), MemoryKind::Pinned);
  const Buffer x = device_buffer<int>({5, 5});
  *static_cast<int*>(flag.data()) = 0;
  Event event(device());
  function("wait_for")[{.stream = first}](flag.data(), x.data());
  event.record(first);
  second.wait(event);
  function("set_all")[{.stream = second}](x.data(), 9, 1);
  EXPECT_FALSE(second.is_idle());
  EXPECT_FALSE(event.is_done());
  *static_cast<volatile int*>(flag.data()) = 1;
  second.synchronize();
  EXPECT_EQ(download<int>(x), (std::vector<int>{9, 5}));
}

TEST_F(Gpu, WrappedStreamsKnowTheirDevice) {
  EXPECT_EQ(Stream::wrap(Stream::create(device()).native()).device(), device());
  device().synchronize();
  EXPECT_EQ(Stream::wrap(nullptr).device(), device());
}

// ---- Launches.

TEST_F(Gpu, AddsAtManySizes) {
  for (std::int64_t n : {1, 2, 31, 257, 1000003}) {
    std::vector<float> x(static_cast<std::size_t>(n)), y(x.size());
    std::iota(x.begin(), x.end(), 1.0f);
    std::fill(y.begin(), y.end(), 0.5f);
    const Buffer dx = device_buffer(x), dy = device_buffer(y);
    function("add")[{.grid = (n + 255) / 256, .block = 256}](dx.data(), dy.data(), n);
    const std::vector<float> sum = download<float>(dy);
    for (std::size_t i = 0; i < sum.size(); ++i)
      if (sum[i] != x[i] + 0.5f) FAIL() << "element " << i << " of " << n << " is " << sum[i];
  }
}

TEST_F(Gpu, TemplateInstances) {
  const Buffer floats = device_buffer<float>({1, 2, 3}), ints = device_buffer<int>({1, 2, 3});
  function("scale<float, 4>")[{.block = 3}](floats.data());
  function("scale<int, 3>")[{.block = 3}](ints.data());
  EXPECT_EQ(download<float>(floats), (std::vector<float>{4, 8, 12}));
  EXPECT_EQ(download<int>(ints), (std::vector<int>{3, 6, 9}));
}

TEST_F(Gpu, AllTheSharedMemoryOfABlock) {
  const int most = device().target().shared_bytes_per_block_optin;
  for (int bytes : {4, 48 << 10, (48 << 10) + 4, most}) {
    const int n = bytes / 4;
    std::vector<int> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 0);
    const Buffer x = device_buffer(values);
    function("reverse")[{.block = 256, .shared_bytes = static_cast<std::size_t>(bytes)}](x.data(),
                                                                                         n);
    std::reverse(values.begin(), values.end());
    EXPECT_EQ(download<int>(x), values) << bytes << " bytes";
  }
  EXPECT_GE(function("reverse").blocks_per_processor(256, static_cast<std::size_t>(most)), 1);
  EXPECT_THROW(
      (function("reverse")[{.shared_bytes = static_cast<std::size_t>(most) + 4}](nullptr, 0)),
      ArgumentError);
}

TEST_F(Gpu, Clusters) {
  if (!device().target().has(Feature::Clusters)) GTEST_SKIP() << "no clusters";
  for (unsigned size : {2u, 8u, 16u}) {
    const Buffer ranks = device_buffer(std::vector<unsigned>(32)),
                 sizes = device_buffer(std::vector<unsigned>(32));
    function("cluster_rank")[{.grid = 32, .block = 32, .cluster = size}](ranks.data(),
                                                                         sizes.data());
    const std::vector<unsigned> rank = download<unsigned>(ranks);
    EXPECT_EQ(download<unsigned>(sizes), std::vector<unsigned>(32, size));
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(rank[i], i % size);
  }
}

TEST_F(Gpu, CooperativeLaunch) {
  const int blocks = device().target().processors * function("meet").blocks_per_processor(64, 0);
  const Buffer counts = device_buffer<int>({0, 0});
  int* const x = static_cast<int*>(counts.data());
  function("meet")[{.grid = blocks, .block = 64, .cooperative = true}](x, x + 1);
  EXPECT_EQ(download<int>(counts), (std::vector<int>{blocks, blocks}))
      << "blocks that arrived, and that met all others";
  EXPECT_THROW((function("meet")[{.grid = blocks + 1, .block = 64, .cooperative = true}](x, x + 1)),
               ArgumentError);
  device().synchronize();
}

TEST_F(Gpu, AttributesOfAKernel) {
  const FunctionAttributes a = function("add").attributes();
  EXPECT_GT(a.registers, 0);
  EXPECT_EQ(a.local_bytes, 0u);
  EXPECT_EQ(a.max_threads_per_block, 1024);
  EXPECT_EQ(a.binary_version,
            device().target().capability_major * 10 + device().target().capability_minor);
  function("add").set_carveout(50);
  EXPECT_GT(function("add").blocks_per_processor(256, 0), 1);
}

TEST_F(Gpu, BlockOutOfRangeIsRefusedAndLeavesNothingBroken) {
  EXPECT_THROW((function("spin")[{.block = 2048}](1L)), ArgumentError);
  EXPECT_THROW((function("spin")[{.grid = {1, 100000}}](1L)), ArgumentError);
  function("spin")[{.grid = 0}](1L);
  device().synchronize();
}

TEST_F(Gpu, LaunchesFromManyThreads) {
  const Function increment = function("increment");
  const Buffer counters = device_buffer(std::vector<int>(8));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const Stream s = Stream::create(device());
      for (int i = 0; i < 500; ++i)
        increment[{.block = 2, .stream = s}](static_cast<int*>(counters.data()) + t);
      s.synchronize();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(download<int>(counters), std::vector<int>(8, 1000));
}

TEST_F(Gpu, TensorMaps) {
  if (!device().target().has(Feature::TensorMaps)) GTEST_SKIP() << "no TMA";
  for (int rows : {16, 1000}) {  // less and more than 128 KiB
    constexpr int columns = 256;
    std::vector<std::uint16_t> values(static_cast<std::size_t>(rows) * columns);
    std::iota(values.begin(), values.end(), std::uint16_t{0});
    const Buffer x = device_buffer(values),
                 out = device_buffer(std::vector<std::uint16_t>(16 * 64, 7));
    const Buffer ok = device_buffer<int>({0});
    const int row = rows - 8, column = 128;  // half of the box lies outside and reads zeros
    function("copy_box")[{.block = 128}](x.data(), rows, columns, out.data(), column, row,
                                         ok.data());
    EXPECT_EQ(download<int>(ok), std::vector<int>{1}) << "the copy never arrived";
    const std::vector<std::uint16_t> box = download<std::uint16_t>(out);
    for (std::size_t i = 0; i < box.size(); ++i) {
      const std::size_t r = static_cast<std::size_t>(row) + i / 64, c = column + i % 64;
      const std::uint16_t expected =
          r < static_cast<std::size_t>(rows) ? values[r * columns + c] : 0;
      if (box[i] != expected)
        FAIL() << "element " << i << " of the box is " << box[i] << ", not " << expected;
    }
  }
}

TEST_F(Gpu, SecondDevice) {
  if (cuda_device_count() < 2) GTEST_SKIP() << "one GPU only";
  const Device second = Device::cuda(1);
  const Buffer here = device_buffer<int>({1, 2, 3});
  const Buffer there = Buffer::allocate(here.size(), second);
  copy_async({there}, {here}, here.size(), current_stream(second));
  const Function scale = Module::load(gpu_kernel_source(), second).function("scale<int, 3>");
  scale[{.block = 3}](there.data());
  copy_async({here}, {there}, here.size(), current_stream(second));
  second.synchronize();
  EXPECT_EQ(download<int>(here), (std::vector<int>{3, 6, 9}));
}

}  // namespace
}  // namespace tilewright
