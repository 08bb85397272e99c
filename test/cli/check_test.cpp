// SPDX-License-Identifier: Apache-2.0
// cli/check_test.cpp — `tilewright check`: the planted bugs of test/check, its report, its
// refusals.
#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// ---- Planted bugs: every kernel of test/check.

struct PlantedKernel {
  std::string file;
  std::string name;
  std::vector<std::string> arguments;
  std::set<std::pair<std::string, int>> findings;  // kind and line
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<PlantedKernel> planted_in(const std::filesystem::path& path) {
  std::vector<PlantedKernel> kernels;
  std::vector<std::string> arguments;
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::smatch match;
    if (line.starts_with("# check: ")) arguments = words_of(line.substr(9));
    if (std::regex_search(line, match, std::regex("^def (\\w+)\\(")))
      kernels.push_back({path.string(), match[1], arguments, {}});
    if (line.find("# Each kernel") == std::string::npos &&
        std::regex_search(line, match, std::regex("# finds: (\\S+)")))
      kernels.back().findings.emplace(match[1], number);
  }
  return kernels;
}

std::vector<PlantedKernel> all_planted() {
  std::vector<PlantedKernel> all;
  for (const auto& entry : std::filesystem::directory_iterator(TW_PLANTED_FOLDER))
    if (entry.path().extension() == ".py")
      for (PlantedKernel& kernel : planted_in(entry.path())) all.push_back(std::move(kernel));
  return all;
}

TEST(CheckPlanted, EveryBugIsFoundAtItsLineAndNothingInItsRightForm) {
  std::map<std::string, int> by_kind;
  int bugs = 0;
  for (const PlantedKernel& kernel : all_planted()) {
    SCOPED_TRACE(kernel.file + ":" + kernel.name);
    std::vector<std::string> command = {"check", kernel.file + ":" + kernel.name, "--json"};
    command.insert(command.end(), kernel.arguments.begin(), kernel.arguments.end());
    const CommandResult r = tilewright_command(command);
    const bool is_right = kernel.name.ends_with("_right");
    EXPECT_EQ(kernel.findings.empty(), is_right);
    ASSERT_TRUE(r.exit_code == 0 || r.exit_code == 4) << r.error;
    std::set<std::pair<std::string, int>> found;
    bool is_wrong = false;
    const Json json = parse_json(r.output);
    for (const Json& finding : json["findings"]) {
      found.emplace(finding["kind"], finding["line"]);
      is_wrong |= !finding["harmless"].get<bool>();
      EXPECT_NE(finding["remedy"], "");
    }
    EXPECT_EQ(found, kernel.findings) << r.output;
    EXPECT_EQ(r.exit_code, is_wrong ? 4 : 0);
    bugs += !is_right;
    for (const auto& [kind, line] : kernel.findings) ++by_kind[kind];
  }
  EXPECT_GE(bugs, 60);
  EXPECT_GE(by_kind.size(), 12u);
}

// ---- What is printed.

constexpr const char* checked_source = R"(import triton
import triton.language as tl

@triton.jit
def add(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v + 1, mask=i < n)

@triton.jit
def forgotten(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + 1)

@triton.jit
def endless(x, out):
    tl.store(out, tl.load(out) + 1)
    while tl.load(x) < 1:
        tl.store(x, tl.load(x) * 0.5)
)";

class Check : public ::testing::Test {
 protected:
  Check() { std::ofstream(file_) << checked_source; }
  CommandResult check(const std::string& kernel, std::vector<std::string> more) {
    more.insert(more.begin(), {"check", file_ + ":" + kernel});
    return tilewright_command(more);
  }
  const std::vector<std::string> usual_ = {"--grid",           "cdiv(n, BLOCK)", "x=randn:f32[n]",
                                           "out=empty:f32[n]", "n=100",          "BLOCK=32"};
  std::vector<std::string> usual(std::vector<std::string> more) const {
    more.insert(more.begin(), usual_.begin(), usual_.end());
    return more;
  }

  TemporaryFolder folder_;
  std::string file_ = folder_.path() + "/k.py";
};

TEST_F(Check, NothingFoundIsOneSentence) {
  const CommandResult r = check("add", usual({}));
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_EQ(r.output, "add: nothing was found in 4 programs of 1 launch\n");
}

TEST_F(Check, AFindingHasItsLineProgramElementAndRemedy) {
  const CommandResult r = check("forgotten", usual({}));
  EXPECT_EQ(r.exit_code, 4) << r.error;
  EXPECT_EQ(r.output,
            file_ +
                ":13:23: out-of-bounds: load reads index 100 of buffer 'x', which has 100 "
                "elements of float32\n"
                "        tl.store(out + i, tl.load(x + i) + 1)\n"
                "                          ^\n"
                "  in program (3, 0, 0), element [4]; 28 times\n"
                "  the access has no mask\n"
                "  remedy: give it a mask that is false beyond the end, such as mask=offsets "
                "< n\n\n" +
                file_ +
                ":13:5: out-of-bounds: store writes index 100 of buffer 'out', which has 100 "
                "elements of float32\n"
                "        tl.store(out + i, tl.load(x + i) + 1)\n"
                "        ^\n"
                "  in program (3, 0, 0), element [4]; 28 times\n"
                "  the access has no mask\n"
                "  remedy: give it a mask that is false beyond the end, such as mask=offsets < n\n"
                "\nforgotten: 2 findings in 4 programs of 1 launch\n");
}

