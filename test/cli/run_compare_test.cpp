// SPDX-License-Identifier: Apache-2.0
// cli/run_compare_test.cpp — `tilewright run --expect` and `--compare`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"
#include "tilewright/tensor.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* compared_source = R"(import triton
import triton.language as tl

@triton.jit
def doubled(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

@triton.jit
def rounded(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, (v + 16777216.0) - 16777216.0, mask=i < n)
)";

class RunCompare : public ::testing::Test {
 protected:
  RunCompare() {
    file_ = folder_.path() + "/k.py";
    std::ofstream(file_) << compared_source;
    std::vector<float> right(12);
    for (int i = 0; i < 12; ++i) right[static_cast<std::size_t>(i)] = static_cast<float>(2 * i);
    save_npy(path("right.npy"), tensor(right, {3, 4}, Device::cpu()));
    right[5] += 0.5f;
    right[7] += 3;
    save_npy(path("wrong.npy"), tensor(right, {3, 4}, Device::cpu()));
  }
  CommandResult run(std::vector<std::string> more, const std::string& kernel = "doubled") {
    more.insert(more.begin(), {"run", file_ + ":" + kernel, "x=arange:f32[3,4]",
                               "out=empty:f32[3,4]", "n=12", "BLOCK=16", "--grid=1"});
    return tilewright_command(more);
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(RunCompare, AFileThatAgrees) {
  const CommandResult r = run({"--device=interpret", "--expect", "out=" + path("right.npy")});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("out  against " + path("right.npy") + "  equal within 1e-05\n"));
}

// What lies in memory that nobody has written would count as changed or not, and a large number
// there would let every difference pass.
TEST_F(RunCompare, UnwrittenElementsAreNaN) {
  for (const std::string device : {"cpu", "interpret", "emulate"}) {
    const CommandResult r =
        tilewright_command({"run", file_ + ":doubled", "x=zeros:f32[12]", "out=empty:f32[2,3]",
                            "n=3", "BLOCK=16", "--grid=1", "--device", device});
    EXPECT_THAT(
        r.output,
        HasSubstr("out  float32[2, 3]  3 of 6 changed, 3 not finite  0, 0, 0, nan, nan, nan\n"))
        << r.error;
  }
  const CommandResult whole =
      tilewright_command({"run", file_ + ":doubled", "x=zeros:i32[4]", "out=empty:i32[4]", "n=2",
                          "BLOCK=16", "--grid=1", "--device=interpret", "--compare=cpu"});
  EXPECT_THAT(whole.output, HasSubstr("out  int32[4]  2 of 4 changed  0, 0, -1, -1\n"));
  EXPECT_THAT(whole.output, HasSubstr("out  against cpu  equal\n"));
}

TEST_F(RunCompare, AFileThatDiffersSaysHowManyWhichAndWhere) {
  const CommandResult r = run({"--device=interpret", "--expect", "out=" + path("wrong.npy")});
  EXPECT_EQ(r.exit_code, 4);
  EXPECT_EQ(r.error, "");
  EXPECT_THAT(r.output,
              HasSubstr("2 of 12 differ by more than 1e-05; first at [1, 1]: 10, expected 10.5; "
                        "worst at [1, 3]: 14, expected 17\n"));
  const CommandResult json =
      run({"--device=interpret", "--json", "--expect", "out=" + path("wrong.npy")});
  EXPECT_EQ(json.exit_code, 4);
  const Json compared = parse_json(json.output)["compared"][0];
  EXPECT_EQ(compared["different"], 2);
  EXPECT_EQ(compared["first"]["index"], Json({1, 1}));
  EXPECT_EQ(compared["worst"]["expected"], 17.0);
  EXPECT_EQ(run({"--device=interpret", "--tolerance=1", "--expect", "out=" + path("wrong.npy")})
                .exit_code,
            0);
}

TEST_F(RunCompare, OtherPlacesFromTheSameMemory) {
  const CommandResult r = run({"--device=cpu", "--compare", "interpret,float64"});
  EXPECT_EQ(r.exit_code, 0) << r.output << r.error;
  EXPECT_THAT(r.output, HasSubstr("out  against interpret  equal within 1e-05\n"));
  EXPECT_THAT(r.output, HasSubstr("out  against float64    equal within 1e-05\n"));
}

TEST_F(RunCompare, WhatRoundingCostsIsSeenAgainstFloat64) {
  const CommandResult r = run({"--device=interpret", "--compare", "float64"}, "rounded");
  EXPECT_EQ(r.exit_code, 4) << r.output;
  EXPECT_THAT(r.output, HasSubstr("out  against float64  6 of 12 differ by more than 1e-05; first "
                                  "at [0, 1]: 0, expected 1"));
  EXPECT_THAT(r.output, HasSubstr("with the same arguments says whether stores meet"));
}

TEST_F(RunCompare, WrongInput) {
  EXPECT_EQ(run({"--expect", "y=" + path("right.npy")}).error,
            "tilewright: --expect y: no tensor argument has that name; there are: x, out\n");
  EXPECT_EQ(run({"--expect", "out=ones:f32[4]"}).error,
            "tilewright: --expect out=ones:f32[4]: it is float32[4], and the argument is "
            "float32[3, 4]\n");
  EXPECT_EQ(run({"--compare", "gpu"}).exit_code, 2);
  EXPECT_THAT(run({"--compare", "gpu"}).error, HasSubstr("'gpu' is not a device"));
}

}  // namespace
}  // namespace tilewright::cli
