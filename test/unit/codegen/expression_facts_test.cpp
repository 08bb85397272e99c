// SPDX-License-Identifier: Apache-2.0
// codegen/expression_facts_test.cpp — what lowerings know of an expression, from its ops.
#include "codegen/lower/expression_facts.h"

#include <string>

#include <gtest/gtest.h>

#include "ir/parse.h"

namespace tilewright {
namespace {

// Facts of the value that a store or a write is given, the last op of the kernel.
class Facts {
 public:
  explicit Facts(const std::string& ops)
      : kernel_(ir::parse("kernel @k(%p: *f32, %h: *f16, %n: i32, %x: f32) final {\n"
                          "  %0 = constant {value = 0} : i32\n"
                          "  %a = array {count = 8} : f32@stack\n"
                          "  %v = array {count = 1} : f32@registers\n" +
                          ops + "}\n")) {}

  const ExpressionFacts& operator*() const { return facts_; }
  ir::Value value(std::size_t back = 0) const {
    const ir::Op& op = *kernel_.body.ops[kernel_.body.ops.size() - 1 - back];
    return op.operands[op.kind == ir::OpKind::Write ? 2 : 1];
  }
  ir::Value operand(std::size_t k) const { return kernel_.body.ops.back()->operands[k]; }

 private:
  const ir::Kernel kernel_;
  const ExpressionFacts facts_ = ExpressionFacts::of_threads(kernel_);
};

TEST(ExpressionFacts, NamesVariablesAndNumbersArePlain) {
  EXPECT_TRUE((*Facts("  store %p, %x\n")).is_plain(Facts("  store %p, %x\n").value()));
  const auto is_plain = [](const std::string& ops) {
    const Facts facts(ops);
    return (*facts).is_plain(facts.value());
  };
  EXPECT_TRUE(is_plain("  %1 = read %v, %0 : f32\n  store %p, %1\n"));
  EXPECT_TRUE(is_plain("  %1 = constant {value = 2.5} : f32\n  store %p, %1\n"));
  EXPECT_TRUE(is_plain("  %1 = hint %x : f32\n  store %p, %1\n"));
  EXPECT_FALSE(is_plain("  %1 = read %a, %0 : f32\n  store %p, %1\n"));
  EXPECT_FALSE(is_plain("  %1 = add %x, %x : f32\n  store %p, %1\n"));
  EXPECT_FALSE(is_plain("  %1 = constant {value = inf} : f32\n  store %p, %1\n"));
  EXPECT_FALSE(is_plain("  %1 = constant {value = 2.5} : f16\n  store %h, %1\n"));
}

TEST(ExpressionFacts, ElementsAreOfArraysAndMemory) {
  const auto reads = [](const std::string& ops) {
    const Facts facts(ops);
    return (*facts).reads_element(facts.value());
  };
  EXPECT_TRUE(reads("  %1 = read %a, %0 : f32\n  %2 = add %1, %x : f32\n  store %p, %2\n"));
  EXPECT_TRUE(reads("  %1 = load %p : f32\n  store %p, %1\n"));
  EXPECT_FALSE(reads("  %1 = read %v, %0 : f32\n  %2 = add %1, %x : f32\n  store %p, %2\n"));
  EXPECT_FALSE(reads("  %b = read %a, %0 : f32\n  %2 = add %b, %x : f32\n  store %p, %2\n"));
}

TEST(ExpressionFacts, FunctionsAreCalledSomewhereInIt) {
  const auto calls = [](const std::string& ops) {
    const Facts facts(ops);
    return (*facts).calls_function(facts.value());
  };
  EXPECT_TRUE(
      calls("  %1 = math %x {function = \"exp\"} : f32\n  %2 = add %1, %x : f32\n"
            "  store %p, %2\n"));
  EXPECT_TRUE(calls("  %1 = div %x, %x : f32\n  store %p, %1\n"));
  EXPECT_TRUE(calls("  %1 = cast %x : f16\n  store %h, %1\n"));
  EXPECT_TRUE(calls("  %1 = cast %x : i32\n  %2 = cast %1 : f32\n  store %p, %2\n"));
  EXPECT_FALSE(calls("  %1 = div %x, %x {exact = 1} : f32\n  store %p, %1\n"));
  EXPECT_FALSE(calls("  %1 = cast %n : f32\n  store %p, %1\n"));
  EXPECT_FALSE(
      calls("  %e = math %x {function = \"exp\"} : f32\n  %2 = add %e, %x : f32\n"
            "  store %p, %2\n"));
}

TEST(ExpressionFacts, AnElementOfAnArrayIsThatElement) {
  const auto is_element = [](const std::string& index) {
    const Facts facts(
        "  %1 = linear %n {factors = [2], offset = 1} : i32\n"
        "  %2 = read %a, %1 : f32\n  %3 = linear %n {factors = [2], offset = " +
        index + "} : i32\n  write %a, %3, %2\n");
    return (*facts).is_element(facts.value(), facts.operand(0), facts.operand(1));
  };
  EXPECT_TRUE(is_element("1"));
  EXPECT_FALSE(is_element("2"));
}

TEST(ExpressionFacts, KeysAreThoseOfWhatIsComputed) {
  const Facts facts(
      "  %1 = add %x, %x : f32\n  store %p, %1\n  %2 = add %x, %x : f32\n"
      "  store %p, %2\n  %3 = mul %x, %x : f32\n  store %p, %3\n");
  EXPECT_EQ((*facts).key(facts.value(4)), (*facts).key(facts.value(2)));
  EXPECT_NE((*facts).key(facts.value(2)), (*facts).key(facts.value(0)));
}

}  // namespace
}  // namespace tilewright
