// SPDX-License-Identifier: Apache-2.0
// runtime/stream_test.cpp — streams and events of the CPU, and devices by name.
#include "tilewright/stream.h"

#include <thread>

#include "expect_error.h"

namespace tilewright {
namespace {

TEST(Device, IsParsedAndNamed) {
  EXPECT_EQ(Device::parse("cpu"), Device::cpu());
  EXPECT_EQ(Device::parse("cuda"), Device::cuda(0));
  EXPECT_EQ(Device::parse("cuda:12").name(), "cuda:12");
  EXPECT_EQ(Device::cpu().name(), "cpu");
  for (const char* text : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "cpu:0"})
    expect_error("'" + std::string(text) +
                     "' is not a device; write cpu, cuda or cuda:N with N counted from 0",
                 [&] { Device::parse(text); });
}

TEST(Device, CpuHasProperties) {
  const DeviceProperties& properties = Device::cpu().properties();
  EXPECT_FALSE(properties.name.empty());
  EXPECT_EQ(properties.target.name, Target::host().name);
  EXPECT_GT(properties.total_memory, 0U);
  EXPECT_GE(properties.numa_nodes, 1);
  EXPECT_EQ(devices().front(), Device::cpu());
  EXPECT_EQ(devices().size(), 1U + static_cast<std::size_t>(cuda_device_count()));
  EXPECT_EQ(why_no_cuda().empty(), cuda_device_count() > 0);
}

TEST(Device, AbsentOnesAreNamed) {
  expect_error<MissingError>("there is no device cpu:3 on this machine; there is 1 of this kind",
                             [] {
                               Device{DeviceKind::Cpu, 3}.properties();
                             });
  if (cuda_device_count() > 0) GTEST_SKIP() << "this machine has a GPU";
  expect_error<MissingError>(why_no_cuda(), [] { Device::cuda().properties(); });
  expect_error<MissingError>(why_no_cuda(), [] { Stream::create(Device::cuda()); });
  expect_error<MissingError>(why_no_cuda(), [] { Stream::wrap(nullptr); });
}

TEST(Stream, OfTheCpuIsAlwaysIdle) {
  const Stream stream = Stream::create(Device::cpu());
  EXPECT_TRUE(stream.is_idle());
  stream.synchronize();
  EXPECT_EQ(stream, current_stream(Device::cpu()));
}

TEST(Stream, GuardIsOfItsThreadAndScope) {
  int native = 0;
  const Device device = Device::cuda(3);
  const Stream before = current_stream(device);
  {
    const StreamGuard guard(Stream::wrap(&native, device));
    EXPECT_EQ(current_stream(device).native(), &native);
    EXPECT_EQ(current_stream(Device::cuda(2)).native(), nullptr);
    std::thread([&] { EXPECT_EQ(current_stream(device).native(), nullptr); }).join();
    {
      const StreamGuard inner(Stream::wrap(nullptr, device));
      EXPECT_EQ(current_stream(device).native(), nullptr);
    }
    EXPECT_EQ(current_stream(device).native(), &native);
  }
  EXPECT_EQ(current_stream(device), before);
}

TEST(Event, TimesTheCpu) {
  const Stream stream = Stream::default_of(Device::cpu());
  Event start(Device::cpu());
  Event end(Device::cpu());
  start.record(stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  end.record(stream);
  EXPECT_TRUE(end.is_done());
  EXPECT_GE(end.seconds_since(start), 2e-3);
  EXPECT_LE(start.seconds_since(end), -2e-3);
  stream.wait(end);
  EXPECT_EQ(end.native(), nullptr);
}

TEST(Event, MustBeRecordedOnItsDevice) {
  Event event(Device::cpu());
  EXPECT_TRUE(event.is_done());
  event.synchronize();
  expect_error("the time between two events needs both recorded; call record on each first",
               [&] { event.seconds_since(event); });
  expect_error("an event of cpu cannot be recorded on a stream of cuda:0",
               [&] { event.record(Stream::wrap(nullptr, Device::cuda())); });
}

}  // namespace
}  // namespace tilewright
