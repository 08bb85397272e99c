// SPDX-License-Identifier: Apache-2.0
// codegen/emulate/check_marks.cpp — finds statements and declarations of shared memory in tokens.
#include "codegen/emulate/check_marks.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/quote.h"

namespace tilewright {
namespace {

bool is_directive(const CppToken& token) { return token.kind == CppToken::Kind::Directive; }

class Marker {
 public:
  explicit Marker(std::span<const CppToken> tokens) : tokens_(tokens) {}

  std::vector<TextInsertion> run() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const CppToken& token = tokens_[at_];
      if (is_directive(token)) directive(token);
      else if (token.is_one_of({"(", "[", "{"})) open();
      else if (token.is_one_of({")", "]", "}"})) close();
      else if (token.is(";") && in_code()) end_statement();
    }
    return std::move(out_);
  }

 private:
  struct Bracket {
    std::size_t open = 0;
    bool is_code = false;  // braces around statements
    bool is_quiet = false;
  };

  bool in_code() const { return !brackets_.empty() && brackets_.back().is_code; }

  // ---- Directives.

  void directive(const CppToken& token) {
    const std::string_view word = directive_word(token);
    if (word.starts_with("if")) groups_.push_back(brackets_);
    else if (word.starts_with("el") && !groups_.empty()) brackets_ = groups_.back();
    else if (word == "endif" && !groups_.empty()) groups_.pop_back();
    else if (word == "line") is_library_ = token.text.find("\"tilewright/") != std::string::npos;
  }

  // ---- Brackets.

  void open() {
    Bracket bracket{at_};
    if (!brackets_.empty()) bracket.is_quiet = brackets_.back().is_quiet;
    if (tokens_[at_].is("{")) {
      bracket.is_code = opens_code();
      if (bracket.is_code && !in_function()) bracket.is_quiet = is_constant_function();
    }
    brackets_.push_back(bracket);
    if (bracket.is_code) mark_next();
  }

  void close() {
    if (brackets_.empty()) return;
    const bool was_code = brackets_.back().is_code;
    last_open_ = brackets_.back().open;
    brackets_.pop_back();
    if (was_code && in_code()) mark_next();
  }

  bool in_function() const {
    return std::any_of(brackets_.begin(), brackets_.end(),
                       [](const Bracket& bracket) { return bracket.is_code; });
  }

  // `if (x) {`, `void f() {`, `[&](int i) {`, `else {`, and blocks that stand alone; neither
  // `float4{` nor `(float4){` nor `struct S {`.
  bool opens_code() const {
    if (at_ == 0) return false;
    const CppToken& before = tokens_[at_ - 1];
    if (before.is(")"))
      return last_open_ > 0 &&
             (tokens_[last_open_ - 1].is("]") ||
              (tokens_[last_open_ - 1].is_identifier() && !tokens_[last_open_ - 1].is("return")));
    if (before.is_one_of({"else", "do", "try"})) return true;
    return in_code() && before.is_one_of({";", "{", "}", ":"});
  }

  bool is_constant_function() const {
    for (std::size_t i = at_; i > 0 && !ends_statement(tokens_[i - 1]); --i)
      if (tokens_[i - 1].is_one_of({"constexpr", "consteval"})) return true;
    return false;
  }

  static bool ends_statement(const CppToken& token) {
    return is_directive(token) || token.is_one_of({";", "{", "}"});
  }

  // ---- Statements.

  // `#line 7 "a.py"` before a statement changes nothing of it.
  static bool is_line_of_user(const CppToken& token) {
    return is_directive(token) && directive_word(token) == "line" &&
           token.text.find("\"tilewright/") == std::string::npos;
  }

  void mark_next() {
    if (is_library_ || brackets_.back().is_quiet) return;
    std::size_t after = at_ + 1;
    while (after < tokens_.size() && is_line_of_user(tokens_[after])) ++after;
    if (after >= tokens_.size()) return;
    const CppToken& next = tokens_[after];
    const bool begins = next.is_identifier() || next.is_one_of({"*", "(", "++", "--"});
    if (next.is("while") && !begins_loop(at_)) return;
    const bool is_empty_loop = tokens_[at_].is("{") && next.is("}") && is_body_of_loop();
    if (is_empty_loop || (begins && !next.is_one_of({"else", "catch", "case", "default"})))
      out_.push_back({next.offset, "TW_AT "});
  }

  // ---- Loops without statements: nothing else in them counts their rounds.

