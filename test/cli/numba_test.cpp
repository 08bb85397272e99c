// SPDX-License-Identifier: Apache-2.0
// cli/numba_test.cpp — run, compile and bench take a kernel that is decorated with @cuda.jit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* text = R"(from numba import cuda, float32

@cuda.jit
def numba_square(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = x[i] * x[i]

@cuda.jit
def race(x, y):
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    y[t] = tile[31 - t]

@cuda.jit
def plus(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]
)";

class NumbaCommand : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(file_) << text; }
  CommandResult run(const std::string& kernel, std::vector<std::string> more) {
    more.insert(more.begin(), {"run", file_ + ":" + kernel});
    return tilewright_command(more);
  }

  TemporaryFolder folder_;
  std::string file_ = folder_.path() + "/kernels.py";
};

TEST_F(NumbaCommand, RunLaunchesTheKernel) {
  for (const char* device : {"cpu", "emulate"}) {
    const CommandResult r = run("numba_square", {"--grid", "4", "--block", "32", "--device", device,
                                                 "x=arange:f32[100]", "y=zeros:f32[100]"});
    EXPECT_EQ(r.exit_code, 0) << r.error;
    EXPECT_THAT(r.output, HasSubstr("99 of 100 changed  0, 1, 4, 9, 16, 25, ..."));
  }
}

TEST_F(NumbaCommand, RunNamesTheLineOfARace) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "sanitizers leave no room for the checks of the emulation";
#endif
  const CommandResult r = run("race", {"--grid", "1", "--block", "32", "--device", "emulate",
                                       "x=arange:f32[32]", "y=zeros:f32[32]"});
  EXPECT_NE(r.exit_code, 0);
  EXPECT_THAT(r.error, HasSubstr("'tile["));
  EXPECT_THAT(r.error, HasSubstr("line 14"));
}

TEST_F(NumbaCommand, NumbersMayHaveAType) {
  std::ofstream(file_) << R"(from numba import cuda

@cuda.jit
def bits(n, f, out):
    out[0] = cuda.clz(n)
    out[1] = 7 if f * 1e9 > 100000001 else 8
)";
  const CommandResult narrow = run("bits", {"--grid", "1", "--block", "1", "--device", "emulate",
                                            "n=1:i32", "f=0.1:f32", "out=zeros:f64[2]"});
  EXPECT_THAT(narrow.output, HasSubstr("31, 7")) << narrow.error;
  const CommandResult wide = run("bits", {"--grid", "1", "--block", "1", "--device", "emulate",
                                          "n=1", "f=0.1", "out=zeros:f64[2]"});
  EXPECT_THAT(wide.output, HasSubstr("63, 8")) << wide.error;
  EXPECT_THAT(run("bits", {"--grid", "1", "n=300:i8", "f=0.1", "out=zeros:f64[2]"}).error,
              HasSubstr("int8 cannot hold 300"));
}

TEST_F(NumbaCommand, CheckReportsFindings) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "sanitizers leave no room for the checks of the emulation";
#endif
  const auto check = [&](const std::string& kernel, std::vector<std::string> more) {
    more.insert(more.begin(), {"check", file_ + ":" + kernel, "--block", "32"});
    return tilewright_command(more);
  };
  const CommandResult race = check("race", {"--grid", "1", "x=arange:f32[32]", "y=zeros:f32[32]"});
  EXPECT_EQ(race.exit_code, 4);
  EXPECT_THAT(race.output, HasSubstr("kernels.py:14"));
  EXPECT_THAT(race.output, HasSubstr("cuda.syncthreads() between"));
  const CommandResult right = check("numba_square", {"--grid", "cdiv(n, 32)", "--sizes", "odd",
                                                     "n=100", "x=arange:f32[n]", "y=zeros:f32[n]"});
  EXPECT_EQ(right.exit_code, 0) << right.output << right.error;
  EXPECT_THAT(right.output, HasSubstr("8 launches"));
  const CommandResult outside =
      check("plus", {"--grid", "cdiv(n, 32)", "--sizes", "odd", "n=64", "x=arange:f32[64]",
                     "y=arange:f32[64]", "out=zeros:f32[n]"});
  EXPECT_EQ(outside.exit_code, 4);
  EXPECT_THAT(outside.output, HasSubstr("kernels.py:20"));
  EXPECT_THAT(outside.output, HasSubstr("with n=67"));
  EXPECT_THAT(check("race", {"x=arange:f32[32]", "y=zeros:f32[32]"}).error,
              HasSubstr("the kernel 'race' needs --grid"));
}

