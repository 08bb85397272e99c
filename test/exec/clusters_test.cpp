// SPDX-License-Identifier: Apache-2.0
// exec/clusters_test.cpp — rows that a cluster of blocks has, emulated: one block then has the
// threads and the shared memory of all of them, which are more than a block may have.
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "codegen/device_lib/emulate/fibers.h"
#include "tilewright/target.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

constexpr const char* clusters_source = R"(
import triton
import triton.language as tl


@triton.jit
def centred(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0) % 17
    x = x.to(tl.float32)
    most = tl.max(tl.where(i < n, x, -1000.0), axis=0)
    total = tl.sum(x, axis=0)
    tl.store(out_ptr + row * n + i, (x - most) * 2 + total, mask=i < n)
)";

// Whole numbers, whose sums are exact in any order.
std::vector<float> centred(const TritonLaunch& launch, int n, int block) {
  const Tensor x = arange(2 * n, {DType::Int32, Device::cpu()});
  const Tensor out = zeros({2 * n}, {f32, Device::cpu()});
  TritonLaunch two = launch;
  two.grid = 2;
  load_triton_source(clusters_source, "centred")[two](x, out, n, constant("BLOCK", block));
  return out.to_vector<float>();
}

TEST(EmulatedClusters, HaveTheThreadsAndTheMemoryOfTheirBlocks) {
  if (!can_emulate_barriers()) GTEST_SKIP() << "the emulation has no barriers here";
  const Target target = Target::parse("sm_90a");
  for (const auto& [n, block, warps] : {std::tuple(65520, 65536, 16), {100001, 131072, 4}}) {
    const TritonLaunch emulated{.num_warps = warps, .emulate = &target};
    EXPECT_EQ(centred(emulated, n, block), centred({.interpret = true}, n, block)) << n;
  }
}

}  // namespace
}  // namespace tilewright
