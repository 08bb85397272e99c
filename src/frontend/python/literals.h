// SPDX-License-Identifier: Apache-2.0
// frontend/python/literals.h — the values of number and string literals.
#pragma once

#include <string>
#include <string_view>

namespace tilewright::python {

__extension__ typedef unsigned __int128 Uint128;

struct NumberValue {
  enum class Form { Int, Float, Imaginary };
  Form form = Form::Int;
  Uint128 integer = 0;
  // The integer has more than 128 bits; only its use is an error, and the user says where.
  bool too_large = false;
  double real = 0;  // of a Float, and of an Imaginary without its j
};

// `text` is a number token.
NumberValue read_number(std::string_view text);

struct StringForm {
  bool raw = false;
  bool bytes = false;
  bool formatted = false;  // text of an f-string: `{{` and `}}` stand for one brace
};

// The form that a string token's prefix gives, and the text between its quotes.
struct StringParts {
  StringForm form;
  std::string_view body;
};
StringParts split_string(std::string_view token);

// Does the text stand for itself, without escapes to replace?
bool is_plain(std::string_view body, StringForm form);

struct StringValue {
  std::string value;
  std::string error;  // empty, or what is wrong with an escape
};

// The value of a string's body. \N{...} names are kept as they are written.
StringValue decode_string(std::string_view body, StringForm form);

}  // namespace tilewright::python
