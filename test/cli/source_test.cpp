// SPDX-License-Identifier: Apache-2.0
// cli/source_test.cpp — Triton sources as people write them: names that are bound again later,
// hooks, heuristics, functions as arguments, and the helpers of PyTorch's Inductor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

class Source : public ::testing::Test {
 protected:
  CommandResult run(const std::string& text, std::vector<std::string> arguments,
                    const std::string& device = "cpu") {
    const std::string file = folder_.path() + "/k.py";
    std::ofstream(file) << "import triton\nimport triton.language as tl\n" << text;
    std::vector<std::string> all = {"run", file + ":k", "--device", device, "--grid", "1"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return tilewright_command(all);
  }
  TemporaryFolder folder_;
};

TEST_F(Source, DefaultsAreWhatTheirNamesWereAtTheDefinition) {
  const CommandResult r = run(R"(
D = 4
@triton.jit
def add(v, N: tl.constexpr = D):
    return v + N
@triton.jit
def k(y, N: tl.constexpr = D):
    i = tl.arange(0, 8)
    tl.store(y + i, add(i) + N * 100)
D = 9
)",
                              {"y=zeros:i32[8]"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("404, 405, 406, 407, 408, 409, ..."));
}

TEST_F(Source, ConstantsUnderIfAreThoseThatPythonMakes) {
  const CommandResult r = run(R"(
import os
SIZE = 3
if "TILEWRIGHT_NO_SUCH_VARIABLE" in os.environ:
    SIZE = 5
SIZE += 1
@triton.jit
def k(y):
    tl.store(y, SIZE)
)",
                              {"y=zeros:i32[1]"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("changed  4"));
}

TEST_F(Source, APreHookSetsTheBlocksOfDescriptors) {
  const std::string text = R"(
def hook(nargs):
    nargs["d"].block_shape = [nargs["BLOCK"]]
configs = [triton.Config({"BLOCK": 8}, pre_hook=hook)]
@triton.autotune(configs=configs, key=[])
@triton.jit
def k(d, y, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), d.load([8]))
configs = 7
)";
  const CommandResult r = run(text, {"d=arange:f32[32]", "d.block=16", "y=zeros:f32[8]"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("8, 9, 10, 11, 12, 13, ..."));
}

TEST_F(Source, APreHookThatCannotBeRunIsAnError) {
  const std::string text = R"(
@triton.autotune(configs=[triton.Config({"BLOCK": 8}, pre_hook=lambda n: n["y"].zero_())], key=[])
@triton.jit
def k(y, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), 1.0)
)";
  const CommandResult r = run(text, {"y=zeros:f32[8]"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(
      r.error,
      "tilewright: the pre_hook of a config of kernel 'k' cannot be run: it sets 'y' to zero; "
      "a pre_hook may set the block_shape of descriptors, else do before the launch what it "
      "does and take it away\n");
}

TEST_F(Source, HeuristicsThatAskForShapesAreTold) {
  const CommandResult r = run(R"(
@triton.heuristics({"BLOCK": lambda args: args["y"].numel()})
@triton.jit
def k(y, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), 1.0)
)",
                              {"y=zeros:f32[8]"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.error, HasSubstr("the shape and the strides of a tensor are not known here; pass "
                                 "the size to the kernel and ask for that"));
}

TEST_F(Source, AFunctionOfTheFileIsAnArgumentByItsName) {
  const std::string text = R"(
@triton.jit
def square(v):
    return v * v
@triton.jit
def larger(a, b):
    return tl.maximum(a, b)
@triton.jit
def k(y, F: tl.constexpr, COMBINE: tl.constexpr):
    v = F(tl.arange(0, 4))
    tl.store(y, tl.reduce(v, 0, COMBINE))
)";
  const CommandResult r = run(text, {"y=zeros:i32[1]", "F='square'", "COMBINE='larger'"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("changed  9"));
  const CommandResult none = run(text, {"y=zeros:i32[1]", "F='cube'", "COMBINE='larger'"});
  EXPECT_THAT(none.error, HasSubstr("the text 'cube' cannot be called"));
}

