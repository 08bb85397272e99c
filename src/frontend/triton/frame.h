// SPDX-License-Identifier: Apache-2.0
// frontend/triton/frame.h — one call of a function while it is lowered: its names, and its
// statements and expressions turned into ops. Its methods are spread over lower_*.cpp.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontend/triton/lowering.h"

namespace tilewright::triton {

struct Variable {
  Value value;
  const py::Node* place = nullptr;  // of the assignment; null for a parameter
  std::string problem;              // why it may not be read here
  std::string remedy;
};

using Variables = std::map<std::string, Variable, std::less<>>;

class Frame {
 public:
  // Jit functions turn numbers into tensors on assignment and loops into loops of the IR; plain
  // Python functions are run on constants; Around evaluates what a function binds around a nested
  // one, without running it.
  enum class Mode { Jit, Plain, Around };

  Frame(Lowering& lowering, const py::LoadedModule& module, const py::FunctionDef* function,
        Mode mode)
      : lowering_(lowering), module_(module), function_(function), mode_(mode) {}

  // Runs the function's body; the value it returns, None without one.
  Value run_body(py::NodeList body);
  Value expression(const py::Node* node);
  void set(std::string_view name, Value value, const py::Node* place = nullptr);
  const py::LoadedModule& module() const { return module_; }

 private:
  // The statements that follow a block when it ends, up to the end of the function.
  struct Rest {
    py::NodeList statements;
    const Rest* next = nullptr;
  };
  // A branch of a runtime `if`, lowered on its own.
  struct Arm {
    ir::Region region;
    Variables variables;
    Value result;
  };
  // What a loop of the IR knows while its body is lowered.
  struct Loop {
    const py::Node* node = nullptr;
    std::set<std::string, std::less<>> carried;  // tensors, given to each round
    std::set<std::string, std::less<>> sealed;   // constants so far; assigning one starts over
  };
  // Thrown when the body assigns a constant of the loop: it has to be carried as a tensor.
  struct StartOver {
    const Loop* loop;
    std::string name;
  };

  Semantic& semantic() { return lowering_.semantic(); }
  ir::Builder& builder() { return lowering_.builder(); }
  std::string describe(const Value& value) const;
  [[noreturn]] void fail(const py::Node& node, std::string message, std::string hint = {}) const {
    lowering_.fail(module_, node, {std::move(message), std::move(hint)});
  }

  // lower_expression.cpp
  Value dispatch(const py::Node& node);
  Value constant(const py::Node& node);
  Value binary(const py::BinOp& node);
  Value bool_op(const py::BoolOp& node);
  Value comparison(const py::Compare& node);
  Value name(const py::Name& node);
  Value attribute(const py::Attribute& node);
  std::optional<Value> outside_constant(const py::Attribute& node);
  bool is_outside(const py::Node& node) const;
  Value subscript(const py::Subscript& node);
  Value slice(const py::Slice& node);
  Value walrus(const py::NamedExpr& node);
  Value joined_string(const py::JoinedStr& node);
  Value comprehension(const py::ListComp& node);
  std::vector<Value> elements(py::NodeList nodes);
  bool is_local(const py::Node* node) const;

  // lower_call.cpp
  Value call(const py::Call& node);
  CallArguments arguments(const py::Call& node);
  Value call_value(const Value& callee, const CallArguments& given);

  // lower_statement.cpp
  // True when the function has returned, on every path.
  bool run(py::NodeList statements, const Rest* rest);
  bool statement(const py::Node& node);
  bool dispatch_statement(const py::Node& node);
  bool returns(const py::Return& node);
  void assign(const py::Node* target, const Value& value);
  void assign_name(const py::Name& target, const Value& value);
  void assign_items(const py::Node& target, py::NodeList targets, const Value& value);
  void augmented(const py::AugAssign& node);
  void annotated(const py::AnnAssign& node);
  void assertion(const py::Assert& node);
  void import(const py::Node& node);
  void start_over_if_sealed(const std::string& name) const;

  // lower_branch.cpp
  bool branch(const py::If& node, const Rest* rest);
  void runtime_branch(const py::If& node, const Value& test);
  bool returning_branch(const py::If& node, const Value& test, const Rest* rest);
  Value ternary(const py::IfExp& node);
  template <class Body>
  Arm arm(const Body& body);
  void merge(const py::If& node, const Variables& before, ir::Value condition, Arm& then,
             Arm& otherwise);
  bool unify(Arm& then, Value& first, Arm& otherwise, Value& second);
  Variable only_in_one_branch(const py::If& node, const std::string& name,
                              const Variable& variable) const;
  Variable not_mergeable(const py::If& node, const std::string& name, const Variables& before,
                         const Variable& then, const Variable& otherwise) const;
  std::vector<Value> finish_if(ir::Value condition, Arm& then, Arm& otherwise,
                               std::vector<std::pair<Value, Value>> pairs);

  // lower_loop.cpp
  bool for_loop(const py::For& node);
  bool unrolled(const py::For& node, const std::vector<Value>& items);
  void counted(const py::For& node, const CallArguments& range);
  void end_index(const py::For& node, const py::Name& target);
  bool while_loop(const py::While& node);
  bool unrolled_while(const py::While& node);
  template <class Build>
  void carry(const py::Node& node, py::NodeList body, const std::string& index, const Build& build);
  Loop plan_loop(const py::Node& node, py::NodeList body, const std::string& index) const;
  void check_carried(const Loop& loop, const Variables& before) const;
  void after_loop(const Loop& loop, Variables before, const Variables& inside,
                  const std::vector<ir::Value>& results);
  std::vector<ir::Value> add_arguments(ir::Region& region, const std::vector<ir::Value>& like);
  void lower_body(const py::Node& node, py::NodeList body, const Loop& loop,
                  const Variables& before, const std::string& index);
  std::vector<ir::Value> finish_loop(ir::OpKind kind, std::vector<ir::Value> operands,
                                     const std::vector<ir::Value>& initial,
                                     std::vector<ir::Region> regions,
                                     std::vector<ir::Attribute> attributes);
  std::vector<ir::Value> carried_values(const Loop& loop) const;
  void set_carried(const Loop& loop, std::span<const ir::Value> values);

  Lowering& lowering_;
  const py::LoadedModule& module_;
  const py::FunctionDef* function_;
  Mode mode_;
  Variables variables_;
  std::set<std::string, std::less<>> constexpr_names_;  // by a bare `n: tl.constexpr`
  std::vector<const Loop*> loops_;
  int unrolled_ = 0;  // loops around that are unrolled
  Value result_;
};

}  // namespace tilewright::triton
