// SPDX-License-Identifier: Apache-2.0
// codegen/print/expressions.h — values of a Final kernel as C++ expressions: a name, a literal, or,
// for a value without a name, the expression of its op.
//
// What differs between languages is virtual (cuda_expressions.h). It sees one op at a time: what
// has a name, and which op stands where, is in the kernel.
#pragma once

#include <string>
#include <vector>

#include "codegen/text/expressions.h"
#include "ir/kernel.h"

namespace tilewright {

class ExpressionPrinter {
 public:
  explicit ExpressionPrinter(const ir::Kernel& kernel) : kernel_(kernel) {}
  virtual ~ExpressionPrinter() = default;

  // As an operand of another expression: in parentheses unless it is a name, a number or a call.
  std::string operand(ir::Value value) const;
  // As an index or an argument of a function, where a sum needs no parentheses.
  virtual std::string argument(ir::Value value) const;
  // Where parentheses stand around it already.
  std::string condition(ir::Value value) const;
  // All operands of the op so, with commas between.
  std::string arguments(const ir::Op& op) const;
  std::string conditions(const ir::Op& op) const;
  // What the op gives.
  std::string expression(const ir::Op& op) const;
  // "x[i * 64 + j]": what a pointer points to.
  std::string place(ir::Value pointer) const;
  // "x + i": the same as a pointer, for a function.
  std::string address(ir::Value pointer) const;
  // The element of an array; of a variable, its name.
  std::string element(ir::Value array, ir::Value index) const;
  // The type of a variable or parameter that holds the value; an array is a pointer to its first.
  virtual std::string type(ir::Value value) const;

  // The same of a copy: a variable's is that of its value, a divisor's its own.
  std::string copied_type(ir::Value value) const;

  // Whether the op is written where its result is used.
  bool is_inlined(const ir::Op& op) const;

 protected:
  // What each language has its own words for; here those of the host.
  virtual std::string program(int axis) const;   // its number
  virtual std::string programs(int axis) const;  // how many there are
  virtual std::string blocks() const;            // how many run programs one after the other
  virtual std::string thread() const;
  virtual std::string thread_again() const;  // not as it was asked for before
  virtual std::string digit(const ir::Op& op) const;
  virtual std::string product(const std::string& index, const std::string& stride) const;
  virtual std::string load(const ir::Op& op) const;
  virtual std::string computed(const ir::Op& op) const;
  virtual std::string atomic(const ir::Op& op) const;
  virtual std::string own_row(const ir::Op& op) const;
  std::vector<OperandText> operands_of(const ir::Op& op) const;

  const ir::Kernel& kernel_;

 private:
  bool is_thread(ir::Value value) const;
  std::string final_expression(const ir::Op& op) const;
  std::string array_view(const ir::Op& op) const;
  std::string linear(const ir::Op& op) const;
  std::string all(const ir::Op& op) const;
  std::string call(const ir::Op& op) const;
};

// Whether the op makes what divisions by one number have in common.
bool is_divisor(const ir::Op& op);

}  // namespace tilewright