TEST_F(Source, WarpsAndThreadsOfALaunchAreConstants) {
  const std::string text = R"(
from triton.language.extra.cuda import num_threads
@triton.jit
def k(y):
    tl.store(y, num_threads())
    tl.store(y + 1, tl.extra.cuda.num_warps())
)";
  const CommandResult r = run(text, {"y=zeros:i32[2]", "--num-warps", "8"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("256, 8"));
  const CommandResult timer =
      run("@triton.jit\ndef k(y): tl.store(y, tl.extra.cuda.smid())\n", {"y=zeros:i32[2]"});
  EXPECT_THAT(timer.error, HasSubstr("tl.extra.cuda.smid is not supported"));
}

constexpr const char* inductor = R"(
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math

@triton_heuristics.persistent_reduction(size_hints={'x': 4, 'r0_': 8}, filename=__file__)
@triton.jit
def k(x, y, R: tl.constexpr):
    i = tl.arange(0, 4)[:, None]
    r = tl.arange(0, R)[None, :]
    v = tl.load(x + i * R + r)
    largest = triton_helpers.max2(v, 1)[:, None]
    smallest = triton_helpers.min2(v, 1)[:, None]
    some = triton_helpers.any(v > 29, 1)[:, None]
    at = triton_helpers.max_with_index(v, tl.broadcast_to(r, (4, R)), 1)[1][:, None]
    ones = tl.full((4, R), 1.0, tl.float32)
    mean, m2, weight = triton_helpers.welford(v, tl.zeros((4, R), tl.float32), ones, 1)
    whole = triton_helpers.div_floor_integer(-7, 2) * 100 + triton_helpers.remainder_integer(-7, 2)
    tl.store(y + i * 8 + 0, largest)
    tl.store(y + i * 8 + 1, smallest)
    tl.store(y + i * 8 + 2, some.to(tl.float32))
    tl.store(y + i * 8 + 3, at.to(tl.float32))
    tl.store(y + i * 8 + 4, mean[:, None])
    tl.store(y + i * 8 + 5, m2[:, None])
    tl.store(y + i * 8 + 6, triton_helpers.maximum(libdevice.sqrt(largest), tl_math.exp(smallest * 0)))
    tl.store(y + i * 8 + 7, triton_helpers.promote_to_tensor(whole)[:, None].to(tl.float32))
)";

TEST_F(Source, HelpersOfInductorMeanTheSame) {
  for (const char* device : {"interpret", "cpu"}) {
    const CommandResult r = run(inductor, {"x=arange:f32[4,8]", "y=zeros:f32[4,8]", "R=8"}, device);
    ASSERT_EQ(r.exit_code, 0) << device << r.error;
    EXPECT_THAT(r.output, HasSubstr("7, 0, 0, 7, 3.5, 42, ...")) << device;
  }
}

