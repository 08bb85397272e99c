// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/nvrtc_test.cpp — CUDA source becomes a cubin, and what is wrong with it is said.
// Needs NVRTC, no GPU.
#include <string_view>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "gpu_kernels.h"
#include "runtime/compile.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

KernelSource cuda_source(std::string name, std::string text) {
  KernelSource source;
  source.name = std::move(name);
  source.text = std::move(text);
  return source;
}

std::string_view as_text(const Binary& binary) {
  return {reinterpret_cast<const char*>(binary.bytes.data()), binary.bytes.size()};
}

const char* const add_source = R"(extern "C" __global__ void add(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
})";

class Nvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  }
};

class NvrtcTargets : public Nvrtc, public ::testing::WithParamInterface<const char*> {};

TEST_P(NvrtcTargets, MakesACubinWithTheKernel) {
  const Binary binary =
      compile_with_nvrtc(cuda_source("add.cu", add_source), Target::parse(GetParam()));
  EXPECT_TRUE(
      as_text(binary).starts_with("\x7f"
                                  "ELF"));
  EXPECT_THAT(std::string(as_text(binary)), HasSubstr(".text.add"));
  EXPECT_THAT(binary.log, HasSubstr("registers"));
  EXPECT_TRUE(binary.symbols.empty());
}

// What the GPU tests run must at least compile where there is no GPU.
TEST_P(NvrtcTargets, CompilesTheKernelsOfTheGpuTests) {
  const KernelSource source = gpu_kernel_source();
  const Binary binary = compile_with_nvrtc(source, Target::parse(GetParam()));
  EXPECT_EQ(binary.symbols.size(), source.name_expressions.size());
  EXPECT_THAT(binary.log, Not(HasSubstr("error")));
}

INSTANTIATE_TEST_SUITE_P(All, NvrtcTargets, ::testing::Values("sm_75", "sm_80", "sm_90", "sm_90a"));

TEST_F(Nvrtc, TheSameSourceGivesTheSameCubin) {
  const Target target = Target::parse("sm_90a");
  const Binary first = compile_with_nvrtc(cuda_source("add.cu", add_source), target);
  const Binary second = compile_with_nvrtc(cuda_source("add.cu", add_source), target);
  EXPECT_EQ(first.bytes, second.bytes);
  EXPECT_EQ(first.log, second.log) << "no times in it";
}

TEST_F(Nvrtc, NameExpressionsBecomeSymbols) {
  KernelSource source = cuda_source("scale.cu", R"(
template <class T, int N> __global__ void scale(T* x) { x[threadIdx.x] *= N; }
namespace inner { __global__ void plain(int* x) { *x = 1; } }
)");
  source.name_expressions = {"scale<float, 4>", "scale<double, 2>", "inner::plain"};
  const Binary binary = compile_with_nvrtc(source, Target::parse("sm_80"));
  ASSERT_EQ(binary.symbols.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(binary.symbols[i].first, source.name_expressions[i]);
    EXPECT_THAT(binary.symbols[i].second, StartsWith("_Z"));
    EXPECT_THAT(std::string(as_text(binary)), HasSubstr(".text." + binary.symbols[i].second));
  }
}

TEST_F(Nvrtc, HeadersInMemoryComeBeforeTheDisk) {
  KernelSource source = cuda_source("k.cu", R"(
#include "mine.h"
#include <cuda_fp16.h>
extern "C" __global__ void k(int* x) { *x = MINE + FROM_STAND_IN; }
)");
  source.headers = {{"mine.h", "#define MINE 1\n"}, {"cuda_fp16.h", "#define FROM_STAND_IN 2\n"}};
  EXPECT_FALSE(compile_with_nvrtc(source, Target::parse("sm_90a")).bytes.empty());
}

TEST_F(Nvrtc, OptionsReachTheCompiler) {
  KernelSource source =
      cuda_source("k.cu", "extern \"C\" __global__ void k(int* x) { *x = VALUE; }");
  source.options = {"-DVALUE=7", "--std=c++20"};
  EXPECT_FALSE(compile_with_nvrtc(source, Target::parse("sm_90a")).bytes.empty());
}

TEST_F(Nvrtc, UnknownOptionIsNamed) {
  KernelSource source = cuda_source("add.cu", add_source);
  source.options = {"--no-such-option"};
  try {
    compile_with_nvrtc(source, Target::parse("sm_90a"));
    FAIL() << "must throw";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("does not know one of the options of 'add.cu' (--no-such-option)"),
                      HasSubstr("unrecognized option")));
  }
}

