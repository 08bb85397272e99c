// SPDX-License-Identifier: Apache-2.0
// load_inline/outline_test.cpp — what is read from sources at namespace scope, however oddly they
// are written.
#include "load_inline/outline.h"

#include <gtest/gtest.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

using Kind = Declaration::Kind;

std::string text_of(std::string_view source, TextRange range) {
  return std::string(source.substr(range.begin, range.end - range.begin));
}

std::vector<Declaration> functions_of(std::string_view source) {
  std::vector<Declaration> out;
  for (Declaration& d : outline_of(source, "a.cu"))
    if (d.is_function()) out.push_back(std::move(d));
  return out;
}

Declaration only(std::string_view source) {
  const auto all = outline_of(source, "a.cu");
  EXPECT_EQ(all.size(), 1u) << source;
  return all.empty() ? Declaration{} : all[0];
}

TEST(Outline, PlainKernel) {
  const std::string source =
      "__global__ void add(const float* a, float *b, int n = 3) { b[0] = a[n]; }";
  const Declaration d = only(source);
  EXPECT_EQ(d.kind, Kind::Kernel);
  EXPECT_EQ(d.name, "add");
  EXPECT_EQ(d.return_type, "void");
  EXPECT_EQ(text_of(source, d.body), "{ b[0] = a[n]; }");
  EXPECT_EQ(text_of(source, d.parameter_list), "(const float* a, float *b, int n = 3)");
  ASSERT_EQ(d.parameters.size(), 3u);
  EXPECT_EQ(d.parameters[0].type, "const float*");
  EXPECT_EQ(d.parameters[0].name, "a");
  EXPECT_EQ(d.parameters[1].type, "float *");
  EXPECT_EQ(d.parameters[2].name, "n");
  EXPECT_TRUE(d.parameters[2].has_default);
  EXPECT_EQ(d.range, (TextRange{0, source.size()}));
}

TEST(Outline, AnnotationsInAnyOrder) {
  for (const char* head :
       {"__global__ void", "void __global__", "static __global__ void",
        "extern \"C\" __global__ void", "__global__ void __launch_bounds__(256)",
        "__global__ __launch_bounds__(256, 2) void", "[[maybe_unused]] __global__ void",
        "__global__ void __launch_bounds__(BLOCK * (2 + 1))",
        "__attribute__((used)) __global__ void", "static MY_ATTRIBUTE(3) __global__ void",
        "__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128)"}) {
    const auto found = functions_of(std::string(head) + " k(int* p) { *p = 1; }");
    ASSERT_EQ(found.size(), 1u) << head;
    EXPECT_EQ(found[0].kind, Kind::Kernel) << head;
    EXPECT_EQ(found[0].name, "k") << head;
    EXPECT_EQ(found[0].parameters.size(), 1u) << head;
  }
}

