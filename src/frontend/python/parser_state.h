// SPDX-License-Identifier: Apache-2.0
// frontend/python/parser_state.h — the class behind parse(): recursive descent over the token list.
// Its methods are spread over parser.cpp, parse_expression.cpp, parse_atom.cpp, parse_call.cpp,
// parse_string.cpp, parse_target.cpp, parse_statement.cpp, parse_compound.cpp, parse_function.cpp
// and parse_pattern.cpp.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/python/ast.h"
#include "frontend/python/lexer.h"

namespace tilewright::python {

class Parser {
 public:
  explicit Parser(SyntaxTree& tree) : tree_(tree), tokens_(tokenize(tree.source)) {}
  void module();
  void only_expression();

 private:
  using Nodes = std::vector<Node*>;

  // Counts the levels of the parser's own recursion.
  class Deeper {
   public:
    explicit Deeper(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > max_depth) parser_.too_deep(parser_.now().span);
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    static constexpr int max_depth = 1000;
    Parser& parser_;
  };

  // parser.cpp: tokens, nodes, errors.
  const Token& now() const { return tokens_.list[at_]; }
  const Token& ahead(std::size_t count) const {
    return tokens_.list[std::min(at_ + count, tokens_.list.size() - 1)];
  }
  const Token& before() const { return tokens_.list[at_ == 0 ? 0 : at_ - 1]; }
  bool at(Tok kind) const { return now().kind == kind; }
  bool at_name(std::string_view text) const { return at(Tok::Name) && now().text == text; }
  // The last token, End or Error, is never passed.
  const Token& take() { return at_ + 1 < tokens_.list.size() ? tokens_.list[at_++] : now(); }
  bool accept(Tok kind) {
    if (!at(kind)) return false;
    take();
    return true;
  }
  const Token& expect(Tok kind);
  std::string_view identifier();
  bool starts_expression(const Token& token) const;

  template <class T>
  T* open() {
    return open_at<T>(now().span);
  }
  template <class T>
  T* open_at(Span start) {
    T* node = tree_.arena.make<T>();
    node->kind = T::own_kind;
    node->span = start;
    return node;
  }
  template <class T>
  T* close(T* node) {
    finish(*node);
    return node;
  }
  void finish(Node& node);
  // The same for a node that ends with a block: the line end and the dedents after its last
  // statement are not part of it.
  template <class T>
  T* close_block(T* node) {
    finish_block(*node);
    return node;
  }
  void finish_block(Node& node);
  void set_end(Node& node, const Token& last);
  NodeList list(const Nodes& nodes) { return tree_.arena.copy(nodes); }

  [[noreturn]] void fail(Span span, const std::string& message);
  [[noreturn]] void fail_from(const Node& first, const Token& last, const std::string& message);
  [[noreturn]] void unexpected();
  [[noreturn]] void too_deep(Span span);

  // parse_expression.cpp
  Node* star_expressions();
  Node* tuple_or_single(Node* (Parser::*element)());
  Node* star_expression();
  Node* star_named_expression();
  Node* named_expression();
  Node* expression();
  Node* disjunction();
  Node* conjunction();
  Node* inversion();
  Node* comparison();
  bool comparison_operator(CompareOperator& op);
  Node* binary(int least_precedence);
  Node* unary();
  Node* power();
  Node* await_primary();
  Node* lambda();
  Node* yield_expression();

  // parse_call.cpp
  Node* primary();
  Node* call(Node* function, Span start);
  void call_argument(Nodes& arguments, Nodes& keywords);
  void keyword_argument(Nodes& keywords);
  Node* subscript(Node* value, Span start);
  Node* subscript_element();
  void arguments_until_paren(Nodes& arguments, Nodes& keywords);

  // parse_atom.cpp
  Node* atom();
  template <class T>
  Node* word();
  Node* number();
  Node* paren_atom();
  Node* list_atom();
  Node* brace_atom();
  Node* dict_rest(Span start, Node* key, Node* value);
  Nodes comprehension_clauses(const Node& element);
  void expect_close(Tok kind, const Node* last);

  // parse_string.cpp
  Node* strings();
  void f_string(Nodes& parts);
  void replacement_field(Nodes& parts, bool raw);
  Node* format_specification(bool raw);
  void add_text(Nodes& parts, std::string_view text, Span span);
  std::string_view string_value(std::string_view body, StringForm form, Span span);

  // parse_target.cpp
  void check_target(const Node& node, const char* purpose);
  [[noreturn]] void bad_target(const Node& node, const std::string& ending);
  void check_assigned(const Node& node);
  void check_augmented(const Node& node);
  void check_annotated(const Node& node);
  void check_deleted(const Node& node);
  Node* star_targets();
  Node* star_target();

  // parse_statement.cpp
  void statement(Nodes& out);
  void simple_statements(Nodes& out);
  [[noreturn]] void end_of_line_expected(const Node& last);
  Node* simple_statement();
  Node* expression_statement();
  Node* assignment(Node* first, Span start);
  Node* annotated_assignment(Node* target, Span start);
  Node* return_statement();
  Node* delete_statement();
  Node* raise_statement();
  Node* assert_statement();
  Node* import_statement();
  Node* import_from();
  Node* import_alias(bool dotted);
  std::string_view dotted_text();
  template <class T>
  Node* names_statement();
  template <class T>
  Node* bare_statement();
  bool at_type_alias() const;
  Node* type_alias();

  // parse_compound.cpp
  Node* compound_statement();
  NodeList block(const std::string& owner, int line);
  void expect_colon(const Node* condition);
  NodeList else_block();
  Node* if_statement();
  Node* while_statement();
  Node* for_statement(Span start, bool is_async);
  Node* with_statement(Span start, bool is_async);
  bool with_items_in_parens() const;
  Node* with_item();
  Node* try_statement();
  Node* except_handler(bool& is_star);
  Node* async_statement();

  // parse_function.cpp
  Node* decorated();
  Node* function(Span start, bool is_async, NodeList decorators);
  Node* class_definition(Span start, NodeList decorators);
  NodeList parameters(Tok end, bool annotations);
  Parameter* parameter(Span start, ParameterRole role, bool annotations);
  void check_distinct(const Nodes& parameters);
  NodeList type_parameters();

  // parse_pattern.cpp
  bool at_match_statement() const;
  Node* match_statement();
  Node* match_case();
  Node* patterns();
  Node* maybe_star_pattern();
  Node* as_pattern();
  Node* or_pattern();
  Node* closed_pattern();
  Node* pattern_literal();
  Node* name_or_value_pattern();
  Node* sequence_pattern(Tok end);
  Node* mapping_pattern();
  Node* class_pattern(Node* type, Span start);

  SyntaxTree& tree_;
  Tokens tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace tilewright::python
