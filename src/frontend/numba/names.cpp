// SPDX-License-Identifier: Apache-2.0
// frontend/numba/names.cpp — what a variable of generated text cannot be called.
#include "frontend/numba/names.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace tilewright::numba {
namespace {

// Keywords of C++, and the functions, types and variables that the texts use.
const std::set<std::string_view>& reserved_names() {
  static const std::set<std::string_view> names = {
      "alignas",  "alignof",    "and",       "and_eq",    "asm",       "auto",     "bitand",
      "bitor",    "bool",       "case",      "catch",     "char",      "class",    "compl",
      "concept",  "const",      "constexpr", "consteval", "constinit", "decltype", "default",
      "delete",   "do",         "double",    "enum",      "explicit",  "export",   "extern",
      "false",    "float",      "friend",    "goto",      "inline",    "int",      "long",
      "main",     "mutable",    "namespace", "new",       "noexcept",  "not_eq",   "nullptr",
      "operator", "or_eq",      "private",   "protected", "public",    "register", "requires",
      "short",    "signed",     "sizeof",    "static",    "struct",    "switch",   "template",
      "this",     "throw",      "true",      "try",       "typedef",   "typeid",   "typename",
      "union",    "unsigned",   "using",     "virtual",   "void",      "volatile", "wchar_t",
      "xor",      "xor_eq",     "co_await",  "co_return", "co_yield",  "char8_t",  "char16_t",
      "char32_t", "threadIdx",  "blockIdx",  "blockDim",  "gridDim",   "warpSize", "printf",
      "launch",   "parameters", "tw",        "std",       "dim3",      "NULL",     "assert",
      "size_t",   "warpsize",   "f16",       "f32",       "f64",       "i8",       "i16",
      "i32",      "i64",        "u8",        "u16",       "u32",       "u64",      "bf16",
      "cos",      "sin",        "tan",       "exp",       "exp2",      "expm1",    "log",
      "log2",     "log10",      "log1p",     "sqrt",      "rsqrt",     "cbrt",     "pow",
      "floor",    "ceil",       "trunc",     "rint",      "round",     "fabs",     "abs",
      "min",      "max",        "fmin",      "fmax",      "fmod",      "erf",      "erfc",
      "tgamma",   "lgamma",     "sinh",      "cosh",      "tanh",      "asin",     "acos",
      "atan",     "atan2",      "asinh",     "acosh",     "atanh",     "hypot",    "copysign",
      "isnan",    "isinf",      "isfinite",  "nan",       "nanf",      "fma",      "ldexp",
      "frexp",    "modf",       "signbit",   "remainder", "y0",        "y1",       "yn",
      "j0",       "j1",         "jn",        "linux",     "unix",      "half",     "clock",
      "clock64"};
  return names;
}

// Single-precision functions have an f behind the name of the others.
bool is_reserved(std::string_view name) {
  if (reserved_names().contains(name)) return true;
  if (name.starts_with("__") || name.starts_with("tw_") || name.starts_with("atomic")) return true;
  return name.size() > 3 && name.ends_with('f') &&
         reserved_names().contains(name.substr(0, name.size() - 1));
}

// Letters beyond ASCII are legal in C++ too, but not for every compiler that reads the text.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) out += c;
    else out += fmt::format("u{:02x}", byte);
  }
  return out;
}

}  // namespace

std::set<std::string, std::less<>> identifiers_in(std::string_view text) {
  std::set<std::string, std::less<>> found;
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_part(text[end])) ++end;
    if (end > i) found.emplace(text.substr(i, end - i));
    i = end + 1;
  }
  return found;
}

std::string Names::make(std::string_view wanted) {
  std::string name = plain(wanted);
  if (is_reserved(name)) name = (name.starts_with('_') ? "v" : "") + name + "_";
  std::string made = name;
  for (int number = 2; taken_.contains(made); ++number) made = fmt::format("{}_{}", name, number);
  taken_.insert(made);
  return made;
}

}  // namespace tilewright::numba
