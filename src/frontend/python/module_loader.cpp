// SPDX-License-Identifier: Apache-2.0
// frontend/python/module_loader.cpp — files of modules, and the choice among the definitions of a
// name.
#include "frontend/python/module_loader.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "frontend/python/outside_modules.h"
#include "frontend/python/parser.h"

namespace tilewright::python {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_chain = 200;

Binding unresolved(std::string reason) {
  Binding binding;
  binding.reason = std::move(reason);
  return binding;
}

Binding external(std::string name) {
  Binding binding;
  binding.kind = Binding::Kind::External;
  binding.external = std::move(name);
  return binding;
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const fs::path full = fs::weakly_canonical(fs::absolute(path), error);
  return error ? path : full.string();
}

// The outermost folder above the file of which every level down to it is a package.
fs::path package_parent(const fs::path& file) {
  fs::path folder = file.parent_path();
  while (is_file((folder / "__init__.py").string()) && folder.has_relative_path())
    folder = folder.parent_path();
  return folder;
}

std::string dotted_path(const fs::path& file) {
  fs::path relative = file.lexically_relative(package_parent(file));
  relative.replace_extension();
  if (relative.filename() == "__init__") relative = relative.parent_path();
  std::string dotted;
  for (const fs::path& part : relative) dotted += (dotted.empty() ? "" : ".") + part.string();
  return dotted;
}

// A file of Triton or PyTorch itself: what it imports from its own package stays external.
bool is_inside_external(const LoadedModule& module) {
  return module.name.starts_with("triton.") || module.name.starts_with("torch.");
}

bool is_triton_builtin(const Binding& binding) {
  return binding.kind == Binding::Kind::External &&
         (binding.external == "triton" || binding.external.starts_with("triton."));
}

bool is_none(const Binding& binding) {
  return binding.kind == Binding::Kind::Constant && is<NoneLiteral>(binding.node);
}

// A function that only says that the real one is missing: nothing but `raise` follows its text.
bool only_raises(const Binding& binding) {
  const auto* function =
      binding.kind == Binding::Kind::Function ? cast_if<FunctionDef>(binding.node) : nullptr;
  if (function == nullptr) return false;
  const auto is_text = [](const Node* node) {
    const auto* statement = cast_if<ExprStmt>(node);
    return statement != nullptr && is<StrLiteral>(statement->value);
  };
  const NodeList& body = function->body;
  const std::size_t first = !body.empty() && is_text(body[0]) ? 1 : 0;
  return body.size() == first + 1 && is<Raise>(body[first]);
}

// The best of what may hold: a Triton builtin, then the last that resolves and is no fallback, such
// as `None`.
Binding most_likely(std::vector<Binding> candidates) {
  if (candidates.size() > 1) {
    for (const Binding& candidate : candidates)
      if (is_triton_builtin(candidate)) return candidate;
    for (auto candidate = candidates.rbegin(); candidate != candidates.rend(); ++candidate)
      if (*candidate && !is_none(*candidate) && !only_raises(*candidate)) return *candidate;
  }
  return candidates.back();
}

// Puts `value` into `place` for a scope.
class HowScope {
 public:
  HowScope(const Lookup*& place, const Lookup* value) : place_(place), before_(place) {
    place = value;
  }
  ~HowScope() { place_ = before_; }
  HowScope(const HowScope&) = delete;
  HowScope& operator=(const HowScope&) = delete;

 private:
  const Lookup*& place_;
  const Lookup* before_;
};

}  // namespace

bool Moment::is_past(const LoadedModule& other, const Node& other_statement) const {
  if (statement == nullptr || module != &other) return true;
  const Span& now = statement->span;
  const Span& then = other_statement.span;
  return then.line != now.line ? then.line < now.line : then.column < now.column;
}

Moment moment_of(const LoadedModule& module, const Node* function) {
  const auto found = module.definitions.names.find(cast<FunctionDef>(function).name);
  if (found == module.definitions.names.end()) return {};
  for (const Definition& definition : found->second)
    if (definition.node == function) return {&module, definition.statement};
  return {};
}

