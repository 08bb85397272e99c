// SPDX-License-Identifier: Apache-2.0
// frontend/python/decorators_test.cpp — which functions are kernels and what is stacked on them.
#include "frontend/python/decorators.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright::python {
namespace {

// "name: jit autotune other(note)" for each jit function.
std::vector<std::string> kernels(const std::string& text) {
  static constexpr const char* kinds[] = {"jit", "autotune", "heuristics", "constexpr", "other"};
  ModuleLoader loader;
  const LoadedModule& module = loader.load_text("t.py", text);
  std::vector<std::string> out;
  for (const DecoratedFunction& function : jit_functions(loader, module)) {
    std::string line = function.name + ":";
    for (const Decorator& decorator : function.decorators) {
      line += fmt::format(" {}", kinds[static_cast<std::size_t>(decorator.kind)]);
      if (!decorator.note.empty()) line += fmt::format("({})", decorator.note);
    }
    out.push_back(line);
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(PythonDecorators, SpellingsOfJit) {
  EXPECT_EQ(kernels("import triton\nfrom triton import jit\nimport triton as t\nfrom "
                    "triton.runtime.jit import jit as j\n"
                    "@triton.jit\ndef a(): pass\n@jit\ndef b(): pass\n@t.jit(noinline=True)\ndef "
                    "c(): pass\n@j\ndef d(): pass\n"
                    "def plain(): pass\n@triton.constexpr_function\ndef e(): pass\n@other.jit\ndef "
                    "f(): pass\n"),
            (Lines{"a: jit", "b: jit", "c: jit", "d: jit"}));
}

TEST(PythonDecorators, StacksInOrder) {
  EXPECT_EQ(
      kernels("import triton\nfrom elsewhere import libentry, fla_cache_autotune, "
              "pointwise_dynamic\nimport tune\n"
              "@libentry()\n@triton.heuristics({})\n@triton.autotune(configs=[], "
              "key=[])\n@triton.jit\ndef a(): pass\n"
              "@triton.heuristics({})\n@fla_cache_autotune(configs=[], key=[])\n@triton.jit\ndef "
              "b(): pass\n"
              "@pointwise_dynamic(is_tensor=[True])\n@triton.jit\ndef c(): "
              "pass\n@tune.libtuner(configs=[])\n@triton.jit\ndef d(): pass\n"),
      (Lines{
          "a: other(decorator 'elsewhere.libentry' is skipped) heuristics autotune jit",
          "b: heuristics autotune('elsewhere.fla_cache_autotune' is read as triton.autotune) jit",
          "c: other(decorator 'elsewhere.pointwise_dynamic' is skipped) jit",
          "d: autotune('tune.libtuner' is read as triton.autotune) jit"}));
}

TEST(PythonDecorators, CallForm) {
  EXPECT_EQ(
      kernels(
          "import triton\ndef _f(x): pass\n_f = triton.jit(_f)\n_f = triton.heuristics({'A': "
          "lambda args: 1})(_f)\n"
          "def body(x): pass\nkernel = triton.autotune(configs=[], key=[])(triton.jit(body))\n"),
      (Lines{"_f: heuristics jit", "kernel: autotune jit"}));
}

TEST(PythonDecorators, AFunctionOfTheUsersMakesAKernelOfAKernel) {
  EXPECT_EQ(kernels("import triton\ndef tuned_autotune(): return lambda f: f\n"
                    "def _f(x): pass\n_f = triton.jit(_f)\n_f = tuned_autotune()(_f)\n"
                    "@triton.jit\ndef g(): pass\ng = wrapped(g)\n"
                    "def host(): pass\nhost = wrapped(host)\nother = wrapped(g)\n"),
            (Lines{"_f: other(decorator 't.tuned_autotune' is skipped) jit",
                   "g: other(decorator 'wrapped' is skipped) jit"}));
}

TEST(PythonDecorators, InsideFunctionsAndConditions) {
  EXPECT_EQ(kernels("import triton\nif HAS:\n  @triton.jit\n  def a(): pass\ndef make():\n  "
                    "@triton.jit\n  def b(): pass\n  return b\n"
                    "class C:\n  @triton.jit\n  def c(): pass\n"),
            (Lines{"a: jit", "b: jit", "c: jit"}));
}

}  // namespace
}  // namespace tilewright::python
