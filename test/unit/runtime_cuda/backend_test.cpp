// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/backend_test.cpp — contexts, streams, fills, launches and faults, on the fake
// driver.
#include <cstring>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>

#include "base/settings.h"
#include "fake_test.h"
#include "runtime/cuda/driver_api.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

using ::testing::HasSubstr;

using BackendTest = FakeTest;

CUcontext current_context() {
  CUcontext context = nullptr;
  driver().cuCtxGetCurrent(&context);
  return context;
}

Binary fake_cubin(const std::string& kernels) {
  const std::string text = "FAKE " + kernels;
  Binary binary;
  binary.bytes.resize(text.size() + 1);
  std::memcpy(binary.bytes.data(), text.c_str(), text.size() + 1);
  return binary;
}

template <class Exception>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// ---- Devices and contexts.

TEST_F(BackendTest, PropertiesOfEachDevice) {
  ASSERT_EQ(backend().device_count(), 2);
  EXPECT_EQ(backend().properties(0).name, "Fake GPU");
  EXPECT_EQ(backend().properties(0).target.name, "sm_90a");
  EXPECT_TRUE(backend().properties(0).target.has(Feature::Wgmma));
  EXPECT_EQ(backend().properties(1).target.name, "sm_86");
  EXPECT_FALSE(backend().properties(1).target.has(Feature::TensorMaps));
  EXPECT_EQ(backend().properties(1).target.processors, 132);
  EXPECT_EQ(backend().properties(0).total_memory, fake_memory_bytes);
}

TEST_F(BackendTest, AThreadWithoutAContextKeepsOurs) {
  std::thread([this] {
    EXPECT_EQ(current_context(), nullptr);
    backend().synchronize(0);
    EXPECT_NE(current_context(), nullptr);
  }).join();
}

TEST_F(BackendTest, TheCallersContextIsPutBack) {
  const CUcontext callers = fake().create_context(0);
  const auto module = backend().load(fake_cubin("k"), {}, 0);
  const auto kernel = module->kernel("k");
  free(allocate(1000, nullptr), nullptr);
  backend().synchronize(1);
  kernel->launch({});
  void* const event = backend().create_event(0);
  backend().record_event(0, event, nullptr);
  backend().destroy_event(0, event);
  EXPECT_EQ(current_context(), callers);
  CUcontext popped = nullptr;
  driver().cuCtxPopCurrent_v2(&popped);
  EXPECT_EQ(current_context(), nullptr) << "nothing is left on the stack below";
}

TEST_F(BackendTest, StreamsKnowTheirDevice) {
  EXPECT_EQ(backend().device_of_stream(nullptr), 0);
  EXPECT_EQ(backend().device_of_stream(stream(1)), 1);
  EXPECT_EQ(backend().device_of_stream(stream(0)), 0);
  backend().synchronize(0);
  std::thread([this] {
    backend().synchronize(1);  // makes device 1 current on this thread
    EXPECT_EQ(backend().device_of_stream(nullptr), 1);
  }).join();
}

TEST_F(BackendTest, AStreamOfAForeignContextIsRefused) {
  const CUstream foreign = fake().create_stream(fake().create_context(1), false);
  EXPECT_EQ(message_of<ArgumentError>([&] { backend().device_of_stream(foreign); }),
            "the stream belongs to a CUDA context of its own on cuda:1; tilewright works in the "
            "device's primary context, "
            "which the CUDA runtime and cuDevicePrimaryCtxRetain use: make the stream there");
}

// ---- Streams and events.

TEST_F(BackendTest, StreamsAndEvents) {
  const CUstream s = stream();
  void* const start = backend().create_event(0);
  void* const end = backend().create_event(0);
  fake().hold(s, true);
  backend().record_event(0, start, s);
  EXPECT_FALSE(backend().is_stream_idle(0, s));
  EXPECT_FALSE(backend().is_event_done(0, start));
  backend().wait_event(0, s, start);
  backend().record_event(0, end, s);
  EXPECT_DOUBLE_EQ(backend().seconds_between(0, start, end), 0.002)
      << "the fake counts a millisecond for each work item";
  EXPECT_TRUE(backend().is_event_done(0, end));
  backend().synchronize_stream(0, s);
  EXPECT_TRUE(backend().is_stream_idle(0, s));
  backend().destroy_event(0, start);
  backend().destroy_event(0, end);
}

