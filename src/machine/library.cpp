// SPDX-License-Identifier: Apache-2.0
// machine/library.cpp — library.def as data.
#include "machine/library.h"

namespace tilewright {
namespace {

constexpr LibraryFunction functions[] = {
#define LIBRARY(kind, name, operands, numbers, regions, result, effects, meaning) \
  {LibraryKind::kind, name, operands, numbers, regions, result, effects, meaning},
#include "machine/library.def"
};

}  // namespace

std::span<const LibraryFunction> library_functions() { return functions; }

const LibraryFunction* find_library_function(std::string_view name) {
  for (const LibraryFunction& function : functions)
    if (function.name == name) return &function;
  return nullptr;
}

std::string_view name_of(LibraryKind kind) {
  return functions[static_cast<std::size_t>(kind)].name;
}

}  // namespace tilewright
