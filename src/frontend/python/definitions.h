// SPDX-License-Identifier: Apache-2.0
// frontend/python/definitions.h — the names that a module's own statements bind, in order, without
// following imports.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/python/ast.h"

namespace tilewright::python {

// An `if` around a definition: it is made when the test's truth is `when`.
struct Guard {
  const Node* statement = nullptr;  // If
  bool when = true;
};

struct Definition {
  enum class Form {
    Function,    // node: FunctionDef
    Class,       // node: ClassDef
    Value,       // node: the expression assigned
    Import,      // import a.b as name: module "a.b"; import a.b: module "a" under the name a
    ImportFrom,  // from ..module import symbol as name
    Opaque       // bound in a way that is not followed: a loop, `with`, unpacking
  };
  Form form = Form::Opaque;
  const Node* node = nullptr;
  const Node* statement = nullptr;  // that makes it, for its place among the others
  std::string_view module;
  std::string_view symbol;
  int level = 0;                 // dots of a relative import
  bool conditional = false;      // inside `if`, `try` or another block: one of several may hold
  std::vector<Guard> guards;     // of the blocks around it those that are `if`, outermost first
  bool is_only_guarded = false;  // are they all?
};

struct Definitions {
  std::map<std::string, std::vector<Definition>, std::less<>> names;
  // `from module import *`: only module and level are set.
  std::vector<Definition> star_imports;
};

// Of a module's or class's body. Functions and classes inside are not entered.
Definitions collect_definitions(NodeList body);

}  // namespace tilewright::python
