// SPDX-License-Identifier: Apache-2.0
// frontend/python/print.cpp — the S-expression printer, expanded from ast.def.
#include "frontend/python/print.h"

#include <cmath>

#include <fmt/format.h>

namespace tilewright::python {
namespace {

constexpr std::string_view role_names[] = {"position-only", "normal", "*", "keyword-only", "**"};

class Printer {
 public:
  explicit Printer(PrintOptions options) : options_(options) {}

  void node(const Node* node) {
    if (node == nullptr) {
      out_ += '_';
      return;
    }
    if (!options_.places && leaf(*node)) return;
    out_ += '(';
    out_ += name_of(node->kind);
    if (options_.places) out_ += fmt::format("@{}:{}", node->span.line, node->span.column);
    fields(*node);
    out_ += ')';
  }

  std::string take() { return std::move(out_); }

 private:
  // Names and literals need no brackets.
  bool leaf(const Node& node) {
    if (const auto* name = cast_if<Name>(&node)) out_ += name->id;
    else if (const auto* number = cast_if<IntLiteral>(&node)) value(number->value);
    else if (const auto* real = cast_if<FloatLiteral>(&node)) value(real->value);
    else if (const auto* string = cast_if<StrLiteral>(&node)) quoted(string->value);
    else if (const auto* flag = cast_if<BoolLiteral>(&node)) out_ += flag->value ? "True" : "False";
    else if (is<NoneLiteral>(&node)) out_ += "None";
    else if (is<EllipsisLiteral>(&node)) out_ += "...";
    else return false;
    return true;
  }

  void list(NodeList list) {
    out_ += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i != 0) out_ += ' ';
      node(list[i]);
    }
    out_ += ']';
  }

  void quoted(std::string_view text) {
    out_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out_ += fmt::format("\\{}", c);
      else if (c == '\n') out_ += "\\n";
      else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        out_ += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
      else out_ += c;
    }
    out_ += '"';
  }

  void value(bool flag) { out_ += flag ? "true" : "false"; }
  void value(int number) { out_ += fmt::format("{}", number); }
  void value(char letter) { out_ += letter == 0 ? std::string("_") : std::string(1, letter); }
  void value(const Integer& number) {
    out_ += number.too_large ? std::string("huge") : fmt::format("{}", number.value);
  }
  void value(double number) {
    std::string text = fmt::format("{}", number);
    if (std::isfinite(number) && text.find_first_of(".e") == std::string::npos) text += ".0";
    out_ += text;
  }
  void value(BinaryOperator op) { out_ += text_of(op); }
  void value(UnaryOperator op) { out_ += text_of(op); }
  void value(BoolOperator op) { out_ += text_of(op); }
  void value(ParameterRole role) { out_ += role_names[static_cast<std::size_t>(role)]; }
  void value(CompareOperators ops) {
    out_ += '[';
    for (std::size_t i = 0; i < ops.size(); ++i)
      out_ += fmt::format("{}{}", i == 0 ? "" : " ", text_of(ops[i]));
    out_ += ']';
  }

  void text(const Node& owner, std::string_view text) {
    if (is<StrLiteral>(&owner) || is<BytesLiteral>(&owner)) quoted(text);
    else if (text.empty()) out_ += '_';
    else out_ += text;
  }

#define CHILD(name) \
  out_ += ' ';      \
  this->node(own.name);
#define OPTIONAL(name) CHILD(name)
#define LIST(name) \
  out_ += ' ';     \
  list(own.name);
#define TEXT(name) \
  out_ += ' ';     \
  text(own, own.name);
#define VALUE(type, name) \
  out_ += ' ';            \
  value(own.name);
#define NODE(type, content) \
  void print_##type([[maybe_unused]] const type& own) { content }
#include "frontend/python/ast.def"
#undef NODE
#undef CHILD
#undef OPTIONAL
#undef LIST
#undef TEXT
#undef VALUE

  void fields(const Node& node) {
    switch (node.kind) {
#define NODE(type, content) \
  case Kind::type:          \
    return print_##type(static_cast<const type&>(node));
#include "frontend/python/ast.def"
#undef NODE
    }
  }

  PrintOptions options_;
  std::string out_;
};

}  // namespace

std::string print(const Node& node, PrintOptions options) {
  Printer printer(options);
  printer.node(&node);
  return printer.take();
}

}  // namespace tilewright::python
