// SPDX-License-Identifier: Apache-2.0
// machine/library.h — the functions that kernels of stage Final may call, as rows of a table
// (library.def).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tilewright {

enum class LibraryKind : std::uint8_t {
#define LIBRARY(kind, ...) kind,
#include "machine/library.def"
};

// Who calls it, and for what.
enum class LibraryFamily : std::uint8_t { Value, Host, Thread, Together };

// The kinds of one family, with the values that they have in LibraryKind. A `switch` over them has
// no default, as one over a family of ops (ir/op.h).
enum class ValueCall : std::uint8_t {
#define VALUE(kind, ...) kind = static_cast<std::uint8_t>(LibraryKind::kind),
#include "machine/library.def"
};
enum class HostCall : std::uint8_t {
#define HOST(kind, ...) kind = static_cast<std::uint8_t>(LibraryKind::kind),
#include "machine/library.def"
};
enum class ThreadCall : std::uint8_t {
#define THREAD(kind, ...) kind = static_cast<std::uint8_t>(LibraryKind::kind),
#include "machine/library.def"
};
enum class TogetherCall : std::uint8_t {
#define TOGETHER(kind, ...) kind = static_cast<std::uint8_t>(LibraryKind::kind),
#include "machine/library.def"
};

struct LibraryFunction {
  LibraryKind kind;
  LibraryFamily family;
  std::string_view name;
  std::string_view operands;  // a letter each
  int numbers;
  int regions;
  std::string_view result;
  std::string_view effects;
  std::string_view meaning;

  bool is(LibraryFamily wanted) const { return family == wanted; }
};

// Of a function of the family.
ValueCall value_call(const LibraryFunction& function);
HostCall host_call(const LibraryFunction& function);
ThreadCall thread_call(const LibraryFunction& function);
TogetherCall together_call(const LibraryFunction& function);

// By the number that merge_runs takes.
inline constexpr std::string_view sort_orders[] = {"alternating", "ascending", "descending"};

// What a function does to one of its operands (by the number of its letter), or that threads meet.
struct LibraryEffect {
  enum class Kind : std::uint8_t { Read, Write, Add, Exchange, Show, Barrier, Cluster };
  Kind kind;
  int operand = -1;
};
std::span<const LibraryEffect> effects_of(const LibraryFunction& function);

std::span<const LibraryFunction> library_functions();
const LibraryFunction* find_library_function(std::string_view name);  // null when there is none
std::string_view name_of(LibraryKind kind);

}  // namespace tilewright
