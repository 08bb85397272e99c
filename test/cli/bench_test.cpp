// SPDX-License-Identifier: Apache-2.0
// cli/bench_test.cpp — `tilewright bench`: what it prints, its exit codes, and wrong input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

CommandResult bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  return tilewright_command(arguments);
}

CommandResult quick(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(),
                   {"--device", "cpu", "--warmup", "0", "--trials", "3", "--no-ceiling"});
  return bench(arguments);
}

void expect_error(const std::vector<std::string>& arguments, int code, const std::string& text) {
  const CommandResult r = quick(arguments);
  EXPECT_EQ(r.exit_code, code);
  EXPECT_EQ(r.output, "");
  EXPECT_EQ(r.error, "tilewright: " + text + "\n");
}

TEST(Bench, RecordsHaveTheirFields) {
  const CommandResult r = quick({"gelu", "--shape", "16x37", "--ways", "manual,tile", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const Json report = parse_json(r.output);
  ASSERT_EQ(report["records"].size(), 2U);
  const Json& record = report["records"][1];
  for (const char* field : {"op", "way", "device", "dtype", "shape", "seconds", "p10", "p90",
                            "rate", "unit", "percent_of_ceiling", "error", "status"})
    EXPECT_TRUE(record.contains(field)) << field;
  EXPECT_EQ(record["way"], "tile");
  EXPECT_EQ(record["shape"], Json({16, 37}));
  EXPECT_EQ(record["status"], "ok");
  EXPECT_EQ(record["runs"], 3);
  EXPECT_EQ(report["records"][0]["kernels"], 9);
}

TEST(Bench, SweepsPrintTheExponent) {
  const CommandResult r = quick({"add", "--dim", "16..64", "--ways", "tile"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("add 16x16 float32 on cpu: at least 3.00 KiB"));
  EXPECT_THAT(r.output, HasSubstr("add 64x64 float32 on cpu: at least 48.0 KiB"));
  EXPECT_THAT(r.output, HasSubstr("tile float32: time ~ dim^"));
}

TEST(Bench, WaysThatCannotRunSayWhy) {
  const CommandResult r = quick({"softmax", "--shape", "8x8", "--dtype", "bf16", "--csv"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("\"written for float32 only, not bfloat16\"")) << r.output;
  EXPECT_THAT(r.output, HasSubstr("softmax,tile,cpu,bfloat16,8x8,"));
}

TEST(Bench, BaselinesDecideTheExitCode) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/before.json";
  const CommandResult first = quick({"add", "--shape", "8x8", "--ways", "tile", "--json"});
  Json report = parse_json(first.output);
  const auto compare = [&](double factor) {
    for (const char* field : {"seconds", "interval_low", "interval_high"})
      report["records"][0][field] = first.exit_code == 0 ? 1e-3 * factor : 0;
    std::ofstream(path) << report;
    return quick({"add", "--shape", "8x8", "--ways", "tile", "--baseline", path});
  };
  const CommandResult slower = compare(1e-9);
  EXPECT_EQ(slower.exit_code, 3) << slower.error;
  EXPECT_THAT(slower.output, HasSubstr("1 slower, 0 broken, 0 faster, 0 the same, 0 new"));
  const CommandResult faster = compare(1e6);
  EXPECT_EQ(faster.exit_code, 0) << faster.error;
  EXPECT_THAT(faster.output, HasSubstr("0 slower, 0 broken, 1 faster, 0 the same, 0 new"));
}

TEST(Bench, WrongInput) {
  expect_error({"sofmax"}, 1, "there is no operation 'sofmax'; did you mean 'softmax'?");
  expect_error({"gelu", "--ways", "tiles"}, 1, "gelu has no way 'tiles'; did you mean 'tile'?");
  expect_error({"gelu", "--shape", "4x4x4"}, 1,
               "gelu has the shape rows x columns, so '4x4x4' does not fit");
  expect_error({"gelu", "--dim", "many"}, 1,
               "'many' is no size; write 1024, 4k, a list 256,512 or a doubling range 1k..64k");
  expect_error({"gelu", "--dtype", "i32"}, 2, "--dtype is one of f32, f16, bf16, not 'i32'");
  expect_error({"gelu", "--clock", "sun"}, 2, "--clock is wall or device, not 'sun'");
  expect_error({"gelu", "x=1"}, 2, "'x=1' goes with FILE:KERNEL, not with the operation 'gelu'");
  expect_error({"gelu", "--baseline", "none.json"}, 1,
               "cannot open 'none.json': No such file or directory");
  const CommandResult huge = quick({"gelu", "--dim", "4M"});
  EXPECT_EQ(huge.exit_code, 1);
  EXPECT_THAT(huge.error, HasSubstr("needs about 256 TiB, but cpu has "));
  EXPECT_THAT(huge.error, HasSubstr("choose a smaller --dim or --shape\n"));
  EXPECT_THAT(bench({}).error, HasSubstr("tilewright bench needs an operation"));
}

TEST(Bench, MeasuresTheCeilingOfTheMachine) {
  const CommandResult r = bench(
      {"add", "--shape", "8x8", "--ways", "tile", "--trials", "2", "--device", "cpu", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const Json report = parse_json(r.output);
  EXPECT_GT(report["ceilings"]["bytes_per_second"], 1e6);
  EXPECT_GT(report["records"][0]["percent_of_ceiling"], 0);
}

TEST(Bench, ListsWhatThereIs) {
  const CommandResult r = bench({"--list"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.output, HasSubstr("gelu           rows x columns"));
}

// In the foreground `timeout` interrupts once, not the command and then its whole group.
TEST(Bench, InterruptedKeepsWhatThereIs) {
  const TemporaryFolder folder;
  const ProcessResult r = run_process(
      {.arguments = {"timeout", "--foreground", "--preserve-status", "-s", "INT", "3",
                     tilewright_path(), "bench", "add", "--dim", "16..1024", "--ways", "tile",
                     "--seconds", "30", "--device", "cpu", "--no-ceiling", "--json"},
       .environment = {"TILEWRIGHT_CACHE_DIR=" + folder.path()},
       .timeout_seconds = 100});
  EXPECT_EQ(r.exit_code, 130);
  const Json report = parse_json(r.output);
  EXPECT_EQ(report["interrupted"], true);
  for (const Json& record : report["records"])
    EXPECT_TRUE(record["status"] == "ok" || record["status"] == "interrupted") << record;
}

// ---- Kernels of the user's.

constexpr const char* bench_kernels = R"(import triton
import triton.language as tl

@triton.jit
def my_softmax(output_ptr, input_ptr, input_row_stride, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK_SIZE)
    x = tl.load(input_ptr + row * input_row_stride + i, mask=i < n_cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(output_ptr + row * n_cols + i, e / tl.sum(e, axis=0), mask=i < n_cols)

@triton.jit
def odd(p, r, amount, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(r + i, tl.load(p + i, mask=i < amount), mask=i < amount)
)";

class UserKernels : public ::testing::Test {
 protected:
  UserKernels() {
    python_ = folder_.path() + "/k.py";
    std::ofstream(python_) << bench_kernels;
    cuda_ = folder_.path() + "/k.cu";
    std::ofstream(cuda_)
        << "__global__ void sum(const float* x, const float* y, float* out, int n) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  if (i < n) out[i] = x[i] + y[i];\n}\n";
  }
  TemporaryFolder folder_;
  std::string python_, cuda_;
};

TEST_F(UserKernels, StandBesideOurs) {
  const CommandResult r =
      quick({python_ + ":my_softmax", "--like", "softmax", "--shape", "8x100", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error << r.output;
  const Json report = parse_json(r.output);
  const Json& last = report["records"].back();
  EXPECT_EQ(last["way"], "my_softmax");
  EXPECT_EQ(last["status"], "ok") << last["reason"];
  EXPECT_EQ(last["lines"], 7);  // of the function, not of the file
  const CommandResult cuda =
      quick({cuda_ + ":sum", "--like", "add", "--shape", "8x100", "--ways", "tile", "--json"});
  ASSERT_EQ(cuda.exit_code, 0) << cuda.error << cuda.output;
  EXPECT_EQ(parse_json(cuda.output)["records"].back()["note"], "emulated, in cache");
}

// The limit is five times the time and the slower kernel does some hundred times the work: nothing
// else that runs on the machine can make one look like the other.
TEST_F(UserKernels, ThatBecomeSlowerAreARegression) {
  const std::string before = folder_.path() + "/before.json";
  const auto measure = [&](int rounds, std::vector<std::string> more) {
    std::ofstream(python_) << "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
                              "def sum(x, y, out, n, BLOCK: tl.constexpr):\n"
                              "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                              "    a = tl.load(x + i, mask=i < n)\n"
                              "    b = tl.load(y + i, mask=i < n)\n"
                              "    c = a\n"
                              "    for _ in range("
                           << rounds
                           << "):\n        c = tl.sin(c)\n"
                              "    tl.store(out + i, a + b + 1e-30 * c, mask=i < n)\n";
    more.insert(more.begin(),
                {python_ + ":sum", "--like", "add", "--shape", "64x64", "--ways", "tile",
                 "--device", "cpu", "--trials", "9", "--no-ceiling", "BLOCK=1024"});
    return bench(more);
  };
  const CommandResult first = measure(1, {"--json"});
  ASSERT_EQ(first.exit_code, 0) << first.error << first.output;
  std::ofstream(before) << first.output;
  const CommandResult same = measure(1, {"--baseline", before, "--threshold", "400"});
  EXPECT_EQ(same.exit_code, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr("0 slower, 0 broken"));
  const CommandResult slower = measure(400, {"--baseline", before, "--threshold", "400"});
  EXPECT_EQ(slower.exit_code, 3) << slower.error << slower.output;
  EXPECT_THAT(slower.output, HasSubstr("1 slower, 0 broken"));
}

TEST_F(UserKernels, AreCheckedLikeOurs) {
  const CommandResult r = quick({python_ + ":odd", "--like", "gelu", "--shape", "8x16", "--ways",
                                 "tile", "amount=n", "--json"});
  EXPECT_EQ(r.exit_code, 1);
  const Json record = parse_json(r.output)["records"].back();
  EXPECT_EQ(record["status"], "wrong");
  EXPECT_THAT(record["reason"].get<std::string>(),
              ::testing::MatchesRegex("off by .* is allowed; worst at row [0-9]+, column [0-9]+: "
                                      ".*, expected .*"));
}

TEST_F(UserKernels, ThatDoNotFit) {
  expect_error({python_ + ":odd"}, 2,
               python_ +
                   ":odd needs its arguments (x=randn:f32[4096] n=4096), or --like OP, the "
                   "operation that it does, for its inputs and its reference");
  expect_error({python_ + ":od", "--like", "gelu"}, 1,
               python_ + " has no kernel 'od'; did you mean 'odd'?");
  expect_error({python_ + ":odd", "--like", "gelu", "width=3"}, 1,
               "kernel 'odd' has no parameter 'width'; there are: p, r, amount, BLOCK");
  expect_error({"none.py:odd", "--like", "gelu"}, 1,
               "cannot open 'none.py': No such file or directory");
  const CommandResult r =
      quick({python_ + ":odd", "--like", "gelu", "--shape", "8x16", "--ways", "tile"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.output,
              HasSubstr("failed: parameter 'amount' of kernel 'odd' matches nothing of gelu; "
                        "give amount=VALUE with a number or one of x, out, columns, eps, n, "
                        "rows, seed"));
}

TEST_F(UserKernels, ConfigsHaveGridsOfTheirOwn) {
  const std::string path = folder_.path() + "/tuned.py";
  std::ofstream(path) << R"(import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 2048}), triton.Config({"BLOCK": 32})], key=["n"])
@triton.jit
def total(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    if BLOCK == 2048:
        for k in range(50):
            v = v + tl.exp(tl.sin(v)) * 0
    tl.store(out + i, v, mask=i < n)
)";
  const CommandResult r =
      quick({path + ":total", "--like", "add", "--shape", "32x100", "--ways", "tile", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error << r.output;
  EXPECT_EQ(parse_json(r.output)["records"].back()["status"], "ok");
}

// C++ that shares its elements among however many programs there are.
TEST_F(UserKernels, OfCppStandBesideOurs) {
  const std::string path = folder_.path() + "/k.cpp";
  std::ofstream(path) << "void sum(const float* x, const float* y, float* out, long n) {\n"
                         "  for (long i = tw::program_id(0); i < n; i += tw::num_programs(0))\n"
                         "    out[i] = x[i] + y[i];\n}\n";
  const CommandResult r =
      quick({path + ":sum", "--like", "add", "--shape", "8x100", "--ways", "tile", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error << r.output;
  EXPECT_EQ(parse_json(r.output)["records"].back()["status"], "ok");
}

// ---- A kernel and its reference.

constexpr const char* pair = R"(import triton
import triton.language as tl

@triton.jit
def plain(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v * tl.sigmoid(v), mask=i < n)

@triton.jit
def fast(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)

@triton.jit
def wrong(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)

@triton.jit
def broken(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.log(-1 - tl.abs(tl.load(x + i, mask=i < n))), mask=i < n)

@triton.autotune(configs=[triton.Config({"WIDTH": 1024}), triton.Config({"WIDTH": 16})], key=["n"])
@triton.jit
def tuned(x, out, n, WIDTH: tl.constexpr):
    i = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    v = tl.load(x + i, mask=i < n)
    if WIDTH == 1024:
        for k in range(50):
            v = v + tl.exp(tl.sin(v)) * 0
    tl.store(out + i, v * tl.sigmoid(v), mask=i < n)

def launch(x, out, n):
    plain[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
    tuned[lambda meta: (triton.cdiv(n, meta["WIDTH"]),)](x, out, n)
)";

class Pairs : public ::testing::Test {
 protected:
  Pairs() : path_(folder_.path() + "/p.py") { std::ofstream(path_) << pair; }
  std::vector<std::string> arguments(const std::string& kernel, const std::string& reference) {
    return {path_ + ":" + kernel,
            "--reference",
            path_ + ":" + reference,
            "x=randn:f32[1000]",
            "out=empty:f32[1000]",
            "n=1000",
            "BLOCK=128",
            "--grid",
            "cdiv(n, BLOCK)"};
  }
  Json records(const std::string& kernel, const std::string& reference, int code) {
    std::vector<std::string> all = arguments(kernel, reference);
    all.push_back("--json");
    const CommandResult r = quick(all);
    EXPECT_EQ(r.exit_code, code) << r.error;
    return parse_json(r.output)["records"];
  }
  TemporaryFolder folder_;
  std::string path_;
};

TEST_F(Pairs, AreComparedWithEachOther) {
  const Json found = records("fast", "plain", 0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]["way"], "plain");
  EXPECT_EQ(found[0]["note"], "reference, in cache");
  EXPECT_EQ(found[1]["way"], "fast");
  EXPECT_EQ(found[1]["status"], "ok");
  EXPECT_EQ(found[1]["shape"], Json({1000}));
  EXPECT_LT(found[1]["error"], 1e-5);
  EXPECT_GT(found[1]["seconds"], 0);
}

TEST_F(Pairs, WrongOnesAndReferencesThatAreNotFiniteAreSaid) {
  const Json wrong = records("wrong", "plain", 1)[1];
  EXPECT_EQ(wrong["status"], "wrong");
  EXPECT_THAT(wrong["reason"].get<std::string>(),
              ::testing::MatchesRegex("'out' is off by .* is allowed; [0-9]+ of 1000 differ; first "
                                      "at \\[0\\]: .*, expected .*; worst at .*"));
  EXPECT_EQ(records("fast", "broken", 1)[1]["reason"],
            "cannot be checked: 'out' of the reference is not finite");
}

// The grid of one config is too small or too large for another one: results would be wrong, and
// what does too little would win.
TEST_F(Pairs, EveryConfigOfAnAutotunedKernelHasItsOwnGrid) {
  const CommandResult r =
      quick({path_ + ":tuned", "--reference", path_ + ":plain", "x=randn:f32[1000]",
             "out=empty:f32[1000]", "n=1000", "BLOCK=128", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error << r.output;
  const Json found = parse_json(r.output)["records"];
  EXPECT_EQ(found[1]["status"], "ok");
  EXPECT_LT(found[1]["error"], 1e-5);
}

TEST_F(Pairs, AKernelAloneIsSwept) {
  const CommandResult r = quick({path_ + ":fast", "x=randn:f32[n]", "out=empty:f32[n]", "n=64..256",
                                 "BLOCK=64", "--grid", "cdiv(n, BLOCK)", "--json"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const Json found = parse_json(r.output)["records"];
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0]["shape"], Json({64}));
  EXPECT_EQ(found[2]["shape"], Json({256}));
  EXPECT_EQ(found[2]["way"], "fast");
  EXPECT_EQ(found[2]["status"], "ok");
  EXPECT_GT(found[2]["seconds"], 0);
}

TEST_F(Pairs, WhatAHostFunctionReturnsIsMovedToo) {
  const std::string file = path_ + ".cu";
  std::ofstream(file) << "#include <torch/extension.h>\n"
                         "torch::Tensor made(torch::Tensor x) { return torch::empty_like(x); }\n"
                         "torch::Tensor same(torch::Tensor x) { return x; }\n";
  const auto bytes = [&](const std::string& name) {
    const CommandResult r =
        tilewright_command({"bench", file + ":" + name, "x=ones:f32[256]", "--trials", "2",
                            "--warmup", "1", "--no-ceiling", "--device", "cpu", "--json"});
    EXPECT_EQ(r.exit_code, 0) << r.error;
    return parse_json(r.output)["records"][0]["bytes"].get<double>();
  };
  EXPECT_EQ(bytes("made"), 2048);
  EXPECT_EQ(bytes("same"), 1024);
}

TEST_F(Pairs, WrongInput) {
  expect_error({path_ + ":fast", "n=5", "--grid", "1"}, 1,
               "'fast' is given no tensor; write its arguments as NAME=randn:f32[1024]");
  expect_error({path_ + ":fast", "x=ones:f32[8]", "--grid", "1", "--dim", "64"}, 2,
               "--dim does not go with a kernel alone, where NAME=VALUE says everything");
  expect_error({"gelu", "--reference", path_ + ":plain"}, 2,
               "--reference goes with FILE.py:KERNEL or FILE.cu:NAME, not with 'gelu'");
  std::vector<std::string> with_dim = arguments("fast", "plain");
  with_dim.insert(with_dim.end(), {"--dim", "64"});
  expect_error(with_dim, 2, "--dim does not go with --reference, where NAME=VALUE says everything");
  std::vector<std::string> with_other = arguments("fast", "plain");
  with_other.push_back("width=3");
  expect_error(with_other, 1, "neither 'fast' nor 'plain' has a parameter 'width'");
  expect_error({path_ + ":fast", "--reference", path_ + ":plain", "n=5", "--grid", "1"}, 1,
               "'fast' and 'plain' share no tensor that could be compared; give one as "
               "NAME=randn:f32[1024] under a name that both have");
}

}  // namespace
}  // namespace tilewright::cli
