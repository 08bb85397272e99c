// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/gradients_test.cpp — attention's gradients for warpgroups: products start together,
// sums go on into the next round, and nothing is spilled.
#include <gtest/gtest.h>

#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tile_program.h"

namespace tilewright {
namespace {

const char* const gradients_source = R"(
import triton
import triton.language as tl

@triton.jit
def gradients(q, k, v, grad, d_k, d_v, queries, DIM: tl.constexpr, STEP: tl.constexpr):
    n = tl.arange(0, 128)
    d = tl.arange(0, DIM)
    at = n[:, None] * DIM + d[None, :]
    ks = tl.load(k + at)
    vs = tl.load(v + at)
    dk = tl.zeros([128, DIM], tl.float32)
    dv = tl.zeros([128, DIM], tl.float32)
    for start in range(0, queries, STEP):
        m = start + tl.arange(0, STEP)
        qs = tl.load(q + m[:, None] * DIM + d[None, :])
        gs = tl.load(grad + m[:, None] * DIM + d[None, :])
        p = tl.exp2(tl.dot(ks, tl.trans(qs)))
        dv = tl.dot(p.to(tl.float16), gs, dv)
        ds = p * tl.dot(vs, tl.trans(gs))
        dk = tl.dot(ds.to(tl.float16), qs, dk)
    tl.store(d_k + at, dk.to(tl.float16))
    tl.store(d_v + at, dv.to(tl.float16))
)";

TEST(CudaGradients, StartTogetherWithoutSpills) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const TileProgram program(
      gradients_source, "gradients",
      "*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, 64, 32", 8, "sm_90a");
  const std::string& text = program.text();
  EXPECT_EQ(count_of(text, "tw::commit_products();"), 4) << text;
  // One for the two that started together, one behind the loop: none for the sums in a round.
  EXPECT_EQ(count_of(text, "tw::wait_products<"), 2) << text;
  const Binary binary = compile(program.source(), Target::parse("sm_90a"), nullptr);
  EXPECT_EQ(binary.log.find("Potential Performance Loss"), std::string::npos) << binary.log;
  EXPECT_EQ(resources_of(binary).at(0).spill_store_bytes, 0u) << text;
}

}  // namespace
}  // namespace tilewright
