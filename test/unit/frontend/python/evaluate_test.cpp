// SPDX-License-Identifier: Apache-2.0
// frontend/python/evaluate_test.cpp — expressions and functions with Python's results, and errors
// with their place.
#include "frontend/python/evaluate.h"

#include <cstdlib>

#include <fmt/format.h>

#include "frontend/python/parser.h"
#include "python_project.h"

namespace tilewright::python {
namespace {

// repr of the module's name `x`, or the error's first line.
std::string module_x(const std::string& text, EvaluateOptions options = {}) {
  ModuleLoader loader;
  Evaluator evaluator(loader, std::move(options));
  const LoadedModule& module = loader.load_text("t.py", text + "\n(x)\n");
  try {
    return repr(evaluator.evaluate(module, cast<ExprStmt>(module.tree->root->body.back()).value));
  } catch (const SyntaxOrTypeError& error) {
    const Span span = error.diagnostic().span;
    return fmt::format("{}:{}: {}", span.line, span.column, error.diagnostic().message);
  }
}

std::string value(const std::string& expression) { return module_x("x = " + expression); }

struct Case {
  const char* text;
  const char* result;
};

TEST(PythonEvaluate, Arithmetic) {
  const Case cases[] = {
      {"7 // 2, -7 // 2, 7 // -2, -7 // -2", "(3, -4, -4, 3)"},
      {"7 % 3, -7 % 3, 7 % -3, -7 % -3", "(1, 2, -2, -1)"},
      {"7 / 2, 8 / 2", "(3.5, 4.0)"},
      {"2 ** 10, 2 ** -1, (-1) ** 3, 0 ** 0", "(1024, 0.5, -1, 1)"},
      {"7.5 // 2, -7.5 % 2", "(3.0, 0.5)"},
      {"1.0 // 0.1, -1.0 // 0.1, -2.5 // 2.5", "(9.0, -10.0, -1.0)"},
      {"1 << 10, -5 >> 1, 6 & 3, 6 | 3, 6 ^ 3, ~5", "(1024, -3, 2, 7, 5, -6)"},
      {"True + True, True & False, True | 2", "(2, False, 3)"},
      {"1 + 2.5, 'a' + 'b', [1] + [2], (1,) * 3", "(3.5, 'ab', [1, 2], (1, 1, 1))"},
      {"-9223372036854775807 - 1", "-9223372036854775808"},
      {"{'a': 1} | {'a': 2, 'b': 3}", "{'a': 2, 'b': 3}"},
      {"1.0, 1e20, float('inf'), -float('inf')", "(1.0, 1e+20, inf, -inf)"},
  };
  for (const Case& test : cases) EXPECT_EQ(value(test.text), test.result) << test.text;
}

TEST(PythonEvaluate, Comparisons) {
  const Case cases[] = {
      {"1 < 2 < 3, 1 < 2 > 3, 1 == 1.0", "(True, False, True)"},
      {"None is None, 1 is not None, None == 0", "(True, True, False)"},
      {"2 in [1, 2], 'b' not in 'abc', 'k' in {'k': 1}", "(True, False, True)"},
      {"(1, 2) < (1, 3), 'a' < 'b', [1] >= [1]", "(True, True, True)"},
      {"0 or 'x', 1 and 0, not [], not 3", "('x', 0, True, False)"},
      {"1 if [] else 2", "2"},
      {"None and nothing_of_this_name", "None"},
  };
  for (const Case& test : cases) EXPECT_EQ(value(test.text), test.result) << test.text;
}

TEST(PythonEvaluate, ContainersAndComprehensions) {
  const Case cases[] = {
      {"[i * j for i in range(3) for j in (1, 10) if i != 1]", "[0, 0, 2, 20]"},
      {"{k: v for k, v in zip('ab', [1, 2])}", "{'a': 1, 'b': 2}"},
      {"{1, 2, 1}", "{1, 2}"},
      {"sum(i for i in range(5))", "10"},
      {"[*[1, 2], 3], {**{'a': 1}, 'b': 2}", "([1, 2, 3], {'a': 1, 'b': 2})"},
      {"[1, 2, 3, 4][1:3], [1, 2, 3][::-1], 'abcd'[-2:], (1, 2, 3)[:-1]",
       "([2, 3], [3, 2, 1], 'cd', (1, 2))"},
      {"[10, 20][-1], {'a': {'b': 3}}['a']['b']", "(20, 3)"},
      {"f'{1 + 1}-{\"s\"!r}-{3.14159:.2f}-{7:04d}-{[1]}'", "\"2-'s'-3.14-0007-[1]\""},
      {"(n := 3) + n", "6"},
  };
  for (const Case& test : cases) EXPECT_EQ(value(test.text), test.result) << test.text;
}

TEST(PythonEvaluate, Functions) {
  const Case cases[] = {
      {"min(3, 1, 2), max([4, 5]), abs(-3), len('abc'), sum([1, 2.5])", "(1, 5, 3, 3, 3.5)"},
      {"int(3.9), int('12'), float(2), bool([]), str(1.5)", "(3, 12, 2.0, False, '1.5')"},
      {"sorted([3, 1, 2], reverse=True), sorted(['bb', 'a'], key=len)", "([3, 2, 1], ['a', 'bb'])"},
      {"list(range(5, 0, -2)), tuple(range(3)), list(enumerate('ab'))",
       "([5, 3, 1], (0, 1, 2), [(0, 'a'), (1, 'b')])"},
      {"any([0, 1]), all([]), list(map(lambda v: v + 1, [1, 2])), list(filter(None, [0, 3]))",
       "(True, True, [2, 3], [3])"},
      {"isinstance(1, int), isinstance('a', (int, str)), isinstance(1.0, int)",
       "(True, True, False)"},
      {"(lambda a, b=2, *c, **d: (a, b, c, d))(1, 3, 4, k=5)", "(1, 3, (4,), {'k': 5})"},
      {"divmod(7, 2), round(2.5), pow(2, 3)", "((3, 1), 2, 8)"},
      {"[1, 2].index(2), {'a': 1}.get('b', 7), ','.join(['a', 'b']), 'Ab'.lower()",
       "(1, 7, 'a,b', 'ab')"},
      {"list({'a': 1}.items())", "[('a', 1)]"},
      {"(1000).bit_length()", "10"},
  };
  for (const Case& test : cases) EXPECT_EQ(value(test.text), test.result) << test.text;
  EXPECT_EQ(
      module_x(
          "import triton, math, itertools\nx = (triton.cdiv(7, 2), triton.next_power_of_2(100), "
          "triton.next_power_of_2(64), math.ceil(1.5), math.prod([2, 3]), "
          "list(itertools.product([1, 2], 'a')))\n"),
      "(4, 128, 64, 2, 6, [(1, 'a'), (2, 'a')])");
  EXPECT_EQ(module_x("import torch, triton.language as tl\nx = "
                     "(tl.constexpr(torch.iinfo(torch.int32).max), torch.float16)"),
            "(2147483647, torch.float16)");
}

TEST(PythonEvaluate, ModulesAndTheirFunctions) {
  EXPECT_EQ(module_x("N = [2, 4]\ndef make(extra):\n  out = []\n  for n in N:\n    if n == 4:\n    "
                     "  continue\n    out.append(n)\n"
                     "  out += [extra]\n  i = 0\n  while True:\n    i += 1\n    if i > 3: break\n  "
                     "else:\n    out = None\n  a, b = i, 'z'\n"
                     "  return out + [a, b]\nx = make(extra=9)\n"),
            "[2, 9, 4, 'z']");
  EXPECT_EQ(
      module_x("def outer(n):\n  def inner(m): return n * m\n  return inner\nx = outer(3)(4)\n"),
      "12");
  EXPECT_EQ(module_x("def f(n): return 1 if n == 0 else n * f(n - 1)\nx = f(10)\n"), "3628800");
  EXPECT_EQ(module_x("def f():\n  import math\n  try:\n    return math.sqrt(4)\n  except "
                     "Exception:\n    return 0\nx = f()"),
            "2.0");
  const PythonProject project({{"consts.py", "BLOCKS = [16, 32]\ndef twice(n): return 2 * n\n"},
                               {"k.py",
                                "from consts import BLOCKS, twice\nimport consts\nx = [twice(b) "
                                "for b in consts.BLOCKS]\nx\n"}});
  ModuleLoader loader;
  Evaluator evaluator(loader);
  const LoadedModule& module = loader.load(project.path("k.py"));
  EXPECT_EQ(repr(evaluator.evaluate(module, cast<ExprStmt>(module.tree->root->body.back()).value)),
            "[32, 64]");
}

TEST(PythonEvaluate, ListsFilledAtModuleLevel) {
  EXPECT_EQ(module_x("x = []\nfor i in [1, 2]:\n  if i > 1:\n    x.append(i)\nx += [7]\ndef "
                     "unrelated(): x.append(0)\n"),
            "[2, 7]");
  EXPECT_EQ(module_x("x = {}\nx['a'] = 1\nx.update(b=2)\n"), "{'a': 1, 'b': 2}");
}

TEST(PythonEvaluate, NumbersChangedAtModuleLevel) {
  EXPECT_EQ(module_x("x = 1\nx += 2\nif x > 5:\n  x *= 100\n"), "3");
}

// Of definitions under `if` the one that was made, as far as that can be told.
TEST(PythonEvaluate, BranchesOfTheModuleAreTakenAsPythonTakesThem) {
  const Case cases[] = {
      {"x = 1\nif False:\n  x = 2", "1"},
      {"x = 1\nif x == 1:\n  x = 2\nelse:\n  x = 3", "2"},
      {"import os\nx = 1\nif 'TILEWRIGHT_NO_SUCH_VARIABLE' in os.environ:\n  x = 2", "1"},
      {"a = 1\nif a > 5:\n  x = 'large'\nelif a > 0:\n  x = 'some'\nelse:\n  x = 'none'", "'some'"},
      {"try:\n  import nothing_here\n  x = 1\nexcept ImportError:\n  x = None", "1"},
      {"import torch\nx = 1\nif torch.ask():\n  x = 2", "2"},
      {"if __name__ == '__main__':\n  x = 1", "1"},
  };
  for (const Case& test : cases) EXPECT_EQ(module_x(test.text), test.result) << test.text;
}

TEST(PythonEvaluate, ConstantsKeepTheValueOfTheirTime) {
  EXPECT_EQ(module_x("a = 1\nb = a + 1\nx = (a, b)\na = 5"), "(1, 2)");
  EXPECT_EQ(module_x("a = 1\nx = a\na = 5"), "1");
  EXPECT_EQ(module_x("def f():\n  return a\na = 1\nx = f()\na = 5"), "1");
  EXPECT_EQ(module_x("a = 1\nf = lambda: a\na = 5\nx = f()"), "5");
  EXPECT_EQ(module_x("a = [1]\nx = len(a)\na.append(2)"), "1");
  EXPECT_EQ(module_x("x = 1\nx = x + 1\nx = x * 5"), "10");
  EXPECT_TRUE(module_x("x = x + 1").starts_with("1:5: the value of 'x' is not known: 'x' is not"));
}

TEST(PythonEvaluate, WhatHostCodeAsksOfItsSurroundings) {
  setenv("TILEWRIGHT_TEST_OF_GETENV", "7", 1);
  const Case cases[] = {
      {"import os\nx = os.getenv('TILEWRIGHT_TEST_OF_GETENV', '1'), "
       "os.environ['TILEWRIGHT_TEST_OF_GETENV'], os.environ.get('NO_SUCH_NAME', 3)",
       "('7', '7', 3)"},
      {"import triton\nx = triton.__version__ >= '3.0.0'", "True"},
      {"import triton\nfrom packaging import version\n"
       "x = version.parse(triton.__version__) >= version.parse('3.10'), "
       "version.parse('2.3.0') == version.parse('2.3'), "
       "version.parse('2.3.0+cu121') < version.parse('2.10'), version.Version('4.5.6').minor",
       "(False, True, True, 5)"},
      {"import triton\nx = tuple(int(v) for v in triton.__version__.split('.')[:2])", "(3, 6)"},
      {"import triton\nimport triton.language as tl\nimport torch\n"
       "x = hasattr(tl, 'make_tensor_descriptor'), hasattr(tl, 'no_such_thing'), "
       "hasattr(triton, 'set_allocator'), hasattr(torch, 'float8_e5m2'), hasattr(1, 'shape')",
       "(True, False, True, True, False)"},
      {"import triton.language as tl\nx = getattr(tl, 'no_such_thing', None)", "None"},
      {"import torch\nx = hasattr(torch, 'nothing')",
       "2:5: whether torch has 'nothing' is not known while reading a file"},
      {"import functools\ndef f(a, b, c=0):\n  return (a, b, c)\n"
       "g = functools.partial(f, 1, c=3)\nx = g(2), g(2, c=4)",
       "((1, 2, 3), (1, 2, 4))"},
      {"x = '${a} {{{}}} {1}'.format(7, 8, a=9)", "'$9 {7} 8'"},
      {"x = '{a:3}'.format(a=9)", "1:5: the field '{a:3}' of a format is not evaluated"},
      {"x = [3, 1, 2]\nx.sort()\nx.insert(0, 9)\nx.remove(2)", "[9, 1, 3]"},
      {"x = ' a.b '.strip().split('.'), 'a b'.split(), 'aXb'.replace('X', '-')",
       "(['a', 'b'], ['a', 'b'], 'a-b')"},
  };
  for (const Case& test : cases) EXPECT_EQ(module_x(test.text), test.result) << test.text;
}

TEST(PythonEvaluate, WhatCannotBeEvaluatedIsNamedWithItsPlace) {
  const Case cases[] = {
      {"import torch\nx = 2 * torch.cuda.get_device_properties(0)",
       "2:9: a call of 'torch.cuda.get_device_properties' is not evaluated while reading a file"},
      {"x = 1 / 0", "1:5: division by zero"},
      {"x = 2 ** 63", "1:5: the integer result does not fit 64 bits"},
      {"x = 9223372036854775808", "1:5: the integer does not fit 64 bits"},
      {"x = 9223372036854775807 + 1", "1:5: the integer result does not fit 64 bits"},
      {"x = [1][5]", "1:5: index 5 is outside the list of 1 items"},
      {"x = {'a': 1}['b']", "1:5: there is no key 'b'"},
      {"x = 'a' - 1", "1:5: '-' of str and int is not evaluated"},
      {"x = 3(4)", "1:5: int cannot be called"},
      {"x = [].shuffle()", "1:5: '.shuffle()' of list is not evaluated"},
      {"x = [1 for i in 5]", "1:5: int cannot be iterated"},
      {"x = (lambda a: a)()", "1:5: no value is given for parameter 'a'"},
      {"x = (lambda: 1)(2)", "1:5: 1 arguments are given to a function that takes 0"},
      {"def f():\n  with a: pass\nx = f()",
       "2:3: a With statement is not evaluated while reading a file"},
      {"def f():\n  raise ValueError()\nx = f()", "2:3: the function raises an exception here"},
      {"x = await_(1) if 0 else (yield)", "1:26: Yield is not evaluated while reading a file"},
      {"def f():\n  a = []\n  a.append(a)\nx = f()",
       "3:3: a list that holds itself is not evaluated"},
  };
  for (const Case& test : cases) EXPECT_EQ(module_x(test.text), test.result) << test.text;
  EXPECT_TRUE(
      module_x("x = 1 + torch()")
          .starts_with("1:9: the value of 'torch' is not known: 'torch' is not defined in "));
}

TEST(PythonEvaluate, WrongArgumentsFromOutsideAreErrorsToo) {
  ModuleLoader loader;
  Evaluator evaluator(loader);
  const LoadedModule& module = loader.load_text("t.py", "def f(a): return a\n");
  const Value function = FunctionValue{&module, module.tree->root->body[0], nullptr};
  EXPECT_EQ(repr(evaluator.call(function, {7})), "7");
  EXPECT_THROW(evaluator.call(function, {}), SyntaxOrTypeError);
  EXPECT_THROW(evaluator.call(Value(3), {}), ArgumentError);
}

TEST(PythonEvaluate, NothingRunsForever) {
  EvaluateOptions few;
  few.max_steps = 1000;
  EXPECT_EQ(module_x("def f():\n  while True: pass\nx = f()", few),
            "2:15: this takes more than 1000 steps to evaluate");
  EXPECT_EQ(module_x("def f(n): return f(n + 1)\nx = f(0)"),
            "1:1: functions call each other more than 100 levels deep");
  EXPECT_EQ(module_x("x = range(10 ** 9)"), "1:5: the range is too long to be read");
  EXPECT_EQ(module_x("x = [0] * 10 ** 9"), "1:5: the list is too long to be read");
}

TEST(PythonEvaluate, ShortProgramsCannotMakeHugeValues) {
  const auto repeated = [](const std::string& start, const std::string& change) {
    return module_x("def f():\n  a = " + start + "\n  for i in range(200): " + change +
                    "\n  return a\nx = f() == 1, str(f())\n");
  };
  EXPECT_EQ(repeated("'s'", "a = a + a"), "3:28: the string is too long to be read");
  EXPECT_EQ(repeated("[1]", "a = a + a"), "3:28: the list is too long to be read");
  EXPECT_EQ(repeated("[]", "a = [a]"), "3:28: the value is nested too deeply to be read");
  EXPECT_EQ(
      module_x("def f():\n  a = []\n  for i in range(60): a = [a, a]\n  return str(a)\nx = f()\n"),
      "4:10: the value is too large to be read");
  EXPECT_EQ(module_x("def f():\n  a = []\n  a.extend([a])\n  return a\nx = f()\n"),
            "3:3: a list that holds itself is not evaluated");
  EXPECT_EQ(module_x("x = f'{1:>999999999}'"), "1:5: the format '>999999999' is not evaluated");
}

TEST(PythonEvaluate, FactsAnswerForTheMachine) {
  const std::string text =
      "import torch, triton\ndef is_cuda():\n  return "
      "triton.runtime.driver.active.get_current_target().backend == 'cuda'\n"
      "def check_shared_mem(arch='none'):\n  return torch.something(arch)\n"
      "x = (is_cuda(), torch.version.hip, torch.cuda.get_device_capability()[0] >= 9, "
      "check_shared_mem('ampere'))\n";
  EXPECT_EQ(module_x(text, {.facts = nvidia_facts(9, 0)}), "(True, None, True, True)");
  EXPECT_EQ(module_x(text, {.facts = nvidia_facts(8, 0)}), "(True, None, False, True)");
  EXPECT_TRUE(module_x(text).starts_with(
      "3:10: a call of 'triton.runtime.driver.active.get_current_target' is not evaluated"));
}

}  // namespace
}  // namespace tilewright::python
