// SPDX-License-Identifier: Apache-2.0
// cli/bad_source_test.cpp — kernels that are wrong, through the verb `run`: the whole message, and
// never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"
#include "tilewright/tensor.h"

namespace tilewright::cli {
namespace {

using ::testing::StartsWith;

class BadSource : public ::testing::Test {
 protected:
  // The kernel `k` of a file with this text after the imports, run by the interpreter.
  CommandResult run(const std::string& text, std::vector<std::string> arguments) {
    std::ofstream(file_, std::ios::binary)
        << "import triton\nimport triton.language as tl\n\n@triton.jit\n"
        << text;
    arguments.insert(arguments.begin(), {"run", file_ + ":k", "--device", "interpret"});
    return tilewright_command(arguments);
  }
  void expect_error(const std::string& text, const std::string& message,
                    std::vector<std::string> arguments = {"p=zeros:f32[4]", "--grid", "1"}) {
    const CommandResult r = run(text, std::move(arguments));
    EXPECT_EQ(r.exit_code, 1);
    EXPECT_EQ(r.output, "");
    EXPECT_EQ(r.error, "tilewright: " + message + "\n");
  }

  TemporaryFolder folder_;
  const std::string file_ = folder_.path() + "/k.py";
  static constexpr const char* good =
      "def k(p, n, B: tl.constexpr):\n"
      "    i = tl.arange(0, B)\n"
      "    tl.store(p + i, 1.0, mask=i < n)\n";
};

TEST_F(BadSource, Tabs) {
  expect_error("def k(p):\n    if p:\n\tx = 1\n",
               file_ + R"(:7:2: error: inconsistent use of tabs and spaces in indentation
    	x = 1
    	^
hint: indent with spaces only)");
}

TEST_F(BadSource, Encoding) {
  const CommandResult r = run("def k(p):\n    # \xff\n    pass\n", {"p=zeros:f32[4]"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.error,
              StartsWith("tilewright: " + file_ + ":6:7: error: byte 0xff is not valid UTF-8\n"));
}

TEST_F(BadSource, Syntax) {
  expect_error("def k(p:\n    pass\n", file_ + R"(:5:6: error: '(' was never closed
    def k(p:
         ^)");
}

TEST_F(BadSource, ABigFile) {
  std::ofstream file(file_);
  const std::string block(1 << 20, '#');
  for (int i = 0; i < 100; ++i) file << block << '\n';
  file.close();
  const CommandResult r = tilewright_command({"run", file_ + ":k", "--device", "interpret"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.error,
            "tilewright: " + file_ +
                ": the file has 100 MiB, and Python files over 16.0 MiB are not read; keep "
                "the kernels in a file of their own\n");
}

TEST_F(BadSource, DeepNesting) {
  const std::string open(5000, '(');
  const std::string close(5000, ')');
  CommandResult r = run("def k(p):\n    tl.store(p, " + open + "1.0" + close + ")\n", {"p=1"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.error,
              StartsWith("tilewright: " + file_ + ":6:216: error: too many nested parentheses\n"));
  std::string ifs = "def k(p, n):\n";
  for (int i = 0; i < 300; ++i)
    ifs += std::string(4 * (1 + static_cast<std::size_t>(i)), ' ') + "if n:\n";
  r = run(ifs, {"p=1"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.error, StartsWith("tilewright: " + file_ +
                                  ":105:401: error: too many levels of indentation\n"));
  std::string sum = "1.0";
  for (int i = 0; i < 3000; ++i) sum += " + 1.0";
  r = run("def k(p):\n    tl.store(p, " + sum + ")\n", {"p=zeros:f32[4]", "--grid", "1"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.error,
              StartsWith("tilewright: " + file_ + ":6:17: error: the code is nested too deeply\n"));
  EXPECT_LT(r.error.size(), 800u);  // of the long line only a part is shown
}

TEST_F(BadSource, Recursion) {
  expect_error("def f(x):\n    return f(x)\n\n@triton.jit\ndef k(p):\n    tl.store(p, f(1.0))\n",
               file_ + R"(:6:12: error: recursion is not supported in a kernel: 'f' calls 'f'
        return f(x)
               ^^^^
hint: use a loop
called from )" + file_ +
                   ":10 in kernel 'k'");
}

TEST_F(BadSource, SizesThatAreNoPowersOfTwo) {
  expect_error(
      "def k(p):\n    i = tl.arange(0, 100)\n",
      file_ + R"(:6:9: error: tl.arange from 0 to 100 has 100 elements, which is no power of two
        i = tl.arange(0, 100)
            ^^^^^^^^^^^^^^^^^
hint: make it longer, and use a mask)");
}

TEST_F(BadSource, ATypeThatChangesInALoop) {
  expect_error(
      "def k(p, n):\n    acc = 0\n    for i in range(n):\n        acc += 1.5\n    tl.store(p, "
      "acc)\n",
      file_ +
          R"(:8:9: error: 'acc' is int32 before the loop on line 7 and float32 after a round of it
            acc += 1.5
            ^^^
hint: give it its type and shape before the loop, such as tl.zeros(..., dtype=...))",
      {"p=zeros:f32[4]", "n=3", "--grid", "1"});
}

TEST_F(BadSource, AnUnknownName) {
  expect_error("def k(p):\n    tl.store(p, tl.sqrtt(1.0))\n",
               file_ + R"(:6:17: error: tl.sqrtt is not known; did you mean tl.sqrt?
        tl.store(p, tl.sqrtt(1.0))
                    ^^^^^^^^)");
}

TEST_F(BadSource, AMissingConstant) {
  expect_error(
      good,
      "kernel 'k' needs a value for 'B', a tl.constexpr; pass tw::constant(\"B\", ...), on "
      "the command line B=...",
      {"p=zeros:f32[4]", "n=4", "--grid", "1"});
}

TEST_F(BadSource, Grids) {
  const std::vector<std::string> values = {"p=zeros:f32[4]", "n=4", "B=4", "--grid"};
  const auto with = [&](const char* grid) {
    std::vector<std::string> all = values;
    all.emplace_back(grid);
    return all;
  };
  expect_error(good, "the grid of kernel 'k' is -1 x 1 x 1; no size may be negative", with("-1"));
  expect_error(good,
               "the grid 'm' of kernel 'k' names 'm', which is no argument; there are: B, n, p",
               with("m"));
  const CommandResult r = run(good, with("0"));
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, testing::HasSubstr("p  float32[4]  unchanged"));
}

TEST_F(BadSource, FilesOfTheWrongTypeOrRank) {
  const std::string file = folder_.path() + "/x.npy";
  save_npy(file, zeros({2, 2}, {DType::Float32, Device::cpu()}));
  expect_error(good, file_ + R"(:7:31: error: '<' does not work on int32[4] and pointer<float32>
        tl.store(p + i, 1.0, mask=i < n)
                                  ^^^^^)",
               {"p=zeros:f32[4]", "n=" + file, "B=4", "--grid", "1"});
  expect_error(good,
               "parameter 'B' of kernel 'k' is a tl.constexpr and takes a number, text, type or "
               "none, not a tensor or pointer",
               {"p=zeros:f32[4]", "n=4", "B=" + file, "--grid", "1"});
  save_npy(file, zeros({2}, {DType::Float32, Device::cpu()}));
  expect_error(good,
               file_ +
                   ":7:5: kernel 'k': store writes index 2 of buffer 'p', which has 2 elements of "
                   "float32 (program 0, 0, 0)",
               {"p=" + file, "n=4", "B=4", "--grid", "1"});
  std::ofstream(file, std::ios::binary) << "no numbers";
  const CommandResult r = run(good, {"p=" + file, "n=4", "B=4", "--grid", "1"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.error, StartsWith("tilewright: '" + file + "' cannot be read as .npy: "));
}

}  // namespace
}  // namespace tilewright::cli