bool is_external_package(std::string_view dotted) {
  static constexpr std::array<std::string_view, 35> known = {
      "__future__", "abc",         "argparse",  "builtins",   "collections", "contextlib",
      "copy",       "dataclasses", "enum",      "functools",  "importlib",   "inspect",
      "itertools",  "json",        "logging",   "math",       "numba",       "numpy",
      "operator",   "os",          "packaging", "pathlib",    "platform",    "random",
      "re",         "statistics",  "string",    "subprocess", "sys",         "time",
      "torch",      "triton",      "types",     "typing",     "warnings"};
  const std::string_view package = dotted.substr(0, dotted.find('.'));
  return std::binary_search(known.begin(), known.end(), package);
}

bool is_builtin(std::string_view name) {
  static constexpr std::array<std::string_view, 46> known = {"AssertionError",
                                                             "Exception",
                                                             "ImportError",
                                                             "RuntimeError",
                                                             "TypeError",
                                                             "ValueError",
                                                             "__name__",
                                                             "abs",
                                                             "all",
                                                             "any",
                                                             "bool",
                                                             "bytes",
                                                             "callable",
                                                             "complex",
                                                             "dict",
                                                             "divmod",
                                                             "enumerate",
                                                             "filter",
                                                             "float",
                                                             "frozenset",
                                                             "getattr",
                                                             "hasattr",
                                                             "hash",
                                                             "hex",
                                                             "id",
                                                             "int",
                                                             "isinstance",
                                                             "issubclass",
                                                             "iter",
                                                             "len",
                                                             "list",
                                                             "map",
                                                             "max",
                                                             "min",
                                                             "next",
                                                             "object",
                                                             "pow",
                                                             "print",
                                                             "range",
                                                             "repr",
                                                             "reversed",
                                                             "round",
                                                             "set",
                                                             "slice",
                                                             "sorted",
                                                             "str"};
  static constexpr std::array<std::string_view, 6> more = {"staticmethod", "sum",  "super",
                                                           "tuple",        "type", "zip"};
  return std::binary_search(known.begin(), known.end(), name) ||
         std::binary_search(more.begin(), more.end(), name);
}

const LoadedModule& ModuleLoader::load(const std::string& path) {
  const std::string full = absolute(path);
  const auto found = modules_.find(full);
  if (found != modules_.end()) return *found->second;
  Source source = read_source(path);
  return add(full, std::move(source));
}

const LoadedModule& ModuleLoader::load_text(const std::string& file, std::string_view text) {
  return add(absolute(file), make_source(file, text));
}

const LoadedModule& ModuleLoader::add(const std::string& path, Source source) {
  auto module = std::make_unique<LoadedModule>();
  module->file = path;
  module->name = dotted_path(path);
  module->is_package = fs::path(path).filename() == "__init__.py";
  module->tree = parse(std::move(source));
  module->definitions = collect_definitions(module->tree->root->body);
  std::unique_ptr<LoadedModule>& place = modules_[path];
  if (place) retired_.push_back(std::move(place));
  place = std::move(module);
  return *place;
}

Binding ModuleLoader::lookup(const LoadedModule& module, std::string_view name, const Lookup& how) {
  const HowScope scope(how_, &how);
  return lookup_at(module, name, how.moment);
}

Binding ModuleLoader::resolve(const LoadedModule& module, const Node* expression,
                              const Lookup& how) {
  const HowScope scope(how_, &how);
  return follow_expression(module, expression, how.moment);
}

// Only the definitions before the moment count: the right side of `f = triton.jit(f)` means the
// earlier f.
Binding ModuleLoader::lookup_at(const LoadedModule& module, std::string_view name,
                                const Moment& moment) {
  const bool is_reading = moment.module == &module && moment.statement != nullptr;
  const Span now = is_reading ? moment.statement->span : Span{};
  const Place place{&module, fmt::format("{}#{}:{}", name, now.line, now.column)};
  const bool cycle = std::find(active_.begin(), active_.end(), place) != active_.end();
  if (cycle || active_.size() > max_chain)
    return unresolved(fmt::format("'{}' in {} is defined in terms of itself", name, module.file));
  active_.push_back(place);
  Binding binding = choose(module, name, moment);
  active_.pop_back();
  return binding;
}

std::optional<bool> ModuleLoader::was_made(const LoadedModule& module,
                                           const Definition& definition) const {
  if (!definition.conditional) return true;
  if (how_ == nullptr || !how_->was_made) return std::nullopt;
  return how_->was_made(module, definition);
}

