// SPDX-License-Identifier: Apache-2.0
// frontend/python/evaluate.h — runs the little Python that stands around kernels: config lists,
// heuristics, grids.
//
// Expressions, and functions made of assignments, if, for, while and return. Nothing outside the
// files is run: a call of torch or of a driver is an error that names it, unless a fact gives its
// value. Steps are counted, so nothing runs forever.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/python/module_loader.h"
#include "frontend/python/value.h"

namespace tilewright::python {

using Facts = std::map<std::string, Value, std::less<>>;

// What host code asks of a machine with an NVIDIA GPU of this compute capability.
Facts nvidia_facts(int major, int minor);

struct EvaluateOptions {
  // Values of outside names ("torch.version.hip") and calls ("torch.cuda.is_available()"), whatever
  // the arguments. They also stand for functions and constants of the files, by full name
  // ("fla.utils.check_shared_mem()") or, for functions, by their own name alone.
  Facts facts;
  long max_steps = 1'000'000;
};

struct Scope {
  std::map<std::string, Value, std::less<>> names;
  Scope* parent = nullptr;
};

using Keywords = std::vector<std::pair<std::string, Value>>;

// All errors are SyntaxOrTypeError at the place in the file.
class Evaluator {
 public:
  explicit Evaluator(ModuleLoader& loader, EvaluateOptions options = {})
      : loader_(loader), options_(std::move(options)) {}

  // An expression of the module, with further names. Names of the module are what they are at that
  // moment: the end of the module, unless another is given.
  Value evaluate(const LoadedModule& module, const Node* expression,
                 std::map<std::string, Value, std::less<>> names = {}, const Moment& moment = {});
  // What a name means at the end of its module: of definitions inside `if` the one that was made,
  // where that can be told.
  Binding lookup(const LoadedModule& module, std::string_view name);
  // The value of a Constant: its expression, and what the module does to it later.
  Value constant(const Binding& binding, std::string_view name);
  // Calls a function or lambda that an evaluation gave.
  Value call(const Value& function, const std::vector<Value>& arguments,
             const Keywords& keywords = {});

 private:
  friend class Interpreter;

  ModuleLoader& loader_;
  EvaluateOptions options_;
  // By expression and the statement before which they are asked for; null: the end.
  std::map<std::pair<const Node*, const Node*>, Value> constants_;
  // Tests of `if` around definitions; empty where they cannot be evaluated, or are being so.
  std::map<const Node*, std::optional<bool>> guards_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  long steps_ = 0;
};

}  // namespace tilewright::python