  // This token begins or is the body of `while (c)` or `for (...)`; of `do` where it is a brace.
  bool is_body_of_loop() const {
    if (at_ == 0 || tokens_[at_ - 1].is("do")) return at_ > 0 && tokens_[at_].is("{");
    if (!tokens_[at_ - 1].is(")") || last_open_ == 0) return false;
    const std::size_t word = last_open_ - 1;
    return tokens_[word].is("for") || (tokens_[word].is("while") && !ends_do(word));
  }

  // `do { ... } while` and `do x; while`.
  bool ends_do(std::size_t word) const {
    if (word == 0) return false;
    if (tokens_[word - 1].is(";")) return !begins_loop(word - 1);
    if (!tokens_[word - 1].is("}")) return false;
    int depth = 0;
    for (std::size_t i = word; i-- > 0;) {
      depth += tokens_[i].is("}") ? 1 : tokens_[i].is("{") ? -1 : 0;
      if (depth == 0) return i > 0 && tokens_[i - 1].is("do");
    }
    return false;
  }

  void mark_empty_loop() {
    if (is_library_ || brackets_.back().is_quiet || !is_body_of_loop()) return;
    out_.push_back({tokens_[at_].offset, "tw_emulate::at(__LINE__)"});
  }

  // The `while` behind this token is not the end of a do. Of a block's end that is not asked.
  bool begins_loop(std::size_t before) const {
    if (!tokens_[before].is(";")) return tokens_[before].is("{");
    for (std::size_t i = before; i > 0 && !tokens_[i - 1].is_one_of({"{", "}"}); --i)
      if (tokens_[i - 1].is("do")) return false;
    return true;
  }

  void end_statement() {
    std::size_t begin = at_;
    while (begin > 0 && !ends_statement(tokens_[begin - 1])) --begin;
    const auto statement = tokens_.subspan(begin, at_ - begin);
    const auto shared = std::find_if(statement.begin(), statement.end(),
                                     [](const CppToken& t) { return t.is("__shared__"); });
    if (shared != statement.end()) note_shared(statement);
    else name_pointer(statement);
    mark_empty_loop();
    mark_next();
  }

  void insert_call(std::string_view function, std::string_view name) {
    out_.push_back({tokens_[at_].end(),
                    fmt::format(" tw_emulate::{}({}, {});", function, cpp_string(name), name)});
  }

  // Each declarator's name is the identifier before its '[', '=', ',' or the end.
  void note_shared(std::span<const CppToken> statement) {
    const bool is_dynamic = std::any_of(statement.begin(), statement.end(),
                                        [](const CppToken& t) { return t.is("extern"); });
    bool is_named = false;
    for (std::size_t i = 0; i < statement.size(); ++i) {
      const bool is_last = i + 1 == statement.size();
      if (statement[i].is_one_of({"(", "[", "{"})) {
        i = std::min(matching_bracket(statement, i), statement.size());
      } else if (statement[i].is("<")) {
        i = std::min(matching_bracket(statement, i), statement.size());
      } else if (statement[i].is(",")) {
        is_named = false;
      } else if (statement[i].is_identifier() && !is_named &&
                 (is_last || statement[i + 1].is_one_of({"[", "=", ","}))) {
        is_named = true;
        insert_call(is_dynamic ? "note_dynamic" : "note_shared", statement[i].text);
        if (is_dynamic) dynamic_.emplace(statement[i].text);
      }
    }
  }

  // T* name = ... dynamic ...;
  void name_pointer(std::span<const CppToken> statement) {
    const auto equals = std::find_if(statement.begin(), statement.end(),
                                     [](const CppToken& t) { return t.is("="); });
    if (equals == statement.end() || equals - statement.begin() < 3 ||
        !(equals - 1)->is_identifier())
      return;
    const bool is_pointer =
        std::any_of(statement.begin(), equals, [](const CppToken& t) { return t.is("*"); }) &&
        statement[0].is_identifier() &&
        std::none_of(statement.begin(), equals, [](const CppToken& t) {
          return t.is_one_of({"(", "[", "return"});
        });
    const bool is_shared = std::any_of(equals, statement.end(), [&](const CppToken& t) {
      return t.is_identifier() && dynamic_.contains(t.text);
    });
    if (is_pointer && is_shared) insert_call("name_pointer", (equals - 1)->text);
  }

  std::span<const CppToken> tokens_;
  std::size_t at_ = 0;
  std::size_t last_open_ = 0;  // of the bracket that closed last
  bool is_library_ = false;
  std::vector<Bracket> brackets_;
  std::vector<std::vector<Bracket>> groups_;  // brackets_ at each #if that is open
  std::set<std::string, std::less<>> dynamic_;
  std::vector<TextInsertion> out_;
};

}  // namespace

std::vector<TextInsertion> check_marks(std::span<const CppToken> tokens) {
  return Marker(tokens).run();
}

}  // namespace tilewright
