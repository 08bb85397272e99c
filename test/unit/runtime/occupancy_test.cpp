// SPDX-License-Identifier: Apache-2.0
// runtime/occupancy_test.cpp — resident blocks against the published occupancy tables.
#include "runtime/occupancy.h"

#include <gtest/gtest.h>

#include "tilewright/error.h"
#include "tilewright/module.h"

namespace tilewright {
namespace {

struct Case {
  const char* target;
  BlockResources block;
  int blocks;
  double percent;
  std::vector<OccupancyLimit> limits;
};

TEST(Occupancy, KnownValues) {
  using enum OccupancyLimit;
  const Case cases[] = {
      {"sm_90", {256, 32, 0}, 8, 100, {Threads, Registers}},
      {"sm_90", {256, 16, 0}, 8, 100, {Threads}},
      {"sm_90", {1024, 64, 0}, 1, 50, {Registers}},
      {"sm_90", {256, 255, 0}, 1, 12.5, {Registers}},
      {"sm_90", {256, 32, 100 << 10}, 2, 25, {SharedMemory}},
      {"sm_90", {128, 32, 227 << 10}, 1, 6.25, {SharedMemory}},
      {"sm_90", {128, 32, 7 << 10}, 16, 100, {Threads, Registers}},
      {"sm_90", {32, 32, 0}, 32, 50, {Blocks}},
      {"sm_90", {33, 32, 0}, 32, 100, {Blocks, Threads, Registers}},
      {"sm_90", {384, 168, 0}, 1, 18.75, {Registers}},
      {"sm_90", {1, 1, 0}, 32, 50, {Blocks}},
      {"sm_80", {256, 64, 48 << 10}, 3, 37.5, {SharedMemory}},
      {"sm_80", {1024, 32, 0}, 2, 100, {Threads, Registers}},
      {"sm_80", {192, 40, 0}, 8, 75, {Registers}},
      {"sm_86", {1024, 32, 0}, 1, 66.667, {Threads}},
      {"sm_86", {512, 40, 0}, 3, 100, {Threads, Registers}},
      {"sm_75", {256, 64, 0}, 4, 100, {Threads, Registers}},
      {"sm_75", {128, 32, 16 << 10}, 4, 50, {SharedMemory}},
  };
  for (const Case& c : cases) {
    const Occupancy o = occupancy(Target::parse(c.target), c.block);
    const std::string what = std::string(c.target) + " threads " + std::to_string(c.block.threads) +
                             " registers " + std::to_string(c.block.registers) + " shared " +
                             std::to_string(c.block.shared_bytes);
    EXPECT_EQ(o.blocks_per_processor, c.blocks) << what;
    EXPECT_NEAR(100 * o.fraction, c.percent, 1e-2) << what;
    EXPECT_EQ(o.limits, c.limits) << what;
  }
}

// Registers are handed out in units of 256 per warp, within a quarter of the multiprocessor.
TEST(Occupancy, RegisterAllocationUnit) {
  const Target target = Target::parse("sm_90");
  EXPECT_EQ(occupancy(target, {256, 33, 0}).blocks_by_registers,
            occupancy(target, {256, 40, 0}).blocks_by_registers);
  EXPECT_EQ(occupancy(target, {256, 40, 0}).blocks_by_registers, 6);
  EXPECT_EQ(occupancy(target, {256, 41, 0}).blocks_by_registers, 5);
}

TEST(Occupancy, ManyRegistersAndThreadsDoNotFitAtAll) {
  const Occupancy o = occupancy(Target::parse("sm_90"), {1024, 128, 0});
  EXPECT_EQ(o.blocks_per_processor, 0);
  EXPECT_EQ(o.fraction, 0);
}

TEST(Occupancy, Waves) {
  const Target target = Target::parse("sm_90");
  const Occupancy o = occupancy(target, {256, 32, 0});
  const Waves w = waves_of(target, o, 132 * 8 * 2 + 264);
  EXPECT_EQ(w.blocks_per_wave, 1056);
  EXPECT_EQ(w.waves, 2.25);
  EXPECT_EQ(w.full_waves, 2);
  EXPECT_EQ(w.tail_blocks, 264);
  EXPECT_EQ(w.efficiency, 0.75);
  EXPECT_EQ(waves_of(target, o, 1056).efficiency, 1);
  EXPECT_EQ(waves_of(target, o, 1056).tail_blocks, 0);
  EXPECT_NEAR(waves_of(target, o, 1).efficiency, 1.0 / 1056, 1e-12);
  EXPECT_EQ(waves_of(target, o, 0).waves, 0);
}

TEST(Occupancy, SuggestedBlockSize) {
  const Target hopper = Target::parse("sm_90");
  EXPECT_EQ(suggest_threads(hopper, 32, 0), 1024);
  EXPECT_EQ(suggest_threads(hopper, 255, 0), 256);
  EXPECT_EQ(suggest_threads(hopper, 32, 100 << 10), 1024);
  EXPECT_EQ(suggest_threads(Target::parse("sm_86"), 32, 0), 768);
}

TEST(Occupancy, NextStep) {
  const Target target = Target::parse("sm_90");
  const NextStep registers = next_step(target, {256, 64, 0});  // 4 blocks
  EXPECT_EQ(registers.registers, 48);
  EXPECT_EQ(registers.shared_bytes, -1);
  const NextStep shared = next_step(target, {256, 32, 100 << 10});  // 2 blocks
  EXPECT_EQ(shared.registers, -1);
  EXPECT_EQ(shared.shared_bytes, 75 << 10);
  EXPECT_EQ(occupancy(target, {256, 32, 75 << 10}).blocks_per_processor, 3);
  EXPECT_EQ(occupancy(target, {256, 32, (75 << 10) + 1}).blocks_per_processor, 2);
  const NextStep full = next_step(target, {256, 32, 0});
  EXPECT_EQ(full.registers, -1);
  EXPECT_EQ(full.shared_bytes, -1);
}

TEST(Occupancy, ImpossibleBlocksAreRefused) {
  const auto message = [](const char* target, const BlockResources& block) -> std::string {
    try {
      occupancy(Target::parse(target), block);
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message("sm_90a", {0, 32, 0}), "threads per block must be 1 to 1024 on sm_90a, got 0");
  EXPECT_EQ(message("sm_90a", {1025, 32, 0}),
            "threads per block must be 1 to 1024 on sm_90a, got 1025");
  EXPECT_EQ(message("sm_90a", {32, 256, 0}),
            "registers per thread must be 1 to 255 on sm_90a, got 256");
  EXPECT_EQ(message("sm_90a", {32, 32, 228 << 10}),
            "shared memory per block must be 0 to 232448 bytes on sm_90a, got 233472");
  EXPECT_EQ(message("avx2", {32, 32, 0}),
            "occupancy is a property of GPUs; 'x86-64-avx2' is a CPU target, give one like sm_90a");
}

// The driver's own answer for a kernel with few registers and one with many.
TEST(Occupancy, AgreesWithTheDriver) {
  if (cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
  KernelSource source{.language = Language::Cuda, .name = "occupancy"};
  source.text = R"(
extern "C" __global__ void light(float* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void heavy(float* x) {
  float v[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) v[i] = x[i * 1024 + threadIdx.x];
#pragma unroll
  for (int i = 0; i < 96; ++i) x[(95 - i) * 1024 + threadIdx.x] = v[i] * v[(i + 7) % 96];
})";
  const Parameter x = {.name = "x", .kind = Parameter::Kind::Pointer, .dtype = DType::Float32};
  source.kernels = {{.name = "light", .parameters = {x}}, {.name = "heavy", .parameters = {x}}};
  const Module module = Module::load(source, Device::cuda());
  for (const char* name : {"light", "heavy"}) {
    const Function f = module.function(name);
    for (int threads : {32, 33, 64, 96, 128, 256, 384, 512})
      for (int shared : {0, 1000, 16 << 10, 48 << 10}) {
        const Occupancy o =
            occupancy(Device::cuda().target(), {threads, f.attributes().registers, shared});
        EXPECT_EQ(o.blocks_per_processor,
                  f.blocks_per_processor(threads, static_cast<std::size_t>(shared)))
            << name << ", " << f.attributes().registers << " registers, " << threads << " threads, "
            << shared << " bytes";
      }
  }
}

}  // namespace
}  // namespace tilewright