// ---- Copies and fills.

TEST_F(BackendTest, FillsWithEveryPattern) {
  const std::vector<std::byte> eight = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                        std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};
  const std::size_t sizes[] = {
      0, 8, 24, 1000, (std::size_t{1} << 20) + 8, (std::size_t{2} << 20) + 16};
  auto* const data = static_cast<std::byte*>(allocate(std::size_t{3} << 20, nullptr));
  for (std::size_t width : {1, 2, 4, 8})
    for (std::size_t bytes : sizes) {
      std::memset(data, 0xee, bytes + 1);
      const std::span<const std::byte> pattern(eight.data(), width);
      backend().fill(data, bytes, pattern, 0, nullptr);
      for (std::size_t i = 0; i < bytes; ++i)
        if (data[i] != pattern[i % width])
          FAIL() << "byte " << i << " of " << bytes << " by " << width;
      EXPECT_EQ(data[bytes], std::byte{0xee}) << "wrote past " << bytes << " by " << width;
    }
  free(data, nullptr);
}

TEST_F(BackendTest, RepeatingPatternsAreFilledAsSmallerOnes) {
  auto* const data = static_cast<std::byte*>(allocate(64, nullptr));
  const std::array<std::byte, 8> zeros{};
  backend().fill(data, 64, zeros, 0, nullptr);
  EXPECT_EQ(std::accumulate(data, data + 64, 0,
                            [](int sum, std::byte b) { return sum + static_cast<int>(b); }),
            0);
  free(data, nullptr);
}

TEST_F(BackendTest, CopiesBetweenKinds) {
  void* const device = allocate(100, nullptr);
  void* const pinned = allocate(100, nullptr, MemoryKind::Pinned);
  char text[100] = "over and back";
  char back[100] = "";
  backend().copy(pinned, text, sizeof text, 0, nullptr);
  backend().copy(device, pinned, sizeof text, 0, nullptr);
  backend().copy(back, device, sizeof text, 0, nullptr);
  backend().copy(back, nullptr, 0, 0, nullptr);
  EXPECT_STREQ(back, text);
  free(device, nullptr);
  free(pinned, nullptr, {}, MemoryKind::Pinned);
}

// ---- Modules and launches.

TEST_F(BackendTest, KernelsBySymbolAndNameExpression) {
  Binary binary = fake_cubin("add _Z5scaleIfEvPf");
  binary.symbols = {{"scale<float>", "_Z5scaleIfEvPf"}};
  const auto module = backend().load(binary, {}, 0);
  EXPECT_NE(module->kernel("add"), nullptr);
  EXPECT_NE(module->kernel("scale<float>"), nullptr);
  EXPECT_EQ(module->kernel("scale<double>"), nullptr);
}

TEST_F(BackendTest, CodeThatTheDriverDoesNotLoad) {
  Binary binary = fake_cubin("k");
  binary.bytes[0] = std::byte{'X'};
  KernelSource source;
  source.name = "mine.cu";
  EXPECT_EQ(message_of<EnvironmentError>([&] { backend().load(binary, source, 0); }),
            "the CUDA driver does not load the code of 'mine.cu' made for sm_90a: CUDA_ERROR_OTHER "
            "(another error); the driver "
            "supports CUDA 12.4: if NVRTC is newer, update the driver or set TILEWRIGHT_CUDA_HOME "
            "to an older toolkit");
}

