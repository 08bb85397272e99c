// SPDX-License-Identifier: Apache-2.0
// frontend/python/parser.h — Python 3.12 text to a tree; everything that Python accepts is
// accepted.
//
// Errors are SyntaxOrTypeError in the words of Python itself, with the place and a caret.
#pragma once

#include <memory>

#include "frontend/python/ast.h"

namespace tilewright::python {

// Trees are at most this high, so that nesting cannot exhaust the stack of the parser or of any
// visitor.
inline constexpr int max_tree_height = 1000;

std::unique_ptr<SyntaxTree> parse(Source source);

// A text that is one expression, such as a grid from the command line: the module's only statement
// is an ExprStmt.
std::unique_ptr<SyntaxTree> parse_expression(Source source);

}  // namespace tilewright::python
