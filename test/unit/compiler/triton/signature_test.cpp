// SPDX-License-Identifier: Apache-2.0
// unit/compiler/signature_test.cpp — signature texts: what they mean, and the sentence for each
// that is wrong.
#include "compiler/triton/signature.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

constexpr const char* source = R"(import triton
import triton.language as tl

@triton.jit(do_not_specialize=["m"])
def add(x, y, n: tl.int64, m, flag: "tl.constexpr", BLOCK: tl.constexpr = 64):
    pass
)";

class Signature : public ::testing::Test {
 protected:
  Signature() {
    const python::LoadedModule& module = loader_.load_text("add.py", source);
    parameters_ = read_parameters(loader_, evaluator_, find_kernel(loader_, module, "add"));
  }
  std::string round_trip(const std::string& text) {
    return signature_text(parameters_, parse_signature("add", parameters_, text));
  }
  std::string error(const std::string& text) {
    try {
      parse_signature("add", parameters_, text);
    } catch (const ArgumentError& e) {
      return e.what();
    }
    return "no error";
  }

  python::ModuleLoader loader_;
  python::Evaluator evaluator_{loader_};
  std::vector<TritonParameter> parameters_;
};

TEST_F(Signature, ParametersAreReadFromTheText) {
  ASSERT_EQ(parameters_.size(), 6u);
  EXPECT_FALSE(parameters_[0].is_constexpr);
  EXPECT_EQ(parameters_[2].type, ir::Type::scalar(i64));
  EXPECT_FALSE(parameters_[3].specializes);
  EXPECT_TRUE(parameters_[4].is_constexpr);
  EXPECT_TRUE(parameters_[5].has_default);
}

TEST_F(Signature, EverySpellingHasOneMeaning) {
  EXPECT_EQ(round_trip("*fp32:16,*kf16, i32:16, i64, true, 1024"),
            "*float32:16, *kfloat16, int32:16, int64, true, 1024");
  EXPECT_EQ(round_trip("*float32 : 16, *bf16, i32:1, u8, 'a, b', fp32"),
            "*float32:16, *bfloat16, 1, uint8, 'a, b', float32");
  EXPECT_EQ(round_trip("*i1, *fp8e4nv, None, -3, none"), "*bool, *float8_e4m3, none, -3, none");
  EXPECT_EQ(round_trip("*f32, (*f32, i32), n=i32, m=1e-5, flag=False"),
            "*float32, (*float32, int32), int32, 1e-05, false");
}

TEST_F(Signature, WrongTexts) {
  EXPECT_EQ(error("*fp32, *fp33, i32, i32, 1, 64"),
            "item 2 of the signature of 'add', '*fp33' for 'y', is neither a type such as "
            "*fp32:16, i32 or fp32 nor a constant");
  EXPECT_EQ(error("*fp32, *fp32:8, i32, i32, 1, 64"),
            "item 2 of the signature of 'add', '*fp32:8' for 'y', promises what is not known; "
            "write :16 for a multiple of 16, or :1 for an integer that is always 1");
  EXPECT_EQ(error("*fp32, *fp32, fp32:16, i32, 1, 64"),
            "item 3 of the signature of 'add', 'fp32:16' for 'n', promises a multiple of 16, which "
            "only pointers and integers can be");
  EXPECT_EQ(error("*fp32, *fp32"),
            "the signature of 'add' says nothing of 'n'; it has 2 items, but the kernel takes 6: "
            "x, y, n, m, flag, BLOCK");
  EXPECT_EQ(error("1, 2, 3, 4, 5, 6, 7"),
            "the signature of 'add' has 7 items, but the kernel takes 6: x, y, n, m, flag, BLOCK");
  EXPECT_EQ(error("*fp32, *fp32, i32, i32, *fp32, 64"),
            "item 5 of the signature of 'add', '*fp32' for 'flag', is no constant, but the "
            "parameter is a tl.constexpr; give a number, true, false, none, a type or 'text'");
  EXPECT_EQ(error("*fp32,, i32, i32, 1"), "item 2 of the signature of 'add', '' for 'y', is empty");
  EXPECT_EQ(error("BLOK=3"), "kernel 'add' has no parameter 'BLOK'; did you mean 'BLOCK'?");
  EXPECT_EQ(error("x=*fp32, i32"),
            "item 2 of the signature of 'add', 'i32', has no name, but stands after one that has");
  EXPECT_EQ(error("*fp32, x=i32"), "the signature of 'add' gives 'x' twice");
}

TEST_F(Signature, AKernelThatIsNotThere) {
  const python::LoadedModule& module =
      loader_.load_text("other.py", "import triton\ndef plain(): pass\n@triton.jit\ndef k(): pass");
  try {
    find_kernel(loader_, module, "kk");
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_STREQ(e.what(), "other.py has no kernel 'kk'; did you mean 'k'?");
  }
  try {
    find_kernel(loader_, module, "plain");
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_STREQ(e.what(), "'plain' in other.py is a function without @triton.jit; there is: k");
  }
}

}  // namespace
}  // namespace tilewright
