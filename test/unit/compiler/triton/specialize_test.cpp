// SPDX-License-Identifier: Apache-2.0
// unit/compiler/specialize_test.cpp — what each kind of argument means for the code.
#include "compiler/triton/specialize.h"

#include <gtest/gtest.h>

#include "compiler/triton/signature.h"

namespace tilewright {
namespace {

const TritonParameter plain{.name = "x"};
const TritonParameter constexpr_parameter{.name = "B", .is_constexpr = true};
const TritonParameter unspecialized{
    .name = "x", .specializes = false, .specializes_alignment = false};
const TritonParameter unaligned{.name = "x", .specializes_alignment = false};
const TritonParameter annotated{.name = "x", .type = ir::Type::scalar(i64)};

template <class T>
std::string item(const TritonParameter& parameter, const T& value) {
  return signature_item(parameter_type(specialize("k", parameter, TritonArgument(value))));
}

TEST(Specialize, IntegersByValue) {
  EXPECT_EQ(item(plain, 7), "int32");
  EXPECT_EQ(item(plain, std::int64_t{7}), "int32");
  EXPECT_EQ(item(plain, std::uint8_t{7}), "int32");
  EXPECT_EQ(item(plain, 32), "int32:16");
  EXPECT_EQ(item(plain, 0), "int32:16");
  EXPECT_EQ(item(plain, -48), "int32:16");
  EXPECT_EQ(item(plain, 1), "1");
  EXPECT_EQ(item(plain, std::uint64_t{1}), "1");
  EXPECT_EQ(item(plain, std::int64_t{1} << 31), "int64:16");
  EXPECT_EQ(item(plain, -(std::int64_t{1} << 31)), "int32:16");
  EXPECT_EQ(item(plain, (std::int64_t{1} << 31) + 1), "int64");
  EXPECT_EQ(item(plain, (std::uint64_t{1} << 63) + 1), "uint64");
}

TEST(Specialize, OtherScalars) {
  EXPECT_EQ(item(plain, true), "bool");
  EXPECT_EQ(item(plain, 1.0), "float32");
  EXPECT_EQ(item(plain, 16.0f), "float32");
  EXPECT_EQ(item(plain, none), "none");
}

TEST(Specialize, Pointers) {
  alignas(16) static float memory[8];
  EXPECT_EQ(item(plain, &memory[0]), "*float32:16");
  EXPECT_EQ(item(plain, &memory[1]), "*float32");
  EXPECT_EQ(item(unaligned, &memory[0]), "*float32");
  EXPECT_EQ(item(plain, nullptr), "none");
  EXPECT_EQ(item(plain, static_cast<float*>(nullptr)), "none");
  const Tensor t = zeros({8}, {bf16, Device::cpu()});
  EXPECT_EQ(item(plain, t), "*bfloat16:16");
  EXPECT_EQ(item(plain, t.slice(0, 1, 8)), "*bfloat16");
}

TEST(Specialize, WhatTheDecoratorsAndAnnotationsForbid) {
  EXPECT_EQ(item(unspecialized, 1), "int32");
  EXPECT_EQ(item(unspecialized, 32), "int32");
  EXPECT_EQ(item(unaligned, 1), "1");
  EXPECT_EQ(item(unaligned, 32), "int32");
  EXPECT_EQ(item(annotated, 1), "int64");
  EXPECT_EQ(item(annotated, 32), "int64:16");
}

TEST(Specialize, ConstantsKeepTheirKind) {
  EXPECT_EQ(item(constexpr_parameter, 64), "64");
  EXPECT_EQ(item(constexpr_parameter, true), "true");
  EXPECT_EQ(item(constexpr_parameter, 0.5f), "0.5");
  EXPECT_EQ(item(constexpr_parameter, "ieee"), "'ieee'");
  EXPECT_EQ(item(constexpr_parameter, f16), "float16");
  EXPECT_EQ(item(constexpr_parameter, none), "none");
}

}  // namespace
}  // namespace tilewright
