// SPDX-License-Identifier: Apache-2.0
// cli/run_test.cpp — `tilewright run`: launches, what is printed and saved, and wrong input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"
#include "tilewright/tensor.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* run_source = R"(import torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

@triton.jit
def scaled(x, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

@triton.jit
def printing(out, N: tl.constexpr = 2):
    for i in range(N):
        tl.static_print("N is", N, f"twice {N * 2}")
        tl.device_print("i", i)

@triton.jit
def first_minus_second(ptrs, out):
    i = tl.arange(0, 8)
    tl.store(out + i, tl.load(ptrs[0] + i) - tl.load(ptrs[1] + i))

@triton.jit
def corner(desc, out):
    i = tl.arange(0, 4)
    tl.store(out + i[:, None] * 4 + i[None, :], desc.load([2, 4]))

def host(a, b):
    c = torch.empty_like(a)
    count = c.numel()
    grid = lambda meta: (triton.cdiv(count, meta["BLOCK"]),)
    add[grid](a, b, c, count, BLOCK=64)
)";

class Run : public ::testing::Test {
 protected:
  Run() {
    file_ = folder_.path() + "/k.py";
    std::ofstream(file_) << run_source;
  }
  CommandResult run(std::vector<std::string> arguments, const std::string& kernel = "add") {
    arguments.insert(arguments.begin(), {"run", file_ + ":" + kernel, "--device", "interpret"});
    return tilewright_command(arguments);
  }
  std::vector<std::string> good(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"x=arange:f32[100]", "y=ones:fp32[100]", "out=zeros:float32[100]",
                               "n=100", "BLOCK=32"});
    return more;
  }
  void expect_error(const std::vector<std::string>& arguments, int code, const std::string& text,
                    const std::string& kernel = "add") {
    const CommandResult r = run(arguments, kernel);
    EXPECT_EQ(r.exit_code, code);
    EXPECT_EQ(r.output, "");
    EXPECT_EQ(r.error, "tilewright: " + text + "\n");
  }

  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(Run, SavesWhatTheKernelWrote) {
  const std::string saved = folder_.path() + "/out.npy";
  const CommandResult r = run(good({"--grid", "cdiv(n, BLOCK)", "--save", "out=" + saved}));
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("add on interpret: grid 4 x 1 x 1"));
  EXPECT_THAT(r.output, HasSubstr("100 of 100 changed  1, 2, 3, 4, 5, 6, ..."));
  const Tensor out = load_npy(saved, Device::cpu());
  EXPECT_EQ(out[99].item<float>(), 100.0f);
}

TEST_F(Run, TuplesByItemAndDescriptorsByBlock) {
  const auto run_kernel = [&](const char* kernel, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"run", file_ + ":" + kernel, "--device", "interpret", "--grid", "1"});
    return tilewright_command(arguments);
  };
  CommandResult r = run_kernel("first_minus_second",
                               {"ptrs.0=arange:f32[8]", "ptrs.1=ones:f32[8]", "out=zeros:f32[8]"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("7 of 8 changed  -1, 0, 1, 2, 3, 4, ..."));
  r = run_kernel("corner", {"desc=arange:f32[4,8]", "desc.block=4x4", "out=full:f32[16]=-1"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("16 of 16 changed  20, 21, 22, 23, 28, 29, ..."));
  EXPECT_EQ(
      run_kernel("corner", {"desc=ones:f32[4,8]", "desc.block=4by4", "out=ones:f32[16]"}).error,
      "tilewright: 'desc.block=4by4' is no block: write sizes such as 64x32\n");
  EXPECT_EQ(run_kernel("corner", {"desc.block=4x4", "out=ones:f32[16]"}).error,
            "tilewright: 'desc.block' describes the tensor 'desc', which is not given\n");
  EXPECT_EQ(run_kernel("first_minus_second", {"ptrs.1=ones:f32[8]", "out=ones:f32[8]"}).error,
            "tilewright: the tuple 'ptrs' has an item ptrs.1 but no ptrs.0\n");
  EXPECT_EQ(
      run_kernel("first_minus_second", {"ptrs.a=ones:f32[8]", "out=ones:f32[8]"}).error,
      "tilewright: 'ptrs.a' names no item of a tuple: write NAME.0, NAME.1, ..., or NAME.block "
      "for a descriptor\n");
}

TEST_F(Run, ReadsTheGridOfTheFilesOwnLaunch) {
  const CommandResult r = run(good({"--json"}));
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto json = parse_json(r.output);
  EXPECT_EQ(json["grid"], Json({4, 1, 1}));
  EXPECT_EQ(json["tensors"][2]["changed"], 100);
  EXPECT_EQ(json["tensors"][0]["changed"], 0);
}

TEST_F(Run, GridZeroLaunchesNothing) {
  const CommandResult r = run(good({"--grid", "0"}));
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("float32[100]  unchanged  0, 0, 0"));
}

