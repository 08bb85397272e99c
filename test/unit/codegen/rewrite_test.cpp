// SPDX-License-Identifier: Apache-2.0
// codegen/rewrite_test.cpp — the rewriter: text, line numbers, what is found, what is refused.
#include "codegen/emulate/rewrite.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "emulated_module.h"

namespace tilewright {
namespace {

std::string rewritten(std::string_view text, bool is_checked = false) {
  const WithCheck check(is_checked);
  const std::string out = emulate_cuda(text, "k.cu").text;
  const std::string head = "#line 1 \"k.cu\"\n";
  EXPECT_EQ(out.substr(0, head.size()), head);
  return out.substr(head.size());
}

std::string error_of(std::string_view text) {
  try {
    emulate_cuda(text, "k.cu");
  } catch (const SyntaxOrTypeError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Rewrite, KnownHeadersGoAndLinesStay) {
  EXPECT_EQ(rewritten("#include <math.h>\n#include \"cuda_runtime.h\" // c\nint a;\n"),
            "\n // c\nint a;\n");
  EXPECT_EQ(rewritten("#include \\\n <cmath>\nint a;"), "\n\nint a;\n");
  EXPECT_EQ(rewritten("#include \"mine.h\"\n"), "#include \"mine.h\"\n");
  EXPECT_EQ(rewritten(""), "\n");
}

#ifndef TW_SANITIZE
TEST(Rewrite, ChecksKnowLinesAndNames) {
  EXPECT_EQ(rewritten("void f(int* x) { __shared__ float a[2], b; a[0] = 1; x = g(); }", true),
            "void f(int* x) { TW_AT __shared__ float a[2], b; tw_emulate::note_shared(\"a\", a); "
            "tw_emulate::note_shared(\"b\", b); TW_AT a[0] = 1; TW_AT x = g(); }\n");
  EXPECT_EQ(
      rewritten("void f() { extern __shared__ int s[]; int* p = s + 4; int i = s[0]; }", true),
      "void f() { TW_AT   int (&s)[] = tw_emulate::dynamic_shared; "
      "tw_emulate::note_dynamic(\"s\", s); TW_AT int* p = s + 4; "
      "tw_emulate::name_pointer(\"p\", p); TW_AT int i = s[0]; }\n");
  // Where a statement cannot begin, nothing is put.
  for (const char* text :
       {"int a[] = {1, 2};\n", "struct S { int a; int b; };\n", "enum { A, B };\n",
        "constexpr int f(int i) { int j = i; return j; }\n",
        "auto x = float4{1, 2}; int y = (int){3};\n", "namespace n { int a; int b; }\n",
        "#line 1 \"tilewright/x.cuh\"\nvoid f() { a; b; }\n"})
    EXPECT_EQ(rewritten(text, true), text);
  EXPECT_EQ(rewritten("void f() { for (a; b; c) d; if (a) b; else c; do d; while (e);\n#if X\ng;\n"
                      "#endif\n}",
                      true),
            "void f() { TW_AT for (a; b; c) d; TW_AT if (a) b; else c; TW_AT do d; while (e);\n#if "
            "X\ng;\n#endif\n}\n");
}

TEST(Rewrite, LoopsWithoutStatementsCountTheirRounds) {
  const std::string at = "tw_emulate::at(__LINE__)";
  EXPECT_EQ(rewritten("void f() { while (*a == 0) ; }", true),
            "void f() { TW_AT while (*a == 0) " + at + "; }\n");
  EXPECT_EQ(rewritten("void f() { for (;;) ; }", true),
            "void f() { TW_AT for (;;) " + at + "; }\n");
  EXPECT_EQ(rewritten("void f() { while (a) {} do {} while (a); }", true),
            "void f() { TW_AT while (a) {TW_AT } TW_AT do {TW_AT } while (a); }\n");
  EXPECT_EQ(rewritten("void f() { if (a) while (b) ; else c; }", true),
            "void f() { TW_AT if (a) while (b) " + at + "; else c; }\n");
  // Neither the end of a do nor an empty function, block or branch.
  for (const char* text : {"void f() { TW_AT do { TW_AT a; } while (b); }\n", "void f() {}\n",
                           "void f() { TW_AT if (a) {} }\n", "void f() { TW_AT if (a) ; }\n"}) {
    std::string plain = text;
    for (std::size_t i; (i = plain.find("TW_AT ")) != std::string::npos;) plain.erase(i, 6);
    EXPECT_EQ(rewritten(plain, true), text);
  }
}
#endif

TEST(Rewrite, SharedMemory) {
  EXPECT_EQ(rewritten("{ __shared__ float a[2][3], b; }"), "{ __shared__ float a[2][3], b; }\n");
  EXPECT_EQ(rewritten("{ static __shared__ int a; }"), "{  __shared__ int a; }\n");
  EXPECT_EQ(rewritten("{ __shared__ alignas(16) int a; }"),
            "{ __shared__ __align__(16) int a; }\n");
  const std::string dynamic = " __asm__(\"tw_dynamic_shared\")";
  EXPECT_EQ(rewritten("extern __shared__ float s[];"),
            "TW_EMULATE_EXTERN  float s[]" + dynamic + ";\n");
  EXPECT_EQ(rewritten("f(); extern volatile __shared__ __align__(16) char s[];"),
            "f(); TW_EMULATE_EXTERN volatile  __align__(16) char s[]" + dynamic + ";\n");
  EXPECT_EQ(rewritten("extern __shared__ int s[] __attribute__((aligned(16)));"),
            "TW_EMULATE_EXTERN  int s[]" + dynamic + " __attribute__((aligned(16)));\n");
  EXPECT_EQ(rewritten("{ extern __shared__ float s[]; }"),
            "{   float (&s)[] = tw_emulate::dynamic_shared; }\n");
  EXPECT_EQ(rewritten("{ extern __shared__ int a[][4] __attribute__((aligned(16))), b[]; }"),
            "{   int (&a)[][4] __attribute__((aligned(16))) = tw_emulate::dynamic_shared, (&b)[] = "
            "tw_emulate::dynamic_shared; }\n");
  EXPECT_EQ(rewritten("namespace a { extern \"C\" { extern __shared__ int s[]; } }"),
            "namespace a { extern \"C\" { TW_EMULATE_EXTERN  int s[]" + dynamic + "; } }\n");
  EXPECT_EQ(
      rewritten("#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nextern __shared__ int s[];"),
      "#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nTW_EMULATE_EXTERN  int s[]" + dynamic +
          ";\n");
  EXPECT_EQ(rewritten("extern \"C\" __global__ void k() { __shared__ int a[4]; }"),
            "extern \"C++\" __global__ void k() { __shared__ int a[4]; }\n");
}

// g++ knows a function `index` of C linkage.
TEST(Rewrite, KernelsHaveTheLinkageOfCpp) {
  EXPECT_EQ(rewritten("extern \"C\" __global__ void index(int* x) {}"),
            "extern \"C++\" __global__ void index(int* x) {}\n");
  EXPECT_EQ(rewritten("extern \"C\" __host__ __device__ int gamma(int x) { return x; }"),
            "extern \"C++\" __host__ __device__ int gamma(int x) { return x; }\n");
  EXPECT_EQ(rewritten("extern \"C\" {\n__global__ void index(int* x) {}\n__host__ __device__ int "
                      "y0(int);\n__device__ int n;\nstatic __device__ int y1(int);\nvoid f();\n}"),
            "extern \"C\" {\nextern \"C++\" __global__ void index(int* x) {}\nextern \"C++\" "
            "__host__ __device__ int y0(int);\n__device__ int n;\nstatic __device__ int "
            "y1(int);\nvoid f();\n}\n");
  EXPECT_EQ(rewritten("extern \"C\" void f(int* x) {}"), "extern \"C\" void f(int* x) {}\n");
}

TEST(Rewrite, FlagsSayWhatTheTextNeeds) {
  const EmulatedSource plain = emulate_cuda("__global__ void k() {}", "k.cu");
  EXPECT_FALSE(plain.has_barriers || plain.has_dynamic_shared || plain.has_half ||
               plain.needs_standard_library);
  EXPECT_TRUE(emulate_cuda("__global__ void k() { __syncthreads(); }", "k.cu").has_barriers);
  EXPECT_TRUE(emulate_cuda("extern __shared__ int s[];", "k.cu").has_dynamic_shared);
  EXPECT_TRUE(emulate_cuda("#include <cuda_fp16.h>\n", "k.cu").has_half);
  EXPECT_TRUE(emulate_cuda("void f(__nv_bfloat162 x);", "k.cu").has_half);
  EXPECT_TRUE(emulate_cuda("#include <vector>\n", "k.cu").needs_standard_library);
}

TEST(Rewrite, BarriersAreFollowedThroughFunctionsClassesAndMacros) {
  const EmulatedSource source = emulate_cuda(R"(
#define SYNC() __syncthreads()
__device__ void inner() { SYNC(); }
struct Reduce { __device__ int operator()(int x) const { return __shfl_xor_sync(~0u, x, 1); } };
struct Plain { __device__ int operator()(int x) const { return x; } };
using Alias = Reduce;
template <class Op> __global__ void apply(int* x) { x[0] = Op()(x[0]); }
__global__ void direct() { __syncthreads(); }
__global__ void nested() { if (true) { inner(); } }
__global__ void __launch_bounds__(128, 2) none(float* x) { x[0] = 1; }
__global__ void by_member(int* x) { Reduce r; x[0] = r(1); }
namespace a { namespace b { static __global__ void deep() { inner(); } } }
#define MAKE(name) __global__ void name() { __syncthreads(); }
MAKE(made)
)",
                                             "k.cu");
  for (const char* kernel :
       {"direct", "nested", "by_member", "apply<Reduce>", "apply<Alias>", "a::b::deep", "made"})
    EXPECT_TRUE(uses_barriers(source, kernel)) << kernel;
  for (const char* kernel : {"none", "apply<Plain>"})
    EXPECT_FALSE(uses_barriers(source, kernel)) << kernel;
}

TEST(Rewrite, UnsupportedFeaturesAreNamedWithTheirPlace) {
  EXPECT_EQ(error_of("__global__ void k() {\n  asm volatile(\"bar.sync 0;\");\n}"),
            "k.cu:2:3: error: emulation on the CPU does not support inline PTX (asm)\n"
            "      asm volatile(\"bar.sync 0;\");\n"
            "      ^^^\n"
            "hint: run this kernel on a GPU, or write this part in CUDA C++");
  const auto first_line = [](std::string_view text) {
    const std::string error = error_of(text);
    return error.substr(0, error.find('\n'));
  };
  const std::string head = "k.cu:1:1: error: emulation on the CPU does not support ";
  EXPECT_EQ(first_line("this_grid().sync();"),
            head + "cooperative groups of a whole grid (this_grid)");
  EXPECT_EQ(first_line("cub::BlockLoad<int, 4, 2> load;"), head + "cub::BlockLoad");
  EXPECT_EQ(first_line("nvcuda::wmma::fragment f;"), head + "tensor core functions (wmma)");
  EXPECT_EQ(first_line("tex2D<float>(t, 1, 2);"), head + "textures");
  EXPECT_EQ(first_line("surf2Dread(s, 1, 2);"), head + "surfaces");
  EXPECT_EQ(first_line("__pipeline_arrive_on(barrier);"),
            head + "copies that arrive on a barrier (__pipeline_arrive_on)");
  EXPECT_EQ(first_line("__cluster_dims__(2)"), head + "thread block clusters");
  EXPECT_EQ(first_line("cuda::atomic_ref<int> r;"), head + "the cuda library");
  EXPECT_EQ(first_line("<<<1, 2>>>();"), head + "launches from device code (dynamic parallelism)");
}

TEST(Rewrite, AFeatureInAGroupOnlyFailsWhenTheGroupIsCompiled) {
  const std::string text =
      rewritten("#if __CUDA_ARCH__ >= 800\nasm(\"x\");\n#include <mma.h>\n#endif\n");
  EXPECT_EQ(text,
            "#if __CUDA_ARCH__ >= 800\n"
            "_Pragma(\"GCC error \\\"emulation on the CPU does not support inline PTX (asm)\\\"\") "
            "asm(\"x\");\n"
            "#error emulation on the CPU does not support tensor core functions (wmma)\n"
            "#endif\n");
}

TEST(Rewrite, NamesInStringsAndCommentsAreLeftAlone) {
  const std::string text = "const char* s = \"asm __shared__\"; // asm\n";
  EXPECT_EQ(rewritten(text), text);
}

TEST(Rewrite, OddNamesOfFilesAreQuoted) {
  EXPECT_EQ(emulate_cuda("", "a\"b\\c.cu").text, "#line 1 \"a_b_c.cu\"\n\n");
}

TEST(Rewrite, TheEntryNamesTheKernel) {
  EXPECT_EQ(emulated_entry("e", "scale<float, 4>", true),
            "extern \"C\" __attribute__((visibility(\"default\"))) void e(const TwCpuLaunch* "
            "launch, void* const* parameters, "
            "unsigned long first, unsigned long last) {\n"
            "  tw_emulate::run<&scale<float, 4>, true>(\"scale<float, 4>\", launch, parameters, "
            "first, last);\n"
            "}\n");
}

}  // namespace
}  // namespace tilewright
