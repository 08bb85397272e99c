// SPDX-License-Identifier: Apache-2.0
// load_inline/texts_test.cpp — the texts that the compilers get: what is blanked, rewritten, added,
// and that lines stay put.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "load_inline/compile_errors.h"
#include "load_inline/compiler_flags.h"
#include "load_inline/device_text.h"
#include "load_inline/hidden_macros.h"
#include "load_inline/host_text.h"
#include "load_inline/inline_program.h"
#include "load_inline/kernel_stubs.h"
#include "load_inline/launch_syntax.h"

namespace tilewright {
namespace {

std::string launches(const std::string& text) {
  TextEdits edits(text);
  rewrite_launches(text, "a.cu", edits);
  return edits.apply();
}

TEST(LaunchSyntax, Rewrites) {
  const std::pair<const char*, const char*> cases[] = {
      {"k<<<1, 2>>>(x);", "(::tilewright_inline::configure(1, 2), k(x));"},
      {"k<<<dim3(2, 3), f<4>(n), n >> 1, s>>>(a, b(c))",
       "(::tilewright_inline::configure(dim3(2, 3), f<4>(n), n >> 1, s), k(a, b(c)))"},
      {"a::b<T, (N > 2)><<<g, b>>>()",
       "(::tilewright_inline::configure(g, b), a::b<T, (N > 2)>())"},
      {"if (x) ::k<T><<<g, b>>>(y); else z();",
       "if (x) (::tilewright_inline::configure(g, b), ::k<T>(y)); else z();"},
      {"this->kernel<<<g, b>>>(y)", "(::tilewright_inline::configure(g, b), this->kernel(y))"},
      {"(*pointer)<<<g, b>>>(y)", "(::tilewright_inline::configure(g, b), (*pointer)(y))"},
      {"table[i]<<<g, b>>>(y)", "(::tilewright_inline::configure(g, b), table[i](y))"},
      {"#define RUN(k, ...) k<<<1, 1>>>(__VA_ARGS__)\n",
       "#define RUN(k, ...) (::tilewright_inline::configure(1, 1), k(__VA_ARGS__))\n"},
      {"auto s = \"k<<<1, 1>>>()\"; a << b; a < b;", "auto s = \"k<<<1, 1>>>()\"; a << b; a < b;"}};
  for (const auto& [before, after] : cases) EXPECT_EQ(launches(before), after);
}

TEST(LaunchSyntax, KeepsLines) {
  const std::string text = "k\n<<<1,\n 2>>>(x,\n y);\nlast";
  const std::string result = launches(text);
  EXPECT_EQ(std::count(result.begin(), result.end(), '\n'), 4);
  EXPECT_TRUE(result.ends_with("\nlast"));
}

TEST(LaunchSyntax, TornLaunches) {
  for (const char* text :
       {"k<<<1, 2>>(x);", "k<<<1, 2>>>;", "k<<<1, 2>>>(x;", "<<<1, 2>>>(x);", "k<<<"})
    EXPECT_THROW(launches(text), SyntaxOrTypeError) << text;
}

TEST(TextEdits, InsertsReplacesAndNests) {
  TextEdits edits("abcdef");
  edits.insert(0, "<");
  edits.replace_exactly({1, 3}, "X");
  edits.replace_exactly({2, 3}, "lost");
  edits.insert(6, ">");
  EXPECT_EQ(edits.apply(), "<aXdef>");
  TextEdits lines("a\nb\nc");
  lines.blank({0, 3});
  EXPECT_EQ(lines.apply(), "\n\nc");
}

const char* const source_text = R"(#include <torch/extension.h>
#include <vector>
struct Host { std::vector<int> v; };
struct Both { float a; __device__ float f() { return a * threadIdx.x; } };
__device__ int helper(int x) { return x; }
__host__ __device__ int shared(int x) { return x; }
constexpr int size = 4;
template <typename T, int N>
__global__ void k(T* p, int) {
  p[0] = helper(N);
}
torch::Tensor run(torch::Tensor x) {
  k<float, 2><<<1, 1>>>(x.data_ptr<float>(), 3);
  assert(x.numel() > 0);
  return x;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
)";

std::vector<InlineSource> sources() { return {make_inline_source(source_text, "demo.cu", true)}; }

// From `#line 1 "demo.cu"` on, as many lines as the source has.
std::string user_part(const std::string& text) {
  const std::string mark = "#line 1 \"demo.cu\"\n";
  const std::string rest = text.substr(text.rfind(mark) + mark.size());
  std::size_t end = 0;
  for (int i = 0; i < 17; ++i) end = rest.find('\n', end) + 1;
  return rest.substr(0, end);
}

TEST(DeviceText, KeepsDeviceCodeOnItsLines) {
  EXPECT_EQ(user_part(nvrtc_text(sources())),
            "\n\n\n"
            "struct Both { float a; __device__ float f() { return a * threadIdx.x; } };\n"
            "__device__ int helper(int x) { return x; }\n"
            "__host__ __device__ int shared(int x) { return x; }\n"
            "constexpr int size = 4;\n"
            "template <typename T, int N>\n"
            "__global__ void k(T* p, int) {\n"
            "  p[0] = helper(N);\n"
            "}\n\n\n\n\n\n\n");
}

TEST(HostText, PutsStubsInPlaceOfKernels) {
  EXPECT_EQ(user_part(gpu_host_text(sources(), {"run"})),
            "\n\n"
            "struct Host { std::vector<int> v; };\n"
            "struct Both { float a; __device__ float f() ; };\n"
            "\n"
            "__host__ __device__ int shared(int x) { return x; }\n"
            "constexpr int size = 4;\n"
            "template <typename T, int N>\n"
            "__global__ void k(T* p, int tw_parameter_1) { "
            "::tilewright_inline::launch(::tilewright_inline::KernelName(\"k\")"
            ".types<T>().values(N).c_str(), nullptr, p, tw_parameter_1); }\n\n\n"
            "torch::Tensor run(torch::Tensor x) {\n"
            "  (::tilewright_inline::configure(1, 1), k<float, 2>(x.data_ptr<float>(), 3));\n"
            "  TORCH_CHECK(x.numel() > 0);\n"
            "  return x;\n"
            "}\n"
            "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"run\", &run); }\n");
}

TEST(HostText, IncludesOnlyWhatIsUsed) {
  const StandardIncludes includes = standard_includes(sources());
  EXPECT_EQ(includes.text, "#include <vector>\n#define TW_WITH_VECTOR 1\n");
  EXPECT_TRUE(includes.beyond_basic);
  const std::vector<InlineSource> plain = {make_inline_source(
      "#include <math.h>\nfloat f(float x) { return std::max(x, 1.f); }", "a.cu", true)};
  EXPECT_FALSE(standard_includes(plain).beyond_basic);
}

// Macros and checks of the emulation are for the user's parts, which #line directives name.
TEST(DeviceText, AFileOfAFolderNamedLikeOursIsTheUsers) {
  const std::vector<InlineSource> named = {
      make_inline_source("__global__ void k() {}", "tilewright/k.cu", true)};
  KernelSource source;
  source.text = nvrtc_text(named);
  source.options = {"-DN=4"};
  hide_macros(source);
  EXPECT_NE(source.text.find("#define N 4\n#line 1 \"./tilewright/k.cu\"\n"), std::string::npos);
}

TEST(KernelStubs, Names) {
  EXPECT_EQ(thread_name("k"), "tw_thread_k");
  EXPECT_EQ(thread_name("a::b::k<x::y>"), "a::b::tw_thread_k<x::y>");
}

TEST(CompilerFlags, ForNvrtc) {
  InlineOptions options;
  options.macros = {"A", "B=2"};
  options.extra_cuda_cflags = {"-O3",
                               "--use_fast_math",
                               "-Xcompiler",
                               "-fopenmp",
                               "-maxrregcount",
                               "64",
                               "-gencode=arch=compute_90,code=sm_90",
                               "-DX=1",
                               "-I",
                               "folder",
                               "-std=c++20",
                               "--ftz=true",
                               "-lineinfo",
                               "--expt-relaxed-constexpr"};
  const CompilerFlags flags = nvrtc_flags(options);
  EXPECT_EQ(flags.options,
            (std::vector<std::string>{"-default-device", "-DA", "-DB=2", "--use_fast_math",
                                      "--maxrregcount=64", "-DX=1", "-Ifolder", "-std=c++20",
                                      "--ftz=true"}));
  ASSERT_EQ(flags.notes.size(), 2u);
  EXPECT_EQ(
      flags.notes[0],
      "flag '-Xcompiler=-fopenmp' is for the host compiler or linker of nvcc and is left out");
  EXPECT_EQ(flags.notes[1],
            "flag '-gencode=arch=compute_90,code=sm_90' is left out: the device decides the "
            "architecture");
}

TEST(CompileErrors, NamesWhatIsMissing) {
  const std::pair<const char*, const char*> cases[] = {
      {"a.cu:3:10: error: \u2018einsum\u2019 is not a member of \u2018torch\u2019",
       "torch::einsum is not part of tilewright's torch-shaped header (a.cu:3)"},
      {"a.cu:7:3: error: no member named 'stack' in namespace 'at'",
       "at::stack is not part of tilewright's torch-shaped header (a.cu:7)"},
      {"a.cu:4:12: error: 'using Tensor = class tilewright_tensor::Tensor' {aka 'class "
       "tilewright_tensor::Tensor'} has no member named 'svd'",
       "torch::Tensor::svd is not part of tilewright's torch-shaped header (a.cu:4)"},
      {"a.cu:4:12: error: 'cudaLaunchKernelEx' was not declared in this scope",
       "cudaLaunchKernelEx is not part of tilewright's CUDA-shaped header (a.cu:4)"},
      {"a.cu:4:12: error: 'TORCH_LIBRARY' was not declared in this scope",
       "TORCH_LIBRARY is not part of tilewright's torch-shaped header (a.cu:4)"}};
  for (const auto& [line, sentence] : cases) {
    const CompileError error = explained(CompileError("no", line), "demo");
    EXPECT_EQ(std::string(error.what()),
              std::string("source 'demo' does not compile: ") + sentence + "\n" + line);
  }
  EXPECT_STREQ(
      explained(CompileError("no", "a.cu:1:1: error: 'x' was not declared"), "demo").what(),
      "no\na.cu:1:1: error: 'x' was not declared");
}

TEST(InlineProgram, FindsKernelsByBareAndQualifiedNames) {
  InlineOptions options;
  options.cuda_sources = {
      "namespace a { __global__ void k() {} }\n#if X\n__global__ void j() {}\n#endif\n"
      "__global__ void o(int) {}\n__global__ void o(float) {}\n"};
  const InlineProgram program(options, true);
  EXPECT_EQ(program.find(parse_name_expression("k")).name(), "a::k");
  EXPECT_EQ(program.find(parse_name_expression("::a::k")).name(), "a::k");
  EXPECT_TRUE(program.find(parse_name_expression("j")).is_on_demand);
  EXPECT_THROW(program.find(parse_name_expression("o")), ArgumentError);
  const KernelSource source = program.main_source();
  EXPECT_EQ(source.name_expressions, std::vector<std::string>{"a::k"});
}

// NVRTC's own headers and ours take no notice of what the user calls T.
TEST(Nvrtc, MacrosOfAnyName) {
  InlineOptions options;
  options.cuda_sources = {"#include <cuda_fp16.h>\n__global__ void k(float* p) { *p = T(N) + x; }"};
  options.macros = {"T=float", "N=1", "x"};
  const KernelSource source = inline_kernel_source(options, "sm_90a");
  for (const std::string& option : source.options) EXPECT_FALSE(option.starts_with("-D")) << option;
  const std::string expected =
      "#define T float\n#define N 1\n#define x 1\n#line 1 \"inline_extension.cu\"\n";
  EXPECT_NE(source.text.find(expected), std::string::npos) << source.text;
}

}  // namespace
}  // namespace tilewright