TEST_F(Run, WrongInput) {
  expect_error(good({"--grid", "-2"}), 1,
               "the grid of kernel 'add' is -2 x 1 x 1; no size may be negative");
  expect_error(good({"--grid", "n +"}), 1,
               "the grid 'n +' of kernel 'add' cannot be computed: invalid syntax");
  expect_error(good({"COLUMNS=1"}), 1,
               "kernel 'add' has no parameter 'COLUMNS'; there are: x, y, out, n, BLOCK");
  expect_error(good({"n"}), 2, "'n' is not of the form NAME=VALUE");
  expect_error(good({"--save", "BLOCK=x.npy"}), 2,
               "--save BLOCK: no tensor argument has that name; there are: x, y, out");
  expect_error(good({"--grid", "1", "--save", "x=a.npy", "--save", "out=a.npy"}), 2,
               "--save: 'x' and 'out' would both be written to 'a.npy'");
  expect_error({"x=zeros:f32[4]", "--grid", "1"}, 1,
               "kernel 'add' needs an argument for 'y'; add y=VALUE, since the launch at k.py:35 "
               "does not tell: the "
               "value of 'b' is not known: 'b' is not defined in " +
                   file_);
  expect_error({"n=4", "--grid", "1"}, 1, "kernel 'scaled' needs an argument for 'x'", "scaled");
  expect_error({"x=zeros:q32[4]", "--grid", "1"}, 1,
               "x=zeros:q32[4]: unknown element type 'q32'; there are: float64, float32, float16, "
               "bfloat16, float8_e4m3, float8_e5m2, int8, int16, int32, int64, uint8, uint16, ...");
  expect_error({"x=none.npy", "--grid", "1"}, 1,
               "cannot open 'none.npy': No such file or directory");
}

TEST_F(Run, PlacesThatAreNone) {
  CommandResult r = tilewright_command({"run", file_ + ":add", "--device", "interpreter"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.error,
            "tilewright: 'interpreter' is not a device; write cpu, cuda, cuda:N, emulate or "
            "interpret\n");
  r = tilewright_command({"run", ""});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.error, "tilewright: the path is empty; write FILE.py:KERNEL\n");
}

TEST_F(Run, PrintsOfKernels) {
  for (const char* device : {"cpu", "interpret"}) {
    std::vector<std::string> command = {
        "run", file_ + ":printing", "--device", device, "--grid", "1", "N=2", "out=zeros:i32[1]"};
    CommandResult r = tilewright_command(command);
    EXPECT_EQ(r.output.find("N is 2 twice 4\npid (0, 0, 0) i: 0\npid (0, 0, 0) i: 1\nprinting on"),
              0u)
        << r.output << r.error;
    command.emplace_back("--json");
    r = tilewright_command(command);
    EXPECT_EQ(parse_json(r.output)["kernel"], "printing");
    EXPECT_THAT(r.error, HasSubstr("N is 2 twice 4\npid (0, 0, 0) i: 0\n"));
  }
  EXPECT_THAT(
      tilewright_command({"run", file_ + ":printing", "--grid", "N", "out=zeros:i32[1]"}).output,
      HasSubstr("grid 2 x 1 x 1"));  // by the default of N
  const CommandResult r = tilewright_command(
      {"compile", file_ + ":printing", "--signature", "*i32, 2", "--target", "cpu"});
  EXPECT_THAT(r.output, HasSubstr("static_print: N is 2 twice 4\n"));
}

TEST_F(Run, IntegersAreShownWhole) {
  const std::string path = folder_.path() + "/large.npy";
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  save_npy(path, tensor(std::vector<std::int64_t>{large, -large}, Device::cpu()));
  const std::vector<std::string> values = {"x=" + path, "y=" + path, "out=zeros:u64[2]",
                                           "n=2",       "BLOCK=2",   "--grid=1"};
  CommandResult r = run(values);
  EXPECT_THAT(r.output, HasSubstr("1152921504606846977, -1152921504606846977\n")) << r.error;
  EXPECT_THAT(r.output, HasSubstr("2305843009213693954, 16140901064495857662\n"));
  std::vector<std::string> json = values;
  json.emplace_back("--json");
  EXPECT_EQ(parse_json(run(json).output)["tensors"][0]["first"][0], large);
}

TEST_F(Run, AccessesOutOfBoundsAreFound) {
  const CommandResult r = run({"x=ones:f32[100]", "y=ones:f32[100]", "out=zeros:f32[99]", "n=100",
                               "BLOCK=32", "--grid", "4"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.error, "tilewright: " + file_ +
                         ":8:5: kernel 'add': store writes index 99 of buffer 'out', which has 99 "
                         "elements of float32 (program 3, 0, 0)\n");
}

TEST_F(Run, ArraysOfTheWrongKind) {
  const std::string path = folder_.path() + "/x.npy";
  save_npy(path, zeros({4, 4}, {DType::Bool, Device::cpu()}));
  const CommandResult text = run({"x=" + file_, "--grid", "1"});
  EXPECT_EQ(text.exit_code, 1);
  std::ofstream(folder_.path() + "/bad.npy") << "no array";
  const CommandResult bad = run({"x=" + folder_.path() + "/bad.npy", "--grid", "1"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.error, HasSubstr("cannot be read as .npy"));
}

TEST_F(Run, FilesWithoutTheKernel) {
  CommandResult r = tilewright_command({"run", file_ + ":ad", "--grid", "1"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.error, "tilewright: " + file_ + " has no kernel 'ad'; did you mean 'add'?\n");
  r = tilewright_command({"run", file_, "--grid", "1"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.error, "tilewright: " + file_ + " has several kernels; write " + file_ +
                         ":KERNEL with one of add, scaled, printing, "
                         "first_minus_second, corner\n");
  r = tilewright_command({"run", "missing.py:add", "--grid", "1"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.error, HasSubstr("missing.py"));
}

}  // namespace
}  // namespace tilewright::cli
