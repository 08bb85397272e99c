// SPDX-License-Identifier: Apache-2.0
// codegen/lower/expression_facts.h — what a lowering asks of a value of the Final kernel that it
// makes, before it gives the value a line of its own: whether it is a name, what it does where it
// is written. Asked of ops and never of text, but for one thing: lines are to be short, and how
// long an expression is only its language knows. That decides who gets a name, and nothing else.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "ir/kernel.h"

namespace tilewright {

class ExpressionPrinter;

class ExpressionFacts {
 public:
  // In the language of programs of the host, and of those of a thread.
  static ExpressionFacts of_host(const ir::Kernel& kernel);
  static ExpressionFacts of_threads(const ir::Kernel& kernel);
  ~ExpressionFacts();

  // Whether it is a name, a variable or a number, at no cost wherever it stands.
  bool is_plain(ir::Value value) const;
  // Whether an element of an array or of memory is read in it; variables are none.
  bool reads_element(ir::Value value) const;
  // Whether it is made where it stands: neither a name nor an element of an array.
  bool is_computed(ir::Value value) const;
  // Whether it calls a function: many are inline assembly, which no compiler moves over a
  // condition.
  bool calls_function(ir::Value value) const;
  // Whether it is that element of that array.
  bool is_element(ir::Value value, ir::Value array, ir::Value index) const;
  // How many characters the op takes.
  std::size_t length(const ir::Op& op) const;
  // The same for values that are computed alike from the same named ones.
  std::string key(ir::Value value) const;

 private:
  ExpressionFacts(const ir::Kernel& kernel, std::unique_ptr<const ExpressionPrinter> language);
  const ir::Op* expression_of(ir::Value value) const;  // null: a name or a number
  const ir::Op* behind_hints(ir::Value value) const;   // the same, of what a hint says more of
  void add_key(ir::Value value, std::string& out) const;

  const ir::Kernel& kernel_;
  const std::unique_ptr<const ExpressionPrinter> language_;
};

}  // namespace tilewright