TEST_F(Nvrtc, ErrorsCarryTheUsersFileAndLine) {
  try {
    compile_with_nvrtc(
        cuda_source("my_kernel.cu", "extern \"C\" __global__ void k(float* x) {\n  x[0] = y;\n}\n"),
        Target::parse("sm_90a"));
    FAIL() << "must throw";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), StartsWith("'my_kernel.cu' does not compile for sm_90a:\n"));
    EXPECT_THAT(error.log(), AllOf(HasSubstr("my_kernel.cu(2): error"),
                                   HasSubstr("identifier \"y\" is undefined")));
    EXPECT_THAT(error.log(), Not(EndsWith("\n")));
  }
}

TEST_F(Nvrtc, LineDirectivesAreFollowed) {
  try {
    compile_with_nvrtc(
        cuda_source("generated",
                    "#line 40 \"user.cu\"\nextern \"C\" __global__ void k() { oops; }\n"),
        Target::parse("sm_80"));
    FAIL() << "must throw";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.log(), HasSubstr("user.cu(40): error"));
  }
}

TEST_F(Nvrtc, UnknownNameExpressionIsACompileError) {
  KernelSource source = cuda_source("add.cu", add_source);
  source.name_expressions = {"no_such_kernel<float>"};
  EXPECT_THROW(compile_with_nvrtc(source, Target::parse("sm_90a")), CompileError);
}

TEST_F(Nvrtc, TargetThatNvrtcDoesNotKnow) {
  Target target = Target::parse("sm_90a");
  target.name = "sm_990";
  try {
    compile_with_nvrtc(cuda_source("add.cu", add_source), target);
    FAIL() << "must throw";
  } catch (const MissingError& error) {
    EXPECT_THAT(error.what(),
                AllOf(StartsWith("NVRTC "), HasSubstr(" does not compile for sm_990 (it knows sm_"),
                      EndsWith("install a newer one or set TILEWRIGHT_CUDA_HOME")));
  }
  target.name = "sm_10";
  EXPECT_THROW(compile_with_nvrtc(cuda_source("add.cu", add_source), target), MissingError);
}

TEST_F(Nvrtc, CpuTargetIsRefused) {
  EXPECT_THROW(compile_with_nvrtc(cuda_source("add.cu", add_source), Target::parse("cpu")),
               ArgumentError);
}

TEST_F(Nvrtc, EmptySourceHasNoKernels) {
  EXPECT_FALSE(
      compile_with_nvrtc(cuda_source("empty.cu", ""), Target::parse("sm_90a")).bytes.empty());
}

TEST_F(Nvrtc, SeveralThreadsCompileAtOnce) {
  std::vector<Binary> binaries(3);
  std::vector<std::thread> threads;
  for (Binary& binary : binaries)
    threads.emplace_back([&binary] {
      binary = compile_with_nvrtc(cuda_source("add.cu", add_source), Target::parse("sm_80"));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(binaries[0].bytes.empty());
  EXPECT_EQ(binaries[0].bytes, binaries[1].bytes);
  EXPECT_EQ(binaries[0].bytes, binaries[2].bytes);
}

TEST_F(Nvrtc, IdentityNamesTheLibraryAndStaysTheSame) {
  EXPECT_THAT(nvrtc_identity(), HasSubstr(cuda::nvrtc_path()));
  EXPECT_EQ(nvrtc_identity(), nvrtc_identity());
}

// ---- Without NVRTC.

TEST(NvrtcMissing, HiddenIsSaid) {
  Settings hidden = settings();
  hidden.cuda_home = "none";
  const SettingsOverride override_settings(hidden);
  for (const auto& ask :
       {std::function<void()>([] { nvrtc_identity(); }),
        std::function<void()>([] { compile_with_nvrtc({}, Target::parse("sm_90a")); })}) {
    try {
      ask();
      FAIL() << "must throw";
    } catch (const MissingError& error) {
      EXPECT_STREQ(error.what(),
                   "NVRTC, which compiles CUDA source, is hidden by TILEWRIGHT_CUDA_HOME=none; "
                   "unset it to use NVRTC");
    }
  }
}

}  // namespace
}  // namespace tilewright
