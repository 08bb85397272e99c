// SPDX-License-Identifier: Apache-2.0
// exec/memory_order_test.cpp — a program means what the interpreter says: accesses to memory happen
// in the order of the source on the CPU, in checked emulation of the CUDA text, and on a GPU.

#include <gtest/gtest.h>

#include "base/settings.h"
#include "memory_order_kernels.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

constexpr std::int64_t size = 2048;

struct OrderCase {
  const char* kernel;
  int block = 256;
  int num_warps = 0;         // 0: as the compiler likes
  std::int64_t offset = -1;  // of y in the memory of x; -1: memory of its own
};

std::string name_of_case(const OrderCase& one) {
  std::string name = std::string(one.kernel) + "_" + std::to_string(one.block);
  if (one.num_warps > 0) name += "_warps_" + std::to_string(one.num_warps);
  if (one.offset >= 0) name += "_at_" + std::to_string(one.offset);
  return name;
}

class MemoryOrder : public testing::TestWithParam<OrderCase> {
 protected:
  // The memory of x and y after the launch.
  std::vector<std::int32_t> run(TritonLaunch launch, Device device) const {
    const OrderCase& one = GetParam();
    const Tensor x = arange(2 * size, {DType::Int32, Device::cpu()}).to(device);
    const Tensor own = arange(size, {DType::Int32, Device::cpu()}).to(device);
    const Tensor y = one.offset < 0 ? own : x.slice(0, one.offset, one.offset + size);
    if (one.num_warps > 0) launch.num_warps = one.num_warps;
    const TritonArgument arguments[] = {x, y, constant("BLOCK", one.block)};
    kernel().launch(launch, arguments);
    std::vector<std::int32_t> out = x.to(Device::cpu()).to_vector<std::int32_t>();
    for (const std::int32_t value : own.to(Device::cpu()).to_vector<std::int32_t>())
      out.push_back(value);
    return out;
  }

  static TritonKernel kernel() {
    return load_triton_source(memory_order_kernels, GetParam().kernel);
  }

  void expect_as_interpreted(const TritonLaunch& launch, Device device) const {
    EXPECT_EQ(run(launch, device), run({.interpret = true}, Device::cpu()));
  }
};

TEST_P(MemoryOrder, OnTheCpu) { expect_as_interpreted({}, Device::cpu()); }

TEST_P(MemoryOrder, Emulated) {
  Settings checked = settings();
  checked.emulate_check = true;
  const SettingsOverride on(checked);
  const Target target = Target::parse("sm_90a");
  expect_as_interpreted({.emulate = &target}, Device::cpu());
}

TEST_P(MemoryOrder, OnAGpu) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (int i = 0; i < 3; ++i) expect_as_interpreted({}, Device::cuda());
}

std::vector<OrderCase> order_cases() {
  std::vector<OrderCase> cases;
  for (const char* kernel : {"store_store",       "late_reload",       "late_store",
                             "count_up",          "carried_pointer",   "carried_stores",
                             "carried_gather",    "if_pointer",        "where_pointer",
                             "cast_pointer",      "while_reversed",    "if_in_loop",
                             "empty_loop",        "scalar_atomic",     "previous",
                             "lost_barrier",      "sort_and_atomic",   "reshaped_index",
                             "initial_handed_on", "carried_handed_on", "accumulator_handed_on",
                             "only_element",      "only_pointer",      "only_halves",
                             "only_in_rounds"})
    cases.push_back({kernel});
  cases.push_back({"add_transposed"});
  cases.push_back({"reload_transposed"});
  cases.push_back({"narrow_step", 256, 2});
  cases.push_back({"narrow_sum", 64});
  cases.push_back({"old_beside_store", 16});
  cases.push_back({"narrow_sign", 64});
  cases.push_back({"previous", 16});
  cases.push_back({"count_up", 16, 4});
  cases.push_back({"load_ahead", 512, 4});
  cases.push_back({"sums_in_turn", 256, 8});
  cases.push_back({"transposed_sum", 256, 8});
  cases.push_back({"last_of_ties", 256, 4});
  cases.push_back({"last_of_ties", 64, 1});
  for (const char* kernel : {"shift", "reverse", "transpose", "reload", "stores"})
    for (const std::int64_t offset : {0, 1, 4, 200}) cases.push_back({kernel, 256, 0, offset});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Kernels, MemoryOrder, testing::ValuesIn(order_cases()),
                         [](const auto& one) { return name_of_case(one.param); });

}  // namespace
}  // namespace tilewright
