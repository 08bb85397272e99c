// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_control_test.cpp — branches, loops and returns, by what kernels compute.
#include <gtest/gtest.h>

#include "run_kernel.h"

namespace tilewright::triton {
namespace {

TEST(LowerBranch, MergesVariables) {
  const std::string body = R"(x = 1
if n > 3:
    x = 10
    y = n
else:
    y = m
tl.store(out, x * 100 + y))";
  EXPECT_EQ(run_body(body, 5, 7), 1005);
  EXPECT_EQ(run_body(body, 2, 7), 107);
}

TEST(LowerBranch, ElifChainsAndNesting) {
  const std::string body = R"(if n == 1:
    x = 10
elif n == 2:
    if m > 0:
        x = 20
    else:
        x = 21
else:
    x = 30
tl.store(out, x))";
  EXPECT_EQ(run_body(body, 1, 0), 10);
  EXPECT_EQ(run_body(body, 2, 1), 20);
  EXPECT_EQ(run_body(body, 2, 0), 21);
  EXPECT_EQ(run_body(body, 3, 0), 30);
}

TEST(LowerBranch, ConstantConditionsPruneTheOtherSide) {
  EXPECT_EQ(run_body(R"(if C == 3:
    tl.store(out, 1)
else:
    tl.store(out, no_such_name)
if C is None or C > 5 and also_missing:
    missing()
tl.store(out, 2 if C else missing))"),
            2);
}

TEST(LowerBranch, TernaryEvaluatesOneSide) {
  const std::string body = "tl.store(out, n // m if m != 0 else -1)";
  EXPECT_EQ(run_body(body, 7, 2), 3);
  EXPECT_EQ(run_body(body, 7, 0), -1);
}

TEST(LowerReturn, EarlyReturnSkipsTheRest) {
  const std::string body = R"(tl.store(out, 1)
if n > 3:
    return
tl.store(out, 2)
if m > 3:
    tl.store(out, 3)
    return
tl.store(out, 4))";
  EXPECT_EQ(run_body(body, 4, 0), 1);
  EXPECT_EQ(run_body(body, 0, 4), 3);
  EXPECT_EQ(run_body(body, 0, 0), 4);
}

TEST(LowerReturn, PartOfABranchReturns) {
  const std::string body = R"(x = 1
if n > 3:
    x = 2
    if m > 3:
        return
tl.store(out, x))";
  EXPECT_EQ(run_body(body, 4, 4), -1);
  EXPECT_EQ(run_body(body, 4, 0), 2);
  EXPECT_EQ(run_body(body, 0, 4), 1);
}

TEST(LowerReturn, HelpersReturnOnSeveralPaths) {
  const std::string helper = R"(@triton.jit
def sign(x, FLIP: tl.constexpr = False):
    if FLIP:
        x = -x
    if x > 0:
        return 1, x
    elif x < 0:
        return -1, -x
    return 0, x
)";
  const std::string text = kernel_text(R"(s, a = sign(n)
t, b = sign(n, FLIP=True)
tl.store(out, s * 1000 + t * 100 + a + b))",
                                       helper);
  EXPECT_EQ(run_kernel(text, 5).front(), 1000 - 100 + 10);
  EXPECT_EQ(run_kernel(text, -4).front(), -1000 + 100 + 8);
  EXPECT_EQ(run_kernel(text, 0).front(), 0);
}

TEST(LowerReturn, ConstantBranchesReturn) {
  const std::string helper = R"(@triton.jit
def pick(x, HOW: tl.constexpr):
    if HOW == "twice":
        return x * 2
    if HOW == "square":
        return x * x
    return x
)";
  EXPECT_EQ(
      run_kernel(kernel_text("tl.store(out, pick(n, 'twice') * 100 + pick(n, 'square'))", helper))
          .front(),
      1025);
}

TEST(LowerLoop, CarriesNotANumber) {
  EXPECT_EQ(run_body(R"(a = float("nan")
b = float("nan")
for i in range(n):
    a = float("nan")
    b = i * 1.0
tl.store(out, tl.where(a == a, 100, 200) + b.to(tl.int32)))"),
            204);
}