TEST(Outline, Spaces) {
  EXPECT_EQ(only("__device__ float f(float x) { return x; }").kind, Kind::DeviceFunction);
  EXPECT_EQ(only("__host__ __device__ int f() { return 1; }").kind, Kind::HostDeviceFunction);
  EXPECT_EQ(only("__host__ int f() { return 1; }").kind, Kind::HostFunction);
  EXPECT_EQ(only("inline unsigned int cdiv(unsigned int a, unsigned int b) { return a / b; }").kind,
            Kind::HostFunction);
  EXPECT_EQ(only("C10_HOST_DEVICE inline float f() { return 1; }").kind, Kind::HostDeviceFunction);
  const auto found =
      functions_of("#define HD __host__ \\\n  __device__\nHD float g(float x) { return x; }\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Kind::HostDeviceFunction);
  EXPECT_EQ(found[0].return_type, "float");
}

TEST(Outline, Templates) {
  const Declaration d = only(
      "template <typename T, int N = 4, template <class> class C, class... Rest>\n"
      "__global__ void k(T* p, Rest... rest) {}");
  EXPECT_EQ(d.kind, Kind::Kernel);
  EXPECT_TRUE(d.is_template);
  ASSERT_EQ(d.template_parameters.size(), 4u);
  EXPECT_EQ(d.template_parameters[0].name, "T");
  EXPECT_EQ(d.template_parameters[1].name, "N");
  EXPECT_EQ(d.template_parameters[1].kind, TemplateParameter::Kind::Value);
  EXPECT_EQ(d.template_parameters[1].default_text, "4");
  EXPECT_EQ(d.template_parameters[2].kind, TemplateParameter::Kind::Template);
  EXPECT_TRUE(d.template_parameters[3].is_pack);
  EXPECT_TRUE(d.parameters[1].is_pack);
  EXPECT_EQ(d.parameters[1].name, "rest");
}

TEST(Outline, SpecialisationsAndInstantiations) {
  const auto all = outline_of(
      "template <class T> __global__ void k(T* p) { *p = 0; }\n"
      "template <> __global__ void k<float>(float* p) { *p = 1; }\n"
      "template __global__ void k<int>(int*);\n",
      "a.cu");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].is_template);
  EXPECT_FALSE(all[0].is_specialization);
  EXPECT_EQ(all[1].name, "k");
  EXPECT_TRUE(all[1].is_specialization);
  EXPECT_EQ(all[2].kind, Kind::Instantiation);
}

TEST(Outline, NamespacesAndLinkage) {
  const auto found = functions_of(
      "namespace a::b { namespace { __global__ void k() {} }\n inline namespace v1 { void f(); } "
      "}\n"
      "extern \"C\" { __global__ void c() {} }\nnamespace z = a::b;\n"
      "namespace n { extern \"C\" __global__ void e() {} }");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].qualified_name, "a::b::k");
  EXPECT_EQ(found[1].qualified_name, "a::b::v1::f");
  EXPECT_FALSE(found[1].has_body());
  EXPECT_EQ(found[2].qualified_name, "c");
  EXPECT_TRUE(found[2].is_extern_c);
  EXPECT_EQ(found[3].qualified_name, "n::e");
}

TEST(Outline, TypesVariablesAliases) {
  const auto all = outline_of(
      "struct P { int n; void f() { if (n) { g(); } } };\n"
      "enum class E : int { A, B };\n"
      "template <class T> struct alignas(16) Q final : P<T> { T x[4]; };\n"
      "__constant__ float table[16];\n"
      "static const float scale = 0.5f;\n"
      "dim3 block(16, 16);\n"
      "using real = float;\ntypedef long long wide;\n"
      "struct P make(int n) { return {n}; }\n"
      "std::vector<std::pair<int, int>> cache{{1, 2}};\n"
      "static_assert(sizeof(int) == 4, \"four\");\n"
      "struct Later;\n",
      "a.cu");
  ASSERT_EQ(all.size(), 12u);
  EXPECT_EQ(all[0].kind, Kind::Type);
  EXPECT_EQ(all[0].name, "P");
  EXPECT_EQ(all[1].name, "E");
  EXPECT_EQ(all[2].kind, Kind::Type);
  EXPECT_EQ(all[2].name, "Q");
  EXPECT_EQ(all[3].kind, Kind::Variable);
  EXPECT_EQ(all[3].name, "table");
  EXPECT_TRUE(all[3].is_device);
  EXPECT_EQ(all[4].name, "scale");
  EXPECT_FALSE(all[4].is_device);
  EXPECT_EQ(all[5].kind, Kind::Variable);
  EXPECT_EQ(all[6].kind, Kind::Alias);
  EXPECT_EQ(all[7].kind, Kind::Alias);
  EXPECT_EQ(all[8].kind, Kind::HostFunction);
  EXPECT_EQ(all[8].name, "make");
  EXPECT_EQ(all[9].kind, Kind::Variable);
  EXPECT_EQ(all[9].name, "cache");
  EXPECT_EQ(all[10].kind, Kind::Alias);
}

