// SPDX-License-Identifier: Apache-2.0
// load_inline/launch_syntax.cpp — finds launches among the tokens and puts their configuration in
// front.
#include "load_inline/launch_syntax.h"

#include "base/diagnostic.h"
#include "codegen/text/cpp_tokens.h"

namespace tilewright {
namespace {

using Tokens = std::span<const CppToken>;

// The index of the bracket that `close` closes, going back; `close` itself when there is none.
std::size_t open_of(Tokens tokens, std::size_t close, std::string_view opener,
                    std::string_view closer) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (tokens[i].is(closer)) ++depth;
    if (tokens[i].is(opener) && --depth == 0) return i;
  }
  return close;
}

// Template arguments going back from '>'; parentheses hide comparisons.
std::size_t open_angle(Tokens tokens, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (tokens[i].is(")")) i = open_of(tokens, i, "(", ")");
    else if (tokens[i].is(">")) ++depth;
    else if (tokens[i].is("<") && --depth == 0) return i;
    else if (tokens[i].is(";") || tokens[i].is("{")) break;
  }
  return close;
}

// The first token of the kernel expression that ends before `launch`: a::b<T>, (*pointer),
// object.member, ...
std::size_t kernel_begin(Tokens tokens, std::size_t launch) {
  std::size_t i = launch;
  while (i > 0) {
    const CppToken& last = tokens[i - 1];
    if (last.is(">")) i = open_angle(tokens, i - 1);
    else if (last.is(")")) i = open_of(tokens, i - 1, "(", ")");
    else if (last.is("]")) i = open_of(tokens, i - 1, "[", "]");
    else if (last.is_identifier()) --i;
    else break;
    if (i == 0 || last.is(")")) break;
    const CppToken& before = tokens[i - 1];
    if (tokens[i].is("<") || tokens[i].is("[")) continue;
    if (before.is("template")) --i;
    if (i == 0) break;
    const CppToken& link = tokens[i - 1];
    if (!link.is("::") && !link.is(".") && !link.is("->")) break;
    --i;
    // `::k` from the global namespace
    if (link.is("::") && (i == 0 || (!tokens[i - 1].is_identifier() && !tokens[i - 1].is(">"))))
      break;
    if (link.is("::") && i > 0 && tokens[i - 1].is("return")) break;
  }
  return i;
}

class LaunchRewriter {
 public:
  LaunchRewriter(std::string_view text, std::string_view file, TextEdits& edits)
      : text_(text), file_(file), edits_(edits) {}

  // `base` is where `tokens` begin in the text.
  void run(Tokens tokens, std::size_t base, int base_line) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const CppToken& token = tokens[i];
      const bool is_definition =
          token.kind == CppToken::Kind::Directive && directive_word(token) == "define";
      if (is_definition && token.text.find("<<<") != std::string_view::npos) {
        const auto inner = tokenize_cpp(token.text.substr(1), file_);
        run(inner, base + token.offset + 1, token.line - 1);
      } else if (token.is("<<<")) {
        rewrite(tokens, i, base, base_line);
      }
    }
  }

 private:
  void rewrite(Tokens tokens, std::size_t launch, std::size_t base, int base_line) {
    const std::size_t close = matching_bracket(tokens, launch);
    const std::size_t open = close + 3;
    if (close >= tokens.size() || open >= tokens.size() || !tokens[open].is("("))
      fail(tokens[launch], base_line,
           close >= tokens.size() ? "this launch has no >>>"
                                  : "this launch has no arguments after >>>");
    const std::size_t end = matching_bracket(tokens, open);
    if (end >= tokens.size())
      fail(tokens[launch], base_line, "the arguments of this launch are not closed");
    const std::size_t begin = kernel_begin(tokens, launch);
    if (begin == launch) fail(tokens[launch], base_line, "this launch names no kernel");
    const std::size_t from = base + tokens[launch].end();
    const std::size_t to = base + tokens[close].offset;
    const std::string configuration(text_.substr(from, to - from));
    edits_.insert(base + tokens[begin].offset,
                  "(::tilewright_inline::configure(" + configuration + "), ");
    edits_.replace_exactly({base + tokens[launch].offset, base + tokens[close + 2].end()}, "");
    edits_.insert(base + tokens[end].end(), ")");
  }

  [[noreturn]] void fail(const CppToken& token, int base_line, const char* message) const {
    const Span span{token.line + base_line, token.column, 3};
    throw SyntaxOrTypeError(
        {std::string(file_), span, message, "a launch is kernel<<<grid, block>>>(arguments)"},
        text_);
  }

  std::string_view text_;
  std::string_view file_;
  TextEdits& edits_;
};

}  // namespace

void rewrite_launches(std::string_view text, std::string_view file, TextEdits& edits) {
  if (text.find("<<<") == std::string_view::npos) return;
  LaunchRewriter(text, file, edits).run(tokenize_cpp(text, file), 0, 0);
}

}  // namespace tilewright