TEST_F(Check, OddSizesShowAForgottenMask) {
  std::vector<std::string> whole = {"--grid",           "cdiv(n, BLOCK)", "x=randn:f32[n]",
                                    "out=empty:f32[n]", "n=64",           "BLOCK=32"};
  EXPECT_EQ(check("forgotten", whole).exit_code, 0);
  whole.insert(whole.end(), {"--sizes", "odd"});
  const CommandResult r = check("forgotten", whole);
  EXPECT_EQ(r.exit_code, 4) << r.error;
  EXPECT_THAT(r.output, HasSubstr("  with n=1\n"));
  EXPECT_THAT(r.output, HasSubstr("forgotten: 2 findings in "));
  EXPECT_EQ(check("add", usual({"--sizes", "odd"})).exit_code, 0);
}

TEST_F(Check, AnEndlessLoopIsInterruptedWithWhatWasFound) {
  const ProcessResult r =
      run_process({.arguments = {"timeout", "--foreground", "--preserve-status", "-s", "INT", "2",
                                 tilewright_path(), "check", file_ + ":endless", "--grid", "1",
                                 "x=zeros:f32[1]", "out=empty:f32[1]"},
                   .environment = {"TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/cache"},
                   .timeout_seconds = 60});
  EXPECT_EQ(r.exit_code, 130) << r.output;
  EXPECT_THAT(r.output, HasSubstr(":17:19: unwritten: out[0] is read, which nobody has written"));
  EXPECT_THAT(r.output, ::testing::ContainsRegex("tilewright: interrupted: .*k.py:1[89]:"));
}

TEST_F(Check, WrongCommandLinesAreSentences) {
  CommandResult r = check("add", usual({"--sizes", "even"}));
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.error, "tilewright: --sizes takes odd, not 'even'\n");
  r = check("add", {"--grid", "1", "x=randn:f32[32]", "out=empty:f32[32]", "n=32", "BLOCK=32",
                    "--sizes", "odd"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.error, HasSubstr("changes sizes that have names, and there are none"));
  r = check("add", usual({"--block", "32"}));
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.error, "tilewright: --block and --shared go with FILE.cu:KERNEL\n");
  r = tilewright_command({"check", folder_.path() + "/no_such_program"});
  EXPECT_NE(r.exit_code, 0);
  EXPECT_THAT(r.error, HasSubstr("no_such_program"));
}

// ---- CUDA sources.

constexpr const char* cuda_source = R"(__global__ void reversed(const float* x, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void reversed_right(const float* x, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void divergent(const float* x, float* out) {
  if (threadIdx.x < 32) { __syncthreads(); }
  else { __syncthreads(); }
  out[threadIdx.x] = x[threadIdx.x];
}
__global__ void copy_race(const float* x, float* out) {
  __shared__ float copy[64];
  copy[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  copy[63 - threadIdx.x] = copy[threadIdx.x];
  out[threadIdx.x] = copy[threadIdx.x];
}
__global__ void outside(const float* x, float* out) {
  out[threadIdx.x + 1] = x[threadIdx.x];
}
)";

struct CudaCase {
  const char* kernel;
  const char* kind;  // empty: nothing is found
  int line;
};

TEST_F(Check, CudaKernelsAreCheckedByEmulation) {
  const std::string file = folder_.path() + "/k.cu";
  std::ofstream(file) << cuda_source;
  for (const CudaCase& each :
       {CudaCase{"reversed", "race", 4}, CudaCase{"reversed_right", "", 0},
        CudaCase{"divergent", "barrier", 13}, CudaCase{"copy_race", "race", 21},
        CudaCase{"outside", "out-of-bounds", 25}}) {
    SCOPED_TRACE(each.kernel);
    const CommandResult r =
        tilewright_command({"check", file + ":" + each.kernel, "--grid", "1", "--block", "64",
                            "x=randn:f32[64]", "out=empty:f32[64]", "--json"});
    const Json json = parse_json(r.output);
    ASSERT_EQ(json["findings"].size(), *each.kind == 0 ? 0u : 1u) << r.output << r.error;
    EXPECT_EQ(r.exit_code, *each.kind == 0 ? 0 : 4);
    if (*each.kind == 0) continue;
    const std::string kind = json["findings"][0]["kind"];
    // By which thread comes first it is a race, or a read of what nobody wrote yet.
    EXPECT_TRUE(kind == each.kind || (kind == "unwritten" && each.line == 4)) << r.output;
    if (each.line != 13) {
      EXPECT_EQ(json["findings"][0]["line"], each.line) << r.output;
    }
  }
}

}  // namespace
}  // namespace tilewright::cli
