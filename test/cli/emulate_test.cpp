// SPDX-License-Identifier: Apache-2.0
// cli/emulate_test.cpp — `tilewright run --device emulate`: the CUDA text of a kernel on the CPU.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"
#include "tilewright/tensor.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* emulated_source = R"(import triton
import triton.language as tl

@triton.jit
def row_sums(x, out, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    tl.store(out + row, tl.sum(tl.load(x + row * N + i)))

@triton.autotune(configs=[triton.Config({"N": 64}), triton.Config({"N": 128})], key=["n"])
@triton.jit
def doubled(x, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

@triton.jit
def unmasked(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, i.to(tl.float32))

@triton.jit
def endless(x):
    while tl.load(x) < 1:
        tl.store(x, tl.load(x) * 0.5)

@triton.jit
def endless_block(x, BLOCK: tl.constexpr):
    while tl.load(x) < 1:
        tl.store(x, tl.load(x) * BLOCK)
)";

class Emulate : public ::testing::Test {
 protected:
  Emulate() {
    std::ofstream(file_) << emulated_source;
    std::ofstream(configs_) << "[{\"BLOCK\": 1}, {\"BLOCK\": 2}]";
  }
  CommandResult sums(std::vector<std::string> more, std::vector<std::string> environment = {}) {
    more.insert(more.begin(), {"run", file_ + ":row_sums", "--grid", "3", "x=arange:f32[3,128]",
                               "out=zeros:f32[3]", "N=128"});
    return tilewright_command(more, environment);
  }
  void expect_usage_error(const std::vector<std::string>& more, const std::string& text) {
    const CommandResult r = sums(more);
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_EQ(r.output, "");
    EXPECT_EQ(r.error, "tilewright: " + text + "\n");
  }

  TemporaryFolder folder_;
  std::string file_ = folder_.path() + "/k.py";
  std::string configs_ = folder_.path() + "/configs.json";
};

// Such a launch did nothing, without a word, or its text did not compile.
TEST_F(Emulate, KernelsMayHaveNamesThatHeadersAndCompilersKnow) {
  const std::vector<std::string> names = {"index", "gamma", "y0", "half", "int64_t", "size_t"};
  std::ofstream file(folder_.path() + "/named.py");
  file << "import triton\nimport triton.language as tl\n";
  for (const std::string& name : names)
    file << "@triton.jit\ndef " << name << "(x):\n    tl.store(x, 5.0)\n";
  file.close();
  const auto value = [](const CommandResult& r) {
    EXPECT_EQ(r.exit_code, 0) << r.error;
    return parse_json(r.output)["tensors"][0]["first"][0];
  };
  for (const std::string& name : names)
    EXPECT_EQ(value(tilewright_command({"run", folder_.path() + "/named.py:" + name, "--grid", "1",
                                        "x=zeros:f32[1]", "--device", "emulate", "--json"})),
              5.0)
        << name;
  std::ofstream(folder_.path() + "/named.cu")
      << "extern \"C\" __global__ void index(float* x) { x[0] = 5; }";
  EXPECT_EQ(value(tilewright_command({"run", folder_.path() + "/named.cu:index", "--grid", "1",
                                      "x=zeros:f32[1]", "--device", "cpu", "--json"})),
            5.0);
}

TEST_F(Emulate, RunsTheCudaTextOfTheTarget) {
  const std::string saved = folder_.path() + "/out.npy";
  CommandResult r = sums({"--device", "emulate", "--save", "out=" + saved});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("row_sums on emulate (sm_90a): grid 3 x 1 x 1"));
  EXPECT_EQ(load_npy(saved, Device::cpu()).to_vector<float>(),
            (std::vector<float>{8128, 24512, 40896}));
  r = sums({"--device", "emulate", "--target", "sm_80", "--num-warps", "2", "--json"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto json = parse_json(r.output);
  EXPECT_EQ(json["device"], "emulate (sm_80)");
  EXPECT_EQ(json["tensors"][1]["first"], Json::parse("[8128.0, 24512.0, 40896.0]"));
}

TEST_F(Emulate, ChecksAreOnWhateverTheEnvironmentSays) {
  const std::string dump = folder_.path() + "/dump";
  std::filesystem::create_directory(dump);
  const CommandResult r =
      sums({"--device", "emulate"}, {"TILEWRIGHT_EMULATE_CHECK=0", "TILEWRIGHT_DUMP_DIR=" + dump});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(dump)) {
    std::ostringstream content;
    content << std::ifstream(entry.path()).rdbuf();
    text += content.str();
  }
  EXPECT_THAT(text, HasSubstr("#define TW_EMULATE_CHECK 1"));
  EXPECT_THAT(text, HasSubstr("TW_AT "));
}

TEST_F(Emulate, AnAutotunedKernelTakesItsFirstConfig) {
  const CommandResult r = tilewright_command({"run", file_ + ":doubled", "--grid", "cdiv(n, N)",
                                              "x=arange:f32[200]", "n=200", "--device", "emulate"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("grid 4 x 1 x 1"));
  EXPECT_THAT(r.output, HasSubstr("199 of 200 changed  0, 2, 4, 6, 8, 10, ..."));
}

TEST_F(Emulate, AnAccessOutsideOfTheTensorsNamesTheLine) {
  const CommandResult r = tilewright_command({"run", file_ + ":unmasked", "--grid", "1",
                                              "x=zeros:f32[100]", "N=128", "--device", "emulate"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.output, "");
  EXPECT_THAT(r.error, HasSubstr("tilewright: kernel 'unmasked', block (0, 0, 0), thread ("));
  EXPECT_THAT(r.error, HasSubstr(" bytes outside of every tensor at line "));
  EXPECT_THAT(r.error, HasSubstr(" (" + file_ + ":19): "));
  EXPECT_THAT(r.error, HasSubstr(" bytes behind the end of 'x', which has 400 bytes"));
}

TEST_F(Emulate, WrongTargetsAreNamed) {
  expect_usage_error({"--target", "sm_80"},
                     "--target is for --device emulate; on other devices the device itself is the "
                     "target");
  expect_usage_error({"--device", "emulate", "--target", "cpu"},
                     "--device emulate runs CUDA text, and cpu is no CUDA target; give --target "
                     "sm_80, sm_90a, ...");
  expect_usage_error({"--device", "emulated"},
                     "'emulated' is not a device; write cpu, cuda, cuda:N, emulate or interpret");
}

// ---- Loops that do not end.

class Endless : public Emulate, public ::testing::WithParamInterface<const char*> {};

TEST_P(Endless, IsInterruptedWithExitCode130) {
  const std::string device = GetParam();
  // The interpreter compiles nothing, and gives up by itself after some seconds.
  const std::string seconds = device == "interpret" ? "1" : "4";
  const ProcessResult r =
      run_process({.arguments = {"timeout", "--foreground", "--preserve-status", "-s", "INT",
                                 seconds, tilewright_path(), "run", file_ + ":endless", "--grid",
                                 "1", "x=zeros:f32[1]", "--device", device},
                   .environment = {"TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/cache"},
                   .timeout_seconds = 60});
  EXPECT_EQ(r.exit_code, 130) << r.output;
  EXPECT_THAT(r.output, HasSubstr("tilewright: interrupted"));
  EXPECT_THAT(r.output, HasSubstr("kernel 'endless'"));
  const bool names_line = device != "cpu";
  EXPECT_THAT(r.output, ::testing::ContainsRegex(names_line ? "k.py:2[34]" : "on cpu"));
}

INSTANTIATE_TEST_SUITE_P(Devices, Endless, ::testing::Values("interpret", "cpu", "emulate"),
                         [](const auto& device) { return std::string(device.param); });

// The first interrupt asks the tuning to end, which such a kernel does not hear of.
TEST_F(Emulate, ASecondInterruptEndsATuning) {
  const ProcessResult r = run_process(
      {.arguments = {"sh", "-c",
                     "\"$@\" & p=$!; sleep 2.5; kill -INT $p; sleep 0.3; kill -INT $p; wait $p",
                     "sh", tilewright_path(), "tune", file_ + ":endless_block", "--grid", "1",
                     "x=zeros:f32[1]", "--device", "cpu", "--configs", configs_},
       .environment = {"TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/cache"},
       .timeout_seconds = 60});
  EXPECT_EQ(r.exit_code, 130) << r.output;
  EXPECT_THAT(r.output, HasSubstr("tilewright: interrupted while kernel 'endless_block' ran; where "
                                  "its loop does not end, tilewright run --device interpret"));
}

TEST_F(Emulate, ASecondInterruptEndsAMeasurement) {
  const ProcessResult r = run_process(
      {.arguments = {"sh", "-c",
                     "\"$@\" & p=$!; sleep 2.5; kill -INT $p; sleep 0.3; kill -INT $p; wait $p",
                     "sh", tilewright_path(), "bench", file_ + ":endless_block", "--grid", "1",
                     "x=zeros:f32[1]", "BLOCK=64", "--device", "cpu", "--no-ceiling"},
       .environment = {"TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/cache"},
       .timeout_seconds = 60});
  EXPECT_EQ(r.exit_code, 130) << r.output;
  EXPECT_THAT(r.output, HasSubstr(":endless_block' ran; where its loop does not end"));
}

// The shell that stands for the compiler says its process number and sleeps.
TEST_F(Emulate, AnInterruptedCommandLeavesNoCompilerBehind) {
  const std::string compiler = folder_.path() + "/g++";
  const std::string note = folder_.path() + "/compiler";
  std::ofstream(compiler) << "#!/bin/sh\ncase \"$*\" in *-o*) echo $$ > " << note
                          << "; exec sleep 50;; *) exec g++ \"$@\";; esac\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  for (const bool guess : {false, true}) {
    std::filesystem::remove(note);
    std::vector<std::string> arguments = {
        "timeout", "--foreground", "--preserve-status", "-s", "INT", "3", tilewright_path(), "run"};
    if (guess) arguments.insert(arguments.end(), {folder_.path(), "--guess", "--jobs", "2"});
    else
      arguments.insert(arguments.end(),
                       {file_ + ":endless", "--grid", "1", "x=zeros:f32[1]", "--device", "cpu"});
    const ProcessResult r =
        run_process({.arguments = arguments,
                     .environment = {"TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/cache",
                                     "TILEWRIGHT_CXX=" + compiler},
                     .timeout_seconds = 60});
    EXPECT_EQ(r.exit_code, 130) << r.output;
    EXPECT_THAT(r.output, HasSubstr("tilewright: interrupted"));
    int process = 0;
    std::ifstream(note) >> process;
    ASSERT_GT(process, 0) << r.output;
    EXPECT_FALSE(std::filesystem::exists("/proc/" + std::to_string(process) + "/exe"));
  }
}

}  // namespace
}  // namespace tilewright::cli
