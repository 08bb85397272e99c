// SPDX-License-Identifier: Apache-2.0
// cli/guess_test.cpp — `tilewright compile --guess`: which kernels are found, and how each ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "command.h"

namespace tilewright::cli {
namespace {

constexpr const char* kernels = R"(import triton
import triton.language as tl

@triton.jit
def helper(x):
    return x + 1

@triton.jit
def inner(p, i):
    tl.store(p + i, 1.0)

@triton.jit
def outer(p, n):
    inner(p, tl.program_id(0))

@triton.jit
def unknown(p):
    tl.frobnicate(p)
)";

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(Guess, EntriesOfAFolderAsJson) {
  const TemporaryFolder folder;
  write(folder.path() + "/kernels.py", kernels);
  write(folder.path() + "/broken.py", "def f(:\n");
  write(folder.path() + "/plain.py", "x = 1\n");
  const CommandResult r = tilewright_command(
      {"compile", folder.path(), "--guess", "--target", "sm_90a", "--stage", "ir", "--json"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto json = nlohmann::json::parse(r.output);
  ASSERT_EQ(json["kernels"].size(), 3u);
  EXPECT_EQ(json["total"], 3);
  EXPECT_EQ(json["kernels"][0]["file"], folder.path() + "/broken.py");
  EXPECT_EQ(json["kernels"][0]["ok"], false);
  EXPECT_EQ(json["kernels"][1]["kernel"], "outer");
  EXPECT_EQ(json["kernels"][2]["kernel"], "unknown");
  EXPECT_EQ(json["kernels"][2]["ok"], false);
  EXPECT_TRUE(json["kernels"][2]["seconds"].is_number());
}

TEST(Guess, WrongCommandLines) {
  CommandResult r = tilewright_command({"compile", "no/such", "--guess", "--target", "cpu"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.error, "tilewright: there is no file or folder 'no/such'\n");
  r = tilewright_command({"compile", ".", "--guess", "--target", "cpu,sm_80"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.error, "tilewright: --guess compiles for one target; give one with --target\n");
  r = tilewright_command({"compile", ".", "--guess", "--target", "cpu", "--stage", "il"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.error, "tilewright: --stage has no 'il'; did you mean 'ir'?\n");
}

}  // namespace
}  // namespace tilewright::cli
