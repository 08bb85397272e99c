// SPDX-License-Identifier: Apache-2.0
// codegen/text/names.cpp — valid and unique identifiers.
#include "codegen/text/names.h"

#include <cctype>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/op.h"

namespace tilewright {
namespace {

// Keywords of C++ and CUDA, types of the device library, and what its headers define as macros.
const std::unordered_set<std::string_view>& reserved() {
  static const std::unordered_set<std::string_view> words = {
      "alignas",       "alignof",      "and",        "and_eq",
      "asm",           "auto",         "bitand",     "bitor",
      "bool",          "break",        "case",       "catch",
      "char",          "class",        "compl",      "concept",
      "const",         "consteval",    "constexpr",  "constinit",
      "continue",      "co_await",     "co_return",  "co_yield",
      "decltype",      "default",      "delete",     "do",
      "double",        "else",         "enum",       "explicit",
      "export",        "extern",       "false",      "float",
      "for",           "friend",       "goto",       "if",
      "inline",        "int",          "long",       "mutable",
      "namespace",     "new",          "noexcept",   "not",
      "not_eq",        "nullptr",      "operator",   "or",
      "or_eq",         "private",      "protected",  "public",
      "register",      "requires",     "return",     "short",
      "signed",        "sizeof",       "static",     "struct",
      "switch",        "template",     "this",       "throw",
      "true",          "try",          "typedef",    "typeid",
      "typename",      "union",        "unsigned",   "using",
      "virtual",       "void",         "volatile",   "wchar_t",
      "while",         "xor",          "xor_eq",     "tw",
      "f64",           "f32",          "f16",        "bf16",
      "f8e4m3",        "f8e5m2",       "i8",         "i16",
      "i32",           "i64",          "u8",         "u16",
      "u32",           "u64",          "main",       "unix",
      "linux",         "warpSize",     "threadIdx",  "blockIdx",
      "blockDim",      "gridDim",      "launch",     "parameters",
      "services",      "program",      "first",      "last",
      "char8_t",       "char16_t",     "char32_t",   "thread_local",
      "static_cast",   "dynamic_cast", "const_cast", "reinterpret_cast",
      "static_assert",
  };
  return words;
}

std::string identifier(std::string_view wanted) {
  std::string out;
  for (const char c : wanted)
    out += std::isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 128 ? c
                                                                                              : '_';
  // A leading underscore and a double one are the compiler's; so are leading digits.
  std::string clean;
  for (const char c : out)
    if (c != '_' || (!clean.empty() && clean.back() != '_')) clean += c;
  while (!clean.empty() && clean.back() == '_') clean.pop_back();
  if (!clean.empty() && std::isdigit(static_cast<unsigned char>(clean[0]))) clean = "v" + clean;
  return clean;
}

// Names of the C library and of CUDA that a kernel must not hide from what it calls.
bool is_function_of_language(std::string_view name) {
  static const std::unordered_set<std::string_view> functions = {
      "abs",    "aligned_alloc", "assert", "clock",  "clock64",   "div",    "fma",      "fmod",
      "free",   "ldiv",          "malloc", "max",    "memchr",    "memcmp", "memcpy",   "memmove",
      "memset", "min",           "printf", "rsqrtf", "saturatef", "sincos", "snprintf", "strlen",
      "strtod", "strtof",        "trap",   "exit",   "abort",     "signal", "labs",     "llabs"};
  const std::string_view stem = name.ends_with('f') ? name.substr(0, name.size() - 1) : name;
  return functions.contains(name) || ir::math_function(name) != nullptr ||
         ir::math_function(stem) != nullptr;
}

// Types and macros that the headers of NVRTC or of the emulation have at global scope, and
// functions that have C linkage there. Variables of a kernel may hide them; the kernel itself
// stands beside them.
bool is_global_of_headers(std::string_view name) {
  static const std::unordered_set<std::string_view> names = {
      "half",     "half2",     "nv_half",    "nv_half2",  "nv_bfloat16",  "nv_bfloat162",
      "dim3",     "size_t",    "ptrdiff_t",  "nullptr_t", "max_align_t",  "va_list",
      "int8_t",   "int16_t",   "int32_t",    "int64_t",   "intptr_t",     "uint8_t",
      "uint16_t", "uint32_t",  "uint64_t",   "uintptr_t", "uchar",        "ushort",
      "uint",     "ulong",     "std",        "NULL",      "NAN",          "INFINITY",
      "HUGE_VAL", "offsetof",  "j0",         "j1",        "jn",           "y0",
      "y1",       "yn",        "CUDART_INF", "HUGE_VALF", "CUDART_INF_F", "exp10",
      "exp10f",   "tw_emulate"};
  return names.contains(name);
}

}  // namespace

std::string camel_case(std::string_view words) {
  std::string out;
  bool is_first = true;
  for (const char c : words) {
    if (c != '_')
      out += is_first ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    is_first = c == '_';
  }
  return out;
}

std::string kernel_symbol(std::string_view name) {
  std::string symbol;
  for (const char c : name) {
    const bool is_plain = c == '_' || (std::isalnum(static_cast<unsigned char>(c)) != 0 &&
                                       static_cast<unsigned char>(c) < 128);
    if (is_plain) symbol += c;
    else symbol += fmt::format("_{:02x}", static_cast<unsigned char>(c));
  }
  const bool begins_well = !symbol.empty() && !symbol.starts_with("__") &&
                           std::isdigit(static_cast<unsigned char>(symbol[0])) == 0;
  const bool is_own = symbol == name && begins_well && !reserved().contains(name) &&
                      !is_function_of_language(name) && !is_global_of_headers(name);
  if (is_own) return symbol;
  return fmt::format("{}{}_kernel", begins_well ? "" : "k", symbol);
}

std::string Names::make(std::string_view wanted, std::string_view otherwise) {
  std::string base = identifier(wanted);
  if (base.empty()) base = otherwise;
  if (reserved().contains(base)) base += "_v";
  std::string name = base;
  for (int& count = counts_[base]; count > 0 && counts_.contains(name);)
    name = base + "_" + std::to_string(++count);
  if (name != base) counts_[name] = 1;
  else counts_[base] = 1;
  return name;
}

}  // namespace tilewright
