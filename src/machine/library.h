// SPDX-License-Identifier: Apache-2.0
// machine/library.h — the functions that kernels of stage Final may call, as rows of a table
// (library.def).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tilewright {

enum class LibraryKind : std::uint8_t {
#define LIBRARY(kind, ...) kind,
#include "machine/library.def"
};

struct LibraryFunction {
  LibraryKind kind;
  std::string_view name;
  std::string_view operands;  // a letter each
  int numbers;
  int regions;
  std::string_view result;
  std::string_view effects;
  std::string_view meaning;
};

// By the number that merge_runs takes.
inline constexpr std::string_view sort_orders[] = {"alternating", "ascending", "descending"};

// What a function does to one of its operands (by the number of its letter), or that threads meet.
struct LibraryEffect {
  enum class Kind : std::uint8_t { Read, Write, Add, Exchange, Show, Barrier };
  Kind kind;
  int operand = -1;
};
std::vector<LibraryEffect> effects_of(const LibraryFunction& function);
// Whether threads have to call it together.
bool meets(const LibraryFunction& function);

std::span<const LibraryFunction> library_functions();
const LibraryFunction* find_library_function(std::string_view name);  // null when there is none
std::string_view name_of(LibraryKind kind);

}  // namespace tilewright
