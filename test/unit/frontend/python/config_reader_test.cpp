// SPDX-License-Identifier: Apache-2.0
// frontend/python/config_reader_test.cpp — configs, keys, heuristics, jit options and grids as
// data.
#include "frontend/python/config_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/python/parser.h"

namespace tilewright::python {
namespace {

const std::string head = "import triton\nimport triton.language as tl\n";

// The first kernel of a text, with all that is needed to read it.
struct Kernel {
  explicit Kernel(const std::string& text)
      : module(loader.load_text("k.py", head + text)),
        evaluator(loader),
        function(jit_functions(loader, module).at(0)) {}
  ModuleLoader loader;
  const LoadedModule& module;
  Evaluator evaluator;
  DecoratedFunction function;
};

std::string configs(const std::string& decorator) {
  Kernel kernel(decorator + "\n@triton.jit\ndef k(x, N, BLOCK: tl.constexpr): pass\n");
  const Autotune tune =
      read_autotune(kernel.evaluator, *kernel.function.find(Decorator::Kind::Autotune));
  std::string out;
  for (const ConfigValue& config : tune.configs) {
    Value meta = make_dict(config.meta.items);
    out += fmt::format("{} w{} s{} c{}{}{}; ", repr(meta), config.num_warps, config.num_stages,
                       config.num_ctas, config.maxnreg ? fmt::format(" r{}", *config.maxnreg) : "",
                       config.pre_hook ? " hook" : "");
  }
  out += "key";
  for (const std::string& name : tune.key) out += " " + name;
  return out;
}

TEST(PythonConfigReader, LiteralConfigs) {
  EXPECT_EQ(configs("@triton.autotune(configs=[triton.Config({'BLOCK': 64}, num_warps=8), "
                    "triton.Config({}, 2, 5, num_ctas=2, "
                    "maxnreg=128, pre_hook=lambda n: None)], key=['N'])"),
            "{'BLOCK': 64} w8 s3 c1; {} w2 s5 c2 r128 hook; key N");
}

TEST(PythonConfigReader, ConfigsByComprehensionFunctionAndName) {
  EXPECT_EQ(configs("@triton.autotune([triton.Config({'BLOCK': b}, num_warps=w) for b in [16, 32] "
                    "for w in [2, 4] if b * w > 32], ['N', 'x'])"),
            "{'BLOCK': 16} w4 s3 c1; {'BLOCK': 32} w2 s3 c1; {'BLOCK': 32} w4 s3 c1; key N x");
  EXPECT_EQ(configs("def get():\n  all = []\n  for s in (1, 2):\n    "
                    "all.append(triton.Config({'BLOCK': 8 * s}, num_stages=s))\n  return all\n"
                    "CONFIGS = get() + [triton.Config({'BLOCK': "
                    "1})]\n@triton.autotune(configs=CONFIGS, key=[])"),
            "{'BLOCK': 8} w4 s1 c1; {'BLOCK': 16} w4 s2 c1; {'BLOCK': 1} w4 s3 c1; key");
  EXPECT_EQ(configs("@triton.autotune(configs=list(filter(lambda c: c.kwargs['BLOCK'] > 8 and "
                    "c.num_warps == 4, "
                    "[triton.Config({'BLOCK': 8}), triton.Config({'BLOCK': 16})])), key=['N'])"),
            "{'BLOCK': 16} w4 s3 c1; key N");
  EXPECT_EQ(configs("@triton.autotune(configs=[], key=['N'])"), "{} w4 s3 c1; key N");
}

// Python evaluates decorators where they stand.
TEST(PythonConfigReader, NamesAreWhatTheyAreAtTheDecorator) {
  const std::string use = "@triton.autotune(configs=CONFIGS, key=KEY)\n";
  const std::string after =
      "@triton.jit\ndef k(x, N, BLOCK: tl.constexpr): pass\n"
      "CONFIGS = [triton.testing.Benchmark(['N'])]\nKEY = 3\nSIZE = 5\n";
  Kernel kernel(
      "SIZE = 8\nKEY = ['N']\nCONFIGS = [triton.Config({'BLOCK': SIZE})]\n"
      "CONFIGS.append(triton.Config({'BLOCK': 2 * SIZE}))\nSIZE = 4\n" +
      use + after + "CONFIGS.append(1)\n");
  const Autotune tune =
      read_autotune(kernel.evaluator, *kernel.function.find(Decorator::Kind::Autotune));
  ASSERT_EQ(tune.configs.size(), 2u);
  EXPECT_EQ(repr(make_dict(tune.configs[0].meta.items)), "{'BLOCK': 8}");
  EXPECT_EQ(repr(make_dict(tune.configs[1].meta.items)), "{'BLOCK': 16}");
  EXPECT_EQ(tune.key, std::vector<std::string>{"N"});
}

TEST(PythonConfigReader, DecoratorsThroughPartial) {
  EXPECT_EQ(configs("import functools\nN = 16\n"
                    "tuned = functools.partial(triton.autotune, key=['N'])\n"
                    "wider = functools.partial(tuned, configs=[triton.Config({'BLOCK': N})])\n"
                    "N = 32\n@wider()"),
            "{'BLOCK': 16} w4 s3 c1; key N");
  EXPECT_EQ(configs("from functools import partial\n"
                    "tuned = partial(triton.autotune, [triton.Config({'BLOCK': 4})])\n"
                    "@tuned(['x'])"),
            "{'BLOCK': 4} w4 s3 c1; key x");
  EXPECT_EQ(configs("import functools\n@functools.partial(triton.autotune, "
                    "configs=[triton.Config({'BLOCK': 4})], key=['N'])"),
            "{'BLOCK': 4} w4 s3 c1; key N");
}

TEST(PythonConfigReader, ConfigsThatTheModuleSortsAndChanges) {
  EXPECT_EQ(configs("C = [triton.Config({'BLOCK': b}) for b in (16, 64, 32)]\n"
                    "C.sort(key=lambda c: c.kwargs['BLOCK'], reverse=True)\n"
                    "for c in C:\n  c.num_warps = 8\n"
                    "@triton.autotune(configs=C, key=[])"),
            "{'BLOCK': 64} w8 s3 c1; {'BLOCK': 32} w8 s3 c1; {'BLOCK': 16} w8 s3 c1; key");
}

TEST(PythonConfigReader, UnreadableConfigsAreNamed) {
  try {
    configs(
        "import torch\n@triton.autotune(configs=[triton.Config({'BLOCK': torch.ask()})], "
        "key=['N'])");
    FAIL();
  } catch (const SyntaxOrTypeError& error) {
    EXPECT_EQ(error.diagnostic().message,
              "a call of 'torch.ask' is not evaluated while reading a file");
    EXPECT_EQ(error.diagnostic().span.line, 4);
    EXPECT_EQ(error.diagnostic().span.column, 51);
    EXPECT_EQ(error.diagnostic().span.length, 11);
  }
  try {
    configs("@triton.autotune(configs=[{'BLOCK': 1}], key=['N'])");
    FAIL();
  } catch (const SyntaxOrTypeError& error) {
    EXPECT_EQ(error.diagnostic().message, "configs must hold triton.Config, not dict");
  }
}

TEST(PythonConfigReader, Heuristics) {
  Kernel kernel(
      "def width(args): return triton.next_power_of_2(args['N'])\n"
      "@triton.heuristics({'HAS_X': lambda args: args['x'] is not None, 'EVEN': lambda args: "
      "args['N'] % args['BLOCK'] == 0,\n"
      "                    'WIDTH': width, 'WARPS': lambda args: 8 if args['WIDTH'] > 64 else 4})\n"
      "@triton.jit\ndef k(x, N, BLOCK: tl.constexpr): pass\n");
  const auto heuristics =
      read_heuristics(kernel.evaluator, *kernel.function.find(Decorator::Kind::Heuristics));
  DictValue arguments{{{"x", TensorValue{"torch.float32", {4}, {1}}}, {"N", 100}, {"BLOCK", 10}}};
  apply_heuristics(kernel.evaluator, heuristics, arguments);
  EXPECT_EQ(repr(*arguments.find(std::string("HAS_X"))), "True");
  EXPECT_EQ(repr(*arguments.find(std::string("EVEN"))), "True");
  EXPECT_EQ(repr(*arguments.find(std::string("WIDTH"))), "128");
  EXPECT_EQ(repr(*arguments.find(std::string("WARPS"))), "8");
  DictValue none{{{"x", Value()}, {"N", 5}, {"BLOCK", 10}}};
  apply_heuristics(kernel.evaluator, heuristics, none);
  EXPECT_EQ(repr(*none.find(std::string("HAS_X"))), "False");
  EXPECT_EQ(repr(*none.find(std::string("WARPS"))), "4");
}

TEST(PythonConfigReader, HeuristicsMayAskTensors) {
  Kernel kernel(
      "import torch\n@triton.heuristics({'A': lambda a: a['x'].shape[0] * a['x'].stride(1) * "
      "a['x'].element_size(), "
      "'B': lambda a: isinstance(a['x'], torch.Tensor) and a['x'].dtype == torch.float16})\n"
      "@triton.jit\ndef k(x, A, B): pass\n");
  const auto heuristics =
      read_heuristics(kernel.evaluator, *kernel.function.find(Decorator::Kind::Heuristics));
  DictValue arguments{{{"x", TensorValue{"torch.float16", {3, 4}, {8, 2}}}}};
  apply_heuristics(kernel.evaluator, heuristics, arguments);
  EXPECT_EQ(repr(*arguments.find(std::string("A"))), "12");
  EXPECT_EQ(repr(*arguments.find(std::string("B"))), "True");
}

TEST(PythonConfigReader, JitOptions) {
  Kernel kernel(
      "@triton.jit(do_not_specialize=['N', 0], noinline=True, repr=lambda s: 'k', "
      "launch_metadata=None)\ndef k(x, N): pass\n");
  const JitOptions options = read_jit_options(kernel.evaluator, kernel.function);
  EXPECT_EQ(options.do_not_specialize, (std::vector<std::string>{"N", "x"}));
  EXPECT_TRUE(options.noinline);
  EXPECT_TRUE(options.has_repr);
  EXPECT_TRUE(options.has_launch_metadata);
  EXPECT_FALSE(options.debug);
  Kernel wrong("@triton.jit(do_not_specialize=[7])\ndef k(x): pass\n");
  EXPECT_THROW(read_jit_options(wrong.evaluator, wrong.function), SyntaxOrTypeError);
}

std::string grid(const std::string& expression) {
  ModuleLoader loader;
  Evaluator evaluator(loader);
  const LoadedModule& module = loader.load_text(
      "g.py", head + "def two(meta):\n  n = triton.cdiv(100, meta['BLOCK'])\n  return (n, 2)\n(" +
                  expression + ")\n");
  try {
    const Value value = evaluator.evaluate(
        module, cast<ExprStmt>(module.tree->root->body.back()).value, {{"n", 1000}});
    const auto sizes = read_grid(evaluator, value, DictValue{{{"BLOCK", 16}}});
    return fmt::format("{} {} {}", sizes[0], sizes[1], sizes[2]);
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(PythonConfigReader, Grids) {
  EXPECT_EQ(grid("(4,)"), "4 1 1");
  EXPECT_EQ(grid("4"), "4 1 1");
  EXPECT_EQ(grid("(n, 2, 3)"), "1000 2 3");
  EXPECT_EQ(grid("lambda META: (triton.cdiv(n, META['BLOCK']), min(n, 7))"), "63 7 1");
  EXPECT_EQ(grid("lambda meta: [n // meta['BLOCK'] if n > 5 else 1]"), "62 1 1");
  EXPECT_EQ(grid("two"), "7 2 1");
  EXPECT_EQ(grid("()"), "a grid is a tuple of one to three ints, not ()");
  EXPECT_EQ(grid("(1, 2, 3, 4)"), "a grid is a tuple of one to three ints, not (1, 2, 3, 4)");
  EXPECT_EQ(grid("(1.5,)"), "a grid is a tuple of one to three ints, not (1.5,)");
}

}  // namespace
}  // namespace tilewright::python
