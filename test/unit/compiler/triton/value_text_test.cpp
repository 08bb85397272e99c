// SPDX-License-Identifier: Apache-2.0
// unit/compiler/value_text_test.cpp — argument values as a command line gives them.
#include "compiler/triton/value_text.h"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "compiler/triton/constants.h"

namespace tilewright {
namespace {

ArgumentValue read(const std::string& text) {
  return read_value("x", text, {.device = Device::cpu(), .seed = 7});
}

std::string error(const std::string& text) {
  try {
    read(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::string constant(const std::string& text) {
  return constant_text(std::get<triton::Value>(read(text)));
}

TEST(ValueText, Constants) {
  EXPECT_EQ(constant("1024"), "1024");
  EXPECT_EQ(constant("-1.5"), "-1.5");
  EXPECT_EQ(constant("1e-5"), "1e-05");
  EXPECT_EQ(constant("true"), "true");
  EXPECT_EQ(constant("False"), "false");
  EXPECT_EQ(constant("none"), "none");
  EXPECT_EQ(constant("inf"), "inf");
  EXPECT_EQ(constant("-inf"), "-inf");
  EXPECT_EQ(constant("nan"), "nan");
  EXPECT_EQ(constant("'ieee'"), "'ieee'");
  for (const char* spelling : {"f32", "fp32", "float32", "tl.float32", "torch.float32"})
    EXPECT_EQ(constant(spelling), "float32");
}

TEST(ValueText, GeneratedTensors) {
  const auto x = std::get<Tensor>(read("randn:f32[4,3]"));
  EXPECT_EQ(x.shape(), (Shape{4, 3}));
  EXPECT_EQ(tensor_type_text(x), "float32[4, 3]");
  EXPECT_TRUE(allclose(x, std::get<Tensor>(read("randn:float32[4, 3]"))));
  EXPECT_EQ(std::get<Tensor>(read("arange:i64[5]")).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(std::get<Tensor>(read("full:i32[2]=-3")).to_vector<int>(), (std::vector<int>{-3, -3}));
  EXPECT_EQ(std::get<Tensor>(read("zeros:bf16[]")).numel(), 1);
  EXPECT_EQ(std::get<Tensor>(read("ones:u8[0]")).numel(), 0);
  EXPECT_EQ(std::get<Tensor>(read("rand:fp8e5[2]")).dtype(), f8e5m2);
}

TEST(ValueText, FilesAreConvertedToADType) {
  const std::string path = ::testing::TempDir() + "value_text_test.npy";
  save_npy(path, tensor({1.5f, 3.00390625f}, Device::cpu()));
  EXPECT_EQ(std::get<Tensor>(read(path)).dtype(), DType::Float32);
  const auto half = std::get<Tensor>(read("bf16:" + path));
  EXPECT_EQ(half.dtype(), DType::BFloat16);
  EXPECT_EQ(half.to(DType::Float32).to_vector<float>(), (std::vector<float>{1.5f, 3.0f}));
  EXPECT_EQ(error("bf17:" + path).substr(0, 8), "x=bf17:/");
}

TEST(ValueText, FilesInFortranOrderHaveRows) {
  const std::string path = ::testing::TempDir() + "value_text_fortran.npy";
  std::string header = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 2), }";
  header.resize(117, ' ');
  const int columns[] = {1, 3, 2, 4};
  std::ofstream(path, std::ios::binary)
      << std::string("\x93NUMPY\x01\x00", 8) << char(118) << char(0) << header << '\n'
      << std::string(reinterpret_cast<const char*>(columns), sizeof(columns));
  for (const char* prefix : {"", "i32:"}) {
    const auto x = std::get<Tensor>(read(prefix + path));
    EXPECT_TRUE(x.is_contiguous());
    EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{1, 2, 3, 4}));
  }
}

TEST(ValueText, IntegersAreFilledWithWhatIsWritten) {
  EXPECT_EQ(error("full:i8[8]=300"), "x=full:i8[8]=300: int8 cannot be filled with 300");
  EXPECT_EQ(error("full:u8[8]=-1"), "x=full:u8[8]=-1: uint8 cannot be filled with -1");
  EXPECT_EQ(error("full:i32[8]=1.5"), "x=full:i32[8]=1.5: int32 cannot be filled with 1.5");
  EXPECT_EQ(error("full:i64[8]=inf"), "x=full:i64[8]=inf: int64 cannot be filled with inf");
  EXPECT_EQ(error("full:i64[8]=9007199254740993"),
            "x=full:i64[8]=9007199254740993: int64 cannot be filled with 9007199254740993");
  EXPECT_EQ(std::get<Tensor>(read("full:i8[1]=-128")).item<int>(), -128);
  EXPECT_EQ(std::get<Tensor>(read("full:f32[1]=-inf")).item<float>(), -HUGE_VALF);
}

TEST(ValueText, StridesAndRanges) {
  const auto tensor_of = [](const char* text) {
    return std::get<Tensor>(read_value("x", text, {.device = Device::cpu(), .seed = 3}));
  };
  const Tensor strided = tensor_of("arange:f32[2,3]@strides(5,1)");
  EXPECT_EQ(strided.strides(), Shape({5, 1}));
  EXPECT_EQ(strided[1][2].item<float>(), 5.0f);
  EXPECT_EQ(strided.buffer().size(), 8 * sizeof(float));
  const Tensor repeated = tensor_of("arange:f32[2,3]@strides(0,1)");
  EXPECT_EQ(repeated[1][2].item<float>(), 2.0f);
  const Tensor turned = tensor_of("arange:i32[2,3]@strides(1,2)");
  EXPECT_EQ(turned[1][2].item<int>(), 5);
  for (const std::int8_t value : tensor_of("randint:i8[500]=-128..128").to_vector<std::int8_t>())
    EXPECT_TRUE(value >= -128 && value <= 127);
  EXPECT_EQ(tensor_of("randint:f16[9]=4..5").to(DType::Float32).to_vector<float>(),
            std::vector<float>(9, 4.0f));
}

TEST(ValueText, WrongTexts) {
  const std::string form = "; a generated tensor is written as randn:f32[1024,781]";
  EXPECT_EQ(error("randm:f32[4]"),
            "x=randm:f32[4]: nothing generates 'randm'; did you mean "
            "'randn' or 'rand'?");
  EXPECT_EQ(error("randn:f32"), "x=randn:f32: its shape is missing" + form);
  EXPECT_EQ(error("randn:f32[4,a]"), "x=randn:f32[4,a]: 'a' is no size" + form);
  EXPECT_EQ(error("zeros:f32[-4]"), "x=zeros:f32[-4]: '-4' is no size" + form);
  EXPECT_EQ(error("zeros:f32[4]x"), "x=zeros:f32[4]x: 'x' does not belong there" + form);
  EXPECT_EQ(error("zeros:f32[1000000,1000000,1000000]"),
            "x=zeros:f32[1000000,1000000,1000000]: the tensor is too large");
  EXPECT_EQ(error("randn:i32[4]"),
            "x=randn:i32[4]: random numbers are floats, not int32; use randint:int32[8]=0..10");
  EXPECT_EQ(error("full:f32[4]"), "x=full:f32[4]: its value is missing; write full:f32[8]=0.5");
  EXPECT_EQ(error("12abc"),
            "x=12abc: this is no number, true, false, none, type, 'text' in quotes, .npy file or "
            "generated tensor (randn:f32[1024,781])");
  EXPECT_EQ(error("99999999999999999999"),
            "x=99999999999999999999: the number has more than 64 bits");
  for (const std::string text : {"1e400", "-1e400", "1e-400", "full:f32[8]=1e400"})
    EXPECT_EQ(error(text), "x=" + text +
                               ": the number is beyond what float64 holds (4.9e-324 to 1.8e308); "
                               "write inf or 0");
  EXPECT_EQ(error("zeros:q7[4]").substr(0, 41), "x=zeros:q7[4]: unknown element type 'q7';");
  EXPECT_EQ(error("missing.npy"), "cannot open 'missing.npy': No such file or directory");
}

}  // namespace
}  // namespace tilewright
