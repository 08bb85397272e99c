// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_error_test.cpp — what users read when a kernel is wrong: the sentence, the
// place, the remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_kernel.h"

namespace tilewright::triton {
namespace {

using testing::HasSubstr;

TEST(LowerError, TypeChangesInALoop) {
  EXPECT_EQ(
      body_error(R"(acc = 0
for i in range(n):
    acc += 0.5
tl.store(out, acc))"),
      R"(kernel.py:7:9: error: 'acc' is int32 before the loop on line 6 and float32 after a round of it
            acc += 0.5
            ^^^
hint: give it its type and shape before the loop, such as tl.zeros(..., dtype=...))");
  EXPECT_THAT(body_error("x = n\nwhile m > 0:\n    x = x + tl.arange(0, 4)\n"),
              HasSubstr("kernel.py:7:9: error: 'x' is int32 before the loop on line 6 and int32[4] "
                        "after a round of it"));
  EXPECT_THAT(body_error("x = None\nfor i in range(n):\n    x = n\n"),
              HasSubstr("'x' is None before the loop on line 6 and int32 after a round of it"));
}

TEST(LowerError, TypesDifferAfterAnIf) {
  EXPECT_EQ(
      body_error("x = n\nif m > 0:\n    x = 1.5\ntl.store(out, x)"),
      R"(kernel.py:7:9: error: 'x' is float32 in one branch of the 'if' on line 6 and int32 in the other
            x = 1.5
            ^
hint: give it the same type and shape on both paths)");
  EXPECT_THAT(body_error("if m > 0:\n    x = 1.5\nelse:\n    x = 1\ntl.store(out, x)"),
              HasSubstr("kernel.py:9:19: error: 'x' is float32 or int32 after the 'if' on line 5"));
  // Of branches within branches the innermost reason is told.
  const std::string inner = "    if n > 0:\n        x = 1.5\n    else:\n        x = 1\n";
  EXPECT_THAT(body_error("if m > 0:\n" + inner + "else:\n    x = 1.5\ntl.store(out, x)"),
              HasSubstr("'x' is float32 or int32 after the 'if' on line 6"));
  EXPECT_THAT(body_error("if m > 0:\n    x = 1.5\nelse:\n" + inner + "tl.store(out, x)"),
              HasSubstr("'x' is float32 or int32 after the 'if' on line 8"));
  EXPECT_THAT(body_error("tl.store(out, 1.0 if n > 0 else 0)"),
              HasSubstr("the two sides of 'if ... else' are float32 and int32"));
}

TEST(LowerError, NamesWithoutAValue) {
  EXPECT_EQ(
      body_error("if m > 0:\n    x = 1\ntl.store(out, x)"),
      R"(kernel.py:7:19: error: 'x' is assigned in only one branch of the 'if' on line 5, so it may have no value here
        tl.store(out, x)
                      ^
hint: assign it before the 'if' or in both branches)");
  EXPECT_THAT(body_error("for i in range(n):\n    x = i\ntl.store(out, x)"),
              HasSubstr("kernel.py:7:19: error: 'x' is assigned only inside the loop on line 5, so "
                        "it does not exist after it"));
  EXPECT_EQ(body_error("for i in range(n):\n    x = i\ntl.store(out, i)"),
            R"(kernel.py:7:19: error: 'i' is the variable of the loop on line 5, which has no value after it
        tl.store(out, i)
                      ^
hint: assign what is needed to another variable inside the loop)");
  EXPECT_THAT(body_error("offset = 1\ntl.store(out, ofset)"),
              HasSubstr("hint: did you mean 'offset'?"));
}

// A variable of before that a loop takes as its index has no value afterwards, wherever the loop is.
TEST(LowerError, IndexOfALoopThatIsOver) {
  const std::string inner = "for i in range(n):\n        tl.store(out, i)\n";
  const std::string over = "error: 'i' is the variable of the loop on line 7, which has no value";
  const std::string last = "tl.store(out, i)";
  EXPECT_THAT(body_error("i = m\nif m > 0:\n    " + inner + last), HasSubstr(over));
  EXPECT_THAT(body_error("i = m\nfor j in range(m):\n    " + inner + last), HasSubstr(over));
  EXPECT_THAT(body_error("i = m\nwhile m > 0:\n    " + inner + "    m -= 1\n" + last),
              HasSubstr(over));
  for (const char* legal : {"i = 1\n", "for i in range(m):\n    "})
    lower_text(kernel_text("i = m\nfor j in range(m):\n    " + inner + legal + last),
               "k out=*i32 n=i32 m=i32");
}

TEST(LowerError, UnknownNameOfTheLanguage) {
  EXPECT_THAT(body_error("x = tl.lod(out)"), HasSubstr("kernel.py:5:9: error: "));
  EXPECT_THAT(body_error("x = tl.lod(out)"), HasSubstr("did you mean tl.load?"));
  EXPECT_THAT(body_error("x = tl.zzz(out)"), HasSubstr("error: tl.zzz is not known\n"));
}

TEST(LowerError, ArangeNeedsAPowerOfTwo) {
  EXPECT_THAT(body_error("x = tl.arange(0, C)"), HasSubstr("kernel.py:5:9: error: "));
  EXPECT_THAT(body_error("x = tl.arange(0, C)"), HasSubstr("power of two"));
}

TEST(LowerError, ParametersOfKernels) {
  const std::string text = header + "@triton.jit\ndef k(out, n, SIZE: tl.constexpr):\n    pass\n";
  EXPECT_EQ(error_of(text, "k out=*i32 SIZE=4"),
            R"(kernel.py:4:12: error: parameter 'n' of kernel 'k' is given no value
    def k(out, n, SIZE: tl.constexpr):
               ^
hint: give it in the call or the signature)");
  EXPECT_THAT(error_of(text, "k out=*i32 n=i32"),
              HasSubstr("parameter 'SIZE' of kernel 'k' is given no value"));
  EXPECT_THAT(error_of(text, "k out=*i32 n=i32 SIZE=i32"),
              HasSubstr("parameter 'SIZE' of kernel 'k' is tl.constexpr and needs a value, not a "
                        "type"));
  EXPECT_THAT(error_of(text, "k out=*i32 n=i32 SIZE=4 extra=3"),
              HasSubstr("kernel 'k' has no parameter 'extra'"));
  EXPECT_THAT(error_of(header + "@triton.jit\ndef k(n):\n    return n\n", "k n=i32"),
              HasSubstr("kernel 'k' returns a value, which a launch cannot give back"));
}

TEST(LowerError, CallsThatLedThere) {
  const std::string before = R"(@triton.jit
def inner(x):
    return x + missing
@triton.jit
def outer(x):
    return inner(x)
)";
  EXPECT_EQ(body_error("tl.store(out, outer(n))", before),
            R"(kernel.py:5:16: error: 'missing' is not defined
        return x + missing
                   ^^^^^^^
called from kernel.py:8 in function 'outer'
called from kernel.py:11 in kernel 'k')");
}

TEST(LowerError, Recursion) {
  const std::string before = R"(@triton.jit
def even(x):
    return odd(x - 1)
@triton.jit
def odd(x):
    return even(x - 1)
)";
  EXPECT_THAT(
      body_error("tl.store(out, even(n))", before),
      HasSubstr("kernel.py:8:12: error: recursion is not supported in a kernel: 'even' calls "
                "'odd' calls 'even'"));
  const std::string growing = "@triton.jit\ndef f(x, N: tl.constexpr):\n    return f(x, N + 1)\n";
  EXPECT_THAT(body_error("tl.store(out, f(n, 0))", growing),
              HasSubstr("recursion is not supported in a kernel: 'f' calls 'f'"));
}

