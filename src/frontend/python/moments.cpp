// SPDX-License-Identifier: Apache-2.0
// frontend/python/moments.cpp — names of a module at a moment of its reading: which definitions
// were made by then, and what was done to their values.
#include <fmt/format.h>

#include "base/diagnostic.h"
#include "frontend/python/interpreter.h"

namespace tilewright::python {
namespace {

bool mentions(const Node& node, std::string_view name) {
  const auto* reference = cast_if<Name>(&node);
  bool found = reference != nullptr && reference->id == name;
  for_each_child(node, [&](const Node& child) { found = found || mentions(child, name); });
  return found;
}

}  // namespace

Lookup Interpreter::how() {
  return {moment_, [this](const LoadedModule& module, const Definition& definition) {
            return was_made(module, definition);
          }};
}

Binding Interpreter::lookup(const LoadedModule& module, std::string_view name) {
  return shared_.loader_.lookup(module, name, how());
}

std::optional<bool> Interpreter::was_made(const LoadedModule& module,
                                          const Definition& definition) {
  bool is_known = definition.is_only_guarded;
  for (const Guard& guard : definition.guards) {
    const std::optional<bool> truth = truth_of(module, guard.statement);
    if (truth && *truth != guard.when) return false;
    is_known = is_known && truth.has_value();
  }
  return is_known ? std::optional<bool>(true) : std::nullopt;
}

// A file is read as a module and may be run as a program: what stands under `if __name__ ==
// "__main__"` may have run.
std::optional<bool> Interpreter::truth_of(const LoadedModule& module, const Node* branch) {
  const auto [place, is_new] = shared_.guards_.try_emplace(branch);
  const Node* test = cast<If>(branch).test;
  if (!is_new || mentions(*test, "__name__")) return place->second;
  try {
    Interpreter home(shared_, module, nullptr, depth_ + 1, {&module, branch});
    place->second = truth(home.expression(test));
  } catch (const SyntaxOrTypeError&) {
    // then it is not known
  }
  return place->second;
}

// A module's constant is evaluated where it is defined, once; statements that change it before the
// moment are run too.
Value Interpreter::constant(const Binding& binding, std::string_view name) {
  const std::string full = fmt::format("{}.{}", binding.module->name, name);
  const auto fact = shared_.options_.facts.find(full);
  if (fact != shared_.options_.facts.end()) return fact->second;
  const Moment now = moment_.module == binding.module ? moment_ : Moment{};
  const std::pair key(binding.node, now.statement);
  const auto known = shared_.constants_.find(key);
  if (known != shared_.constants_.end()) return known->second;
  Interpreter home(shared_, *binding.module, nullptr, depth_ + 1,
                   {binding.module, binding.statement});
  Value value = home.expression(binding.node);
  home.apply_changes(value, name, binding.node, now);
  shared_.constants_[key] = value;
  return value;
}

}  // namespace tilewright::python
