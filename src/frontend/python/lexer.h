// SPDX-License-Identifier: Apache-2.0
// frontend/python/lexer.h — Python 3.12 text to tokens, with indentation as tokens and f-strings
// taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/python/source.h"

namespace tilewright::python {

enum class Tok : std::uint8_t {
#define TOKEN(enumerator, name) enumerator,
#define OPERATOR(enumerator, text) enumerator,
#define KEYWORD(enumerator, text) enumerator,
#include "frontend/python/tokens.def"
#undef TOKEN
#undef OPERATOR
#undef KEYWORD
};

// How a message names the token: "'+'", "'if'", "name".
std::string describe(Tok kind);
// The name of the enumerator.
std::string_view name_of(Tok kind);

struct Token {
  Tok kind = Tok::End;
  Span span;  // columns count characters from 1; a token over several lines has the length of its
              // first line
  int end_line = 0;  // one past the last character
  int end_column = 0;
  std::string_view text;  // into the source
};

struct LexError {
  Span span;
  std::string message;
  std::string hint;
  // An open bracket is found out only at the end of the file; an earlier error of the parser may be
  // the better one.
  bool unclosed_bracket = false;
};

// The list ends with End, or with Error at the place where the text stopped being Python.
struct Tokens {
  std::vector<Token> list;
  std::optional<LexError> error;
};

// `source` must outlive the tokens.
Tokens tokenize(const Source& source);

// Python's own limits on nesting.
inline constexpr int max_open_brackets = 200;
inline constexpr int max_indentation_levels = 100;
inline constexpr int max_nested_f_strings = 150;

}  // namespace tilewright::python
