// SPDX-License-Identifier: Apache-2.0
// cli/guess_test.cpp — `tilewright compile --guess` and `run --guess`: which kernels are found, and
// how each ends.
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "bench/json.h"
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
  const auto json = parse_json(r.output);
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

TEST(Guess, KeepsLaunchesForOthers) {
  const TemporaryFolder folder;
  write(folder.path() + "/kernels.py",
        "import triton\nimport triton.language as tl\n"
        "@triton.jit\ndef scale(x, n, alpha, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(x + i, tl.load(x + i, mask=i < n) * alpha, mask=i < n)\n");
  const std::string kept = folder.path() + "/kept";
  const CommandResult r = tilewright_command(
      {"run", folder.path(), "--guess", "--device", "emulate", "--keep", kept, "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_EQ(parse_json(r.output)["kernels"][0]["result"], "kept");
  std::ifstream file(kept + "/0000-scale/launch.json");
  const auto launch = parse_json(std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_EQ(launch["kernel"], "scale");
  EXPECT_EQ(launch["parameters"]["x"]["pointer"], "float32");
  EXPECT_EQ(launch["parameters"]["BLOCK"]["constant"], 64);
  EXPECT_EQ(launch["arguments"][1]["name"], "n");
  for (const char* moment : {"before", "after", "rounded0"})
    EXPECT_TRUE(std::filesystem::exists(fmt::format("{}/0000-scale/0.{}.npy", kept, moment)));
}

TEST(Guess, EveryKernelHasItsTimeAndKeepsItsPlace) {
  const TemporaryFolder folder;
  std::string text = "import triton\nimport triton.language as tl\n";
  for (int i = 0; i < 9; ++i)
    text += fmt::format("@triton.jit\ndef k{}(p):\n    tl.store(p, {}.0)\n", i, i);
  write(folder.path() + "/kernels.py", text);
  const auto rows = [&](const std::string& limit) {
    const CommandResult r =
        tilewright_command({"compile", folder.path(), "--guess", "--stage", "source", "--jobs", "4",
                            "--limit", limit, "--json"});
    EXPECT_EQ(r.exit_code, 0) << r.error;
    return parse_json(r.output)["kernels"];
  };
  const Json good = rows("60"), late = rows("1e-5");
  ASSERT_EQ(good.size(), 9u);
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_EQ(good[i]["kernel"], fmt::format("k{}", i));
    EXPECT_EQ(good[i]["ok"], true) << good[i]["reason"];
    EXPECT_EQ(late[i]["reason"], "took longer than 1e-05 s");
  }
}

constexpr const char* runnable = R"(import triton
import triton.language as tl

@triton.jit
def add_rows(x, y, stride_row, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * stride_row
    v = tl.load(x + row + i, mask=i < n, other=0.0)
    tl.store(y + row + i, tl.exp(v), mask=i < n)

@triton.jit
def racing(out, n):
    tl.store(out, tl.program_id(0).to(tl.float32))

@triton.jit
def outside(out, n):
    tl.store(out + 100000000, 1.0)

@triton.jit
def unknown(p):
    tl.frobnicate(p)
)";

TEST(Guess, RunsKernelsHereAndInTheInterpreter) {
  const TemporaryFolder folder;
  write(folder.path() + "/kernels.py", runnable);
  const CommandResult r = tilewright_command({"run", folder.path(), "--guess", "--json"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto json = parse_json(r.output);
  ASSERT_EQ(json["kernels"].size(), 4u);
  const auto result = [&](std::size_t i) { return json["kernels"][i]["result"]; };
  const auto reason = [&](std::size_t i) { return json["kernels"][i]["reason"]; };
  EXPECT_EQ(result(0), "agrees") << reason(0);
  EXPECT_EQ(json["kernels"][0]["signature"], "*float32:16, *float32:16, int32:16, int32:16, 64");
  // Two programs would write to one place, so that only one is run.
  EXPECT_EQ(result(1), "agrees") << reason(1);
  EXPECT_EQ(json["kernels"][1]["arguments"], "grid=1,1,1 out=float32[262144] n=20");
  EXPECT_EQ(result(2), "cannot be run with generated inputs");
  EXPECT_THAT(reason(2).get<std::string>(), testing::HasSubstr("100000000"));
  EXPECT_EQ(result(3), "does not compile");
  EXPECT_EQ(json["counts"]["agrees"], 2);
}

TEST(Guess, ALaunchThatChangesNothingAgreesWithNothing) {
  const TemporaryFolder folder;
  write(folder.path() + "/kernels.py",
        "import triton\nimport triton.language as tl\n"
        "@triton.jit\ndef idle(x, n):\n"
        "    v = tl.load(x)\n"
        "    if n < 0:\n"
        "        tl.store(x, v + 1)\n");
  const CommandResult r = tilewright_command({"run", folder.path(), "--guess", "--json"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto json = parse_json(r.output);
  EXPECT_EQ(json["kernels"][0]["result"], "changes nothing");
  EXPECT_EQ(json["kernels"][0]["reason"],
            "no guess changes a tensor, so that nothing is compared");
  EXPECT_EQ(json["counts"].count("agrees"), 0u);
}

TEST(Guess, OneKernelOfAFile) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/kernels.py";
  write(file, runnable);
  CommandResult r = tilewright_command({"run", file + ":racing", "--guess", "--json"});
  EXPECT_EQ(parse_json(r.output)["kernels"].size(), 1u) << r.error;
  EXPECT_EQ(parse_json(r.output)["counts"]["agrees"], 1);
  r = tilewright_command({"compile", file + ":racin", "--guess", "--target", "cpu"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.error, "tilewright: " + file + " has no kernel 'racin'; did you mean 'racing'?\n");
  r = tilewright_command({"run", file, "--guess", "n=4"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.error,
            "tilewright: --guess makes the arguments and the grid itself; leave them and --save "
            "out\n");
}

// The fork of a process that has started CUDA finds no device.
TEST(Guess, OnlyChildrenStartCuda) {
  if (!std::filesystem::exists(TW_FAKE_CUDA "/lib/libcuda.so.1"))
    GTEST_SKIP() << "the fake driver is only in the build folder";
  const TemporaryFolder folder;
  write(folder.path() + "/kernels.py", runnable);
  const std::string starts = folder.path() + "/starts";
  const CommandResult r =
      tilewright_command({"run", folder.path(), "--guess", "--device", "cuda", "--json"},
                         {"TILEWRIGHT_CUDA_HOME=" TW_FAKE_CUDA, "FAKE_CUDA_STARTS=" + starts});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  std::ifstream file(starts);
  std::set<int> processes, parents;
  for (int process = 0, parent = 0; file >> process >> parent;) {
    processes.insert(process);
    parents.insert(parent);
  }
  EXPECT_EQ(processes.size(), 5u);  // one asks for the device, one for each kernel
  ASSERT_EQ(parents.size(), 1u);
  EXPECT_FALSE(processes.contains(*parents.begin()));
}

constexpr const char* described = R"(import triton
import triton.language as tl

@triton.jit
def product(a_desc, b_desc, c_desc, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
            BLOCK_K: tl.constexpr):
    batch = tl.program_id(1)
    row = tl.program_id(0) * BLOCK_M
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_desc.load([batch, row, k]).reshape(BLOCK_M, BLOCK_K)
        acc += tl.dot(a, b_desc.load([k, 0]))
    c_desc.store([batch, row, 0], acc.reshape(1, BLOCK_M, BLOCK_N))

def run(a, b, c):
    product[(2, 2)](a, b, c, 64, BLOCK_M=16, BLOCK_N=64, BLOCK_K=32)
)";

TEST(Guess, DescriptorsThatTheHostMakes) {
  const TemporaryFolder folder;
  write(folder.path() + "/kernels.py", described);
  const CommandResult r = tilewright_command({"run", folder.path(), "--guess", "--json"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto kernel = parse_json(r.output)["kernels"][0];
  EXPECT_EQ(kernel["result"], "agrees") << kernel["reason"];
  EXPECT_THAT(kernel["signature"].get<std::string>(),
              testing::HasSubstr("tensordesc<float32[1,16,32]>, tensordesc<float32[32,64]>, "
                                 "tensordesc<float32[1,16,64]>"));
}

constexpr const char* ordered = R"(import triton
import triton.language as tl

@triton.jit
def twice(out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i // 2, i.to(tl.float32))

@triton.jit
def product(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    z = tl.dot(tl.load(x + at), tl.load(y + at))
    tl.store(out + at, tl.dot(z, tl.load(x + at)))
)";

TEST(Guess, EmulatedKernelsAndWhatDependsOnOrder) {
  const TemporaryFolder folder;
  write(folder.path() + "/kernels.py", ordered);
  const CommandResult r = tilewright_command(
      {"run", folder.path(), "--guess", "--device", "emulate", "--target", "sm_80", "--json"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto kernels = parse_json(r.output)["kernels"];
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0]["result"], "order-dependent input");
  EXPECT_THAT(kernels[0]["reason"].get<std::string>(),
              testing::HasSubstr("kernels.py:7:5: kernel 'twice': one store writes out[0] more "
                                 "than once, with different values"));
  // Products of float32 in TF32, twice: far from the interpreter's, within what rounding explains.
  EXPECT_EQ(kernels[1]["result"], "agrees") << kernels[1]["reason"];
  EXPECT_EQ(tilewright_command({"run", folder.path(), "--guess", "--device", "interpret"}).error,
            "tilewright: --guess compares a device with the interpreter; write --device cpu, cuda "
            "or emulate\n");
}

}  // namespace
}  // namespace tilewright::cli
