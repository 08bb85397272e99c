// SPDX-License-Identifier: Apache-2.0
// frontend/numba/function.h — one function for the types of its arguments: statements and
// expressions are typed and written by the same walk over the tree.
//
// The walk is repeated until no variable's type changes any more; the text of the last one stays.
// A type that is not known yet makes every expression around it unknown, without an error.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text_writer.h"
#include "frontend/numba/program.h"
#include "frontend/numba/webs.h"

namespace tilewright::numba {

using python::Node;
using python::NodeList;

// The arguments of a call, each evaluated.
struct Arguments {
  std::vector<Value> values;
  std::vector<const Node*> nodes;
  std::vector<std::pair<std::string_view, Value>> keywords;

  std::size_t size() const { return values.size(); }
};

class FunctionWriter {
 public:
  FunctionWriter(Program& program, const python::LoadedModule& module,
                 const python::FunctionDef& function, const std::vector<Type>& arguments,
                 const std::vector<bool>& nonnegative);
  // Before anything is written: arguments that have a key are these values and are not passed.
  void set_constants(const std::vector<Value>& values, const std::vector<std::string>& keys);

  void write_kernel(KernelText& out, const std::string& name);
  void write_device(Instance& instance);

  // What the final text uses.
  std::vector<const Instance*> callees;
  std::set<std::string> helpers;

 private:
  // A variable of the text: all webs of a name that have one type.
  struct Variable {
    std::string name;
    Value value;  // as it is used
    int definitions = 0;
    bool is_at_top = false;       // declared in front of all statements
    bool is_only_counted = true;  // all its values come from the heads of loops
    bool is_narrow = false;       // an int64 that is declared as an int

    std::string declared_type() const;
  };
  struct WebState {
    Type type;
    bool is_nonnegative = true;
    const Node* first = nullptr;  // the definition that gave the type
    Type first_type;
    // An array that is assigned once stands for what it was assigned.
    bool is_alias = false;
    Value alias;
    int variable = -1;
    AlongRow row = AlongRow::Unknown;
    // Of all values that it is assigned, until one is not known or more than a few walks raise it.
    std::optional<std::int64_t> most = {};
    int rises = 0;
    bool is_wide = false;
    GridPart grid_part = {};
    bool is_declarable = false;  // by its first definition, which is
    const Node* first_place = nullptr;
  };

  // ---- The walk (function.cpp).
  void infer();
  void walk(bool is_final);
  void make_parameters(const std::vector<bool>& nonnegative);
  void make_variables();
  void declare_variables();
  Variable make_variable(std::string_view name, const Type& type);
  void narrow_parameters();
  void begin_parameter(const Node* parameter, const Value& value);
  Value tuple_parameter(const std::string& name, const Type& type, int argument);
  std::string parameter_list(const std::vector<Slot>& slots) const;
  std::string result_text(const Type& type);
  std::string body_text() const;
  std::vector<Slot> used_slots() const;
  Value array_parameter(const std::string& name, const Type& type, int argument);

  // ---- Statements (statements.cpp).
  void block(NodeList body);
  void statement(const Node& node);
  void mark_line(const Node& node);
  void assign(const python::Assign& node);
  void assign_to(const Node* target, const Value& value, const Node& statement);
  void define(const Node* target, const Value& value, const Node& statement);
  void alias_array(WebState& state, const Value& value);
  void raise_most(WebState& state, const Value& value);
  void assign_variable(const Node* target, const WebState& state, const Value& value);
  std::vector<Value> unpacked(const Value& value, const python::Tuple& targets);
  std::vector<Value> packed_items(const Value& value);
  bool is_visible(int variable) const;
  bool is_fresh(const python::Tuple& targets) const;
  Value copied_array(const Value& array);
  Value kept(const Value& value);
  void note_write(const Value& array);
  void assign_element(const python::Subscript& target, const Value& value, const Node& statement);
  void fill(const Value& view, const Value& value, const Node& place);
  void augmented(const python::AugAssign& node);
  void annotated(const python::AnnAssign& node);
  void conditional(const python::If& node, bool is_else);
  void only_branch(const python::If& node, bool is_true);
  bool guard(const python::If& node, const Value& condition);
  bool is_effectful_test(const python::If& node) const;
  void return_value(const python::Return& node);
  void expression_statement(const python::ExprStmt& node);