// A loop over a row, as Inductor writes it: the first round sets what the others change.
TEST_F(Source, AReductionOfInductorRuns) {
  const std::string text = R"(
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice
from torch._inductor.runtime.hints import ReductionHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.reduction(size_hints={'x': 4}, reduction_hint=ReductionHint.INNER,
                             filename=__file__, triton_meta={'device': DeviceProperties(index=0)})
@triton.jit
def k(x, mean, scale, xnumel, rnumel, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    m = tl.zeros([XBLOCK, RBLOCK], tl.float32)
    s = tl.zeros([XBLOCK, RBLOCK], tl.float32)
    w = tl.zeros([XBLOCK, RBLOCK], tl.float32)
    for roffset in range(0, rnumel, RBLOCK):
        r = roffset + tl.arange(0, RBLOCK)[None, :]
        mask = (r < rnumel) & (xindex < xnumel)
        v = tl.load(x + r + rnumel * xindex, mask, other=0.0)
        next_m, next_s, next_w = triton_helpers.welford_reduce(v, m, s, w, roffset == 0)
        m = tl.where(mask, next_m, m)
        s = tl.where(mask, next_s, s)
        w = tl.where(mask, next_w, w)
    mm, ss, ww = triton_helpers.welford(m, s, w, 1)
    tl.store(mean + xindex, mm[:, None], xindex < xnumel)
    tl.store(scale + xindex, libdevice.rsqrt(ss[:, None] / rnumel), xindex < xnumel)
)";
  const CommandResult r =
      run(text, {"x=arange:f32[4,52]", "mean=zeros:f32[4]", "scale=zeros:f32[4]", "xnumel=4",
                 "rnumel=52", "XBLOCK=4", "RBLOCK=16"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("25.5, 77.5, 129.5, 181.5"));
  EXPECT_THAT(r.output, HasSubstr("0.0666297, 0.0666297, 0.0666297, 0.0666297"));
}

TEST_F(Source, InlinePtxIsAFunctionOnCudaAndASentenceElsewhere) {
  const std::string text = R"(
@triton.jit
def k(x, y, PACK: tl.constexpr):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    r = tl.inline_asm_elementwise("{ .reg .f32 t; mul.f32 t, $1, $2; ex2.approx.f32 $0, t; }",
                                  "=r,r,f", [v, 2.0], dtype=tl.float32, is_pure=True, pack=PACK)
    tl.store(y + i, r)
)";
  const std::vector<std::string> given = {"x=ones:f32[32]", "y=zeros:f32[32]", "PACK=1"};
  EXPECT_EQ(run(text, given).error,
            "tilewright: kernel 'k' holds inline PTX (tl.inline_asm_elementwise), which NVIDIA "
            "GPUs alone run; write it with tl functions for the CPU\n");
  EXPECT_EQ(run(text, given, "emulate").error,
            "tilewright: kernel 'k' holds inline PTX (tl.inline_asm_elementwise), which NVIDIA "
            "GPUs alone run; write it with tl functions to emulate it\n");
  EXPECT_THAT(run(text, given, "interpret").error, HasSubstr("is run by NVIDIA GPUs alone"));
  EXPECT_THAT(
      run(text, {"x=ones:f32[32]", "y=zeros:f32[32]", "PACK=4"}).error,
      HasSubstr("tl.inline_asm_elementwise has the constraints '=r,r,f', but 4 results and 8 "
                "arguments"));
  const CommandResult cuda =
      tilewright_command({"compile", folder_.path() + "/k.py:k", "--signature", "*fp32, *fp32, 1",
                          "--target", "sm_90a", "--emit", "cuda"});
  EXPECT_THAT(cuda.output + cuda.error,
              HasSubstr("asm(\"{ .reg .f32 t; mul.f32 t, %1, %2; ex2.approx.f32 %0, t; }\" : "
                        "\"=r\"(result) : \"r\"(__float_as_uint(a)), \"f\"(b));"));
}

// Four short elements share a register, and each register that is made is a call.
TEST_F(Source, InlinePtxOfNeighboursAndWithSeveralResults) {
  const std::string text = R"(
@triton.jit
def k(x, h, y, z):
    i = tl.arange(0, 128)
    v = tl.load(x + i)
    w = tl.load(h + i)
    bytes, doubled = tl.inline_asm_elementwise("""{
        xor.b32 $0, $3, 0x01010101;
        add.f16x2 $1, $4, $4;
        add.f16x2 $2, $5, $5;
    }""", "=&r,=&r,=&r,r,r,r", [v, w], dtype=(tl.int8, tl.float16), is_pure=True, pack=4)
    tl.store(y + i, bytes)
    tl.store(z + i, doubled)
)";
  std::ofstream(folder_.path() + "/k.py") << "import triton\nimport triton.language as tl\n"
                                          << text;
  const CommandResult cuda =
      tilewright_command({"compile", folder_.path() + "/k.py:k", "--signature",
                          "*i8, *fp16, *i8, *fp16", "--target", "sm_90a", "--emit", "cuda"});
  EXPECT_THAT(cuda.output + cuda.error,
              HasSubstr(": \"=&r\"(result0), \"=&r\"(result1), \"=&r\"(result2) : \"r\"(a), "
                        "\"r\"(b), \"r\"(c));\n  return result1;"));
}

}  // namespace
}  // namespace tilewright::cli
