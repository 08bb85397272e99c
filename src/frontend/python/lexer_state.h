// SPDX-License-Identifier: Apache-2.0
// frontend/python/lexer_state.h — the class behind tokenize(); its methods are spread over
// lexer.cpp, lex_number.cpp and lex_string.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/python/lexer.h"

namespace tilewright::python {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(const Source& source) : text_(source.text) {}
  Tokens run();

 private:
  // A place that has been passed; columns are counted in characters.
  struct Mark {
    std::size_t at = 0;
    int line = 1;
    int column = 1;
  };
  struct Bracket {
    char symbol;
    Mark mark;
  };
  // Indentation is measured twice, with tabs of eight and of one: where the two orders disagree the
  // mix is an error.
  struct Indentation {
    int columns = 0;
    int characters = 0;
  };
  // Inside an f-string the lexer reads text, then a replacement field as ordinary tokens, then
  // perhaps a format specification, which is text again and may itself hold fields.
  enum class Mode { Text, Field, Specification };
  struct FString {
    Mode mode;
    char quote = 0;
    bool triple = false;
    bool raw = false;
    std::size_t brackets = 0;  // Field: how many were open inside of its own brace
    Mark start;                // of the whole f-string
  };
  struct Prefix {
    std::size_t length = 0;
    bool is_string = false;
    bool raw = false;
    bool formatted = false;
  };

  // lexer.cpp
  void begin_line();
  Indentation measure_indentation();
  void change_indentation(Indentation found);
  void next_token();
  void skip_blanks();
  void end_of_line();
  void end_of_file();
  void name_or_keyword();
  void operator_or_bracket();
  void open_bracket(char symbol);
  void close_bracket(char symbol);
  [[noreturn]] void bad_character();

  // lex_number.cpp
  void number();
  void based_number(int base, std::string_view name);
  void digits(const Mark& start, std::string_view name);
  bool fraction_and_exponent(const Mark& start);
  void check_number_end(const Mark& start, std::string_view name);
  void check_leading_zero(const Mark& start, std::string_view whole, bool is_integer);

  // lex_string.cpp
  Prefix string_prefix() const;
  void string(const Prefix& prefix);
  void start_f_string(const Prefix& prefix, const Mark& start, bool triple);
  void f_string_text();
  bool at_closing_quote(char quote, bool triple) const;
  void open_field();
  void close_field();
  [[noreturn]] void unterminated(const Mark& start, bool triple, bool formatted);

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool at_end() const { return at_ >= text_.size(); }
  bool in_field() const {
    return !f_strings_.empty() && f_strings_.back().mode == Mode::Field &&
           brackets_.size() == f_strings_.back().brackets;
  }
  // Moves over `count` bytes, none of them a line end.
  void advance(std::size_t count = 1) { at_ += count; }
  void advance_line();
  Mark mark();
  void emit(Tok kind, const Mark& start);
  [[noreturn]] void fail(const Mark& start, std::string message, int length = 1,
                         std::string hint = {});

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  // The column is counted on from the last place asked for, so that long lines cost linear time.
  std::size_t counted_ = 0;
  int column_ = 1;

  std::vector<Bracket> brackets_;
  std::vector<Indentation> indents_{{}};
  std::vector<FString> f_strings_;
  bool line_start_ = true;
  Tokens tokens_;
};

}  // namespace tilewright::python
