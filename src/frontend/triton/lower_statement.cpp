// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_statement.cpp — statements: assignments, returns, and the order of a
// function's body.
#include <fmt/format.h>

#include "base/diagnostic.h"
#include "frontend/triton/assigned.h"
#include "frontend/triton/frame.h"
#include "frontend/triton/structure.h"

namespace tilewright::triton {
namespace {

struct Unsupported {
  py::Kind kind;
  std::string_view message;
  std::string_view hint;
};

constexpr Unsupported unsupported[] = {
    {py::Kind::Break, "'break' is not supported in a kernel",
     "put the condition into a 'while', or mask the work of the rounds that are too many"},
    {py::Kind::Continue, "'continue' is not supported in a kernel",
     "put the rest of the body under an 'if'"},
    {py::Kind::Delete, "'del' is not supported in a kernel", "leave it out: values cost nothing"},
    {py::Kind::Global, "'global' is not supported in a kernel", "return the value instead"},
    {py::Kind::Nonlocal, "'nonlocal' is not supported in a kernel", "return the value instead"},
    {py::Kind::Try, "'try' is not supported in a kernel", ""},
    {py::Kind::With, "'with' is not supported in a kernel", ""},
    {py::Kind::Match, "'match' is not supported in a kernel", "use if and elif"},
    {py::Kind::ClassDef, "a class inside a kernel is not supported", "move it out"},
    {py::Kind::TypeAlias, "'type' is not supported in a kernel", ""},
};

}  // namespace

void Frame::set(std::string_view name, Value value, const py::Node* place) {
  variables_.insert_or_assign(
      std::string(name),
      Variable{.value = std::move(value), .place = place, .problem = "", .remedy = ""});
}

Value Frame::run_body(py::NodeList body) {
  result_ = Value();
  if (!run(body, nullptr)) result_ = Value();
  return result_;
}

bool Frame::run(py::NodeList statements, const Rest* rest) {
  const Lowering::Level level(lowering_);
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const py::Node& node = *statements[i];
    const auto* conditional = py::cast_if<py::If>(&node);
    if (conditional != nullptr && contains_return(node)) {
      const Rest following{statements.subspan(i + 1), rest};
      return branch(*conditional, &following);
    }
    if (statement(node)) return true;
  }
  return rest != nullptr && run(rest->statements, rest->next);
}

bool Frame::statement(const py::Node& node) {
  lowering_.set_place(&module_, &node);
  try {
    return dispatch_statement(node);
  } catch (const Mistake& mistake) {
    lowering_.fail(module_, node, mistake);
  }
}

bool Frame::dispatch_statement(const py::Node& node) {
  switch (node.kind) {
    case py::Kind::Assign: {
      const auto& assignment = py::cast<py::Assign>(&node);
      const Value value = expression(assignment.value);
      for (const py::Node* target : assignment.targets) assign(target, value);
      return false;
    }
    case py::Kind::AugAssign:
      augmented(py::cast<py::AugAssign>(&node));
      return false;
    case py::Kind::AnnAssign:
      annotated(py::cast<py::AnnAssign>(&node));
      return false;
    case py::Kind::ExprStmt:
      if (!py::is<py::StrLiteral>(py::cast<py::ExprStmt>(&node).value))
        expression(py::cast<py::ExprStmt>(&node).value);
      return false;
    case py::Kind::If:
      return branch(py::cast<py::If>(&node), nullptr);
    case py::Kind::For:
      return for_loop(py::cast<py::For>(&node));
    case py::Kind::While:
      return while_loop(py::cast<py::While>(&node));
    case py::Kind::Return:
      return returns(py::cast<py::Return>(&node));
    case py::Kind::Pass:
      return false;
    case py::Kind::Assert:
      assertion(py::cast<py::Assert>(&node));
      return false;
    case py::Kind::Import:
    case py::Kind::ImportFrom:
      import(node);
      return false;
    case py::Kind::FunctionDef:
      throw Mistake{"a function inside a kernel is not supported", "move it to the module"};
    case py::Kind::Raise:
      throw Mistake{"this 'raise' is reached for these arguments", ""};
    default:
      break;
  }
  for (const Unsupported& known : unsupported)
    if (known.kind == node.kind) throw Mistake{std::string(known.message), std::string(known.hint)};
  throw Mistake{fmt::format("{} is not supported in a kernel", py::name_of(node.kind)), ""};
}

