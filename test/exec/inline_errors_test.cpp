// SPDX-License-Identifier: Apache-2.0
// exec/inline_errors_test.cpp — what is said when an inline source, its options or its use is
// wrong.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/settings.h"
#include "inline_on.h"

namespace tilewright {
namespace {

InlineOptions cuda(const std::string& source, Device device = Device::cpu()) {
  InlineOptions options;
  options.cuda_sources = {source};
  options.name = "demo";
  options.device = device;
  return options;
}

CompileError compile_error_of(const InlineOptions& options) {
  try {
    load_inline(options);
  } catch (const CompileError& error) {
    return error;
  }
  ADD_FAILURE() << "it compiles";
  return CompileError("", "");
}

TEST(InlineErrors, NoSource) {
  EXPECT_EQ(message_of<ArgumentError>([] { load_inline({}); }),
            "load_inline needs a source: give cuda_sources or cpp_sources");
}

TEST(InlineErrors, MacrosThatAreNone) {
  for (const char* macro : {"A B", "", "=3", "2x", "A B=3"}) {
    InlineOptions options = cuda("__global__ void k() {}\n");
    options.macros = {macro};
    EXPECT_EQ(message_of<ArgumentError>([&] { load_inline(options); }),
              fmt::format("'{}' in macros defines nothing; write NAME or NAME=value", macro));
  }
}

TEST(InlineErrors, AHeaderThatIsMissing) {
  const CompileError error = compile_error_of(
      cuda("#include <missing.h>\n__global__ void k(float* x) { *x = __expf(1); }"));
  EXPECT_EQ(error.log(),
            "demo.cu:1:10: fatal error: missing.h: No such file or directory\n"
            "compilation terminated.\n");
}

TEST(InlineErrors, UnknownKernel) {
  const InlineModule m = load_inline(
      cuda("__global__ void gelu_kernel(float* x) {}\n__global__ void add(float* x) {}\n"));
  EXPECT_EQ(message_of<ArgumentError>([&] { m.kernel("gelu_kernal"); }),
            "source 'demo' has no kernel 'gelu_kernal'; did you mean 'gelu_kernel'?");
  EXPECT_EQ(message_of<ArgumentError>([&] { m.kernel("add<float>"); }),
            "kernel 'add' is no template; launch it by kernel(\"add\")");
  EXPECT_EQ(message_of<ArgumentError>([&] { m("add"); }),
            "source 'demo' has no function 'add'; there are none");
}

TEST(InlineErrors, UnknownFunction) {
  InlineOptions options = cuda("__global__ void k(float* x) {}\nint host() { return 1; }\n");
  options.functions = {"hosts"};
  EXPECT_EQ(message_of<ArgumentError>([&] { load_inline(options); }),
            "'hosts' in functions is not a host function of 'demo'; did you mean 'host'?");
  options.functions = {"k"};
  EXPECT_EQ(message_of<ArgumentError>([&] { load_inline(options); }),
            "'k' in functions is a kernel of 'demo', not a host function; leave it out and launch "
            "it by kernel(\"k\")");
}

TEST(InlineErrors, EmulatedSourceThatDoesNotCompile) {
  const CompileError error =
      compile_error_of(cuda("__global__ void k(float* x) {\n  x[0] = missing;\n}\n"));
  EXPECT_TRUE(first_line(error.what()).starts_with("source 'demo' does not compile ("))
      << error.what();
  EXPECT_NE(error.log().find("demo.cu:2:"), std::string::npos) << error.log();
}

TEST(InlineErrors, SeveralSourcesAreNamed) {
  InlineOptions options = cuda("__global__ void k(float* x) {}\n");
  options.cuda_sources.push_back("\n\n__global__ void j(float* x) { x[0] = missing; }\n");
  const CompileError error = compile_error_of(options);
  EXPECT_NE(error.log().find("cuda_sources[1]:3:"), std::string::npos) << error.log();
}

TEST(InlineErrors, HostFunctionThatDoesNotCompile) {
  InlineOptions options = cuda(
      "#include <torch/extension.h>\n__global__ void k(float* x) {\n}\n\nint f(torch::Tensor x) "
      "{\n  return x.numel() + missing;\n}\n");
  options.functions = {"f"};
  const CompileError error = compile_error_of(options);
  EXPECT_NE(error.log().find("demo.cu:6:"), std::string::npos) << error.log();
}

TEST(InlineErrors, WhatTheTorchHeaderLacksIsNamed) {
  InlineOptions options = cuda(
      "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) {\n  return "
      "torch::einsum(\"ij\", {x});\n}\n");
  options.functions = {"f"};
  EXPECT_EQ(message_of<CompileError>([&] { load_inline(options); }),
            "source 'demo' does not compile: torch::einsum is not part of tilewright's "
            "torch-shaped header (demo.cu:3)");
  options.cuda_sources = {
      "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) {\n\n  return "
      "x.cholesky();\n}\n"};
  EXPECT_EQ(message_of<CompileError>([&] { load_inline(options); }),
            "source 'demo' does not compile: torch::Tensor::cholesky is not part of tilewright's "
            "torch-shaped header (demo.cu:4)");
  options.cuda_sources = {
      "#include <torch/extension.h>\nint f(int x) {\n  cudaGraphLaunch(x);\n  return 1;\n}\n"};
  EXPECT_EQ(message_of<CompileError>([&] { load_inline(options); }),
            "source 'demo' does not compile: cudaGraphLaunch is not part of tilewright's "
            "CUDA-shaped header (demo.cu:3)");
}

TEST(InlineErrors, UnsupportedCudaIsNamed) {
  const std::string message = message_of<UserError>([] {
    load_inline(
        cuda("__global__ void k(int* x) {\n  asm(\"mov.u32 %0, 1;\" : \"=r\"(x[0]));\n}\n"));
  });
  EXPECT_EQ(message, "demo.cu:2:3: error: emulation on the CPU does not support inline PTX (asm)");
}

TEST(InlineErrors, TornLaunch) {
  InlineOptions options =
      cuda("__global__ void k(int* x) {}\nvoid f(int n) {\n  k<<<1, n>>(nullptr);\n}\n");
  options.functions = {"f"};
  EXPECT_EQ(message_of<UserError>([&] { load_inline(options); }),
            "demo.cu:3:4: error: this launch has no >>>");
}

TEST(InlineErrors, NoHostCompiler) {
  Settings changed = settings();
  changed.host_compiler = "no-such-compiler";
  const SettingsOverride use(changed);
  const std::string message =
      message_of<MissingError>([] { load_inline(cuda("__global__ void lonely(float* x) {}\n")); });
  EXPECT_NE(message.find("no-such-compiler"), std::string::npos) << message;
}

TEST(InlineErrors, NoGpu) {
  if (cuda_device_count() > 0) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THROW(load_inline(cuda("__global__ void k(float* x) {}\n", Device::cuda())), MissingError);
}

TEST(InlineErrors, BuildDirectoryKeepsSourceAndLog) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "tilewright_build_directory_test";
  std::filesystem::remove_all(folder);
  InlineOptions options = cuda("__global__ void k(float* x) { x[0] = missing; }\n");
  options.build_directory = folder.string();
  EXPECT_THROW(load_inline(options), CompileError);
  std::stringstream log;
  log << std::ifstream(folder / "demo.host.log").rdbuf();
  EXPECT_NE(log.str().find("missing"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "demo.host.cpp"));
  std::filesystem::remove_all(folder);
}

TEST(InlineErrors, VerboseSpeaksOnStderr) {
  InlineOptions options = cuda("__global__ void k(float* x) { x[0] = 1; }\n");
  options.verbose = true;
  testing::internal::CaptureStderr();
  load_inline(options);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("tilewright: compiling 'demo' for "), std::string::npos) << text;
}

