// SPDX-License-Identifier: Apache-2.0
// cli/compile_numba.cpp — from FILE.py:KERNEL and Numba's types to a source.
#include "cli/compile_numba.h"

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "base/quote.h"
#include "cli/verbs.h"
#include "compiler/numba/numba_state.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

std::vector<numba::Type> types_to_compile(const NumbaKernel::State& state,
                                          const std::string& text) {
  if (text.empty() && !state.signature && !state.parameters.empty())
    throw UsageError{fmt::format(
        "the types of {} are not known; give them with --signature \"float32[:], int32\", an item "
        "for each of {}",
        state.name, fmt::join(state.parameters, ", "))};
  std::vector<numba::Type> types = text.empty()
                                       ? state.signature.value_or(std::vector<numba::Type>{})
                                       : parse_numba_signature(text);
  if (types.size() != state.parameters.size())
    throw ArgumentError(fmt::format("--signature has {} types and kernel '{}' {} parameters ({})",
                                    types.size(), state.name, state.parameters.size(),
                                    fmt::join(state.parameters, ", ")));
  // As launches with ordinary arrays have it: float32[:] of a signature may have gaps.
  for (numba::Type& type : types) type.is_contiguous = true;
  return types;
}

// `#line 7 "a.py"` => `  // a.py:7: y[i] = x[i]`
std::string with_user_lines(const std::string& text, const std::string& file,
                            std::string_view source) {
  std::string out;
  std::istringstream lines(text);
  const std::string marker = fmt::format("\"{}\"", source_name(file));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#line ")) {
      out += line + "\n";
      continue;
    }
    if (line.find(marker) == std::string::npos) continue;
    const int number = std::stoi(line.substr(6));
    const std::string_view user = line_of(source, number);
    const std::size_t begin = std::min(user.find_first_not_of(" \t"), user.size());
    out += std::string(begin / 2, ' ') +
           cpp_comment(fmt::format("{}:{}: {}", file, number, user.substr(begin))) + "\n";
  }
  return out;
}

}  // namespace

NumbaCompile numba_to_compile(const KernelPath& path, const std::string& signature,
                              const Target& target) {
  std::string name = path.kernel;
  if (name.empty()) {
    python::ModuleLoader loader;
    name = chosen_kernel(path, numba_kernels(loader, loader.load(path.file)));
  }
  const NumbaKernel kernel = load_numba(path.file, name);
  NumbaKernel::State& state = *kernel.state();
  const std::vector<numba::Type> types = types_to_compile(state, signature);
  // As most launches have it.
  std::optional<NumbaSource> made =
      numba_source(state, types, target.is_cuda() ? NumbaPlace::Gpu : NumbaPlace::Loop,
                   {.is_narrow = target.is_cuda(), .are_apart = target.is_cuda()});
  if (!made) made = numba_source(state, types, NumbaPlace::Emulated);
  std::vector<std::string> texts;
  for (const numba::Type& type : types) texts.push_back(text_of(type));
  return {name, fmt::format("{}", fmt::join(texts, ", ")), made->source,
          with_user_lines(target.is_cuda() ? made->text.text : made->source.text,
                          state.module->tree->source.file, state.module->tree->source.text)};
}

}  // namespace tilewright::cli
