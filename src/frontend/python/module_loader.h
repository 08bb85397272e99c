// SPDX-License-Identifier: Apache-2.0
// frontend/python/module_loader.h — Python files and what their names mean across imports.
//
// Modules are read when a name first leads there, and once. Names of packages that are not read at
// all (triton, torch, math, ...) stay as dotted names: with `import triton.language as tl`,
// `tl.load` is the external "triton.language.load". A loader is used by one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
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

// A time while a module is being read: its statements before this one have run. Modules that it
// imports, and the module itself when a kernel is launched, have been read to their ends.
struct Moment {
  const LoadedModule* module = nullptr;
  const Node* statement = nullptr;

  bool is_past(const LoadedModule& other, const Node& other_statement) const;
};
// When the decorators and the defaults of a function are evaluated; those of a function inside
// another one when that one is called.
Moment moment_of(const LoadedModule& module, const Node* function);

// What a name stands for.
struct Binding {
  enum class Kind { Function, Class, Constant, External, Submodule, Unresolved };
  Kind kind = Kind::Unresolved;
  // Where `node` was defined; for a Submodule, that module.
  const LoadedModule* module = nullptr;
  const Node* node = nullptr;       // FunctionDef, ClassDef, or the expression of a Constant
  const Node* statement = nullptr;  // of a Constant: that assigns it
  // A function's call-form decorators, outermost first: `f = triton.jit(f)` gives the node of
  // `triton.jit`.
  std::vector<const Node*> wrappers;
  std::vector<Moment> wrapper_moments;  // where each of them is written
  std::string external;                 // "triton.language.load"; "builtins.len"
  std::string reason;                   // why it is unresolved

  explicit operator bool() const { return kind != Kind::Unresolved; }
};

// How a name is looked up: when, and who tells whether a definition inside of `if` was made (empty
// where that cannot be told).
struct Lookup {
  Moment moment;
  std::function<std::optional<bool>(const LoadedModule&, const Definition&)> was_made;
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

  Binding lookup(const LoadedModule& module, std::string_view name, const Lookup& how = {});
  // The same for a dotted expression, `tl.math.exp` or `utils.helper`.
  Binding resolve(const LoadedModule& module, const Node* expression, const Lookup& how = {});
  // The names that an import statement binds, also one inside a function.
  std::vector<std::pair<std::string, Binding>> imports(const LoadedModule& module, Node* statement);
  // The packages whose files are not read, such as triton.language, that `from ... import *` names;
  // the last one first.
  std::vector<std::string> external_stars(const LoadedModule& module);

 private:
  using Place = std::pair<const LoadedModule*, std::string>;

  const LoadedModule& add(const std::string& path, Source source);
  Binding lookup_at(const LoadedModule& module, std::string_view name, const Moment& moment);
  Binding choose(const LoadedModule& module, std::string_view name, const Moment& moment);
  std::optional<bool> was_made(const LoadedModule& module, const Definition& definition) const;
  Binding follow(const LoadedModule& module, std::string_view name, const Definition& definition);
  Binding follow_value(const LoadedModule& module, std::string_view name,
                       const Definition& definition);
  Binding follow_expression(const LoadedModule& module, const Node* node, const Moment& moment);
  Binding wrapped_function(const LoadedModule& module, const Call& call, const Moment& moment,
                           std::string_view name);
  bool is_wrapper(const LoadedModule& module, const Node* callee, const Moment& moment);
  Binding follow_star_imports(const LoadedModule& module, std::string_view name);
  Binding import_module(const LoadedModule& from, std::string_view dotted, int level);
  Binding import_symbol(const LoadedModule& from, const Definition& definition,
                        std::string_view symbol);
  Binding module_member(const LoadedModule& owner, std::string_view name);
  Binding member(const Binding& owner, std::string_view name);
  Binding module_at(const std::string& base);
  Binding outside(const std::string& name);
  std::vector<std::string> search_roots(const LoadedModule& module, std::string_view dotted) const;

  std::vector<std::string> roots_;
  std::map<std::string, std::unique_ptr<LoadedModule>> modules_;
  // Texts that were loaded again under the same name: bindings into them stay valid.
  std::vector<std::unique_ptr<LoadedModule>> retired_;
  // Files that could not be parsed, and why.
  std::map<std::string, std::string> failed_;
  // Names being looked up, to stop at cycles.
  std::vector<Place> active_;
  const Lookup* how_ = nullptr;  // of the lookup under way
};

// Is the dotted name's package one that is never read from files?
bool is_external_package(std::string_view dotted);

// A name of Python itself, such as `len`.
bool is_builtin(std::string_view name);

}  // namespace tilewright::python
