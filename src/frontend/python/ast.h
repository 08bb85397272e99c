// SPDX-License-Identifier: Apache-2.0
// frontend/python/ast.h — the tree of a Python module, expanded from ast.def.
//
// Nodes live in the tree's arena and hold views into its source: keep the SyntaxTree as long as any
// of its nodes.
//
//   if (const auto* call = cast_if<Call>(node)) use(call->function, call->arguments);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/diagnostic.h"
#include "frontend/python/arena.h"
#include "frontend/python/literals.h"
#include "frontend/python/source.h"

namespace tilewright::python {

enum class Kind : std::uint8_t {
#define NODE(name, fields) name,
#include "frontend/python/ast.def"
#undef NODE
};

#define BINARY(name, text, token, assign, precedence) name,
#define UNARY(name, text, token)
#define COMPARE(name, text)
#define BOOL(name, text)
enum class BinaryOperator : std::uint8_t {
#include "frontend/python/operators.def"
};
#undef BINARY
#undef UNARY
#define BINARY(name, text, token, assign, precedence)
#define UNARY(name, text, token) name,
enum class UnaryOperator : std::uint8_t {
#include "frontend/python/operators.def"
};
#undef UNARY
#undef COMPARE
#define UNARY(name, text, token)
#define COMPARE(name, text) name,
enum class CompareOperator : std::uint8_t {
#include "frontend/python/operators.def"
};
#undef COMPARE
#undef BOOL
#define COMPARE(name, text)
#define BOOL(name, text) name,
enum class BoolOperator : std::uint8_t {
#include "frontend/python/operators.def"
};
#undef BINARY
#undef UNARY
#undef COMPARE
#undef BOOL

// Of a function's parameter: before `/`, ordinary, `*args`, after `*`, `**kwargs`. Type parameters
// use three of them: Normal `T`, Arguments `*Ts`, Keywords `**P`.
enum class ParameterRole : std::uint8_t { PositionOnly, Normal, Arguments, KeywordOnly, Keywords };

using CompareOperators = std::span<const CompareOperator>;

// An integer literal, never negative. Beyond 128 bits only the text in the source remains.
struct Integer {
  Uint128 value = 0;
  bool too_large = false;
};

struct Node {
  Kind kind;
  Span span;  // its first character; a node over several lines has the length of its first token
  int end_line = 0;  // one past its last character
  int end_column = 0;
  int height = 1;  // of the tree below; limited, so that visitors may recurse
};

using NodeList = std::span<Node* const>;

#define CHILD(name) Node* name = nullptr;
#define OPTIONAL(name) Node* name = nullptr;
#define LIST(name) NodeList name;
#define TEXT(name) std::string_view name;
#define VALUE(type, name) type name{};
#define NODE(type, fields)                       \
  struct type : Node {                           \
    static constexpr Kind own_kind = Kind::type; \
    fields                                       \
  };
#include "frontend/python/ast.def"
#undef NODE
#undef CHILD
#undef OPTIONAL
#undef LIST
#undef TEXT
#undef VALUE

std::string_view name_of(Kind kind);
std::string_view text_of(BinaryOperator op);
std::string_view text_of(UnaryOperator op);
std::string_view text_of(CompareOperator op);
std::string_view text_of(BoolOperator op);

template <class T>
bool is(const Node* node) {
  return node != nullptr && node->kind == T::own_kind;
}

// The node as a T; null when it is something else (or null).
template <class T>
const T* cast_if(const Node* node) {
  return is<T>(node) ? static_cast<const T*>(node) : nullptr;
}
template <class T>
T* cast_if(Node* node) {
  return is<T>(node) ? static_cast<T*>(node) : nullptr;
}

// The node as a T, where nothing else can stand.
template <class T>
const T& cast(const Node* node) {
  TW_CHECK(is<T>(node), "a {} stands where a {} must",
           node == nullptr ? "null" : name_of(node->kind), name_of(T::own_kind));
  return *static_cast<const T*>(node);
}

// The nodes directly below, in the order of the table, without nulls.
void for_each_child(const Node& node, void (*visit)(const Node&, void*), void* context);
template <class Visit>
void for_each_child(const Node& node, const Visit& visit) {
  const auto forward = [](const Node& child, void* context) {
    (*static_cast<const Visit*>(context))(child);
  };
  for_each_child(node, forward, const_cast<Visit*>(&visit));
}

struct SyntaxTree {
  Source source;
  Arena arena;
  Module* root = nullptr;
};

// "a.b.c" of names and attributes; empty for anything else.
std::string dotted_name(const Node* node);

}  // namespace tilewright::python
