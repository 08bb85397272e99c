// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins.cpp — which name means which row, and the call of it.
#include "frontend/triton/builtins.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "frontend/triton/builtin_tables.h"
#include "frontend/triton/names.h"

namespace tilewright::triton {
namespace {

// ---- Families: rows under one canonical prefix

struct Family {
  std::string_view prefix;  // of Builtin::name
  std::string_view shown;   // how messages write it
  std::map<std::string, const BuiltinRow*, std::less<>> rows;
};

Family make_family(std::string_view prefix, std::string_view shown,
                   std::initializer_list<std::span<const BuiltinRow>> tables) {
  Family family{prefix, shown, {}};
  for (const std::span<const BuiltinRow> table : tables)
    for (const BuiltinRow& row : table) {
      const bool is_new = family.rows.emplace(row.name, &row).second;
      TW_CHECK(is_new, "builtin '{}' is listed twice", row.name);
    }
  return family;
}

const Family& language() {
  static const Family family = make_family(
      "triton.language", "tl.",
      {create_builtins(), shape_builtins(), memory_builtins(), block_builtins(), atomic_builtins(),
       math_builtins(), reduce_builtins(), sort_builtins(), dot_builtins(), random_builtins(),
       debug_builtins(), asm_builtins(), map_builtins(), type_builtins()});
  return family;
}

const Family& libdevice() {
  static const Family family =
      make_family("triton.language.extra.libdevice", "libdevice.", {libdevice_builtins()});
  return family;
}

const Family& python_family() {
  static const Family family = make_family("builtins", "", {python_builtins()});
  return family;
}

const Family& python_math() {
  static const Family family = make_family("math", "math.", {python_math_builtins()});
  return family;
}

const Family& triton_family() {
  static const Family family = make_family("triton", "triton.", {triton_builtins()});
  return family;
}

const Family& target_family() {
  static const Family family =
      make_family("triton.language.target_info", "tl.target_info.", {target_builtins()});
  return family;
}

const Family& cuda_family() {
  static const Family family =
      make_family("triton.language.extra.cuda", "tl.extra.cuda.", {cuda_builtins()});
  return family;
}

using FamilyOf = const Family& (*)();
constexpr FamilyOf families[] = {language,      libdevice,     python_family, python_math,
                                 triton_family, target_family, cuda_family};

// Where the names of a namespace are looked up, in this order.
struct Scope {
  std::string_view name;
  std::vector<FamilyOf> families;
};

const std::vector<Scope>& scopes() {
  static const std::vector<Scope> table = {
      {"triton", {triton_family}},
      {"triton.language", {language}},
      {"triton.language.core", {language}},
      {"triton.language.standard", {language}},
      {"triton.language.random", {language}},
      {"triton.language.math", {language, libdevice}},
      {"triton.language.libdevice", {libdevice, language}},
      {"triton.language.extra", {cuda_family}},
      {"triton.language.extra.libdevice", {libdevice, language}},
      {"triton.language.extra.cuda", {cuda_family}},
      {"triton.language.extra.cuda.libdevice", {libdevice, language}},
      {"triton.language.target_info", {target_family}},
      {"triton.language.extra.cuda.utils", {cuda_family}},
      {"triton.language.PropagateNan", {}},
      {"math", {python_math}},
      {"builtins", {python_family}},
  };
  return table;
}

const Scope* scope_named(std::string_view name) {
  for (const Scope& scope : scopes())
    if (scope.name == name) return &scope;
  return nullptr;
}

std::pair<std::string_view, std::string_view> split_name(std::string_view full) {
  const std::size_t dot = full.rfind('.');
  if (dot == std::string_view::npos) return {"builtins", full};
  return {full.substr(0, dot), full.substr(dot + 1)};
}

// "triton.language.load" -> "tl.load"
std::string shown_name(std::string_view full) {
  constexpr std::string_view language_prefix = "triton.language";
  if (full.substr(0, language_prefix.size()) == language_prefix)
    return fmt::format("tl{}", full.substr(language_prefix.size()));
  if (full.substr(0, 9) == "builtins.") return std::string(full.substr(9));
  return std::string(full);
}

[[noreturn]] void fail_unknown(const Scope& scope, std::string_view full) {
  const std::string_view name = split_name(full).second;
  const std::string prefix = scope.name == "builtins" ? "" : shown_name(scope.name) + ".";
  std::vector<std::string> known;  // without the prefix, which would make all of them alike
  for (const FamilyOf family : scope.families)
    for (const auto& [row_name, row] : family().rows)
      if (row_name.front() != '_') known.push_back(row_name);
  if (libdevice().rows.contains(name) && scope.name == "triton.language")
    throw Mistake{fmt::format("{} is not known", shown_name(full)),
                  fmt::format("use libdevice.{0}, after 'from triton.language.extra import "
                              "libdevice'",
                              name)};
  const std::vector<std::string> near = nearest_names(name, known);
  throw Mistake{
      fmt::format("{} is not known{}", shown_name(full),
                  near.empty() ? "" : fmt::format("; did you mean {}{}?", prefix, near.front())),
      ""};
}

const BuiltinRow* row_named(std::string_view full, std::string* shown) {
  const auto [prefix, name] = split_name(full);
  for (const FamilyOf family : families) {
    if (family().prefix != prefix) continue;
    const auto found = family().rows.find(name);
    if (found == family().rows.end()) return nullptr;
    *shown = fmt::format("{}{}", family().shown, name);
    return found->second;
  }
  return nullptr;
}

}  // namespace

Value external_value(std::string_view full_name) {
  const std::string full = canonical_name(full_name);
  if (scope_named(full)) return Namespace{.external = full};
  const auto [prefix, name] = split_name(full);
  const Scope* scope = scope_named(prefix);
  if (!scope) throw Mistake{fmt::format("{} cannot be used inside a kernel", shown_name(full)), ""};
  if (const std::optional<Value> constant = constant_named(full)) return *constant;
  if (const std::optional<Mistake> refusal = refused_name(full)) throw *refusal;
  for (const FamilyOf family : scope->families)
    if (family().rows.contains(name)) return Builtin{fmt::format("{}.{}", family().prefix, name)};
  fail_unknown(*scope, full);
}

bool is_of_outside_package(std::string_view full_name) {
  return scope_named(full_name.substr(0, full_name.find('.'))) == nullptr;
}

bool has_external_value(std::string_view full_name) {
  try {
    external_value(full_name);
    return true;
  } catch (const Mistake&) {
    return false;
  }
}

Value call_builtin(Semantic& semantic, Host& host, const Builtin& builtin,
                   const CallArguments& arguments) {
  std::string shown;
  const BuiltinRow* row = row_named(builtin.name, &shown);
  TW_CHECK(row, "no builtin '{}'", builtin.name);
  Call call(semantic, host, shown, *row, arguments);
  return row->lower(call);
}

const BuiltinRow* tensor_method(std::string_view name) {
  const auto found = language().rows.find(name);
  return found != language().rows.end() && found->second->is_method ? found->second : nullptr;
}

std::vector<std::string> tensor_method_names() {
  std::vector<std::string> names;
  for (const auto& [name, row] : language().rows)
    if (row->is_method) names.push_back(name);
  return names;
}

Value call_method(Semantic& semantic, Host& host, const Method& method,
                  const CallArguments& arguments) {
  const BuiltinRow* row = method_row(*method.owner, method.name);
  TW_CHECK(row, "no method '{}'", method.name);
  CallArguments with_owner = arguments;
  with_owner.positional.insert(with_owner.positional.begin(), *method.owner);
  Call call(semantic, host, fmt::format(".{}()", method.name), *row, with_owner);
  return row->lower(call);
}

}  // namespace tilewright::triton
