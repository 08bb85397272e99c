// SPDX-License-Identifier: Apache-2.0
// runtime/launch_limits_test.cpp — sizes out of range are refused with the axis, the value and the
// limit.
#include "runtime/launch_limits.h"

#include "cpu_sources.h"
#include "expect_error.h"

namespace tilewright {
namespace {

LaunchLimits gpu_limits() {
  return {.device = Device::cuda(),
          .grid = {2147483647, 65535, 65535},
          .block = {1024, 1024, 64},
          .device_threads = 1024,
          .threads = 512,
          .static_shared = 1024,
          .shared = 232448,
          .cluster_blocks = 16};
}

LaunchSizes sizes(Dim3 grid, Dim3 block, std::int64_t shared_bytes = 0, Dim3 cluster = {}) {
  return {.grid = {grid.x, grid.y, grid.z},
          .block = {block.x, block.y, block.z},
          .cluster = {cluster.x, cluster.y, cluster.z},
          .shared_bytes = shared_bytes};
}

void expect_refused(const std::string& message, const LaunchSizes& given,
                    const LaunchLimits& limits = gpu_limits()) {
  EXPECT_FALSE(limits.allow(given)) << message;
  expect_error(message, [&] { throw_sizes_out_of_range("k", limits, given); });
}

TEST(LaunchLimits, AllowWhatTheDeviceHas) {
  const LaunchLimits limits = gpu_limits();
  EXPECT_TRUE(limits.allow(sizes({2147483647, 65535, 65535}, {512, 1, 1}, 231424)));
  EXPECT_TRUE(limits.allow(sizes({1}, {8, 1, 64})));
  EXPECT_TRUE(limits.allow(sizes({0, 5}, {1})));
  EXPECT_TRUE(limits.allow(sizes({8, 4}, {1}, 0, {4, 2})));
}

TEST(LaunchLimits, Grid) {
  expect_refused("the grid of kernel 'k' has size 70000 along y; cuda:0 allows at most 65535",
                 sizes({1, 70000}, {1}));
  expect_refused(
      "the grid of kernel 'k' has size 2147483648 along x; cuda:0 allows at most 2147483647",
      sizes({1L << 31}, {1}));
  expect_refused("the grid of kernel 'k' has size -1 along z; it must be 0 or more",
                 sizes({1, 1, -1}, {1}));
}

TEST(LaunchLimits, Block) {
  expect_refused("the block of kernel 'k' has size 2000 along x; cuda:0 allows at most 1024",
                 sizes({1}, {2000}));
  expect_refused("the block of kernel 'k' has size 0 along y; it must be 1 or more",
                 sizes({1}, {1, 0}));
  expect_refused(
      "the block of kernel 'k' has 64 x 32 x 1 = 2048 threads; cuda:0 allows at most 1024",
      sizes({1}, {64, 32}));
  expect_refused(
      "the block of kernel 'k' has 1024 x 1 x 1 = 1024 threads; its registers or launch bounds "
      "allow at most 512",
      sizes({1}, {1024}));
  expect_refused("the block of kernel 'k' has size 4294967297 along x; cuda:0 allows at most 1024",
                 sizes({1}, {(1L << 32) + 1}));
}

TEST(LaunchLimits, SharedMemory) {
  expect_refused(
      "kernel 'k' needs 232449 bytes of shared memory per block (1024 static, 231425 dynamic); "
      "cuda:0 allows at most 232448",
      sizes({1}, {1}, 231425));
  expect_refused("kernel 'k' is given -1 bytes of shared memory; it must be 0 or more",
                 sizes({1}, {1}, -1));
}

TEST(LaunchLimits, Clusters) {
  expect_refused(
      "the grid of kernel 'k' has size 5 along x, which is no multiple of its cluster's 2",
      sizes({5}, {1}, 0, {2}));
  expect_refused("the cluster of kernel 'k' has size 0 along y; it must be 1 or more",
                 sizes({4}, {1}, 0, {1, 0}));
  expect_refused("the cluster of kernel 'k' has size 32 along x; cuda:0 allows at most 16 blocks",
                 sizes({32}, {1}, 0, {32}));
  expect_refused("the cluster of kernel 'k' has 4 x 4 x 2 blocks; cuda:0 allows at most 16",
                 sizes({4, 4, 2}, {1}, 0, {4, 4, 2}));
  LaunchLimits without = gpu_limits();
  without.cluster_blocks = 1;
  expect_refused("kernel 'k' is launched in clusters, which cuda:0 does not have; leave them out",
                 sizes({4}, {1}, 0, {2}), without);
}

TEST(LaunchLimits, OfTheCpu) {
  const Function add = Module::load(add_source(), Device::cpu()).function("add");
  float x = 0;
  const auto launch = [&](LaunchConfig config) { add[config](&x, &x, &x, 0); };
  expect_error("the grid of kernel 'add' has size 65536 along y; cpu allows at most 65535", [&] {
    launch({.grid = {1, 65536}});
  });
  expect_error("the block of kernel 'add' has 2 x 1024 x 1 = 2048 threads; cpu allows at most 1024",
               [&] {
                 launch({.block = {2, 1024}});
               });
  expect_error(
      "kernel 'add' needs 300000 bytes of shared memory per block (0 static, 300000 dynamic); cpu "
      "allows at most 232448",
      [&] { launch({.shared_bytes = 300000}); });
  expect_error("kernel 'add' is launched in clusters, which cpu does not have; leave them out",
               [&] { launch({.grid = 2, .cluster = 2}); });
  expect_error("kernel 'add' is loaded on cpu and cannot run on a stream of cuda:0",
               [&] { launch({.stream = Stream::wrap(nullptr, Device::cuda())}); });
}

// Sizes that a plan fixes are not the user's; a grid that no kernel can have is the plan's error.
TEST(LaunchLimits, FixedSizesOfAPlan) {
  const auto load = [](std::int64_t threads) {
    KernelSource source = add_source();
    LaunchPlan plan = direct_plan("add", 4);
    plan.steps[0].block[0] = {{PlanOp::Kind::Constant, threads}};
    plan.steps[0].shared_bytes = {{PlanOp::Kind::Constant, 0}};
    source.kernels[0].variants = {plan};
    return Module::load(source, Device::cpu()).function("add");
  };
  float x = 1, y = 0;
  load(1)[{.grid = 1, .block = 4096}](&x, &x, &y, 1);
  EXPECT_EQ(y, 2.0F);
  expect_error("the block of kernel 'add' has size 4096 along x; cpu allows at most 1024",
               [&] { load(4096)[{.grid = 1}](&x, &x, &y, 1); });
  expect_error(
      "the grid of kernel 'add' has size 1099511627776 along x; it must be 0 to 2147483647",
      [&] { load(1)[{.grid = std::int64_t{1} << 40}](&x, &x, &y, 1); });
}

}  // namespace
}  // namespace tilewright