TEST_F(BackendTest, PlainLaunch) {
  const CUstream s = stream(1);
  const auto kernel = backend().load(fake_cubin("k"), {}, 1)->kernel("k");
  kernel->launch({.grid = {4, 2, 1}, .block = {32, 4, 2}, .shared_bytes = 100, .stream = s});
  const std::vector<FakeLaunch> launches = fake().launches();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].kernel, "k");
  EXPECT_EQ(launches[0].stream, s);
  EXPECT_EQ(launches[0].grid, 8u);
  EXPECT_EQ(launches[0].block, 256u);
  EXPECT_EQ(launches[0].shared_bytes, 100u);
  EXPECT_EQ(launches[0].cluster, 1u);
  EXPECT_EQ(fake().attribute_calls(), 0);
}

TEST_F(BackendTest, LargeSharedMemoryIsAllowedOnce) {
  const auto kernel = backend().load(fake_cubin("k"), {}, 0)->kernel("k");
  for (std::uint32_t kib : {48, 49, 100, 227}) kernel->launch({.shared_bytes = kib << 10});
  EXPECT_EQ(fake().attribute_calls(), 1);
  EXPECT_EQ(
      message_of<ArgumentError>([&] { kernel->launch({.shared_bytes = 228 << 10}); }),
      "kernel 'k' asks for 228 KiB of dynamic shared memory; at most 227 KiB can be had on cuda:0");
}

TEST_F(BackendTest, OccupancyAllowsLargeSharedMemoryItself) {
  const auto kernel = backend().load(fake_cubin("k"), {}, 0)->kernel("k");
  EXPECT_EQ(kernel->blocks_per_processor(256, 200 << 10), 8);
  EXPECT_EQ(kernel->attributes().registers, 40);
  kernel->set_carveout(50);
  EXPECT_THROW(kernel->set_carveout(101), ArgumentError);
}

TEST_F(BackendTest, ClustersAndCooperation) {
  const auto kernel = backend().load(fake_cubin("k"), {}, 0)->kernel("k");
  kernel->launch({.grid = {16, 1, 1}, .cluster = {2, 2, 1}, .cooperative = true});
  kernel->launch({.grid = {16, 1, 1}, .cluster = {16, 1, 1}});
  kernel->launch({.grid = {32, 1, 1}, .cluster = {16, 1, 1}});
  const std::vector<FakeLaunch> launches = fake().launches();
  ASSERT_EQ(launches.size(), 3u);
  EXPECT_EQ(launches[0].cluster, 4u);
  EXPECT_TRUE(launches[0].cooperative);
  EXPECT_EQ(launches[1].cluster, 16u);
  EXPECT_FALSE(launches[1].cooperative);
  EXPECT_EQ(fake().attribute_calls(), 1) << "clusters of more than 8 are allowed once";
  EXPECT_EQ(message_of<ArgumentError>([&] {
              kernel->launch({.grid = {5000, 1, 1}, .cooperative = true});
            }),
            "kernel 'k' cannot be launched cooperatively with grid 5000x1x1, block 1x1x1, cluster "
            "1x1x1, 0 B of dynamic "
            "shared memory: all its blocks must run at the same time; use a smaller grid");
}

TEST_F(BackendTest, ALaunchThatTheDriverRefuses) {
  const auto kernel = backend().load(fake_cubin("k"), {}, 0)->kernel("k");
  EXPECT_EQ(message_of<ArgumentError>([&] {
              kernel->launch({.block = {2048, 1, 1}});
            }),
            "kernel 'k' cannot be launched on cuda:0 with grid 1x1x1, block 2048x1x1, cluster "
            "1x1x1, 0 B of dynamic shared "
            "memory: CUDA_ERROR_OTHER (another error)");
}

TEST_F(BackendTest, AKernelOutlivesItsModule) {
  auto module = backend().load(fake_cubin("k"), {}, 0);
  const auto kernel = module->kernel("k");
  module.reset();
  kernel->launch({});
  EXPECT_EQ(fake().launches().size(), 1u);
}

