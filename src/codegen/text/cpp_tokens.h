// SPDX-License-Identifier: Apache-2.0
// codegen/text/cpp_tokens.h — C++ and CUDA source as a list of tokens, for tools that read or
// rewrite it.
//
// There is no preprocessing: a preprocessor line is one token, macros are identifiers. Comments,
// white space and the text that `#if 0` leaves out give no tokens. '>' always stands alone (so that
// template brackets can be matched), and the
// `<<<` of a launch is one token: `k<<<g, b>>>(x)` is  k  <<<  g  ,  b  >  >  >  (  x  ).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace tilewright {

struct CppToken {
  enum class Kind : std::uint8_t {
    Identifier,  // names and keywords
    Number,
    String,     // with its prefix, quotes and suffix; raw strings too
    Character,  // the same with single quotes
    Punctuator,
    Directive,  // a whole preprocessor line from '#' on, with its continuation lines
  };
  Kind kind = Kind::Punctuator;
  std::string_view text;   // a view of the source
  std::size_t offset = 0;  // of the first character, in bytes
  int line = 1;
  int column = 1;

  bool is(std::string_view wanted) const {
    return kind != Kind::String && kind != Kind::Character && text == wanted;
  }
  bool is_one_of(std::initializer_list<std::string_view> words) const {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return is(word); });
  }
  bool is_identifier() const { return kind == Kind::Identifier; }
  std::size_t end() const { return offset + text.size(); }
  Span span() const { return {line, column, static_cast<int>(text.size())}; }
};

// The tokens of `text`, which must outlive them. Throws SyntaxOrTypeError, with `name` as the file,
// for a comment, string or character that does not end.
std::vector<CppToken> tokenize_cpp(std::string_view text, std::string_view name);

// The index of the bracket that closes the one at `open`: '(', '[' or '{', or '<' as a template
// bracket, or `<<<` (then the index of the first '>' of `>>>`). tokens.size() when there is none.
std::size_t matching_bracket(std::span<const CppToken> tokens, std::size_t open);

// The tokens as text: on one line, with one space wherever the source had white space or a comment.
// Only directives stand on lines of their own.
std::string join_tokens(std::span<const CppToken> tokens);

// The word of a directive: "include" of `#include <x>`; empty for a lone '#'.
std::string_view directive_word(const CppToken& token);

// The header that an #include names, with its brackets or quotes: "<math.h>"; empty for every other
// token and for includes of a macro.
std::string_view included_header(const CppToken& token);

}  // namespace tilewright
