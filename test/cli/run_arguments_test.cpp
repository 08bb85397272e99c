// SPDX-License-Identifier: Apache-2.0
// cli/run_arguments_test.cpp — how `tilewright run` is given its arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"
#include "tilewright/tensor.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* argument_source = R"(import torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

@triton.jit
def filled(out, n, KIND: tl.constexpr):
    if KIND == "square":
        tl.store(out, n * n)
    else:
        tl.store(out, n + n)

@triton.jit
def row_sums(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out + row, tl.sum(tl.load(x + row * stride + i, mask=i < columns, other=0.0)))

def sums(matrix, exact=False):
    matrix = matrix.contiguous()
    rows, columns = matrix.shape
    sums = torch.zeros(rows, dtype=matrix.dtype, device=matrix.device)
    BLOCK = triton.next_power_of_2(columns)
    if not exact:
        BLOCK = max(BLOCK, 16)
    grid = lambda meta: (rows, )
    row_sums[grid](matrix, sums, matrix.stride(0), columns, BLOCK=BLOCK, num_warps=2)

@triton.jit
def weighted(x, weight, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * tl.load(weight + i, mask=i < n), mask=i < n)

def apply_weight(x, weight=None):
    out = torch.empty_like(x)
    weighted[(1, )](x, weight.data_ptr(), out, x.numel(), BLOCK=x.numel())
)";

