// SPDX-License-Identifier: Apache-2.0
// frontend/python/module_loader_test.cpp — names followed across files, packages, conditions and
// cycles.
#include "frontend/python/module_loader.h"

#include <fmt/format.h>

#include "python_project.h"

namespace tilewright::python {
namespace {

// "function helper in pkg.utils", "external triton.language.load", "constant in a", "module
// pkg.utils", "none"
std::string describe(const Binding& binding) {
  switch (binding.kind) {
    case Binding::Kind::Function:
      return fmt::format("function {} in {}", cast<FunctionDef>(binding.node).name,
                         binding.module->name);
    case Binding::Kind::Class:
      return fmt::format("class {} in {}", cast<ClassDef>(binding.node).name, binding.module->name);
    case Binding::Kind::Constant:
      return fmt::format("constant in {} line {}", binding.module->name, binding.node->span.line);
    case Binding::Kind::External:
      return "external " + binding.external;
    case Binding::Kind::Submodule:
      return "module " + binding.module->name;
    case Binding::Kind::Unresolved:
      break;
  }
  return "none";
}

std::string name_in(const std::string& text, std::string_view name) {
  ModuleLoader loader;
  return describe(loader.lookup(loader.load_text("t.py", text), name));
}

// The meaning of the expression that the module assigns to `x`, as a reference in it.
std::string reference(const std::string& text, const std::string& expression) {
  ModuleLoader loader;
  const LoadedModule& module = loader.load_text("t.py", text + "\n(" + expression + ")\n");
  return describe(loader.resolve(module, cast<ExprStmt>(module.tree->root->body.back()).value));
}

TEST(PythonModuleLoader, NamesOfTheModuleItself) {
  const std::string text =
      "import math\nX = 3\ndef f(): pass\nclass C:\n  y = 1\n  def m(self): pass\na, b = 1, (2, "
      "3)\n";
  EXPECT_EQ(name_in(text, "f"), "function f in t");
  EXPECT_EQ(name_in(text, "C"), "class C in t");
  EXPECT_EQ(name_in(text, "X"), "constant in t line 2");
  EXPECT_EQ(name_in(text, "b"), "constant in t line 7");
  EXPECT_EQ(name_in(text, "math"), "external math");
  EXPECT_EQ(name_in(text, "len"), "external builtins.len");
  EXPECT_EQ(name_in(text, "nothing"), "none");
  EXPECT_EQ(reference(text, "C.y"), "constant in t line 5");
  EXPECT_EQ(reference(text, "C.m"), "function m in t");
}

TEST(PythonModuleLoader, ExternalsKeepTheirFullName) {
  const std::string text =
      "import triton\nimport triton.language as tl\nimport os.path\nfrom triton.language import "
      "load as ld\n"
      "from triton.language.extra import libdevice\nexp = tl.math.exp\n";
  EXPECT_EQ(reference(text, "tl.load"), "external triton.language.load");
  EXPECT_EQ(reference(text, "triton.language.load"), "external triton.language.load");
  EXPECT_EQ(reference(text, "ld"), "external triton.language.load");
  EXPECT_EQ(reference(text, "libdevice.tanh"), "external triton.language.extra.libdevice.tanh");
  EXPECT_EQ(reference(text, "exp"), "external triton.language.math.exp");
  EXPECT_EQ(reference(text, "os.path.join"), "external os.path.join");
}

TEST(PythonModuleLoader, ConditionalBindingsPreferTritonThenTheLast) {
  EXPECT_EQ(name_in("try:\n  from triton.language.extra.libdevice import tanh\nexcept "
                    "ImportError:\n  def tanh(x): pass\n",
                    "tanh"),
            "external triton.language.extra.libdevice.tanh");
  EXPECT_EQ(
      name_in("import triton.language as tl\nif A:\n  exp = tl.exp\nelse:\n  def exp(x): pass\n",
              "exp"),
      "external triton.language.exp");
  EXPECT_EQ(name_in("if A:\n  def f(): pass\nelse:\n  f = 3\n", "f"), "constant in t line 4");
  EXPECT_EQ(name_in("try:\n  import nowhere\nexcept ImportError:\n  nowhere = 1\n", "nowhere"),
            "constant in t line 4");
  EXPECT_EQ(name_in("try:\n  def f(): pass\nexcept ImportError:\n  f = None\n", "f"),
            "function f in t");
  EXPECT_EQ(name_in("X = 1\nX = 2\n", "X"), "constant in t line 2");
  EXPECT_EQ(name_in("if A:\n  import triton\nelse:\n  triton = Placeholder()\n", "triton"),
            "external triton");
}

TEST(PythonModuleLoader, AFunctionThatOnlyRaisesIsLessLikelyThanAnother) {
  const auto line = [](const std::string& text) {
    ModuleLoader loader;
    return loader.lookup(loader.load_text("t.py", text), "f").node->span.line;
  };
  EXPECT_EQ(line("if A:\n  def f(): pass\nelse:\n  def f():\n    raise RuntimeError()\n"), 2);
  EXPECT_EQ(line("if A:\n  def f(): pass\nelse:\n  def f():\n    'no'\n    raise E()\n"), 2);
  EXPECT_EQ(line("if A:\n  def f(): pass\nelse:\n  def f():\n    x = 1\n    raise E(x)\n"), 4);
  EXPECT_EQ(line("def f(): pass\ndef f():\n  raise RuntimeError()\n"), 2);
}

TEST(PythonModuleLoader, CallFormDecoratorsKeepTheFunction) {
  ModuleLoader loader;
  const LoadedModule& module =
      loader.load_text("t.py",
                       "import triton\ndef f(x): pass\nf = triton.jit(f)\nf = "
                       "triton.heuristics({'A': 1})(f)\ng = triton.jit(f)\nh = len(f)\n");
  const Binding binding = loader.lookup(module, "f");
  EXPECT_EQ(describe(binding), "function f in t");
  ASSERT_EQ(binding.wrappers.size(), 2U);
  EXPECT_EQ(binding.wrappers[0]->span.line, 4);
  EXPECT_EQ(binding.wrappers[1]->span.line, 3);
  EXPECT_EQ(loader.lookup(module, "g").wrappers.size(), 3U);
  EXPECT_EQ(describe(loader.lookup(module, "h")), "constant in t line 6");
}

TEST(PythonModuleLoader, CyclesEnd) {
  const PythonProject project({{"t.py", "from u import a\n"}, {"u.py", "from t import a\n"}});
  ModuleLoader loader;
  const Binding binding = loader.lookup(loader.load(project.path("t.py")), "a");
  EXPECT_EQ(describe(binding), "none");
  EXPECT_TRUE(binding.reason.starts_with("'a' in ")) << binding.reason;
  EXPECT_TRUE(binding.reason.ends_with("t.py is defined in terms of itself")) << binding.reason;
  const LoadedModule& early = loader.load_text("early.py", "a = b\nb = a\n");
  EXPECT_EQ(describe(loader.lookup(early, "a")), "none");
}

TEST(PythonModuleLoader, RelativeAndAbsoluteImports) {
  const PythonProject project({
      {"pkg/__init__.py", "from .utils import helper as exported\nfrom . import ops\n"},
      {"pkg/utils.py",
       "import triton.language as tl\ndef helper(): pass\nexp = tl.exp\nfrom .ops.main import "
       "cyclic\n"},
      {"pkg/ops/__init__.py", ""},
      {"pkg/ops/main.py",
       "from ..utils import helper as h, exp\nfrom .. import utils\nimport pkg.utils as u\nimport "
       "pkg\nfrom pkg import exported\n"
       "from pkg.utils import *\nfrom .beside import value\nimport missing.module as mm\nfrom "
       ".absent import x\ndef cyclic(): pass\n"
       "from .plain import inner\n"},
      {"pkg/ops/beside.py", "value = 7\n"},
      {"pkg/ops/plain/inner.py", "z = 1\n"},
  });
  ModuleLoader loader;
  const LoadedModule& main = loader.load(project.path("pkg/ops/main.py"));
  EXPECT_EQ(main.name, "pkg.ops.main");
  const auto meaning = [&](std::string_view name) { return describe(loader.lookup(main, name)); };
  EXPECT_EQ(meaning("h"), "function helper in pkg.utils");
  EXPECT_EQ(meaning("exp"), "external triton.language.exp");
  EXPECT_EQ(meaning("utils"), "module pkg.utils");
  EXPECT_EQ(meaning("u"), "module pkg.utils");
  EXPECT_EQ(meaning("pkg"), "module pkg");
  EXPECT_EQ(meaning("exported"), "function helper in pkg.utils");
  EXPECT_EQ(meaning("helper"), "function helper in pkg.utils");
  EXPECT_EQ(meaning("value"), "constant in pkg.ops.beside line 1");
  EXPECT_EQ(meaning("inner"), "module inner");
  EXPECT_EQ(describe(loader.lookup(loader.load(project.path("pkg/utils.py")), "cyclic")),
            "function cyclic in pkg.ops.main");
  EXPECT_EQ(loader.lookup(main, "mm").reason,
            fmt::format("module 'missing.module', imported in {}, was not found", main.file));
  EXPECT_EQ(loader.lookup(main, "mm").external, "missing.module");
  EXPECT_EQ(loader.lookup(main, "x").reason,
            fmt::format("module '.absent', imported in {}, was not found: there is no {}.py",
                        main.file, project.path("pkg/ops/absent")));
}

TEST(PythonModuleLoader, APackageMayImportItsOwnFiles) {
  const PythonProject project(
      {{"lib/__init__.py", "from lib import runtime\n"},
       {"lib/runtime.py", "x = 1\n"},
       {"lib/user.py", "from lib import runtime\nimport lib\ny = lib.runtime.x\n"}});
  ModuleLoader loader;
  const LoadedModule& user = loader.load(project.path("lib/user.py"));
  EXPECT_EQ(describe(loader.lookup(user, "runtime")), "module lib.runtime");
  EXPECT_EQ(describe(loader.lookup(user, "y")), "constant in lib.runtime line 1");
}

TEST(PythonModuleLoader, PackagesAreFoundBesideTheirTests) {
  const PythonProject project({{"parts/__init__.py", ""},
                               {"parts/helper.py", "def f(): pass\n"},
                               {"test/deep/test_it.py", "from parts.helper import f\n"}});
  ModuleLoader loader;
  const LoadedModule& module = loader.load(project.path("test/deep/test_it.py"));
  EXPECT_EQ(describe(loader.lookup(module, "f")), "function f in parts.helper");
}

TEST(PythonModuleLoader, PackagesWithoutInitAreFoundByTheirName) {
  const PythonProject project({{"lib/parts/helper.py", "def f(): pass\n"},
                               {"lib/kernels/deep/kernel.py", "from lib.parts.helper import f\n"}});
  ModuleLoader loader;
  const LoadedModule& kernel = loader.load(project.path("lib/kernels/deep/kernel.py"));
  EXPECT_EQ(describe(loader.lookup(kernel, "f")), "function f in helper");
}

TEST(PythonModuleLoader, RootsAndBrokenFiles) {
  const PythonProject project({{"a/kernel.py", "from other.mod import f\nfrom broken import g\n"},
                               {"b/other/mod.py", "def f(): pass\n"},
                               {"b/broken.py", "def g(:\n"}});
  ModuleLoader alone;
  EXPECT_EQ(describe(alone.lookup(alone.load(project.path("a/kernel.py")), "f")), "none");
  ModuleLoader loader({project.path("b")});
  const LoadedModule& kernel = loader.load(project.path("a/kernel.py"));
  EXPECT_EQ(describe(loader.lookup(kernel, "f")), "function f in mod");
  const Binding broken = loader.lookup(kernel, "g");
  EXPECT_EQ(describe(broken), "none");
  EXPECT_NE(broken.reason.find("broken.py:1:7: error: invalid syntax"), std::string::npos)
      << broken.reason;
}

TEST(PythonModuleLoader, FilesAreReadOnce) {
  const PythonProject project(std::map<std::string, std::string>{{"a.py", "x = 1\n"}});
  ModuleLoader loader;
  EXPECT_EQ(&loader.load(project.path("a.py")), &loader.load(project.path("./a.py")));
}

}  // namespace
}  // namespace tilewright::python
