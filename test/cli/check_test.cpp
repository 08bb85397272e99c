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
                "< n; a block pointer takes boundary_check\n\n" +
                file_ +
                ":13:5: out-of-bounds: store writes index 100 of buffer 'out', which has 100 "
                "elements of float32\n"
                "        tl.store(out + i, tl.load(x + i) + 1)\n"
                "        ^\n"
                "  in program (3, 0, 0), element [4]; 28 times\n"
                "  the access has no mask\n"
                "  remedy: give it a mask that is false beyond the end, such as mask=offsets < n; "
                "a block pointer takes boundary_check\n"
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

TEST_F(Check, EveryLaunchOfAProgramIsChecked) {
  const CommandResult r =
      tilewright_command({"check", "--json", "--", TW_CHECKED_PROGRAM, file_, "0"});
  EXPECT_EQ(r.exit_code, 4) << r.error;
  EXPECT_THAT(r.error, HasSubstr("the program's own words"));
  const Json json = parse_json(r.output);
  EXPECT_EQ(json["checked"], "2 launches");
  ASSERT_EQ(json["findings"].size(), 2u) << r.output;
  for (const Json& finding : json["findings"]) {
    EXPECT_EQ(finding["kind"], "out-of-bounds");
    EXPECT_EQ(finding["line"], 13);
    EXPECT_EQ(finding["kernel"], "forgotten");
  }
  // What is found goes before how the program ended.
  const CommandResult failed = tilewright_command({"check", "--", TW_CHECKED_PROGRAM, file_, "3"});
  EXPECT_EQ(failed.exit_code, 4);
  EXPECT_THAT(failed.output, HasSubstr("2 findings in 2 launches"));
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

// Each line with a bug says what is found there.
constexpr const char* cuda_source = R"(#include <cuda_pipeline.h>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void reversed(const float* x, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  out[threadIdx.x] = tile[63 - threadIdx.x];  // finds: race
}
__global__ void reversed_right(const float* x, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void divergent(const float* x, float* out) {
  if (threadIdx.x < 32) { __syncthreads(); }  // finds: barrier
  else { __syncthreads(); }
  out[threadIdx.x] = x[threadIdx.x];
}
__global__ void divergent_right(const float* x, float* out) {
  if (blockIdx.x < 1) { __syncthreads(); }
  else { __syncthreads(); }
  out[threadIdx.x] = x[threadIdx.x];
}
__global__ void not_all_meet(const float* x, float* out) {
  if (threadIdx.x == 0) __syncthreads();
  else __syncwarp();  // finds: barrier
  out[threadIdx.x] = x[threadIdx.x];
}
__global__ void copy_race(const float* x, float* out) {
  __shared__ float copy[64];
  copy[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  copy[63 - threadIdx.x] = copy[threadIdx.x];  // finds: race
  out[threadIdx.x] = x[threadIdx.x];
}
__global__ void never_written(const float* x, float* out) {
  __shared__ float tile[64];
  if (threadIdx.x != 3) tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // finds: unwritten
}
__global__ void outside(const float* x, float* out) {
  out[threadIdx.x + 1] = x[threadIdx.x];  // finds: out-of-bounds
}
__global__ void not_waited(const float* x, float* out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], x + threadIdx.x, 4);
  __pipeline_commit();
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // finds: copy
}
__global__ void waited_for_one_group_right(const float* x, float* out) {
  __shared__ float tile[2][64];
  for (int s = 0; s < 2; ++s) {
    __pipeline_memcpy_async(&tile[s][threadIdx.x], x + threadIdx.x, 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  out[threadIdx.x] = tile[0][63 - threadIdx.x];
}
__global__ void waited_for_too_few(const float* x, float* out) {
  __shared__ float tile[2][64];
  for (int s = 0; s < 2; ++s) {
    __pipeline_memcpy_async(&tile[s][threadIdx.x], x + threadIdx.x, 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  out[threadIdx.x] = tile[1][63 - threadIdx.x];  // finds: copy
}
__global__ void waited_without_barrier(const float* x, float* out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], x + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[63 - threadIdx.x];  // finds: race
}
__global__ void neighbours(const float* x, float* out) {
  out[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] += out[threadIdx.x ^ 1];  // finds: race
}
__global__ void neighbours_right(const float* x, float* out) {
  out[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const float other = out[threadIdx.x ^ 1];
  __syncthreads();
  out[threadIdx.x] += other;
}
__global__ void stored_while_copied(const float* x, float* out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], out + threadIdx.x, 4);
  __pipeline_commit();
  out[threadIdx.x] = x[threadIdx.x];  // finds: copy
  __pipeline_wait_prior(0);
}
__global__ void group_not_waited(const float* x, float* out) {
  __shared__ __align__(16) float tile[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x, sizeof tile);
  block.sync();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // finds: copy
}
__global__ void group_waited_right(const float* x, float* out) {
  __shared__ __align__(16) float tile[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x, sizeof tile);
  cg::wait(block);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void copied_from_outside(const float* x, float* out) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], x + threadIdx.x + 1, 4);  // finds: out-of-bounds
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void several(const float* x, float* out) {
  __shared__ float a[64];
  __shared__ float b[64];
  const int t = threadIdx.x;
  a[t] = x[t];
  b[t] = a[63 - t];  // finds: race
  __syncthreads();
  const float v = x[t + (t == 40)] + x[t == 9 ? 64 : t];  // finds: out-of-bounds
  a[0] = v;  // finds: race
  out[t + 1] = b[t] + v;  // finds: out-of-bounds
}
)";

TEST_F(Check, CudaKernelsAreCheckedByEmulationAndEachThingIsToldOnce) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "builds with sanitizers have no checks of shared memory";
#endif
  const std::string file = folder_.path() + "/k.cu";
  std::ofstream(file) << cuda_source;
  std::vector<PlantedKernel> kernels;
  std::istringstream text(cuda_source);
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, std::regex("^__global__ void (\\w+)\\(")))
      kernels.push_back({file, match[1], {}, {}});
    if (std::regex_search(line, match, std::regex("// finds: (\\S+)")))
      kernels.back().findings.emplace(match[1], number);
  }
  EXPECT_EQ(kernels.size(), 19u);
  for (const PlantedKernel& kernel : kernels) {
    SCOPED_TRACE(kernel.name);
    EXPECT_EQ(kernel.findings.empty(), kernel.name.ends_with("_right"));
    const CommandResult r =
        tilewright_command({"check", file + ":" + kernel.name, "--grid", "1", "--block", "64",
                            "x=randn:f32[64]", "out=empty:f32[64]", "--json"});
    const Json json = parse_json(r.output);
    EXPECT_EQ(r.exit_code, kernel.findings.empty() ? 0 : 4);
    EXPECT_EQ(json["findings"].size(), kernel.findings.size()) << r.output << r.error;
    std::set<std::pair<std::string, int>> found;
    for (const Json& finding : json["findings"]) found.emplace(finding["kind"], finding["line"]);
    EXPECT_EQ(found, kernel.findings) << r.output;
  }
}

}  // namespace
}  // namespace tilewright::cli
