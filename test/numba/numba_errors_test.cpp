// SPDX-License-Identifier: Apache-2.0
// numba/numba_errors_test.cpp — what a kernel or a launch does wrong is said in one sentence, with
// its line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/tilewright.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

// The message of a launch of `k(x, y)` whose body begins at line 6.
std::string message_of(const std::string& body, const std::string& before = "") {
  const std::string text = "import math\nfrom numba import cuda, float32\n" + before +
                           "@cuda.jit\ndef k(x, y):\n    i = cuda.grid(1)\n" + body;
  try {
    const Tensor x = zeros({8}, {f32, Device::cpu()}), y = zeros({8}, {f32, Device::cpu()});
    load_numba_source(text, "k")[{.grid = 1, .block = 8}](x, y);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(NumbaErrors, AMissingFeatureIsNamedWithItsLine) {
  const std::pair<const char*, const char*> features[] = {
      {"    with x: pass\n", ":6:5: error: 'with' is not supported"},
      {"    z = [1, 2]\n", ":6:9: error: a list is not supported"},
      {"    z = lambda v: v\n", ":6:9: error: a lambda is not supported"},
      {"    z = [a for a in x]\n", ":6:9: error: a comprehension is not supported"},
      {"    raise ValueError\n", ":6:5: error: 'raise' is not supported"},
      {"    z = 'text'\n", ":6:9: error: a string is not supported"},
      {"    z = {1: 2}\n", ":6:9: error: a dictionary is not supported"},
      {"    z = (1 + 2j) // 2\n", "'//' does not take complex numbers"},
      {"    z = 1j * math.sin(1j)\n", "must be a number, not complex128"},
      {"    def f(): pass\n", ":6:5: error: a function inside a function is not supported"},
      {"    y[i] = sorted(x)\n", "the function sorted(...) is not supported"},
      {"    y[i] = math.comb(3, 2)\n", "the function comb(...) is not supported"},
      {"    cuda.grid_sync()\n", "cuda.grid_sync is not supported"},
      {"    y[i] = cuda.popcount(3)\n", "cuda.popcount is not supported"},
      {"    y[i] = x.mean()\n", "'mean' of an array is not supported"},
      {"    y[i] = undefined\n", "'undefined' is not defined"},
  };
  for (const auto& [body, message] : features) EXPECT_THAT(message_of(body), HasSubstr(message));
}

TEST(NumbaErrors, TypesThatDisagreeNameTheVariable) {
  const std::string message =
      message_of("    if i < 3:\n        v = x\n    else:\n        v = 1.0\n    y[i] = v\n");
  EXPECT_THAT(message, HasSubstr("'v' is float64 here, but array(float32, 1d, C) at line 7"));
}

TEST(NumbaErrors, ATypeThatDependsOnItselfNamesTheVariable) {
  EXPECT_THAT(message_of("    while i < 0:\n        v = v + 1\n    y[i] = v\n"),
              HasSubstr("the type of 'v' cannot be inferred"));
  EXPECT_THAT(message_of("    y[i] = v\n    v = 1\n"),
              HasSubstr("'v' is used before it is assigned"));
}

TEST(NumbaErrors, SharedArraysNeedConstants) {
  EXPECT_THAT(message_of("    t = cuda.shared.array(x.shape[0], float32)\n    y[i] = t[0]\n"),
              HasSubstr(":6:9: error: the shape of cuda.shared.array must be constants"));
  EXPECT_THAT(message_of("    t = cuda.local.array(4)\n    y[i] = t[0]\n"),
              HasSubstr("cuda.local.array needs a dtype"));
  EXPECT_THAT(message_of("    t = cuda.shared.array((128, 128), float32)\n    y[i] = t[0, 0]\n"),
              HasSubstr("the shared arrays of 'k' take 65536 bytes; 49152 are the most"));
}

TEST(NumbaErrors, ArraysOfComplexNumbersAreNamed) {
  const char* const sentence = "arrays of complex numbers are not supported; use one array for the";
  for (const char* const function : {"shared", "local"})
    EXPECT_THAT(message_of(fmt::format("    t = cuda.{}.array(4, numba.complex64)\n", function),
                           "import numba\n"),
                HasSubstr(fmt::format(":7:9: error: {}", sentence)));
  for (const char* const signature :
       {"\"void(complex64[:], int32)\"", "(numba.complex128[:], numba.int32)"})
    try {
      load_numba_source(fmt::format("import numba\nfrom numba import cuda\n@cuda.jit({})\n"
                                    "def k(x, n):\n    x[0] = n\n",
                                    signature),
                        "k");
      ADD_FAILURE() << "nothing was thrown for " << signature;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(fmt::format(":3:11: error: {}", sentence)));
    }
}

TEST(NumbaErrors, RecursionIsRefused) {
  const std::string function =
      "@cuda.jit(device=True)\ndef f(n):\n    return 1 if n < 2 else n * f(n - 1)\n";
  EXPECT_THAT(message_of("    y[i] = f(3)\n", function),
              HasSubstr("'f' calls itself; a function of a kernel cannot be recursive"));
  EXPECT_THAT(message_of("    y[i] = f(3)\n", "def f(n): return n\n"),
              HasSubstr("'f' is a plain Python function"));
}

TEST(NumbaErrors, WhatIsWrongWithAnIndexIsSaid) {
  EXPECT_THAT(message_of("    y[i] = x[i, 0]\n"),
              HasSubstr("array(float32, 1d, C) has 1 dimensions and is indexed with 2"));
  EXPECT_THAT(message_of("    y[i] = x[i / 2]\n"),
              HasSubstr("an array is indexed with integers, not float64"));
  EXPECT_THAT(message_of("    y[i] = x\n"), HasSubstr("must be a number, not array"));
  EXPECT_THAT(message_of("    y[i] = x + y\n"), HasSubstr("'+' takes numbers"));
  EXPECT_THAT(message_of("    return i\n"), HasSubstr("kernel 'k' returns int64"));
}

std::string launch_message(const NumbaLaunch& launch, std::vector<NumbaArgument> arguments) {
  const NumbaKernel kernel = load_numba_source(
      "from numba import cuda\n@cuda.jit\ndef k(x, n):\n    if cuda.grid(1) < n:\n"
      "        x[cuda.grid(1)] = n\n",
      "k");
  try {
    kernel.launch(launch, arguments);
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(NumbaErrors, ALaunchIsCheckedFirst) {
  const Tensor x = zeros({8}, {f32, Device::cpu()}), half = zeros({8}, {bf16, Device::cpu()});
  const NumbaLaunch good{.grid = 1, .block = 8};
  EXPECT_EQ(launch_message(good, {x, 8}), "nothing was thrown");
  EXPECT_EQ(launch_message(good, {x}), "kernel 'k' takes 2 arguments (x, n) and is given 1");
  EXPECT_THAT(launch_message(good, {half, 8}),
              HasSubstr("argument 1 'x' of kernel 'k' is bfloat16, which @cuda.jit kernels"));
  EXPECT_THAT(launch_message({.grid = 1, .block = 2048}, {x, 8}),
              HasSubstr("a block of kernel 'k' has 2048 x 1 x 1 threads; 1024 are the most"));
  EXPECT_THAT(launch_message({.grid = 1, .block = {32, 64}}, {x, 8}), HasSubstr("32 x 64 x 1"));
  EXPECT_THAT(launch_message({.grid = 0, .block = 8}, {x, 8}),
              HasSubstr("the grid of kernel 'k' is 0 x 1 x 1"));
  EXPECT_THAT(launch_message(good, {Tensor(), 8}), HasSubstr("is an undefined tensor"));
}

TEST(NumbaErrors, AFileOrKernelThatIsNotThereIsNamed) {
  const auto message = [](const std::function<void()>& load) -> std::string {
    try {
      load();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(message([] { load_numba("no_such_file.py", "k"); }), HasSubstr("no_such_file.py"));
  const std::string text =
      "from numba import cuda\n@cuda.jit\ndef square(x): pass\n@cuda.jit(device=True)\ndef f(x):\n"
      "    return x\ndef plain(x): pass\n";
  EXPECT_THAT(message([&] { load_numba_source(text, "sqare"); }), HasSubstr("square"));
  EXPECT_THAT(message([&] { load_numba_source(text, "f"); }), HasSubstr("is a device function"));
  EXPECT_THAT(message([&] { load_numba_source(text, "plain"); }),
              HasSubstr("is not decorated with @cuda.jit"));
}

}  // namespace
}  // namespace tilewright