  // ---- Loops (loops.cpp).
  struct Range {
    Value begin, end, step, counter;
  };
  void while_loop(const python::While& node);
  void for_loop(const python::For& node);
  DType range_type(const std::vector<Value>& bounds) const;
  std::optional<std::int64_t> most_counted(const Value& begin, const Value& end,
                                           const Value& step) const;
  void range_loop(const python::For& node, const python::Call& call);
  void write_range(const python::For& node, const python::Name& target, const Range& range);
  void define_silently(const python::Name& target, const Value& value, const Node& place);
  void missing_in_unrolled(NodeList body) const;
  // Something that a loop takes items from: an index into all at once, or one after the other.
  struct Items {
    std::vector<Value> each;  // of a tuple
    std::string count;        // of all else
    std::function<Value(const Value& index)> at;
  };
  std::optional<Items> items_of(const Node* node);
  std::optional<Items> range_items(const python::Call& call);
  std::optional<Items> zipped(const python::Call& call);
  std::optional<Items> enumerated(const python::Call& call);
  void item_loop(const python::For& node);
  void indexed_loop(const python::For& node, const Items& items);
  std::string once(const Value& value, const std::string& name);

  // ---- Expressions (expressions.cpp).
  Value expression(const Node* node);
  Value name(const python::Name& node);
  Value module_name(const python::Name& node);
  Value bound_value(const python::Binding& binding, const Node* place, std::string_view name);
  Value module_constant(const python::Binding& binding, const Node* place, std::string_view name);
  Value literal(const Node* node);
  Value attribute(const python::Attribute& node);
  Value external_constant(const Value& value, const Node* place);
  Value array_attribute(const Value& array, const python::Attribute& node);
  Value size_value(const Value& array, const std::string& text) const;
  Value conditional_value(const python::IfExp& node);
  Value bool_operation(const python::BoolOp& node);

  // ---- Operators (operators.cpp).
  Value unary(const python::UnaryOp& node);
  Value binary(python::BinaryOperator op, const Value& left, const Value& right, const Node& place);
  Value integer_binary(python::BinaryOperator op, const Value& left, const Value& right);
  std::optional<Value> small_binary(python::BinaryOperator op, const Value& left,
                                    const Value& right) const;
  Value power(const Value& left, const Value& right, const Node& place);
  Value shift(python::BinaryOperator op, const Value& left, const Value& right);
  Value divide(python::BinaryOperator op, const Value& left, const Value& right);
  Value comparison(const python::Compare& node);
  Value compare(python::CompareOperator op, const Value& left, const Value& right,
                const Node& place);

  // ---- Complex numbers (complex.cpp).
  Value complex_binary(python::BinaryOperator op, const Value& left, const Value& right,
                       const Node& place);
  Value complex_product(const Value& left, const Value& right, const Node& place);
  Value complex_quotient(const Value& left, const Value& right, const Node& place);
  Value complex_call(const Arguments& given, const Node& place);
  Value complex_attribute(const Value& value, const python::Attribute& node);

  // ---- Arrays (indexing.cpp).
  Value subscript(const python::Subscript& node);
  Value reinterpreted(const Value& array, const Arguments& given, const Node& place);
  Value tuple_item(const Value& tuple, const Node* index, const Node& place);
  Value view(const Value& array, const Node* index, const Node& place);
  Value element(const Value& array, const std::vector<Value>& indices);
  Value row(const Value& array, const Value& index);
  Value sliced(const Value& array, const std::vector<const Node*>& parts, const Node& place);
  std::vector<Value> index_values(const Value& array, const Value& index, const Node& place);
  std::string position(const Value& index, const std::string& size);
  Value pointer_array(const Value& array);
  std::string stride_text(const Value& array, std::size_t dimension);
  struct SliceText {
    std::string begin, count, step;
  };
  std::optional<SliceText> slice_bounds(const python::Slice& slice, const std::string& size);
  Value dynamic_shared(Value array);
  void check_shared_bytes(const Value& array, const Node& place);
  Value declare_array(const Arguments& arguments, const Node& place, bool is_shared);

