// SPDX-License-Identifier: Apache-2.0
// machine/library.cpp — library.def as data.
#include "machine/library.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"

namespace tilewright {
namespace {

constexpr LibraryFunction functions[] = {
// clang-format off
#define LIBRARY(kind, family, ...) {LibraryKind::kind, LibraryFamily::family, __VA_ARGS__},
// clang-format on
#include "machine/library.def"
};

template <class Call>
Call of_family(const LibraryFunction& function, LibraryFamily family) {
  TW_CHECK(function.is(family), "'{}' is of another family", function.name);
  return static_cast<Call>(function.kind);
}

std::vector<LibraryEffect> read_effects(const LibraryFunction& function) {
  using Kind = LibraryEffect::Kind;
  constexpr std::pair<std::string_view, Kind> names[] = {
      {"read ", Kind::Read},        {"write ", Kind::Write}, {"add ", Kind::Add},
      {"exchange", Kind::Exchange}, {"show", Kind::Show},    {"barrier", Kind::Barrier},
      {"cluster", Kind::Cluster}};
  std::vector<LibraryEffect> out;
  for (std::string_view rest = function.effects; !rest.empty();) {
    const std::size_t comma = rest.find(", ");
    const std::string_view word = rest.substr(0, comma);
    for (const auto& [name, kind] : names)
      if (word.starts_with(name))
        out.push_back({kind, word.size() > name.size() ? word[name.size()] - '0' : -1});
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 2);
  }
  return out;
}

}  // namespace

std::span<const LibraryEffect> effects_of(const LibraryFunction& function) {
  static const std::vector<std::vector<LibraryEffect>> by_kind = [] {
    std::vector<std::vector<LibraryEffect>> out;
    for (const LibraryFunction& one : functions) out.push_back(read_effects(one));
    return out;
  }();
  return by_kind[static_cast<std::size_t>(function.kind)];
}

ValueCall value_call(const LibraryFunction& function) {
  return of_family<ValueCall>(function, LibraryFamily::Value);
}
HostCall host_call(const LibraryFunction& function) {
  return of_family<HostCall>(function, LibraryFamily::Host);
}
ThreadCall thread_call(const LibraryFunction& function) {
  return of_family<ThreadCall>(function, LibraryFamily::Thread);
}
TogetherCall together_call(const LibraryFunction& function) {
  return of_family<TogetherCall>(function, LibraryFamily::Together);
}

std::span<const LibraryFunction> library_functions() { return functions; }

const LibraryFunction* find_library_function(std::string_view name) {
  static const std::unordered_map<std::string_view, const LibraryFunction*> by_name = [] {
    std::unordered_map<std::string_view, const LibraryFunction*> out;
    for (const LibraryFunction& one : functions) out.emplace(one.name, &one);
    return out;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::string_view name_of(LibraryKind kind) {
  return functions[static_cast<std::size_t>(kind)].name;
}

}  // namespace tilewright
