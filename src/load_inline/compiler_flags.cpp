// SPDX-License-Identifier: Apache-2.0
// load_inline/compiler_flags.cpp — translation of compiler flags.
#include "load_inline/compiler_flags.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tilewright {
namespace {

// These take their value as the next argument, or after '='.
constexpr std::array<std::string_view, 12> flags_with_value = {"-Xcompiler", "--compiler-options",
                                                               "-Xlinker",   "--linker-options",
                                                               "-gencode",   "--generate-code",
                                                               "-arch",      "--gpu-architecture",
                                                               "-code",      "-ccbin",
                                                               "-Xptxas",    "-maxrregcount"};

struct Flag {
  std::string name;
  std::string value;
  bool has_value = false;
};

std::vector<Flag> split_flags(const std::vector<std::string>& given) {
  std::vector<Flag> flags;
  for (std::size_t i = 0; i < given.size(); ++i) {
    Flag flag{given[i], {}, false};
    const std::size_t equals = given[i].find('=');
    const bool is_macro = given[i].starts_with("-D");
    if (equals != std::string::npos && !is_macro)
      flag = {given[i].substr(0, equals), given[i].substr(equals + 1), true};
    const bool takes_next = std::find(flags_with_value.begin(), flags_with_value.end(),
                                      flag.name) != flags_with_value.end() ||
                            flag.name == "-D" || flag.name == "-I" || flag.name == "-U";
    if (takes_next && !flag.has_value && i + 1 < given.size()) flag = {flag.name, given[++i], true};
    flags.push_back(flag);
  }
  return flags;
}

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string spelled(const Flag& flag) {
  return flag.has_value ? fmt::format("{}={}", flag.name, flag.value) : flag.name;
}

void translate(const Flag& flag, CompilerFlags& out) {
  if (is_one_of(flag.name, {"-D", "-U", "-I"})) out.options.push_back(flag.name + flag.value);
  else if (is_one_of(flag.name, {"-use_fast_math", "--use_fast_math"}))
    out.options.push_back("--use_fast_math");
  else if (is_one_of(flag.name, {"-maxrregcount", "--maxrregcount"}))
    out.options.push_back("--maxrregcount=" + flag.value);
  else if (is_one_of(flag.name, {"-Xptxas", "--ptxas-options"}))
    out.options.push_back("--ptxas-options=" + flag.value);
  else if (flag.name == "-G") out.options.push_back("--device-debug");
  // Always on here: full optimisation, line information, device use of constexpr functions.
  else if (is_one_of(flag.name, {"-O", "-O1", "-O2", "-O3", "-lineinfo", "--generate-line-info",
                                 "--expt-relaxed-constexpr", "-expt-relaxed-constexpr"}))
    return;
  else if (is_one_of(flag.name, {"-Xcompiler", "--compiler-options", "-Xlinker", "--linker-options",
                                 "-ccbin", "-fPIC", "-g", "-O0", "-pthread", "--extended-lambda",
                                 "--expt-extended-lambda", "-shared", "-v", "--verbose"}) ||
           flag.name.starts_with("-l") || flag.name.starts_with("-L") ||
           flag.name.starts_with("-Wl"))
    out.notes.push_back(fmt::format(
        "flag '{}' is for the host compiler or linker of nvcc and is left out", spelled(flag)));
  else if (is_one_of(flag.name,
                     {"-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code"}))
    out.notes.push_back(
        fmt::format("flag '{}' is left out: the device decides the architecture", spelled(flag)));
  else out.options.push_back(spelled(flag));
}

void add_macros(const InlineOptions& options, std::vector<std::string>& out) {
  for (const std::string& macro : options.macros) out.push_back("-D" + macro);
}

}  // namespace

CompilerFlags nvrtc_flags(const InlineOptions& options) {
  CompilerFlags out;
  // Constexpr functions, and members of classes, need no annotation in PyTorch's extensions either.
  out.options = {"-default-device"};
  add_macros(options, out.options);
  for (const Flag& flag : split_flags(options.extra_cuda_cflags)) translate(flag, out);
  const bool has_standard =
      std::any_of(out.options.begin(), out.options.end(), [](const std::string& option) {
        return option.starts_with("-std=") || option.starts_with("--std=");
      });
  if (!has_standard) out.options.push_back("-std=c++17");
  return out;
}

std::vector<std::string> host_flags(const InlineOptions& options, bool is_emulated) {
  std::vector<std::string> out;
  add_macros(options, out);
  if (is_emulated)
    for (const Flag& flag : split_flags(options.extra_cuda_cflags)) {
      if (is_one_of(flag.name, {"-D", "-U"})) out.push_back(flag.name + flag.value);
      else if (flag.name.starts_with("-D") || flag.name.starts_with("-U"))
        out.push_back(spelled(flag));
    }
  out.insert(out.end(), options.extra_cflags.begin(), options.extra_cflags.end());
  return out;
}

}  // namespace tilewright