TEST(Outline, MacroCalls) {
  const std::string source =
      "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n  m.def(\"f\", &f);\n}\n"
      "TORCH_LIBRARY(ops, m) { m.def(\"x\"); }\nDEFINE_OP(add, +)\nREGISTER(x);\nvoid f() {}\n";
  const auto all = outline_of(source, "a.cu");
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].kind, Kind::MacroCall);
  EXPECT_EQ(all[0].name, "PYBIND11_MODULE");
  EXPECT_TRUE(all[0].has_body());
  EXPECT_EQ(all[1].name, "TORCH_LIBRARY");
  EXPECT_EQ(all[2].name, "DEFINE_OP");
  EXPECT_EQ(text_of(source, all[3].range), "REGISTER(x);");
  EXPECT_EQ(all[4].kind, Kind::HostFunction);
}

TEST(Outline, OddFunctions) {
  const auto found = functions_of(
      "auto f(int a) -> decltype(a + 1) { return a + 1; }\n"
      "Foo::Foo(int a) : a_(a), b_{1, 2}, c_{} { work(); }\n"
      "bool operator<(const A& a, const B& b) { return true; }\n"
      "float A::operator()(int i) const noexcept { return 0; }\n"
      "std::tuple<int, std::vector<float>> g(std::map<int, int> m = {{1, 2}}, void (*h)(int) = "
      "nullptr) { }\n"
      "int t() try { return 1; } catch (const X& x) { return 2; } catch (...) { return 3; }\n"
      "void raw(const char* s = R\"(})\") {}\n"
      "int array(float (&a)[3], int b[], unsigned, const Foo) { char c = '}'; /* } */ return "
      "'\\''; }\n");
  ASSERT_EQ(found.size(), 8u);
  EXPECT_EQ(found[0].name, "f");
  EXPECT_EQ(found[1].name, "Foo");
  EXPECT_TRUE(found[1].is_member);
  EXPECT_EQ(found[2].name, "operator<");
  EXPECT_EQ(found[3].name, "operator()");
  ASSERT_EQ(found[4].parameters.size(), 2u);
  EXPECT_EQ(found[4].name, "g");
  EXPECT_EQ(found[4].parameters[0].type, "std::map<int, int>");
  EXPECT_EQ(found[4].parameters[1].name, "h");
  EXPECT_EQ(found[5].name, "t");
  EXPECT_EQ(found[6].name, "raw");
  ASSERT_EQ(found[7].parameters.size(), 4u);
  EXPECT_EQ(found[7].parameters[0].name, "a");
  EXPECT_EQ(found[7].parameters[1].type, "int[]");
  EXPECT_EQ(found[7].parameters[2].name, "");
  EXPECT_EQ(found[7].parameters[3].name, "");
}

TEST(Outline, TornTextEndsWithoutHanging) {
  for (const char* source :
       {"__global__ void k(", "template <", "namespace a {", "struct", "void f() {", "}}}",
        "extern \"C\" {", "template <class T", "operator", "__global__", "<<<>>>", "(", "", "A::B(",
        "template <> void", "x = {", "int t() try {} catch ("})
    EXPECT_NO_THROW(outline_of(source, "a.cu")) << source;
  EXPECT_THROW(outline_of("/* no end", "a.cu"), UserError);
}

TEST(Outline, Aliases) {
  const std::string source = "using real = float;\ntypedef unsigned long long wide;\n";
  const auto aliases = aliases_of(source, outline_of(source, "a.cu"));
  ASSERT_EQ(aliases.size(), 2u);
  EXPECT_EQ(aliases[0].name, "real");
  EXPECT_EQ(aliases[0].type, "float");
  EXPECT_EQ(aliases[1].name, "wide");
  EXPECT_EQ(aliases[1].type, "unsigned long long");
}

}  // namespace
}  // namespace tilewright