// Of several definitions the last wins that is known to have been made; where that cannot be told,
// the most likely one.
Binding ModuleLoader::choose(const LoadedModule& module, std::string_view name,
                             const Moment& moment) {
  const auto found = module.definitions.names.find(name);
  if (found == module.definitions.names.end()) return follow_star_imports(module, name);
  const std::vector<Definition>& all = found->second;
  std::size_t known = all.size();
  while (known > 0 && !moment.is_past(module, *all[known - 1].statement)) --known;
  if (known == 0) return follow_star_imports(module, name);
  std::vector<Binding> candidates, left_out;
  for (std::size_t i = known; i-- > 0;) {
    const std::optional<bool> made = was_made(module, all[i]);
    std::vector<Binding>& list = made.value_or(true) ? candidates : left_out;
    list.insert(list.begin(), follow(module, name, all[i]));
    if (made.value_or(false)) break;
  }
  return most_likely(candidates.empty() ? std::move(left_out) : std::move(candidates));
}

Binding ModuleLoader::follow_star_imports(const LoadedModule& module, std::string_view name) {
  for (auto star = module.definitions.star_imports.rbegin();
       star != module.definitions.star_imports.rend(); ++star) {
    const Binding source = import_module(module, star->module, star->level);
    if (source.kind != Binding::Kind::Submodule) continue;
    Binding binding = lookup_at(*source.module, name, {});
    if (binding && binding.external != fmt::format("builtins.{}", name)) return binding;
  }
  if (is_builtin(name)) return external(fmt::format("builtins.{}", name));
  return unresolved(fmt::format("'{}' is not defined in {}", name, module.file));
}

std::vector<std::string> ModuleLoader::external_stars(const LoadedModule& module) {
  std::vector<std::string> packages;
  for (auto star = module.definitions.star_imports.rbegin();
       star != module.definitions.star_imports.rend(); ++star) {
    const Binding source = import_module(module, star->module, star->level);
    if (source.kind == Binding::Kind::External) packages.push_back(source.external);
  }
  return packages;
}

// The last resort are folders above the file: one that has the package's own name (packages without
// __init__.py do not show where they start), one that the package lies in, as beside its tests.
std::vector<std::string> ModuleLoader::search_roots(const LoadedModule& module,
                                                    std::string_view dotted) const {
  const fs::path file(module.file);
  std::vector<std::string> roots = {file.parent_path().string(), package_parent(file).string()};
  roots.insert(roots.end(), roots_.begin(), roots_.end());
  const std::string package(dotted.substr(0, dotted.find('.')));
  for (fs::path folder = file.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (folder.filename() == package) roots.push_back(folder.parent_path().string());
    if (is_file((folder / package / "__init__.py").string())) roots.push_back(folder.string());
  }
  return roots;
}

// The module whose file is base.py or base/__init__.py; a folder without __init__.py is a package
// all the same.
Binding ModuleLoader::module_at(const std::string& base) {
  for (const std::string& path : {base + ".py", base + "/__init__.py"}) {
    if (!is_file(path)) continue;
    const std::string full = absolute(path);
    const auto failed = failed_.find(full);
    if (failed != failed_.end()) return unresolved(failed->second);
    const auto fail = [&](const Error& error) {
      failed_[full] = error.what();
      return unresolved(error.what());
    };
    try {
      Binding binding;
      binding.kind = Binding::Kind::Submodule;
      binding.module = &load(full);
      return binding;
    } catch (const UserError& error) {
      return fail(error);
    } catch (const EnvironmentError& error) {  // may not be read
      return fail(error);
    }
  }
  if (is_folder(base)) {
    Binding binding;
    binding.kind = Binding::Kind::Submodule;
    const auto known = modules_.find(absolute(base + "/__init__.py"));
    const bool loaded = known != modules_.end();
    binding.module = loaded ? known->second.get() : &load_text(base + "/__init__.py", "");
    return binding;
  }
  return unresolved(fmt::format("there is no {}.py", base));
}

// A name of a package whose files are not read; some of their modules are known as texts.
Binding ModuleLoader::outside(const std::string& name) {
  const std::string_view text = outside_module(name);
  if (text.empty()) return external(name);
  const std::string file = fmt::format("<{}>", name);
  const auto known = modules_.find(absolute(file));
  Binding binding;
  binding.kind = Binding::Kind::Submodule;
  binding.module = known != modules_.end() ? known->second.get() : &load_text(file, text);
  return binding;
}

