// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lowering.h — what all calls inside one kernel share while it is lowered: the
// kernel, the builder, the meaning of global names, the calls that are under way.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/python/decorators.h"
#include "frontend/python/evaluate.h"
#include "frontend/triton/builtins.h"
#include "frontend/triton/lower.h"
#include "frontend/triton/semantic.h"

namespace tilewright::triton {

class Frame;

namespace py = python;

// A function that is being lowered, and where it was called.
struct ActiveCall {
  const py::LoadedModule* caller = nullptr;  // null for the kernel itself
  const py::Node* place = nullptr;
  std::string name;
  const py::FunctionDef* function = nullptr;
  std::vector<Value> arguments;
};

class Lowering final : public Host {
 public:
  Lowering(py::ModuleLoader& loader, const LowerOptions& options, ir::Kernel& kernel);

  py::ModuleLoader& loader() { return loader_; }
  ir::Builder& builder() { return builder_; }
  ir::Kernel& kernel() { return builder_.kernel(); }
  Semantic& semantic() { return semantic_; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::vector<std::string> printed() const;

  // ---- Host
  Value call(const Value& function, const CallArguments& arguments) override;
  void note(const std::string& message) override;
  void print(const std::string& line) override;
  int num_warps() override;
  bool writes_padding() const override { return options_.writes_padding; }
  bool names_assignments() const { return options_.names_assignments; }
  bool asked_for_warps() const { return asked_for_warps_; }

  // ---- Names (lower_name.cpp)
  // What a global name stands for; throws Mistake.
  Value from_binding(const py::Binding& binding, std::string_view name);
  // A name as seen from a function: its own when `is_inside`, those of the functions around it,
  // then the module's.
  Value global(const py::LoadedModule& module, const py::FunctionDef* function, bool is_inside,
               std::string_view name);
  Value from_python(const py::Value& value);
  // Of an expression without variables of the kernel, where Python's evaluator can tell it.
  std::optional<Value> evaluated(const py::LoadedModule& module, const py::Node& node);

  // ---- Calls (lower_call.cpp)
  Value call_function(const Function& function, const CallArguments& arguments);
  // The parameters of `function` as names in `frame`.
  void bind(Frame& frame, const Function& function, const CallArguments& arguments);
  Value default_value(const Function& function, const py::Node* node);
  std::optional<Value> function_named(const Value& name);

  // ---- Places and errors (lower.cpp)
  ir::Location location(const py::LoadedModule& module, const py::Node& node);
  // The place of the expression that is being lowered, where calls come from.
  void set_place(const py::LoadedModule* module, const py::Node* node);
  [[noreturn]] void fail(const py::LoadedModule& module, const py::Node& node,
                         const Mistake& mistake) const;
  // Counts nested nodes and inlined calls, so that the stack lasts and everything ends.
  class Level;

 private:
  Value module_constant(const py::Binding& binding, std::string_view name);
  std::optional<Value> enclosing_name(const py::LoadedModule& module, const py::FunctionDef& around,
                                      std::string_view name);
  const std::vector<const py::FunctionDef*>& functions_around(const py::LoadedModule& module,
                                                              const py::FunctionDef& function);
  Value instance(const Class& type, const CallArguments& arguments);
  Value converted(const TypeValue& type, const CallArguments& arguments);
  Value call_plain(const Function& function, const CallArguments& arguments);
  void check_recursion(const ActiveCall& call) const;

  py::ModuleLoader& loader_;
  LowerOptions options_;
  py::Evaluator evaluator_;
  ir::Builder builder_;
  Semantic semantic_;
  std::vector<std::string> notes_;
  std::vector<std::pair<const py::Node*, std::string>> printed_;  // with the call that prints
  std::vector<ActiveCall> active_;
  std::map<const py::Node*, Value> constants_;
  bool asked_for_warps_ = false;
  std::map<const py::FunctionDef*, std::vector<const py::FunctionDef*>> around_;
  const py::LoadedModule* place_module_ = nullptr;
  const py::Node* place_ = nullptr;
  int level_ = 0;
  int calls_ = 0;
};

class Lowering::Level {
 public:
  explicit Level(Lowering& lowering);
  ~Level() { --lowering_.level_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Lowering& lowering_;
};

// Numbers, text, None and tuples of them as the evaluator knows them; nothing for all else.
std::optional<py::Value> to_python(const Value& value);

}  // namespace tilewright::triton
