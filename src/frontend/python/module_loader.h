// SPDX-License-Identifier: Apache-2.0
// frontend/python/module_loader.h — Python files and what their names mean across imports.
//
// Modules are read when a name first leads there, and once. Names of packages that are not read at
// all (triton, torch, math, ...) stay as dotted names: with `import triton.language as tl`,
// `tl.load` is the external "triton.language.load". A loader is used by one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/python/ast.h"
#include "frontend/python/definitions.h"

namespace tilewright::python {

struct LoadedModule {
  std::string file;
  std::string name;  // dotted, from the root of its package: "fla.ops.utils"
  bool is_package = false;
  std::unique_ptr<SyntaxTree> tree;
  Definitions definitions;
};

// What a name stands for.
struct Binding {
  enum class Kind { Function, Class, Constant, External, Submodule, Unresolved };
  Kind kind = Kind::Unresolved;
  // Where `node` was defined; for a Submodule, that module.
  const LoadedModule* module = nullptr;
  const Node* node = nullptr;  // FunctionDef, ClassDef, or the expression of a Constant
  // A function's call-form decorators, outermost first: `f = triton.jit(f)` gives the node of
  // `triton.jit`.
  std::vector<const Node*> wrappers;
  std::vector<const LoadedModule*> wrapper_modules;  // where each of them is written
  std::string external;                              // "triton.language.load"; "builtins.len"
  std::string reason;                                // why it is unresolved

  explicit operator bool() const { return kind != Kind::Unresolved; }
};

class ModuleLoader {
 public:
  // `roots`: folders to look for absolute imports in, after the file's own folder and the parent of
  // its package.
  explicit ModuleLoader(std::vector<std::string> roots = {}) : roots_(std::move(roots)) {}

  // Throws when the file cannot be read or parsed.
  const LoadedModule& load(const std::string& path);
  // A text that is no file; its relative imports are looked for beside `file`.
  const LoadedModule& load_text(const std::string& file, std::string_view text);

  Binding lookup(const LoadedModule& module, std::string_view name);
  // The same for a dotted expression, `tl.math.exp` or `utils.helper`.
  Binding resolve(const LoadedModule& module, const Node* expression);
  // The names that an import statement binds, also one inside a function.
  std::vector<std::pair<std::string, Binding>> imports(const LoadedModule& module, Node* statement);
  // The packages whose files are not read, such as triton.language, that `from ... import *` names;
  // the last one first.
  std::vector<std::string> external_stars(const LoadedModule& module);

 private:
  using Place = std::pair<const LoadedModule*, std::string>;

  const LoadedModule& add(const std::string& path, Source source);
  Binding lookup_before(const LoadedModule& module, std::string_view name, std::size_t end);
  Binding choose(const LoadedModule& module, std::string_view name, std::size_t end);
  Binding follow(const LoadedModule& module, std::string_view name, std::size_t index);
  Binding follow_value(const LoadedModule& module, std::string_view name, std::size_t index);
  Binding follow_expression(const LoadedModule& module, const Node* node, std::string_view name,
                            std::size_t index);
  Binding wrapped_function(const LoadedModule& module, const Call& call, std::string_view name,
                           std::size_t index);
  bool is_wrapper(const LoadedModule& module, const Node* callee);
  Binding follow_star_imports(const LoadedModule& module, std::string_view name);
  Binding import_module(const LoadedModule& from, std::string_view dotted, int level);
  Binding import_symbol(const LoadedModule& from, const Definition& definition,
                        std::string_view symbol);
  Binding module_member(const LoadedModule& owner, std::string_view name);
  Binding member(const Binding& owner, std::string_view name);
  Binding module_at(const std::string& base);
  std::vector<std::string> search_roots(const LoadedModule& module, std::string_view dotted) const;

  std::vector<std::string> roots_;
  std::map<std::string, std::unique_ptr<LoadedModule>> modules_;
  // Texts that were loaded again under the same name: bindings into them stay valid.
  std::vector<std::unique_ptr<LoadedModule>> retired_;
  // Files that could not be parsed, and why.
  std::map<std::string, std::string> failed_;
  // Names being looked up, to stop at cycles.
  std::vector<Place> active_;
};

// Is the dotted name's package one that is never read from files?
bool is_external_package(std::string_view dotted);

// A name of Python itself, such as `len`.
bool is_builtin(std::string_view name);

}  // namespace tilewright::python