bool Frame::returns(const py::Return& node) {
  if (!loops_.empty())
    throw Mistake{"'return' inside a loop is not supported in a kernel",
                  "return after the loop, or put the work under an 'if'"};
  result_ = node.value == nullptr ? Value() : expression(node.value);
  return true;
}

void Frame::assign(const py::Node* target, const Value& value) {
  if (const auto* name = py::cast_if<py::Name>(target)) return assign_name(*name, value);
  if (const auto* tuple = py::cast_if<py::Tuple>(target))
    return assign_items(*target, tuple->elements, value);
  if (const auto* list = py::cast_if<py::List>(target))
    return assign_items(*target, list->elements, value);
  if (py::is<py::Subscript>(target))
    fail(*target, "an element of a tensor cannot be assigned",
         "use tl.where, or store through a pointer");
  if (py::is<py::Attribute>(target)) fail(*target, "an attribute cannot be assigned in a kernel");
  fail(*target,
       fmt::format("assignment to {} is not supported in a kernel",
                   py::is<py::Starred>(target) ? "a starred name" : py::name_of(target->kind)));
}

void Frame::assign_items(const py::Node& target, py::NodeList targets, const Value& value) {
  const Tuple* tuple = value.tuple();
  if (tuple == nullptr)
    fail(target,
         fmt::format("{} values are expected here, not {}", targets.size(), describe(value)));
  if (tuple->items.size() != targets.size())
    fail(target,
         fmt::format("{} values are expected here, not {}", targets.size(), tuple->items.size()));
  for (std::size_t i = 0; i < targets.size(); ++i) assign(targets[i], tuple->items[i]);
}

// The loop around, outermost first, for which the name was a constant so far.
void Frame::start_over_if_sealed(const std::string& name) const {
  for (const Loop* loop : loops_)
    if (loop->sealed.contains(name)) throw StartOver{loop, name};
}

void Frame::assign_name(const py::Name& target, const Value& value) {
  const std::string name(target.id);
  const bool stays = mode_ != Mode::Jit || constexpr_names_.contains(name);
  if (!stays) start_over_if_sealed(name);
  Value kept = stays ? value : stored(semantic(), value);
  if (const auto* tensor = kept.get_if<ir::Value>(); tensor && lowering_.names_assignments()) {
    lowering_.set_place(&module_, &target);
    kept = builder().create_one(ir::OpKind::Hint, {*tensor}, lowering_.kernel().type(*tensor), {});
  }
  if (const auto* tensor = kept.get_if<ir::Value>())
    if (lowering_.kernel().name_of(*tensor).empty()) lowering_.kernel().set_name(*tensor, name);
  set(name, kept, &target);
}

void Frame::augmented(const py::AugAssign& node) {
  if (!py::is<py::Name>(node.target)) return assign(node.target, Value());
  const Value left = expression(node.target);
  const Value right = expression(node.value);
  lowering_.set_place(&module_, &node);
  assign(node.target, semantic().binary(node.op, left, right));
}

void Frame::annotated(const py::AnnAssign& node) {
  const auto* name = py::cast_if<py::Name>(node.target);
  const bool is_constexpr = is_constexpr_annotation(node.annotation);
  if (node.value == nullptr) {
    if (is_constexpr && name != nullptr) constexpr_names_.insert(std::string(name->id));
    return;
  }
  const Value value = expression(node.value);
  if (!is_constexpr || name == nullptr) return assign(node.target, value);
  if (value.is_tensor())  // Triton takes it as well; whoever needs a constant will complain
    lowering_.note(fmt::format(
        "'{}' is annotated tl.constexpr, but its value is only known at run time", name->id));
  set(name->id, value, name);
}

// As Triton: an assert stays only in debug mode; plain functions check theirs at once.
void Frame::assertion(const py::Assert& node) {
  const Value test = expression(node.test);
  if (mode_ != Mode::Jit) {
    if (!semantic().truth(test)) throw Mistake{"this assert does not hold", ""};
    return;
  }
  CallArguments given;
  given.positional.push_back(test);
  given.positional.push_back(node.message == nullptr ? Value::text("") : expression(node.message));
  lowering_.set_place(&module_, &node);
  call_builtin(semantic(), lowering_, Builtin{"triton.language.device_assert"}, given);
}

void Frame::import(const py::Node& node) {
  py::Node* statement = const_cast<py::Node*>(&node);  // it is only read
  for (const auto& [name, binding] : lowering_.loader().imports(module_, statement))
    set(name, lowering_.from_binding(binding, name), &node);
}

}  // namespace tilewright::triton
