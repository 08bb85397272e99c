// SPDX-License-Identifier: Apache-2.0
// base/diagnostic.h — a message at a place in source text, printed with its line and a caret.
//
//   gelu.py:7:12: error: tl.load needs a pointer, got an int32
//       x = tl.load(n)
//                   ^
//   hint: add the base pointer: tl.load(x_ptr + n)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/error.h"

namespace tilewright {

// A place in a text: 1-based line and column, counted in characters of UTF-8, and how many of them
// the caret underlines. Line 0 means "no place".
struct Span {
  int line = 0;
  int column = 0;
  int length = 1;
};

struct Diagnostic {
  std::string file;
  Span span;
  std::string message;             // one sentence, no full stop
  std::string hint;                // what to do; may be empty
  std::vector<std::string> notes;  // lines after all that: the calls that led there
};

// The message as printed above. `text` is the whole source that the span points into.
std::string render(const Diagnostic& diagnostic, std::string_view text);

// The user's source is wrong at a place.
class SyntaxOrTypeError : public UserError {
 public:
  SyntaxOrTypeError(Diagnostic diagnostic, std::string_view text)
      : UserError(render(diagnostic, text)), diagnostic_(std::move(diagnostic)) {}
  const Diagnostic& diagnostic() const { return diagnostic_; }

 private:
  Diagnostic diagnostic_;
};

// The 1-based line `number` of `text`, without its line end; empty when there is none.
std::string_view line_of(std::string_view text, int number);

}  // namespace tilewright