TEST(LowerLoop, CarriesWhatTheBodyAssigns) {
  EXPECT_EQ(run_body(R"(a = 0
b = 1
for i in range(n):
    t = a + b
    a = b
    b = t
tl.store(out, a))",
                     10),
            55);
}

TEST(LowerLoop, StepsDownAndByValues) {
  EXPECT_EQ(run_body("x = 0\nfor i in range(n, 0, -2):\n    x = x * 10 + i\ntl.store(out, x)", 5),
            531);
  EXPECT_EQ(run_body("x = 0\nfor i in range(1, n, m):\n    x = x * 10 + i\ntl.store(out, x)", 8, 3),
            147);
  EXPECT_EQ(run_body("x = 0\nfor i in range(0, 4, step=2):\n    x += i + 1\ntl.store(out, x)"), 4);
  EXPECT_EQ(run_body("x = 7\nfor i in tl.range(0, -3, num_stages=2):\n    x = 1\ntl.store(out, x)"),
            7);
}

TEST(LowerLoop, ConstantsBecomeTensorsWhenTheBodyAssignsThem) {
  const std::string helper = R"(@triton.jit
def count(n, total=0):
    for i in range(n):
        if total < 3:
            total += 1
    return total
)";
  EXPECT_EQ(run_kernel(kernel_text("tl.store(out, count(n) * 10 + count(2, 1))", helper)).front(),
            33);
}

TEST(LowerLoop, ConstantsStayWhenOnlyADeadBranchAssignsThem) {
  EXPECT_EQ(run_body(R"(x = 0
for i in range(n):
    if C == 4:
        C = 8
    x += tl.sum(tl.arange(0, C + 1))
tl.store(out, x))",
                     2),
            12);
}

TEST(LowerLoop, CarriesOnlyWhatChanges) {
  const LoweredKernel made = lower_text(kernel_text(R"(x = n
y = m
for i in range(n):
    if C == 4:
        y = y + 1
    z = y
    y = z
    x += y
tl.store(out, x))"),
                                        "k out=*i32 n=i32 m=i32");
  std::size_t carried = 0;
  for (const ir::Op* op : made.kernel.body.ops)
    if (op->kind == ir::OpKind::For) carried += op->results.size();
  EXPECT_EQ(carried, 1u);
}

TEST(LowerLoop, NestedLoopsAndBranches) {
  EXPECT_EQ(run_body(R"(x = 0
for i in range(n):
    for j in range(i):
        if (i + j) % 2 == 0:
            x += i * j
        else:
            y = x
            x = y + 1
tl.store(out, x))",
                     5),
            [] {
              int x = 0;
              for (int i = 0; i < 5; ++i)
                for (int j = 0; j < i; ++j) x += (i + j) % 2 == 0 ? i * j : 1;
              return x;
            }());
}

TEST(LowerLoop, CarriesTuplesAndPointers) {
  EXPECT_EQ(run_kernel(kernel_text(R"(pair = (0, 1)
p = out
for i in range(4):
    tl.store(p, pair[0] * 10 + pair[1])
    pair = (pair[1], pair[0] + pair[1])
    p += 1)"),
                       0, 0, 4),
            (std::vector<std::int32_t>{1, 11, 12, 23}));
}

TEST(LowerLoop, WhileRepeatsItsCondition) {
  EXPECT_EQ(run_body(R"(a = n
b = m
while b != 0:
    t = a % b
    a = b
    b = t
tl.store(out, a))",
                     84, 36),
            12);
}

TEST(LowerLoop, StaticRangeUnrollsWithConstants) {
  EXPECT_EQ(run_body(R"(x = 0
for i in tl.static_range(C):
    size: tl.constexpr = 2 ** i
    x += tl.sum(tl.arange(0, size)) + n
last = i
for i in tl.static_range(3, 0, -1):
    x = x * 10 + i
tl.store(out, x * 10 + last))",
                     0),
            73212);
}

TEST(LowerLoop, ConditionalIterator) {
  EXPECT_EQ(run_body(R"(x = 0
for i in (tl.static_range if C == 3 else range)(0, C):
    x += tl.sum(tl.arange(0, 2 ** i))
tl.store(out, x))"),
            7);
}

}  // namespace
}  // namespace tilewright::triton
