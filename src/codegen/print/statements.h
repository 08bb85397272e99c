// SPDX-License-Identifier: Apache-2.0
// codegen/print/statements.h — regions of a Final kernel as statements of C++, one op at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_writer.h"
#include "codegen/print/expressions.h"
#include "ir/kernel.h"
#include "machine/library.h"

namespace tilewright {

// The text of a line of the user's source (file as in Kernel::files); may be empty.
using LineText = std::function<std::string_view(int file, int line)>;

class StatementPrinter {
 public:
  StatementPrinter(const ir::Kernel& kernel, const LineText& line_text, TextWriter& out)
      : StatementPrinter(kernel, line_text, out, std::make_unique<ExpressionPrinter>(kernel)) {}
  virtual ~StatementPrinter() = default;

  void region(const ir::Region& region);
  // All but what ends a region.
  void statement(const ir::Op& op);
  // The structure that a deferred row is: the values that its region sees, and an element by its
  // position.
  void deferred_row(const ir::Op& op, const std::string& symbol);

 protected:
  StatementPrinter(const ir::Kernel& kernel, const LineText& line_text, TextWriter& out,
                   std::unique_ptr<const ExpressionPrinter> expressions)
      : kernel_(kernel),
        line_text_(line_text),
        out_(out),
        owned_(std::move(expressions)),
        expressions_(*owned_) {}

  // What each language writes in its own way; here the host's.
  virtual void array(const ir::Op& op);
  virtual void group(const ir::Op& op);
  virtual void barrier(const ir::Op&) {}          // a program of the host has one thread
  virtual void call_of_thread(const ir::Op& op);  // of a program with several threads
  virtual void move(const ir::Op& op);            // of elements, a vector, a copy that runs ahead
  virtual void roles(const ir::Op& op);           // the branch between them
  virtual void check(const ir::Op& op);
  virtual void print(const ir::Op& op);
  virtual void comment(const ir::Location& place);
  virtual void loop_pragma(const ir::Op& loop);
  virtual std::string index_type(ir::Value index) const;  // of a loop over elements
  virtual std::string round_step(const std::string& index, const std::string& by) const;
  virtual bool is_rising(const ir::Op& loop) const;  // whether its step is surely above 0
  std::string operand(ir::Value value) const { return expressions_.operand(value); }

  const ir::Kernel& kernel_;
  const LineText& line_text_;
  TextWriter& out_;
  const std::unique_ptr<const ExpressionPrinter> owned_;
  const ExpressionPrinter& expressions_;
  ir::Location last_location_;
  bool opens_values_ = false;        // elements are written without parentheses around the value
  bool has_short_branches_ = false;  // of one statement, which stands in the line of its condition

 private:
  void final_statement(const ir::Op& op);
  void define(const ir::Op& op);
  void write(const ir::Op& op);
  void call(const ir::Op& op);
  void open_function(const std::string& head, const ir::Region& body);
  void function_body(const ir::Region& body);
  void row_call(const ir::Op& op, const LibraryFunction& function);
  void defer(const ir::Op& op);
  // Values of the outside that a region uses, by name, with their types.
  std::map<std::string, std::string> seen_outside(const ir::Region& region) const;
  void tile_call(const ir::Op& op);
  void atomic(const ir::Op& op);
  void for_loop(const ir::Op& op);
  void element_loop(const ir::Op& op);
  void register_loop(const ir::Op& op);
  void while_loop(const ir::Op& op);
  void branch(const ir::Op& op);
  bool short_branch(const ir::Op& op, const std::string& condition);
  void declare(const std::vector<ir::Value>& variables, const std::vector<ir::Value>& initial);
  void assign(const std::vector<ir::Value>& to, const std::vector<ir::Value>& from);

  int depth_of_elements_ = 0;  // loops over elements around the statement
};

// "k.py:12: x = tl.load(p)", as a comment.
std::string source_comment(const ir::Kernel& kernel, const LineText& line_text,
                           const ir::Location& place);

// Ends the launch where the condition does not hold.
std::string assertion_text(const ir::Kernel& kernel, const ir::Op& op,
                           const std::string& condition);

}  // namespace tilewright