TEST(LowerError, WrongCalls) {
  const std::string before = "@triton.jit\ndef f(a, b=1):\n    return a\n";
  EXPECT_THAT(body_error("x = f()", before),
              HasSubstr("kernel.py:8:9: error: 'f' needs an argument for its parameter 'a'"));
  EXPECT_THAT(body_error("x = f(1, 2, 3)", before),
              HasSubstr("'f' takes 2 arguments by position but is given 3"));
  EXPECT_THAT(body_error("x = f(1, c=2)", before), HasSubstr("'f' has no parameter 'c'"));
  EXPECT_THAT(body_error("x = f(c=2)", before), HasSubstr("'f' has no parameter 'c'"));
  EXPECT_THAT(body_error("x = f(1, a=2)", before), HasSubstr("'f' is given 'a' twice"));
  EXPECT_THAT(body_error("x = n(1)"), HasSubstr("int32 cannot be called"));
}

TEST(LowerError, ConstantsThatAreNot) {
  EXPECT_THAT(body_error("x: tl.constexpr = n + 1\ny = tl.arange(0, x)"),
              HasSubstr("kernel.py:6:9: error: "));
  const LoweredKernel made = lower_text(kernel_text("x: tl.constexpr = n + 1\ntl.store(out, x)"),
                                        "k out=*i32 n=i32 m=i32");
  EXPECT_EQ(made.notes.front(),
            "kernel.py:5: 'x' is annotated tl.constexpr, but its value is only known at run time");
}

