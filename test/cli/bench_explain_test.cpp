// SPDX-License-Identifier: Apache-2.0
// cli/bench_explain_test.cpp — what `bench --explain` says of loops on the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"
#include "runtime/compile.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The kernel that stores this, explained.
std::string explained(const std::string& value) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/k.py";
  std::ofstream(path) << "import triton\nimport triton.language as tl\n"
                         "from triton.language.extra import libdevice\n\n"
                         "@triton.jit\ndef k(x_ptr, y_ptr, BLOCK: tl.constexpr):\n"
                         "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                         "    x = tl.load(x_ptr + i)\n"
                         "    a = x + 0.044715 * x * x * x\n"
                         "    tl.store(y_ptr + i, " +
                             value + ")\n";
  const CommandResult r =
      tilewright_command({"bench", path + ":k", "--reference", path + ":k", "--grid", "4",
                          "x_ptr=rand:f32[1024]", "y_ptr=empty:f32[1024]", "BLOCK=256", "--device",
                          "cpu", "--warmup", "0", "--trials", "3", "--no-ceiling", "--explain"});
  EXPECT_EQ(r.exit_code, 0) << r.error << r.output;
  EXPECT_THAT(r.output, HasSubstr("kernel"));
  return r.output;
}

constexpr const char* scalar = "runs one element at a time";

// g++ alone reports in this form.
bool has_reports() {
  return std::filesystem::canonical(host_compiler_path()).string().find("clang") ==
         std::string::npos;
}

TEST(BenchExplain, SaysThatALoopIsNoVectorCode) {
  if (!has_reports()) GTEST_SKIP() << "the C++ compiler is not g++";
  const std::string output = explained("libdevice.atan(x)");
  EXPECT_THAT(output, HasSubstr("look at"));
  EXPECT_THAT(output, HasSubstr("the loop of k.py:10 runs one element at a time: the C++ compiler "
                                "made no vector code of it"));
}

// Functions of an element were kept as calls where an expression was long or had two of them: such
// loops took 15 to 20 times as long.
TEST(BenchExplain, LongExpressionsAndRepeatedFunctionsAreVectors) {
  EXPECT_THAT(explained("0.5 * x * (1 + (1 - 2 / (tl.exp(2 * a) + 1)))"), Not(HasSubstr(scalar)));
  EXPECT_THAT(explained("libdevice.tanh(x) * libdevice.tanh(2 * x) + tl.erf(a) * tl.erf(x) + "
                        "tl.sin(x) * tl.cos(a)"),
              Not(HasSubstr(scalar)));
  EXPECT_THAT(
      explained(
          "libdevice.pow(x, 1.5) + libdevice.pow(x + 1, 2.5) + tl.log(a + 1) * tl.log(x + 2)"),
      Not(HasSubstr(scalar)));
}

}  // namespace
}  // namespace tilewright::cli
