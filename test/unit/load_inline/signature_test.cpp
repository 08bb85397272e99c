// SPDX-License-Identifier: Apache-2.0
// load_inline/signature_test.cpp — declared parameters as what launches are checked against.
#include "load_inline/signature.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Kind = Parameter::Kind;

Parameter parse(const std::string& type) {
  DeclaredParameter declared;
  declared.type = type;
  return parameter_of(declared, {{"real", "float"}, {"realp", "const real*"}});
}

TEST(Signature, Scalars) {
  const std::pair<const char*, DType> cases[] = {{"float", f32},
                                                 {"const float", f32},
                                                 {"double", f64},
                                                 {"int", i32},
                                                 {"unsigned", u32},
                                                 {"unsigned int", u32},
                                                 {"long", i64},
                                                 {"long long int", i64},
                                                 {"int long unsigned", u64},
                                                 {"std::int64_t", i64},
                                                 {"size_t", u64},
                                                 {"bool", b1},
                                                 {"char", i8},
                                                 {"unsigned char", u8},
                                                 {"short int", i16},
                                                 {"__half", f16},
                                                 {"at::Half", f16},
                                                 {"__nv_bfloat16", bf16},
                                                 {"c10::BFloat16", bf16},
                                                 {"real", f32},
                                                 {"uint8_t", u8}};
  for (const auto& [type, dtype] : cases) {
    const Parameter p = parse(type);
    EXPECT_EQ(p.kind, Kind::Scalar) << type;
    EXPECT_EQ(p.dtype, dtype) << type;
  }
}

TEST(Signature, Pointers) {
  const std::pair<const char*, DType> cases[] = {{"float*", f32},
                                                 {"const float* __restrict__", f32},
                                                 {"float const *const", f32},
                                                 {"half*", f16},
                                                 {"int[]", i32},
                                                 {"float4*", f32},
                                                 {"real *", f32},
                                                 {"realp", f32},
                                                 {"volatile unsigned long long*", u64}};
  for (const auto& [type, dtype] : cases) {
    const Parameter p = parse(type);
    EXPECT_EQ(p.kind, Kind::Pointer) << type;
    EXPECT_EQ(p.dtype, dtype) << type;
    EXPECT_FALSE(p.any_pointee) << type;
  }
  EXPECT_TRUE(parse("const float*").is_const);
  EXPECT_TRUE(parse("realp").is_const);
  EXPECT_FALSE(parse("float* const").is_const);
  for (const char* type : {"void*", "const void*", "Node*", "float**", "T*"})
    EXPECT_TRUE(parse(type).any_pointee) << type;
}

TEST(Signature, Structs) {
  EXPECT_EQ(parse("Params").kind, Kind::Opaque);
  EXPECT_EQ(parse("const __grid_constant__ Params").opaque_bytes, 0u);
  EXPECT_EQ(parse("float4").kind, Kind::Opaque);
  EXPECT_EQ(parse("float4").opaque_bytes, 16u);
  EXPECT_EQ(parse("const Params&").kind, Kind::Opaque);
  EXPECT_EQ(parse("std::array<float, 4>").kind, Kind::Opaque);
}

TEST(Signature, TemplateArguments) {
  const auto outline = outline_of(
      "template <class T, int N, class U = double> __global__ void k(T* p, U s, T v) {}", "a.cu");
  const auto parameters = signature_of(outline[0], {"half", "4"}, {});
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[0].kind, Kind::Pointer);
  EXPECT_EQ(parameters[0].dtype, f16);
  EXPECT_EQ(parameters[1].dtype, f64);
  EXPECT_EQ(parameters[2].dtype, f16);
  EXPECT_EQ(parameters[2].kind, Kind::Scalar);
}

TEST(Signature, ParameterPacks) {
  const auto outline = outline_of(
      "template <int N, class... T> __global__ void k(float* p, const T*... rest) {}", "a.cu");
  const auto parameters = signature_of(outline[0], {"4", "int", "half"}, {});
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[1].dtype, i32);
  EXPECT_EQ(parameters[2].dtype, f16);
  EXPECT_EQ(parameters[2].kind, Kind::Pointer);
  EXPECT_EQ(signature_of(outline[0], {"4"}, {}).size(), 1u);
}

TEST(Signature, NameExpressions) {
  const NameExpression plain = parse_name_expression("ns::k");
  EXPECT_EQ(plain.base, "ns::k");
  EXPECT_FALSE(plain.has_arguments);
  const NameExpression full =
      parse_name_expression("::ns :: scale<float, (3 > 2), std::pair<int, int>>");
  EXPECT_EQ(full.base, "ns::scale");
  EXPECT_EQ(full.arguments, (std::vector<std::string>{"float", "(3 > 2)", "std::pair<int, int>"}));
}

}  // namespace
}  // namespace tilewright