TEST(LowerError, TuplesThatGrowForever) {
  EXPECT_THAT(body_error("t = (n, m)\nfor i in tl.static_range(60):\n    t = (t, t)"),
              HasSubstr("kernel.py:7:13: error: a tuple holds more than 1000 values"));
}

struct Construct {
  const char* body;
  const char* message;
};

TEST(LowerError, ConstructsThatAreNotSupported) {
  const Construct constructs[] = {
      {"for i in range(n):\n    break", "6:9: error: 'break' is not supported in a kernel"},
      {"while n > 0:\n    continue", "6:9: error: 'continue' is not supported in a kernel"},
      {"for i in range(n):\n    return", "'return' inside a loop is not supported in a kernel"},
      {"for i in tl.static_range(2):\n    if n > i:\n        return",
       "'return' inside a loop is not supported in a kernel"},
      {"for i in range(n):\n    pass\nelse:\n    pass",
       "'else' of a loop is not supported in a kernel"},
      {"for i in n:\n    pass",
       "a loop goes over range, tl.range or tl.static_range, not over int32"},
      {"for i in range(0.5):\n    pass",
       "the bounds of a range are integers, not the constant 0.5"},
      {"for i in range(n, unrol=2):\n    pass", "a range has no option 'unrol'"},
      {"for i in tl.static_range(n):\n    pass", "the end of the range"},
      {"for i in tl.static_range(0, 1000000):\n    pass",
       "the loop is unrolled more than 100000 times"},
      {"for i in tl.static_range(0, 4, 0):\n    pass", "the step of a range cannot be 0"},
      {"for i in range(0, n, 0):\n    pass", "the step of a range cannot be 0"},
      {"x = 0 < n < 3", "a chained comparison is not supported in a kernel"},
      {"del n", "'del' is not supported in a kernel"},
      {"global n", "'global' is not supported in a kernel"},
      {"try:\n    pass\nfinally:\n    pass", "'try' is not supported in a kernel"},
      {"with n:\n    pass", "'with' is not supported in a kernel"},
      {"x = lambda: 1", "a lambda is not supported in a kernel"},
      {"x = {1: 2}", "a dictionary is not supported in a kernel"},
      {"def f():\n    pass", "a function inside a kernel is not supported"},
      {"raise ValueError('no')", "this 'raise' is reached for these arguments"},
      {"n[0] = 1", "an element of a tensor cannot be assigned"},
      {"n.x = 1", "an attribute cannot be assigned in a kernel"},
      {"a, b = 1, 2, 3", "2 values are expected here, not 3"},
      {"a, b = n", "2 values are expected here, not int32"},
      {"a, *b = 1, 2", "assignment to a starred name is not supported in a kernel"},
      {"tl.store(out, *n)", "'*' spreads a tuple, not int32"},
  };
  for (const Construct& construct : constructs)
    EXPECT_THAT(body_error(construct.body), HasSubstr(construct.message)) << construct.body;
}

TEST(LowerError, DeepNestingEndsInAMessage) {
  std::string sum = "n";
  for (int i = 0; i < 900; ++i) sum += " + 1";
  EXPECT_EQ(run_body("tl.store(out, " + sum + ")", 5), 905);
  std::string returns;
  for (int i = 0; i < 3000; ++i) returns += "if n == " + std::to_string(i) + ":\n    return\n";
  EXPECT_THAT(body_error(returns), HasSubstr("the code is nested more than 1500 levels deep"));
}

}  // namespace
}  // namespace tilewright::triton