Binding ModuleLoader::import_module(const LoadedModule& from, std::string_view dotted, int level) {
  std::string relative(dotted);
  std::replace(relative.begin(), relative.end(), '.', '/');
  if (level > 0) {
    fs::path folder = fs::path(from.file).parent_path();
    for (int up = 1; up < level; ++up) folder = folder.parent_path();
    const std::string base = relative.empty() ? folder.string() : (folder / relative).string();
    if (is_inside_external(from)) return external(dotted_path(base + "/__init__.py"));
    Binding found = module_at(base);
    if (found.kind == Binding::Kind::Unresolved && found.reason.starts_with("there is no "))
      found.reason = fmt::format("module '{}{}', imported in {}, was not found: {}",
                                 std::string(static_cast<std::size_t>(level), '.'), dotted,
                                 from.file, found.reason);
    return found;
  }
  if (is_external_package(dotted)) return outside(std::string(dotted));
  for (const std::string& root : search_roots(from, dotted)) {
    Binding binding = module_at(root + "/" + relative);
    const bool missing =
        binding.kind == Binding::Kind::Unresolved && binding.reason.starts_with("there is no ");
    if (!missing) return binding;
  }
  Binding binding =
      unresolved(fmt::format("module '{}', imported in {}, was not found", dotted, from.file));
  binding.external = std::string(dotted);
  return binding;
}

std::vector<std::pair<std::string, Binding>> ModuleLoader::imports(const LoadedModule& module,
                                                                   Node* statement) {
  std::vector<std::pair<std::string, Binding>> found;
  const Definitions definitions = collect_definitions({&statement, 1});
  for (const auto& [name, forms] : definitions.names) {
    const Definition& definition = forms.back();
    const bool whole_module = definition.form == Definition::Form::Import;
    found.emplace_back(name, whole_module ? import_module(module, definition.module, 0)
                                          : import_symbol(module, definition, definition.symbol));
  }
  return found;
}

Binding ModuleLoader::import_symbol(const LoadedModule& from, const Definition& definition,
                                    std::string_view symbol) {
  const Binding source = import_module(from, definition.module, definition.level);
  return member(source, symbol);
}

// An attribute of a module: what it defines or, in a package, a file beside it. A package may
// import its own files, so what it defines may lead back to the file.
Binding ModuleLoader::module_member(const LoadedModule& owner, std::string_view name) {
  Binding binding = lookup_at(owner, name, {});
  const bool builtin = binding.external == fmt::format("builtins.{}", name);
  if (binding && !builtin) return binding;
  if (owner.is_package) {
    Binding submodule = module_at((fs::path(owner.file).parent_path() / name).string());
    if (submodule) return submodule;
  }
  if (!builtin) return binding;
  return unresolved(fmt::format("'{}' is not defined in {}", name, owner.file));
}

// `owner.name` for a module, an external package or a class.
Binding ModuleLoader::member(const Binding& owner, std::string_view name) {
  switch (owner.kind) {
    case Binding::Kind::External:
      return outside(fmt::format("{}.{}", owner.external, name));
    case Binding::Kind::Submodule:
      return module_member(*owner.module, name);
    case Binding::Kind::Class: {
      const Definitions inside = collect_definitions(cast<ClassDef>(owner.node).body);
      const auto found = inside.names.find(name);
      if (found == inside.names.end()) break;
      Binding binding;
      binding.module = owner.module;
      binding.node = found->second.back().node;
      const auto form = found->second.back().form;
      if (form == Definition::Form::Function) binding.kind = Binding::Kind::Function;
      if (form == Definition::Form::Class) binding.kind = Binding::Kind::Class;
      if (form == Definition::Form::Value) binding.kind = Binding::Kind::Constant;
      return binding;
    }
    case Binding::Kind::Unresolved: {
      Binding binding = owner;
      if (!owner.external.empty()) binding.external = fmt::format("{}.{}", owner.external, name);
      return binding;
    }
    case Binding::Kind::Function:
    case Binding::Kind::Constant:
      break;
  }
  return unresolved(fmt::format("'.{}' of this value is not known while reading the file", name));
}

}  // namespace tilewright::python