TEST_F(BackendTest, ColdLaunchDuringACapture) {
  const CUstream captured = blocking_stream();
  fake().begin_capture(captured);
  {
    const auto kernel = backend().load(fake_cubin("k"), {}, 0)->kernel("k");
    kernel->launch({.shared_bytes = 100 << 10, .stream = captured});
    kernel->attributes();
    void* const event = backend().create_event(0);
    backend().destroy_event(0, event);
  }
  const CUgraph graph = fake().end_capture(captured);
  ASSERT_NE(graph, nullptr) << "the capture was spoilt";
  ASSERT_EQ(fake().launches().size(), 1u);
  EXPECT_TRUE(fake().launches()[0].was_captured);
  fake().destroy_graph(graph);
}

TEST_F(BackendTest, LaunchesFromManyThreads) {
  const auto kernel = backend().load(fake_cubin("k"), {}, 0)->kernel("k");
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) kernel->launch({.shared_bytes = i % 2 == 0 ? 0u : 60u << 10});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake().launches().size(), 800u);
}

// ---- Faults.

TEST_F(BackendTest, AFaultNamesTheLastKernels) {
  const auto module = backend().load(fake_cubin("one two fault_b"), {}, 0);
  for (int i = 0; i < 8; ++i) module->kernel("one")->launch({});
  module->kernel("two")->launch({});
  module->kernel("fault_b")->launch({});
  const std::string expected =
      "one of the last kernels ('fault_b', 'two', 'one', the newest first) faulted on cuda:0";
  EXPECT_EQ(message_of<KernelFault>([&] { backend().synchronize(0); }),
            expected +
                " with CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered); "
                "nothing more "
                "can run on this GPU in this process, as cuCtxSynchronize() reported; set "
                "TILEWRIGHT_LAUNCH_BLOCKING=1 to learn which");
  EXPECT_THAT(message_of<KernelFault>([&] { allocate(1000, nullptr); }), HasSubstr(expected));
  EXPECT_THAT(message_of<KernelFault>([&] { module->kernel("one")->launch({}); }),
              HasSubstr("as the launch of 'one' reported"));
  EXPECT_THAT(message_of<KernelFault>([&] { backend().copy(&fake(), &fake(), 1, 0, nullptr); }),
              HasSubstr(expected));
}

TEST_F(BackendTest, OneKernelManyTimesIsNamedExactly) {
  const auto kernel = backend().load(fake_cubin("fault_c"), {}, 0)->kernel("fault_c");
  for (int i = 0; i < 8; ++i) {
    kernel->launch({});
    if (i < 7) fake().reset();
  }
  EXPECT_EQ(message_of<KernelFault>([&] { backend().synchronize_stream(0, nullptr); }),
            "kernel 'fault_c' faulted on cuda:0 with CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory "
            "access was encountered); "
            "nothing more can run on this GPU in this process");
}

TEST_F(BackendTest, BlockingLaunchesNameTheKernelAtOnce) {
  Settings blocking = settings();
  blocking.launch_blocking = true;
  const SettingsOverride override_settings(blocking);
  const auto module = backend().load(fake_cubin("good fault_d"), {}, 0);
  module->kernel("good")->launch({});
  EXPECT_THAT(message_of<KernelFault>([&] { module->kernel("fault_d")->launch({}); }),
              HasSubstr("kernel 'fault_d' faulted on cuda:0"));
}

TEST_F(BackendTest, BlockingLaunchesDoNotSpoilACapture) {
  Settings blocking = settings();
  blocking.launch_blocking = true;
  const SettingsOverride override_settings(blocking);
  const CUstream captured = blocking_stream();
  const auto kernel = backend().load(fake_cubin("k"), {}, 0)->kernel("k");
  fake().begin_capture(captured);
  kernel->launch({.stream = captured});
  const CUgraph graph = fake().end_capture(captured);
  ASSERT_NE(graph, nullptr) << "the capture was spoilt";
  fake().destroy_graph(graph);
}