// ---- Compiling for a GPU that need not be here.

CompiledSource compile_or_skip(const InlineOptions& options, bool* has_nvrtc) {
  *has_nvrtc = true;
  try {
    return compile_inline(options, "sm_90a");
  } catch (const MissingError&) {
    *has_nvrtc = false;
    return {};
  }
}

TEST(InlineCompile, KernelsForAnyTarget) {
  InlineOptions options = cuda(R"(
#include <torch/extension.h>
#include <vector>
constexpr int block_size = 128;
struct HostOnly { std::vector<int> values; };
inline unsigned int cdiv(unsigned int a, unsigned int b) { return (a + b - 1) / b; }
template <class T> __global__ void scale(T* x, T s) { x[threadIdx.x] *= s; }
__global__ void gelu(const float* in, float* out, int64_t n) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = std::max(0.f, in[i]) + std::exp(in[i]) + (in[i] < INFINITY ? 0.f : FLT_MAX);
}
torch::Tensor run(torch::Tensor x) { gelu<<<cdiv(x.numel(), block_size), block_size>>>(nullptr, nullptr, 0); return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
)");
  options.extra_cuda_cflags = {"-O3",       "--use_fast_math",
                               "-lineinfo", "-Xcompiler",
                               "-fopenmp",  "-gencode=arch=compute_80,code=sm_80"};
  bool has_nvrtc = false;
  const CompiledSource result = compile_or_skip(options, &has_nvrtc);
  if (!has_nvrtc) GTEST_SKIP() << "there is no NVRTC here";
  EXPECT_EQ(result.target, "sm_90a");
  EXPECT_GT(result.binary.size(), 1000u);
}

