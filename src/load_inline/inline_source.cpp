// SPDX-License-Identifier: Apache-2.0
// load_inline/inline_source.cpp — which headers and declarations belong to which side.
#include "load_inline/inline_source.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/quote.h"
#include "codegen/text/cpp_tokens.h"

namespace tilewright {
namespace {

using Kind = Declaration::Kind;

std::string_view bare(std::string_view header) {
  return header.size() > 2 ? header.substr(1, header.size() - 2) : std::string_view{};
}

constexpr std::array<std::string_view, 21> cuda_headers = {"cuda.h",
                                                           "cuda_runtime.h",
                                                           "cuda_runtime_api.h",
                                                           "device_launch_parameters.h",
                                                           "driver_types.h",
                                                           "vector_types.h",
                                                           "vector_functions.h",
                                                           "device_functions.h",
                                                           "math_functions.h",
                                                           "math_constants.h",
                                                           "cuda_profiler_api.h",
                                                           "device_atomic_functions.h",
                                                           "builtin_types.h",
                                                           "host_defines.h",
                                                           "helper_cuda.h",
                                                           "sm_20_intrinsics.h",
                                                           "helper_functions.h",
                                                           "helper_timer.h",
                                                           "helper_string.h",
                                                           "exception.h",
                                                           "driver_functions.h"};

constexpr std::array<std::string_view, 90> standard_headers = {
    "algorithm",   "any",        "array",       "assert.h",
    "atomic",      "bitset",     "cassert",     "cctype",
    "cerrno",      "cfloat",     "chrono",      "cinttypes",
    "climits",     "cmath",      "complex",     "condition_variable",
    "cstddef",     "cstdint",    "cstdio",      "cstdlib",
    "cstring",     "ctime",      "ctype.h",     "deque",
    "errno.h",     "exception",  "float.h",     "forward_list",
    "fstream",     "functional", "future",      "initializer_list",
    "inttypes.h",  "iomanip",    "iostream",    "iterator",
    "limits",      "limits.h",   "list",        "map",
    "math.h",      "memory",     "mutex",       "new",
    "numeric",     "optional",   "ostream",     "queue",
    "random",      "ratio",      "set",         "sstream",
    "stdbool.h",   "stddef.h",   "stdexcept",   "stdint.h",
    "stdio.h",     "stdlib.h",   "string",      "string.h",
    "string_view", "thread",     "tuple",       "type_traits",
    "utility",     "vector",     "bit",         "concepts",
    "cstdarg",     "csignal",    "cwchar",      "dirent.h",
    "fcntl.h",     "filesystem", "getopt.h",    "iosfwd",
    "istream",     "memory.h",   "numbers",     "pthread.h",
    "signal.h",    "span",       "stack",       "stdarg.h",
    "sys/stat.h",  "sys/time.h", "sys/types.h", "time.h",
    "unistd.h",    "variant"};

// Names of std that no kernel can use.
constexpr std::array<std::string_view, 30> host_only_names = {
    "vector",   "string",        "map",       "unordered_map", "set",           "unordered_set",
    "optional", "function",      "mutex",     "shared_ptr",    "unique_ptr",    "weak_ptr",
    "atomic",   "tuple",         "deque",     "list",          "queue",         "stack",
    "thread",   "ostream",       "istream",   "stringstream",  "ostringstream", "ofstream",
    "ifstream", "runtime_error", "exception", "variant",       "any",           "string_view"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// cudaStream_t, cudaMalloc, ...: what only host code has. Textures are the device's as well.
bool is_runtime_name(const CppToken& token) {
  const std::string_view text = token.text;
  return token.is_identifier() && text.size() > 4 && text.starts_with("cuda") && text[4] >= 'A' &&
         text[4] <= 'Z' && text != "cudaTextureObject_t" && text != "cudaSurfaceObject_t";
}

bool mentions_host_only(std::string_view text) {
  const auto tokens = tokenize_cpp(text, "declaration");
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i + 1].is("::")) continue;
    const CppToken& space = tokens[i];
    const CppToken& name = tokens[i + 2];
    if (space.is("std") && contains(host_only_names, name.text)) return true;
    const bool is_device_type =
        name.is("Half") || name.is("BFloat16") || name.is("acc_type") || name.is("opmath_type") ||
        name.text.find("Accessor") != std::string_view::npos || name.text.ends_with("PtrTraits");
    if ((space.is("torch") || space.is("at") || space.is("c10")) && !is_device_type) return true;
    if (space.is("pybind11") || space.is("py")) return true;
  }
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
    if (tokens[i].is("namespace") &&
        (tokens[i + 1].is("torch") || tokens[i + 1].is("at") || tokens[i + 1].is("pybind11")))
      return true;
  return std::any_of(tokens.begin(), tokens.end(), is_runtime_name);
}

