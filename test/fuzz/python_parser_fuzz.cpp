// SPDX-License-Identifier: Apache-2.0
// test/fuzz/python_parser_fuzz.cpp — any bytes either parse or give a syntax error with a place
// inside the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontend/python/parser.h"
#include "frontend/python/print.h"

namespace {

using namespace tilewright;

// Every place is inside the file, every child inside the limits: what visitors rely on.
void check(const python::Node& node, int lines) {
  if (node.span.line < 1 || node.span.line > lines || node.span.column < 1) std::abort();
  if (node.end_line < node.span.line || node.height > python::max_tree_height) std::abort();
  python::for_each_child(node, [&](const python::Node& child) { check(child, lines); });
}

int count_lines(std::string_view text) {
  int lines = 1;
  for (const char c : text) lines += c == '\n';
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    python::Source source = python::make_source("fuzz.py", bytes);
    const int lines = count_lines(source.text);
    const auto tree = python::parse(std::move(source));
    check(*tree->root, lines);
    if (python::print(*tree->root).empty()) std::abort();
  } catch (const SyntaxOrTypeError& error) {
    if (error.diagnostic().message.empty()) std::abort();
  }
  return 0;
}
