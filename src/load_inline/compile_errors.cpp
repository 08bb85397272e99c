// SPDX-License-Identifier: Apache-2.0
// load_inline/compile_errors.cpp — reads the logs of g++, clang++ and NVRTC.
#include "load_inline/compile_errors.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace tilewright {
namespace {

// The text between two marks; the marks are written as "\x27" for either kind of quote.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = text.find(after, begin + before.size());
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(begin + before.size(), end - begin - before.size());
}

// g++ quotes with U+2018 and U+2019 where it may.
std::string plain_quotes(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view three = line.substr(i, 3);
    const bool is_quote = three == "\u2018" || three == "\u2019";
    out += is_quote ? '\'' : line[i];
    if (is_quote) i += 2;
  }
  return out;
}

// "gelu.cu:12:5: error: ..." or "gelu.cu(12): error: ..." => "gelu.cu:12"
std::string place_of(std::string_view line) {
  const std::size_t mark = line.find("error");
  std::string_view head = line.substr(0, mark);
  const std::size_t paren = head.find('(');
  if (paren != std::string_view::npos && head.find(')') != std::string_view::npos)
    return fmt::format("{}:{}", head.substr(0, paren),
                       head.substr(paren + 1, head.find(')') - paren - 1));
  const std::size_t first = head.find(':');
  const std::size_t second = head.find(':', first + 1);
  return std::string(head.substr(0, second));
}

bool is_ours(std::string_view space) {
  for (std::string_view name : {"torch", "at", "c10", "pybind11", "py"})
    if (space == name || space.starts_with(fmt::format("{}::", name))) return true;
  return false;
}

std::string lacks(std::string_view what, std::string_view header, std::string_view line) {
  return fmt::format("{} is not part of tilewright's {} header ({})", what, header, place_of(line));
}

std::string_view first_word(std::string_view text) {
  const std::size_t end =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return text.substr(0, end);
}

// A member of one of our classes. g++: 'class c10::Device' has no member named 'y'; clang++: no
// member named 'y' in 'X'.
std::optional<std::string> missing_member(std::string_view line) {
  const auto name = between(line, "no member named '", "'");
  if (!name) return std::nullopt;
  for (std::string_view owner : {"tilewright_tensor::", "at::", "c10::"})
    if (const auto type = between(line, owner, "'"))
      return fmt::format("torch::{}::{}", *type, *name);
  return std::nullopt;
}

// A member of one of our namespaces.
std::optional<std::string> missing_name(std::string_view line) {
  auto space = between(line, "is not a member of '", "'");
  auto name = between(line, "error: '", "'");
  if (!space) {
    space = between(line, "in namespace '", "'");
    name = between(line, "no member named '", "'");
  }
  if (!space || !name || !is_ours(*space)) return std::nullopt;
  const std::size_t colon = name->rfind(':');
  return fmt::format("{}::{}", *space,
                     colon == std::string_view::npos ? *name : name->substr(colon + 1));
}

// "error: 'cudaGraphLaunch' was not declared": the name, when it begins with `prefix`.
std::optional<std::string> undeclared(std::string_view line, std::string_view prefix) {
  for (std::string_view mark : {"error: '", "undeclared identifier '"})
    if (const std::size_t at = line.find(fmt::format("{}{}", mark, prefix));
        at != std::string_view::npos)
      return std::string(first_word(line.substr(at + mark.size())));
  return std::nullopt;
}

std::optional<std::string> explain_line(std::string_view line) {
  if (const auto header = between(line, "open source file \"", "\""))
    return fmt::format(
        "the header '{}' was not found beside NVRTC ({}); install the CUDA toolkit's headers or "
        "name their folder in "
        "extra_include_paths",
        *header, place_of(line));
  if (const auto name = missing_name(line)) return lacks(*name, "torch-shaped", line);
  if (const auto name = missing_member(line)) return lacks(*name, "torch-shaped", line);
  if (const auto name = undeclared(line, "cuda")) return lacks(*name, "CUDA-shaped", line);
  for (std::string_view prefix : {"TORCH_", "AT_", "C10_"})
    if (const auto name = undeclared(line, prefix)) return lacks(*name, "torch-shaped", line);
  return std::nullopt;
}

}  // namespace

CompileError explained(const CompileError& error, const std::string& name) {
  std::string_view rest = error.log();
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string line = plain_quotes(rest.substr(0, end));
    if (line.find("error") != std::string::npos)
      if (const auto sentence = explain_line(line))
        return CompileError(fmt::format("source '{}' does not compile: {}", name, *sentence),
                            error.log());
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return error;
}

}  // namespace tilewright