TEST_F(NumbaCommand, MistakesAreSaid) {
  EXPECT_THAT(run("numba_square", {"x=arange:f32[8]", "y=zeros:f32[8]"}).error,
              HasSubstr("the kernel 'numba_square' needs --grid"));
  EXPECT_THAT(run("numba_square", {"--grid", "1", "x=arange:f32[8]"}).error,
              HasSubstr("'numba_square' needs a value for 'y'; add y=VALUE"));
  EXPECT_THAT(run("numba_square", {"--grid", "1", "--num-warps", "4", "x=arange:f32[8]"}).error,
              HasSubstr("--num-warps is for Triton kernels"));
  EXPECT_THAT(
      run("numba_square", {"--grid", "1", "--device", "interpret", "x=arange:f32[8]"}).error,
      HasSubstr("a @cuda.jit kernel is not interpreted"));
}

TEST_F(NumbaCommand, CompileShowsTheTextWithTheUsersLines) {
  const CommandResult r =
      tilewright_command({"compile", file_ + ":numba_square", "--signature",
                          "float32[:], float32[:]", "--target", "sm_90a", "--emit", "cuda"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("kernels.py:7: y[i] = x[i] * x[i]\n    y[i] = x[i] * x[i];\n"));
  EXPECT_THAT(r.output, Not(HasSubstr("#line")));
  EXPECT_THAT(tilewright_command({"compile", file_ + ":numba_square", "--emit", "ir"}).error,
              HasSubstr("--emit ir is for Triton kernels"));
  const CommandResult none = tilewright_command({"compile", file_ + ":numba_square"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.error, HasSubstr("the types of numba_square are not known"));
}

TEST_F(NumbaCommand, BenchMeasuresIt) {
  const CommandResult r =
      tilewright_command({"bench", file_ + ":plus", "--like", "add", "--dim", "64", "--ways",
                          "tile,simt", "--device", "cpu", "--trials", "3", "--no-ceiling"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("\n  simt "));
  EXPECT_THAT(r.output, HasSubstr("\n  plus "));
  EXPECT_THAT(r.output, Not(HasSubstr("wrong")));
}

TEST_F(NumbaCommand, BenchMeasuresItAlone) {
  const std::vector<std::string> quick = {"--device", "cpu", "--trials", "3", "--no-ceiling"};
  const auto bench = [&](std::vector<std::string> words) {
    words.insert(words.end(), quick.begin(), quick.end());
    return tilewright_command(words);
  };
  const std::vector<std::string> tensors = {"x=randn:f32[n]", "y=randn:f32[n]", "out=zeros:f32[n]"};
  std::vector<std::string> swept = {"bench", file_ + ":plus", "n=64,128", "--grid",
                                    "n//64",  "--block",       "64"};
  swept.insert(swept.end(), tensors.begin(), tensors.end());
  const CommandResult alone = bench(swept);
  EXPECT_EQ(alone.exit_code, 0) << alone.error;
  EXPECT_THAT(alone.output, HasSubstr("plus 64"));
  EXPECT_THAT(alone.output, HasSubstr("plus 128"));
  const CommandResult no_grid = bench({"bench", file_ + ":plus", "x=randn:f32[8]"});
  EXPECT_EQ(no_grid.exit_code, 2);
  EXPECT_THAT(no_grid.error, HasSubstr("the kernel 'plus' needs --grid"));
  const CommandResult unknown = bench({"bench", file_ + ":plus", "z=randn:f32[8]", "--grid", "1"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.error, HasSubstr("'plus' has no parameter 'z'"));
}

}  // namespace
}  // namespace tilewright::cli