// After a fault everything can still be torn down quietly.
TEST_F(BackendTest, TearingDownAfterAFault) {
  auto module = backend().load(fake_cubin("fault_e"), {}, 0);
  void* const data = allocate(1000, nullptr);
  void* const event = backend().create_event(0);
  module->kernel("fault_e")->launch({});
  module.reset();
  backend().destroy_event(0, event);
  free(data, nullptr);
}

TEST_F(BackendTest, TearingDownAfterTheDriver) {
  auto module = backend().load(fake_cubin("k"), {}, 0);
  void* const event = backend().create_event(0);
  fake().shut_down(true);
  module.reset();
  backend().destroy_event(0, event);
  EXPECT_THAT(message_of<EnvironmentError>([&] { backend().synchronize(0); }),
              HasSubstr("while the process ends"));
  fake().shut_down(false);
}

// ---- Tensor maps.

TensorMapRequest good_request() {
  TensorMapRequest request;
  request.address = reinterpret_cast<void*>(std::uintptr_t{4096});
  request.dtype = DType::Float16;
  request.rank = 2;
  request.sizes[0] = request.sizes[1] = 1024;
  request.strides[0] = 2048;
  request.box[0] = request.box[1] = 64;
  request.swizzle_bytes = 128;
  return request;
}

TEST_F(BackendTest, TensorMapsAreEncoded) {
  TensorMap map{};
  backend().encode_tensor_map(good_request(), map, 0);
  std::uint64_t words[16];
  std::memcpy(words, &map, sizeof words);
  EXPECT_EQ(words[1], ~std::uint64_t{0});
  TensorMapRequest small = good_request();
  small.sizes[1] = 8;
  backend().encode_tensor_map(small, map, 0);
  std::memcpy(words, &map, sizeof words);
  EXPECT_EQ(words[1], ~(std::uint64_t{1} << 21))
      << "the driver's bit for small tensors is corrected";
}

TEST_F(BackendTest, TensorMapsThatTmaDoesNotTake) {
  const auto message = [this](const std::function<void(TensorMapRequest&)>& spoil) {
    TensorMapRequest request = good_request();
    spoil(request);
    TensorMap map;
    return message_of<ArgumentError>([&] { backend().encode_tensor_map(request, map, 0); });
  };
  EXPECT_EQ(message([](auto& r) { r.rank = 6; }), "a tensor map has 1 to 5 dimensions, got 6");
  EXPECT_EQ(message([](auto& r) { r.address = reinterpret_cast<void*>(std::uintptr_t{0x1008}); }),
            "a tensor map needs an address that is a multiple of 16, got 0x1008");
  EXPECT_EQ(message([](auto& r) { r.sizes[1] = 0; }),
            "dimension 1 of a tensor map has size 0; it must be 1 to 2^32");
  EXPECT_EQ(message([](auto& r) { r.box[0] = 257; }),
            "dimension 0 of a tensor map has a box of 257; it must be 1 to 256");
  EXPECT_EQ(message([](auto& r) { r.strides[0] = 2056; }),
            "dimension 1 of a tensor map has a stride of 2056 bytes; it must be a multiple of 16 "
            "below 2^40");
  EXPECT_EQ(message([](auto& r) { r.box[0] = 4; }),
            "a tensor map's box is 8 bytes wide; it must be a multiple of 16");
  EXPECT_EQ(message([](auto& r) { r.box[0] = 128; }),
            "a tensor map's box is 256 bytes wide, more than its swizzle of 128");
  EXPECT_EQ(message([](auto& r) { r.swizzle_bytes = 16, r.box[0] = 8; }),
            "a tensor map's swizzle is 0, 32, 64 or 128 bytes, got 16");
}

TEST_F(BackendTest, TensorMapsNeedTheDevice) {
  TensorMap map;
  EXPECT_THROW(backend().encode_tensor_map(good_request(), map, 1), MissingError);
}

}  // namespace
}  // namespace tilewright::cuda