class RunArguments : public ::testing::Test {
 protected:
  RunArguments() {
    file_ = folder_.path() + "/k.py";
    std::ofstream(file_) << argument_source;
  }
  CommandResult run(std::vector<std::string> arguments, const std::string& kernel = "add") {
    arguments.insert(arguments.begin(), {"run", file_ + ":" + kernel});
    return tilewright_command(arguments);
  }
  std::string error_of(std::vector<std::string> arguments, const std::string& kernel = "add") {
    arguments.insert(arguments.end(), {"--device", "interpret", "--grid", "1"});
    const CommandResult r = run(arguments, kernel);
    EXPECT_NE(r.exit_code, 0) << r.output;
    return r.error;
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(RunArguments, OneInsideAnothersMemory) {
  for (const char* device : {"interpret", "cpu"}) {
    const CommandResult r = run({"x=arange:f32[100]", "y=@x+10", "out=@x+50", "n=50", "BLOCK=16",
                                 "--grid=4", "--device", device, "--save", "x=" + path("x.npy"),
                                 "--save", "out=" + path("out.npy")});
    ASSERT_EQ(r.exit_code, 0) << r.error;
    EXPECT_THAT(r.output, HasSubstr("x    float32[100]  50 of 100 changed  0, 1, 2"));
    EXPECT_THAT(r.output, HasSubstr("float32[90]"));
    const Tensor x = load_npy(path("x.npy"), Device::cpu());
    const Tensor out = load_npy(path("out.npy"), Device::cpu());
    EXPECT_EQ(out.shape(), Shape({50}));
    EXPECT_EQ(out[3].item<float>(), 3.0f + 13.0f);
    EXPECT_EQ(x[53].item<float>(), 3.0f + 13.0f);
    EXPECT_EQ(x[3].item<float>(), 3.0f);
  }
}

TEST_F(RunArguments, ViewsInAnyOrderAndOfAnyShape) {
  const CommandResult r = run({"out=@y+4[2,8]", "y=@x", "x=arange:i32[4,8]", "n=16", "BLOCK=16",
                               "--grid=1", "--device=interpret", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const Json tensors = parse_json(r.output)["tensors"];
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0]["type"], "int32[4, 8]");
  EXPECT_EQ(tensors[0]["first"], Json({0, 1, 2, 3, 0, 2}));
  EXPECT_EQ(tensors[2]["type"], "int32[2, 8]");
  EXPECT_EQ(tensors[2]["first"], Json({0, 2, 4, 6, 8, 10}));
}

TEST_F(RunArguments, MemoryThatIsNoOthers) {
  EXPECT_EQ(error_of({"x=ones:f32[8]", "y=@z", "n=8"}),
            "tilewright: y=@z: no tensor argument is called 'z'; there is: x\n");
  EXPECT_EQ(error_of({"x=ones:f32[8]", "y=@n", "n=8"}),
            "tilewright: y=@n: no tensor argument is called 'n'; there is: x\n");
  EXPECT_EQ(error_of({"x=@y", "y=@x"}), "tilewright: x=@y: no argument is a tensor\n");
  EXPECT_EQ(error_of({"x=ones:f32[8]", "y=@x+9"}), "tilewright: y=@x+9: 'x' has 8 elements\n");
  EXPECT_EQ(error_of({"x=ones:f32[8]", "y=@x+4[5]"}),
            "tilewright: y=@x+4[5]: 'x' has 4 elements from there on\n");
  EXPECT_EQ(error_of({"x=ones:f32[8]", "y=@x+"}),
            "tilewright: y=@x+: '' is no number of elements; memory of another argument is written "
            "as @x, @x+4 or @x+4[8,8]\n");
  EXPECT_EQ(error_of({"x=ones:f32[8]", "y=@x[4"}),
            "tilewright: y=@x[4: its shape does not end with ]\n");
}

TEST_F(RunArguments, SizesByName) {
  const CommandResult r =
      run({"x=ones:f32[n]", "y=ones:f32[2*n]", "out=zeros:f32[cdiv(n, m)*m]", "n=1k", "m=100",
           "BLOCK=1024", "--grid=m//50-1", "--device=interpret", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_EQ(parse_json(r.output)["grid"], Json({1, 1, 1}));
  const Json tensors = parse_json(r.output)["tensors"];
  EXPECT_EQ(tensors[0]["type"], "float32[1024]");
  EXPECT_EQ(tensors[1]["type"], "float32[2048]");
  EXPECT_EQ(tensors[2]["type"], "float32[1100]");
  EXPECT_EQ(tensors[2]["changed"], 1024);
}

TEST_F(RunArguments, SizesThatAreNone) {
  EXPECT_EQ(error_of({"x=ones:f32[k]", "n=8"}),
            "tilewright: x=ones:f32[k]: 'k' has no value; write k=1000 beside it; there is: n\n");
  EXPECT_EQ(error_of({"x=ones:f32[n/3]", "n=8"}),
            "tilewright: x=ones:f32[n/3]: 'n/3' is no whole number of 0 or more\n");
  EXPECT_EQ(error_of({"x=ones:f32[n-9]", "n=8"}),
            "tilewright: x=ones:f32[n-9]: 'n-9' is no whole number of 0 or more\n");
  EXPECT_EQ(error_of({"x=ones:f32[n]", "n=1k..4k"}),
            "tilewright: 'n=1k..4k' is a sweep, which goes with tilewright bench; tilewright run "
            "takes one number\n");
  EXPECT_EQ(error_of({"x=ones:f32[8]", "m=8"}),
            "tilewright: kernel 'add' has no parameter 'm'; there are: x, y, out, n, BLOCK\n");
}

TEST_F(RunArguments, RandomIntegersInARange) {
  const CommandResult r =
      run({"x=randint:i32[1000]=-3..3", "y=randint:i32[1000]", "out=zeros:i32[1000]", "n=1000",
           "BLOCK=1024", "--grid=1", "--device=interpret", "--save", "x=" + path("x.npy"), "--save",
           "y=" + path("y.npy")});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const auto ends = [&](const char* name) {
    const auto values = load_npy(path(name), Device::cpu()).to_vector<std::int32_t>();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return std::pair(*low, *high);
  };
  EXPECT_EQ(ends("x.npy"), std::pair(-3, 2));
  EXPECT_EQ(ends("y.npy"), std::pair(0, 99));
  EXPECT_EQ(error_of({"x=randint:u8[8]=0..300"}),
            "tilewright: x=randint:u8[8]=0..300: uint8 cannot hold 299\n");
  EXPECT_EQ(error_of({"x=randint:i32[8]=5..5"}),
            "tilewright: x=randint:i32[8]=5..5: the range 5..5 is empty: its end does not belong "
            "to it\n");
  EXPECT_EQ(error_of({"x=randint:i32[8]=5"}),
            "tilewright: x=randint:i32[8]=5: '5' is no range; write randint:i32[8]=0..10\n");
}

TEST_F(RunArguments, Strides) {
  const CommandResult r = run({"x=ones:f32[4,5]@strides(8,1)", "out=zeros:f32[4]", "stride=8",
                               "columns=8", "BLOCK=8", "--grid=4", "--device=interpret", "--json"},
                              "row_sums");
  ASSERT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.error, HasSubstr("index 29 of buffer 'x', which has 29 elements"));
  const CommandResult short_rows =
      run({"x=full:f32[4,5]@strides(8,1)=2", "out=zeros:f32[4]", "stride=8", "columns=5", "BLOCK=8",
           "--grid=4", "--device=interpret", "--json"},
          "row_sums");
  ASSERT_EQ(short_rows.exit_code, 0) << short_rows.error;
  EXPECT_EQ(parse_json(short_rows.output)["tensors"][1]["first"], Json({10.0, 10.0, 10.0, 10.0}));
  EXPECT_EQ(error_of({"x=ones:f32[4,5]@strides(8)"}),
            "tilewright: x=ones:f32[4,5]@strides(8): it has 2 dimensions and 1 strides\n");
  EXPECT_EQ(error_of({"n=5@strides(8)"}),
            "tilewright: n=5@strides(8): strides are those of a tensor, which this is not\n");
}

TEST_F(RunArguments, TypedScalarsAndBareWords) {
  const auto first = [&](const std::string& n, const std::string& kind) {
    const CommandResult r = run(
        {"out=zeros:i64[1]", "n=" + n, "KIND=" + kind, "--grid=1", "--device=interpret", "--json"},
        "filled");
    EXPECT_EQ(r.exit_code, 0) << r.error;
    return parse_json(r.output)["tensors"][0]["first"][0];
  };
  EXPECT_EQ(first("100000", "square"), 1410065408);  // in 32 bits
  EXPECT_EQ(first("100000:i64", "square"), 10000000000);
  EXPECT_EQ(first("100000:i64", "'sum'"), 200000);
  EXPECT_EQ(error_of({"n=300:i8"}, "filled"), "tilewright: n=300:i8: int8 cannot hold 300\n");
  EXPECT_EQ(error_of({"KIND=3:i32"}, "filled"),
            "tilewright: KIND=3:i32: 'KIND' is a tl.constexpr, which has no type; leave out "
            ":i32\n");
}

TEST_F(RunArguments, FromTheFilesOwnLaunch) {
  const CommandResult r = run({"x=ones:f32[6,10]", "--device=interpret", "--json"}, "row_sums");
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const Json json = parse_json(r.output);
  EXPECT_EQ(json["grid"], Json({6, 1, 1}));
  EXPECT_EQ(json["launch"]["place"], "k.py:31");
  EXPECT_EQ(json["launch"]["arguments"],
            Json({"out=zeros:float32[6]", "stride=10", "columns=10", "BLOCK=16"}));
  EXPECT_EQ(json["tensors"][1]["first"], Json({10.0, 10.0, 10.0, 10.0, 10.0, 10.0}));
  const CommandResult text = run({"x=ones:f32[6,10]", "columns=4", "--device=cpu"}, "row_sums");
  ASSERT_EQ(text.exit_code, 0) << text.error;
  EXPECT_THAT(text.output,
              HasSubstr("as the launch at k.py:31: out=zeros:float32[6] stride=10 BLOCK=16\n"));
  EXPECT_THAT(text.output, HasSubstr("4, 4, 4, 4, 4, 4"));
}

TEST_F(RunArguments, WhatALaunchLeavesOpen) {
  const CommandResult r = run({"x=ones:f32[8]", "--device=interpret"}, "weighted");
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.error,
            "tilewright: kernel 'weighted' needs an argument for 'weight'; add weight=VALUE, since "
            "the launch at k.py:40 "
            "does not "
            "tell: '.data_ptr()' of NoneType is not evaluated\n");
}

TEST_F(RunArguments, SaveTakesOneValue) {
  const CommandResult r =
      run({"--device=interpret", "--grid=1", "--save", "out=" + path("out.npy"), "x=ones:f32[8]",
           "y=ones:f32[8]", "out=zeros:f32[8]", "n=8", "BLOCK=8"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_EQ(load_npy(path("out.npy"), Device::cpu())[7].item<float>(), 2.0f);
}

}  // namespace
}  // namespace tilewright::cli
