// SPDX-License-Identifier: Apache-2.0
// frontend/python/ast.cpp — names and traversal, expanded from ast.def and operators.def.
#include "frontend/python/ast.h"

namespace tilewright::python {
namespace {

constexpr std::string_view kind_names[] = {
#define NODE(name, fields) #name,
#include "frontend/python/ast.def"
#undef NODE
};

#define BINARY(name, text, token, assign, precedence) text,
#define UNARY(name, text, token)
#define COMPARE(name, text)
#define BOOL(name, text)
constexpr std::string_view binary_texts[] = {
#include "frontend/python/operators.def"
};
#undef BINARY
#undef UNARY
#define BINARY(name, text, token, assign, precedence)
#define UNARY(name, text, token) text,
constexpr std::string_view unary_texts[] = {
#include "frontend/python/operators.def"
};
#undef UNARY
#undef COMPARE
#define UNARY(name, text, token)
#define COMPARE(name, text) text,
constexpr std::string_view compare_texts[] = {
#include "frontend/python/operators.def"
};
#undef COMPARE
#undef BOOL
#define COMPARE(name, text)
#define BOOL(name, text) text,
constexpr std::string_view bool_texts[] = {
#include "frontend/python/operators.def"
};
#undef BINARY
#undef UNARY
#undef COMPARE
#undef BOOL

using Visit = void (*)(const Node&, void*);

void visit_node(const Node* child, Visit visit, void* context) {
  if (child != nullptr) visit(*child, context);
}

void visit_list(NodeList list, Visit visit, void* context) {
  for (const Node* child : list) visit_node(child, visit, context);
}

#define CHILD(name) visit_node(node.name, visit, context);
#define OPTIONAL(name) visit_node(node.name, visit, context);
#define LIST(name) visit_list(node.name, visit, context);
#define TEXT(name)
#define VALUE(type, name)
#define NODE(type, fields)                                                           \
  void visit_##type([[maybe_unused]] const type& node, [[maybe_unused]] Visit visit, \
                    [[maybe_unused]] void* context) {                                \
    fields                                                                           \
  }
#include "frontend/python/ast.def"
#undef NODE
#undef CHILD
#undef OPTIONAL
#undef LIST
#undef TEXT
#undef VALUE

}  // namespace

std::string_view name_of(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }
std::string_view text_of(BinaryOperator op) { return binary_texts[static_cast<std::size_t>(op)]; }
std::string_view text_of(UnaryOperator op) { return unary_texts[static_cast<std::size_t>(op)]; }
std::string_view text_of(CompareOperator op) { return compare_texts[static_cast<std::size_t>(op)]; }
std::string_view text_of(BoolOperator op) { return bool_texts[static_cast<std::size_t>(op)]; }

void for_each_child(const Node& node, Visit visit, void* context) {
  switch (node.kind) {
#define NODE(type, fields) \
  case Kind::type:         \
    return visit_##type(static_cast<const type&>(node), visit, context);
#include "frontend/python/ast.def"
#undef NODE
  }
}

std::string dotted_name(const Node* node) {
  if (const auto* name = cast_if<Name>(node)) return std::string(name->id);
  const auto* attribute = cast_if<Attribute>(node);
  if (attribute == nullptr) return {};
  std::string base = dotted_name(attribute->value);
  if (base.empty()) return {};
  return base + "." + std::string(attribute->name);
}

}  // namespace tilewright::python
