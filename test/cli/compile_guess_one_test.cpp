// SPDX-License-Identifier: Apache-2.0
// cli/compile_guess_one_test.cpp — `tilewright compile FILE.py:KERNEL --guess`, and texts that
// compile without headers of ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* guessed_source = R"(import triton
import triton.language as tl

@triton.jit
def row_softmax(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_columns + i, mask=i < n_columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n_columns + i, e / tl.sum(e, axis=0), mask=i < n_columns)

@triton.jit
def hopeless(x_ptr):
    tl.no_such_function(x_ptr)
)";

class CompileGuessOne : public ::testing::Test {
 protected:
  CompileGuessOne() : file_(folder_.path() + "/k.py") { std::ofstream(file_) << guessed_source; }
  CommandResult compile(std::vector<std::string> more, const std::string& kernel = "row_softmax") {
    more.insert(more.begin(), {"compile", file_ + ":" + kernel, "--guess"});
    return tilewright_command(more);
  }
  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(CompileGuessOne, ShowsTheSignatureAndWhatTheCompilerMade) {
  const CommandResult r = compile({"--target", "cpu"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("row_softmax for "));
  EXPECT_THAT(r.output, HasSubstr("*float32:16, *float32:16, int32"));
  const CommandResult text = compile({"--target", "cpu", "--emit", "cpp"});
  EXPECT_THAT(text.output, HasSubstr("extern \"C\" void row_softmax("));
}

TEST_F(CompileGuessOne, WhatDoesNotFit) {
  const CommandResult hopeless = compile({"--target", "cpu"}, "hopeless");
  EXPECT_EQ(hopeless.exit_code, 1);
  EXPECT_THAT(hopeless.error, HasSubstr("no guessed signature of 'hopeless' compiles: "));
  const CommandResult both = compile({"--signature", "*fp32"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.error, HasSubstr("--signature says what --guess would guess; leave one out"));
  const CommandResult folder = tilewright_command({"compile", file_, "--guess", "--emit", "cuda"});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_THAT(folder.error,
              HasSubstr("--emit and -o go with one kernel: write FILE.py:KERNEL --guess"));
}

TEST_F(CompileGuessOne, SelfContainedCppCompilesByAnyCompiler) {
  const CommandResult r = compile({"--target", "cpu", "--emit", "cpp", "--self-contained"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, Not(HasSubstr("#include \"tw/")));
  const std::string path = folder_.path() + "/out.cpp";
  std::ofstream(path) << r.output;
  const ProcessResult compiled = run_process(
      {.arguments = {"c++", "-std=c++20", "-march=native", "-fopenmp-simd", "-fsyntax-only", path},
       .timeout_seconds = 60});
  EXPECT_EQ(compiled.exit_code, 0) << compiled.output.substr(0, 2000);
}

// NVRTC stands for nvcc: it is given this text and no header.
TEST_F(CompileGuessOne, SelfContainedCudaCompilesWithoutOurHeaders) {
  const CommandResult r = compile({"--target", "sm_80", "--emit", "cuda", "--self-contained"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, Not(HasSubstr("#include \"tilewright/")));
  // Else nvcc names each of some hundred functions that the kernel does not call.
  EXPECT_THAT(r.output, HasSubstr("#pragma nv_diag_suppress 177\n"));
  const std::string path = folder_.path() + "/out.cu";
  std::ofstream(path) << r.output;
  const CommandResult again =
      tilewright_command({"compile", path + ":row_softmax", "--target", "sm_80"});
  if (again.error.find("NVRTC") != std::string::npos && again.exit_code != 0)
    GTEST_SKIP() << again.error;
  EXPECT_EQ(again.exit_code, 0) << again.error.substr(0, 2000);
}

}  // namespace
}  // namespace tilewright::cli
