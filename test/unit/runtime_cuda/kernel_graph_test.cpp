// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/kernel_graph_test.cpp — kernels as nodes of a graph, on the fake driver.
#include "runtime/kernel_graph.h"

#include <cstring>

#include "fake_test.h"

namespace tilewright::cuda {
namespace {

class KernelGraphTest : public FakeTest {
 protected:
  std::unique_ptr<LoadedKernel> kernel(const std::string& name) {
    const std::string text = "FAKE " + name;
    Binary binary;
    binary.bytes.resize(text.size() + 1);
    std::memcpy(binary.bytes.data(), text.c_str(), text.size() + 1);
    return backend().load(binary, {}, fake_device)->kernel(name);
  }
};

TEST_F(KernelGraphTest, KernelsBecomeNodesAndAreChangedInPlace) {
  const auto one = kernel("one"), two = kernel("two");
  std::uint64_t address = 0x1000;
  void* parameters[] = {&address};
  const auto graph = make_kernel_graph(Device::cuda(fake_device));
  graph->add([&] { one->launch({.grid = {7, 1, 1}, .parameters = parameters}); });
  address = 0x2000;
  graph->add([&] {
    two->launch({.grid = {8, 1, 1}, .cluster = {4, 1, 1}, .parameters = parameters});
    one->launch({.grid = {9, 1, 1}, .parameters = parameters});
  });
  graph->finish();
  EXPECT_TRUE(fake().launches().empty()) << "building a graph runs nothing";

  const Stream stream = Stream::wrap(KernelGraphTest::stream(), Device::cuda(fake_device));
  graph->replay(stream);
  address = 0x3000;
  graph->change(1, [&] {
    two->launch({.grid = {8, 1, 1}, .cluster = {4, 1, 1}, .parameters = parameters});
    one->launch({.grid = {9, 1, 1}, .parameters = parameters});
  });
  graph->replay(stream);

  const std::vector<FakeLaunch> launches = fake().launches();
  ASSERT_EQ(launches.size(), 6u);
  const std::uint64_t expected[] = {0x1000, 0x2000, 0x2000, 0x1000, 0x3000, 0x3000};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(launches[i].is_of_graph);
    EXPECT_EQ(launches[i].first_parameter, expected[i]) << i;
    EXPECT_EQ(launches[i].grid, 7 + i % 3);
    EXPECT_EQ(launches[i].cluster, i % 3 == 1 ? 4u : 1u);
  }
}

TEST_F(KernelGraphTest, ALaunchOutsideOfAGraphRunsAgain) {
  const auto one = kernel("one");
  std::uint64_t address = 0x1000;
  void* parameters[] = {&address};
  const auto graph = make_kernel_graph(Device::cuda(fake_device));
  EXPECT_THROW(graph->add([&] { throw std::runtime_error("no"); }), std::runtime_error);
  one->launch({.parameters = parameters});
  ASSERT_EQ(fake().launches().size(), 1u);
  EXPECT_FALSE(fake().launches()[0].is_of_graph);
}

}  // namespace
}  // namespace tilewright::cuda