bool is_constant(std::string_view text) {
  const auto tokens = tokenize_cpp(text, "declaration");
  return std::any_of(tokens.begin(), tokens.end(),
                     [](const CppToken& t) { return t.is("const") || t.is("constexpr"); });
}

// `template <int Bytes> struct Word;`: the name of a type comes last but one, right behind its key.
bool is_forward_declaration(std::string_view text) {
  const auto tokens = tokenize_cpp(text, "declaration");
  std::size_t end = tokens.size();
  while (end > 0 && !tokens[end - 1].is(";")) --end;
  if (end < 3 || !tokens[end - 2].is_identifier()) return false;
  const CppToken& key = tokens[end - 3];
  return key.is("struct") || key.is("class") || key.is("union");
}

bool is_host_macro(std::string_view name) {
  return name.starts_with("PYBIND11_") || name.starts_with("TORCH_") ||
         name.starts_with("STABLE_TORCH");
}

}  // namespace

InlineSource make_inline_source(std::string text, std::string file, bool is_cuda) {
  // Parts under this name are ours: macros are hidden from them and the emulation does not watch
  // them.
  if (file.starts_with("tilewright/")) file.insert(0, "./");
  InlineSource source{std::move(text), std::move(file), is_cuda, {}};
  source.outline = outline_of(source.text, source.file);
  return source;
}

std::string embedded_part(std::string_view name) {
  std::string out = line_directive(1, fmt::format("tilewright/{}", name));
  std::string_view rest = embedded_file(name);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    // Parts stand one after the other in one text: what holds them together as files is left out.
    const bool is_glue =
        line.starts_with("#pragma once") || line.starts_with("#include \"load_inline/");
    out += is_glue ? "\n" : line;
    rest.remove_prefix(end);
  }
  return out;
}

std::string_view included_header_of(const InlineSource& source, const Declaration& d) {
  if (d.kind != Kind::Directive) return {};
  CppToken token;
  token.kind = CppToken::Kind::Directive;
  token.text = std::string_view(source.text).substr(d.range.begin, d.range.end - d.range.begin);
  return included_header(token);
}

bool is_torch_header(std::string_view header) {
  const std::string_view name = bare(header);
  for (std::string_view prefix : {"torch/", "ATen/", "c10/", "pybind11/", "caffe2/", "THC/"})
    if (name.starts_with(prefix)) return true;
  return name == "Python.h";
}

bool is_cuda_header(std::string_view header) { return contains(cuda_headers, bare(header)); }

bool is_device_header(std::string_view header) {
  const std::string_view name = bare(header);
  for (std::string_view prefix : {"cooperative_groups", "cub/", "curand_", "mma.h", "cuda_pipeline",
                                  "cuda/", "cuda_fp8", "sm_"})
    if (name.starts_with(prefix)) return true;
  return false;
}

bool is_standard_header(std::string_view header) {
  return contains(standard_headers, bare(header)) || bare(header).starts_with("unordered_");
}

bool is_device_visible(const InlineSource& source, const Declaration& d) {
  switch (d.kind) {
    case Kind::Kernel:
    case Kind::DeviceFunction:
    case Kind::HostDeviceFunction:
    case Kind::Directive:
    case Kind::Instantiation:
    case Kind::Other:
      return true;
    case Kind::HostFunction:
      return d.is_constexpr && !d.is_member;
    case Kind::MacroCall:
      return !is_host_macro(d.name);
    case Kind::Type:
    case Kind::Alias:
    case Kind::Variable:
      break;
  }
  if (d.is_device) return true;
  const std::string_view text =
      std::string_view(source.text).substr(d.range.begin, d.range.end - d.range.begin);
  // A kernel cannot use a variable of the host, unless it is a constant.
  if (d.kind == Kind::Variable && !is_constant(text) && !is_forward_declaration(text)) return false;
  return !mentions_host_only(text);
}

bool mentions(std::span<const InlineSource> sources, std::string_view identifier) {
  for (const InlineSource& source : sources) {
    if (source.text.find(identifier) == std::string::npos) continue;
    for (const CppToken& token : tokenize_cpp(source.text, source.file)) {
      if (token.is_identifier() && token.text == identifier) return true;
      if (token.kind == CppToken::Kind::Directive &&
          token.text.find(identifier) != std::string_view::npos)
        return true;
    }
  }
  return false;
}

}  // namespace tilewright