  // ---- Arrays of the module (frozen_arrays.cpp).
  std::optional<FrozenArray> frozen_array(const Node* node);
  std::optional<FrozenArray> frozen_call(std::string_view name, const python::Call& call);
  std::optional<Value> frozen_value(const python::Binding& binding, std::string_view name);
  Value const_array_like(const Arguments& given, const Node& place);

  // ---- Calls (calls.cpp, cuda_calls.cpp, atomics.cpp, math_calls.cpp).
  Value call(const python::Call& node);
  Arguments arguments_of(const python::Call& node);
  Value call_external(const std::string& name, const python::Call& node, const Arguments& given);
  Value call_builtin(std::string_view name, const Arguments& given, const Node& place);
  Value call_print(const python::Call& node);
  Value call_numpy(std::string_view name, const Arguments& given, const Node& place);
  void add_argument(const Value& value, const Type& type, std::vector<std::string>& texts);
  Value call_result(const Instance& instance, const std::string& text);
  Value minimum_or_maximum(bool is_minimum, const Arguments& given, const Node& place);
  Value call_cuda(std::string_view name, const Arguments& given, const Node& place);
  Value call_grid(std::string_view name, const Arguments& given, const Node& place);
  Value call_warp(std::string_view name, const Arguments& given, const Node& place);
  Value call_bits(std::string_view name, const Arguments& given, const Node& place);
  Value call_half(std::string_view name, const Arguments& given, const Node& place);
  Value call_random(std::string_view name, const Arguments& given, const Node& place);
  Value call_atomic(std::string_view name, const Arguments& given, const Node& place);
  Value call_math(std::string_view name, const Arguments& given, const Node& place);
  Value call_function(const python::Binding& binding, const python::Call& node,
                      const Arguments& given);
  Value convert_to(DType dtype, const Arguments& given, const Node& place);
  Instance& instance_of(const python::Binding& binding, const std::vector<Value>& given,
                        const Node& place);
  static std::string constant_key(const python::FunctionDef& function, std::size_t parameter,
                                  const Value& value);
  Value grid_axis(const char* name, int axis);
  std::string math_function(std::string_view name, DType dtype);

  // ---- Messages.
  [[noreturn]] void fail(const Node& place, std::string message, std::string hint = {}) const;
  [[noreturn]] void missing(const Node& place, std::string_view what) const;
  void expect_count(const Arguments& given, std::size_t least, std::size_t most,
                    std::string_view name, const Node& place) const;
  const Value& expect_scalar(const Value& value, std::string_view what, const Node& place) const;

  bool is_loop_dialect() const { return program_.dialect == Dialect::Loop; }
  void need_threads() { program_.needs_threads = true; }
  std::string helper(const char* name);

  Program& program_;
  const python::LoadedModule& module_;
  const python::FunctionDef& function_;
  std::vector<Type> argument_types_;
  Webs webs_;
  std::vector<WebState> states_;
  std::set<int> seen_webs_;  // used in code that is not left out
  std::vector<Variable> variables_;
  std::vector<Value> parameters_;
  std::vector<std::string> parameter_names_;
  std::vector<Slot> slots_;                          // all that could be passed
  std::set<int> written_;                            // array arguments that are stored to
  std::set<std::string, std::less<>> narrow_names_;  // parameters that are ints in the text
  Names names_;
  TextWriter out_;
  std::string arrays_;  // declarations of shared and local arrays stand in front
  Type result_;
  bool is_result_nonnegative_ = true;
  const Node* result_place_ = nullptr;
  bool is_final_ = false;
  bool is_changed_ = false;
  bool is_kernel_ = true;
  bool has_guard_ = false;
  bool may_guard_ = false;  // nothing but assignments of names so far
  std::int64_t shared_bytes_ = 0;
  int line_ = -1;
  int loop_depth_ = 0;
  bool is_reading_lists_ = false;  // [1, 2] of the module is a tuple
  std::set<std::string> declared_;
  std::string array_name_;             // for the next array that is declared
  std::vector<std::set<int>> scopes_;  // variables declared in each open block
};

}  // namespace tilewright::numba