TEST(InlineCompile, UtilitiesOfTheStandardLibraryAndMacros) {
  InlineOptions options = cuda(R"(
template <class U> __device__ int pass(U&& a) { return std::max<int>(std::forward<U>(a), N); }
__global__ void k(int* p) { int b = p[0]; std::swap(p[1], b); p[2] = pass(std::move(b)) + T(x); }
)");
  options.macros = {"N=4", "T=int", "x=5"};
  bool has_nvrtc = false;
  const CompiledSource result = compile_or_skip(options, &has_nvrtc);
  if (!has_nvrtc) GTEST_SKIP() << "there is no NVRTC here";
  EXPECT_GT(result.binary.size(), 1000u);
}

TEST(InlineCompile, ErrorsHaveTheUsersLines) {
  bool has_nvrtc = false;
  std::string log;
  try {
    compile_or_skip(cuda("\nvoid host() {\n  anything();\n}\n__global__ void k(float* x) {\n  x[0] "
                         "= missing;\n}\n"),
                    &has_nvrtc);
  } catch (const CompileError& error) {
    log = error.log();
  }
  if (!has_nvrtc) GTEST_SKIP() << "there is no NVRTC here";
  EXPECT_NE(log.find("demo.cu(6): error"), std::string::npos) << log;
}

TEST(InlineCompile, MissingHeaderIsNamed) {
  bool has_nvrtc = false;
  const std::string message = message_of<CompileError>([&] {
    compile_or_skip(cuda("#include <no_such_header.h>\n__global__ void k(float* x) {}\n"),
                    &has_nvrtc);
  });
  if (!has_nvrtc) GTEST_SKIP() << "there is no NVRTC here";
  EXPECT_EQ(message,
            "source 'demo' does not compile: the header 'no_such_header.h' was not found beside "
            "NVRTC (demo.cu:1); install the "
            "CUDA toolkit's headers or name their folder in extra_include_paths");
}

TEST(InlineCompile, CppHasNoGpuTarget) {
  InlineOptions options;
  options.cpp_sources = {"void f(float* x) {}\n"};
  options.name = "demo";
  EXPECT_EQ(message_of<ArgumentError>([&] { compile_inline(options, "sm_90a"); }),
            "source 'demo' is C++ for the CPU and cannot be compiled for sm_90a");
  EXPECT_GT(compile_inline(options, "cpu").binary.size(), 100u);
}

}  // namespace
}  // namespace tilewright
