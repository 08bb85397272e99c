// SPDX-License-Identifier: Apache-2.0
// frontend/python/interpreter.h — one frame of the evaluator: a module and a scope, in which nodes
// are evaluated. Its methods are spread over evaluate.cpp, attributes.cpp,
// moments.cpp, evaluate_call.cpp and execute.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/python/arithmetic.h"
#include "frontend/python/evaluate.h"

namespace tilewright::python {

class Interpreter {
 public:
  Interpreter(Evaluator& evaluator, const LoadedModule& module, Scope* scope, int depth,
              const Moment& moment)
      : shared_(evaluator), module_(module), scope_(scope), depth_(depth), moment_(moment) {}

  Value expression(const Node* node);
  Value call_value(const Value& callee, const std::vector<Value>& arguments,
                   const Keywords& keywords);
  // Runs statements; true when one returned, with its value in result().
  bool run(NodeList statements);
  const Value& result() const { return result_; }
  Value constant(const Binding& binding, std::string_view name);
  // Names of the module as they are now.
  Binding lookup(const LoadedModule& module, std::string_view name);

 private:
  // How a block was left.
  enum class Exit { Normal, Break, Continue, Return };

  // evaluate.cpp
  Value dispatch(const Node& node);
  Value name(const Name& node);
  Value from_binding(const Binding& binding, std::string_view name);
  Lookup how();
  std::optional<bool> was_made(const LoadedModule& module, const Definition& definition);
  std::optional<bool> truth_of(const LoadedModule& module, const Node* branch);
  bool is_global(const Node* node) const;
  Value attribute(const Attribute& node);
  std::optional<bool> has_attribute(const Value& owner, const std::string& name);
  Value attribute_of(const Value& owner, const std::string& name);
  Value call_hasattr(const std::vector<Value>& arguments);
  Value call_getattr(const std::vector<Value>& arguments);
  Value subscript(const Subscript& node);
  Value slice(const Value& value, const Slice& slice);
  Value bool_op(const BoolOp& node);
  Value comparison(const Compare& node);
  Value dict(const Dict& node);
  Value dict_comprehension(const DictComp& node);
  Value joined_string(const JoinedStr& node);
  std::string formatted(const FormattedValue& node);
  std::vector<Value> elements(NodeList nodes);
  std::vector<Value> comprehension(const Node* element, NodeList generators);
  void generate(NodeList generators, std::size_t level, const std::function<void()>& emit);
  std::vector<Value> iterate(const Value& value);

  // evaluate_call.cpp
  Value call(const Call& node);
  bool is_named_call(const Attribute& member);
  Value method(const Value& owner, std::string_view name, const std::vector<Value>& arguments,
               const Keywords& keywords);
  Value call_function(const FunctionValue& function, const std::vector<Value>& arguments,
                      const Keywords& keywords);
  void bind_parameters(NodeList parameters, Scope& scope, const std::vector<Value>& arguments,
                       const Keywords& keywords);
  Value call_external(const std::string& name, const std::vector<Value>& arguments,
                      const Keywords& keywords);

  // execute.cpp
  Exit block(NodeList statements);
  Exit statement(Node* statement);
  Exit branch(const If& node);
  Exit for_loop(const For& node);
  Exit while_loop(const While& node);
  void assign(const Node* target, const Value& value);
  void assign_element(const Subscript& target, const Value& value);
  void assign_attribute(const Attribute& target, const Value& value);
  Exit attempt(const Try& node);
  void import(Node* statement);
  void apply_changes(Value& value, std::string_view name, const Node* definition,
                     const Moment& until);

  Scope* new_scope(Scope* parent);
  Interpreter inner(Scope* scope) { return {shared_, module_, scope, depth_ + 1, moment_}; }
  void step(const Node& node);
  [[noreturn]] void fail(const Node& node, const std::string& message) const;

  Evaluator& shared_;
  const LoadedModule& module_;
  Scope* scope_;
  int depth_;
  Moment moment_;
  Value result_;
};

// builtins.cpp: functions of Python, math, itertools and triton that are known; null for others.
// They throw Unsupported.
struct Arguments {
  const std::vector<Value>& values;
  const Keywords& keywords;
  // Calls a value, for map, sorted(key=...) and the like.
  std::function<Value(const Value&, const std::vector<Value>&)> call;
  std::function<std::vector<Value>(const Value&)> iterate;
};
using Builtin = Value (*)(const Arguments&);
Builtin find_builtin(std::string_view name);
Builtin find_host_builtin(std::string_view name);  // builtins_host.cpp
// methods.cpp: value.name(...)
Value call_method(const Value& owner, std::string_view name, const Arguments& arguments);
// methods.cpp: value.name; empty where there is none
std::optional<Value> member_of(const Value& owner, std::string_view name);
// builtins_host.cpp: os.environ as it is
Value environment_dict();
// facts.cpp: constants such as math.pi and torch.iinfo(torch.int32).max; null for others.
const Value* find_constant(std::string_view name);

}  // namespace tilewright::python
