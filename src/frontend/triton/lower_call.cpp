// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_call.cpp — calls: arguments, parameters, and functions inlined where they
// are called.
#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "frontend/triton/frame.h"
#include "frontend/triton/structure.h"

namespace tilewright::triton {
namespace {

constexpr std::size_t max_call_depth = 100;
constexpr int max_calls = 200'000;

const Value* find_keyword(const CallArguments& arguments, std::string_view name) {
  for (const auto& [known, value] : arguments.keywords)
    if (known == name) return &value;
  return nullptr;
}

bool is_parameter(const py::FunctionDef& function, std::string_view name) {
  return std::any_of(
      function.parameters.begin(), function.parameters.end(),
      [&](const py::Node* node) { return py::cast<py::Parameter>(node).name == name; });
}

// Before anything is missed: the argument that is missing may be the one with a wrong name.
void check_keywords(const Function& function, const CallArguments& arguments) {
  for (const auto& [name, value] : arguments.keywords)
    if (!is_parameter(*function.node, name))
      throw Mistake{fmt::format("'{}' has no parameter '{}'", function.name, name), ""};
}

void check_left_over(const Function& function, const CallArguments& arguments, std::size_t used,
                     bool takes_rest) {
  if (used < arguments.positional.size() && !takes_rest)
    throw Mistake{fmt::format("'{}' takes {} argument{} by position but is given {}", function.name,
                              used, used == 1 ? "" : "s", arguments.positional.size()),
                  ""};
}

// A call that is under way for a scope.
class Active {
 public:
  Active(std::vector<ActiveCall>& active, ActiveCall call) : active_(active) {
    active_.push_back(std::move(call));
  }
  ~Active() { active_.pop_back(); }
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;

 private:
  std::vector<ActiveCall>& active_;
};

std::vector<Value> all_of(const CallArguments& arguments) {
  std::vector<Value> values = arguments.positional;
  for (const auto& [name, value] : arguments.keywords) values.push_back(value);
  return values;
}

}  // namespace

CallArguments Frame::arguments(const py::Call& node) {
  CallArguments given;
  given.positional = elements(node.arguments);
  for (const py::Node* child : node.keywords) {
    const auto& keyword = py::cast<py::Keyword>(child);
    if (keyword.name.empty())
      fail(*child, "'**' in a call is not supported in a kernel", "name each argument");
    given.keywords.emplace_back(std::string(keyword.name), expression(keyword.value));
  }
  return given;
}

Value Frame::call(const py::Call& node) {
  const Value callee = expression(node.function);
  const CallArguments given = arguments(node);
  lowering_.set_place(&module_, &node);
  return call_value(callee, given);
}

Value Frame::call_value(const Value& callee, const CallArguments& given) {
  if (const auto* builtin = callee.get_if<Builtin>())
    return call_builtin(semantic(), lowering_, *builtin, given);
  if (const auto* method = callee.get_if<Method>())
    return call_method(semantic(), lowering_, *method, given);
  return lowering_.call(callee, given);
}

// A class of named fields becomes a tuple with names.
Value Lowering::instance(const Class& type, const CallArguments& arguments) {
  Tuple made{.items = {}, .names = {}, .class_name = type.name};
  for (const py::Node* node : type.node->body) {
    const auto* field = py::cast_if<py::AnnAssign>(node);
    const auto* name = field == nullptr ? nullptr : py::cast_if<py::Name>(field->target);
    if (name == nullptr) continue;
    const std::size_t position = made.items.size();
    const Value* given = find_keyword(arguments, name->id);
    if (position < arguments.positional.size()) {
      made.items.push_back(arguments.positional[position]);
    } else if (given != nullptr) {
      made.items.push_back(*given);
    } else if (field->value != nullptr) {
      Frame outside(*this, *type.module, nullptr, Frame::Mode::Plain);
      made.items.push_back(outside.expression(field->value));
    } else {
      throw Mistake{fmt::format("'{}' needs a value for its field '{}'", type.name, name->id), ""};
    }
    made.names.emplace_back(name->id);
  }
  if (made.items.empty() || arguments.positional.size() > made.items.size())
    throw Mistake{fmt::format("class '{}' cannot be used in a kernel", type.name),
                  "only classes of annotated fields can"};
  Value::tuple(made.items);  // checks how many values there are
  return std::make_shared<const Tuple>(std::move(made));
}

// tl.float32(x): x in that type.
Value Lowering::converted(const TypeValue& type, const CallArguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.keywords.empty())
    throw Mistake{fmt::format("{} takes one value to convert", describe(type.type)), ""};
  const Value& value = arguments.positional[0];
  if (value.is_constant() && !type.type.is_pointer)
    return semantic_.constant(value, type.type.dtype);
  return semantic_.cast(semantic_.tensor(value), type.type);
}

// A launch from C++ or the command line has no functions to give: the name of one in the kernel's
// file stands for it.
std::optional<Value> Lowering::function_named(const Value& name) {
  const auto* constant = name.get_if<Constant>();
  const auto* text = constant == nullptr ? nullptr : std::get_if<std::string>(&constant->value);
  if (text == nullptr || active_.empty()) return std::nullopt;
  try {
    const Value found = global(*active_.front().caller, nullptr, false, *text);
    if (found.get_if<Function>() != nullptr) return found;
  } catch (const Mistake&) {
    // then it is a text like any other
  }
  return std::nullopt;
}

Value Lowering::call(const Value& function, const CallArguments& arguments) {
  if (const auto* builtin = function.get_if<Builtin>())
    return call_builtin(semantic_, *this, *builtin, arguments);
  if (const auto* type = function.get_if<Class>()) return instance(*type, arguments);
  if (const auto* type = function.get_if<TypeValue>()) return converted(*type, arguments);
  const std::optional<Value> named = function_named(function);
  const auto* target = (named ? *named : function).get_if<Function>();
  if (target == nullptr)
    throw Mistake{fmt::format("{} cannot be called", describe(kernel(), function)), ""};
  return target->is_jit ? call_function(*target, arguments) : call_plain(*target, arguments);
}

// Names in it mean what they did when the function was defined.
Value Lowering::default_value(const Function& function, const py::Node* node) {
  const py::Moment moment = py::moment_of(*function.module, function.node);
  const bool has_names = py::is<py::Name>(node) || py::is<py::BinOp>(node) ||
                         py::is<py::Attribute>(node) || py::is<py::Call>(node);
  if (moment.statement != nullptr && has_names) {
    try {
      return from_python(evaluator_.evaluate(*function.module, node, {}, moment));
    } catch (const SyntaxOrTypeError&) {
    } catch (const Mistake&) {
      // what Python's values cannot hold
    }
  }
  return Frame(*this, *function.module, function.node, Frame::Mode::Plain).expression(node);
}

// Positions first, then names, then defaults; what is left over goes to *args.
void Lowering::bind(Frame& frame, const Function& function, const CallArguments& arguments) {
  std::size_t used = 0;
  bool takes_rest = false;
  check_keywords(function, arguments);
  for (const py::Node* node : function.node->parameters) {
    const auto& parameter = py::cast<py::Parameter>(node);
    const std::string_view name = parameter.name;
    if (parameter.role == py::ParameterRole::Keywords)
      throw Mistake{fmt::format("'**{}' of '{}' is not supported in a kernel", name, function.name),
                    "name each parameter"};
    const Value* given = find_keyword(arguments, name);
    const bool by_position =
        parameter.role != py::ParameterRole::KeywordOnly && used < arguments.positional.size();
    if (parameter.role == py::ParameterRole::Arguments) {
      takes_rest = true;
      frame.set(name, Value::tuple(
                          {arguments.positional.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                              used, arguments.positional.size())),
                           arguments.positional.end()}));
    } else if (by_position && given != nullptr) {
      throw Mistake{fmt::format("'{}' is given '{}' twice", function.name, name), ""};
    } else if (by_position) {
      frame.set(name, arguments.positional[used++]);
    } else if (given != nullptr) {
      frame.set(name, *given);
    } else if (parameter.default_value != nullptr) {
      frame.set(name, default_value(function, parameter.default_value));
    } else {
      throw Mistake{
          fmt::format("'{}' needs an argument for its parameter '{}'", function.name, name), ""};
    }
  }
  check_left_over(function, arguments, used, takes_rest);
}

// A function may call itself with other constants, as in Triton, where each set of constants is a
// function of its own; with the same ones it would never end.
void Lowering::check_recursion(const ActiveCall& call) const {
  const auto again = [&](const ActiveCall& other) {
    if (other.function != call.function || other.arguments.size() != call.arguments.size())
      return false;
    for (std::size_t i = 0; i < call.arguments.size(); ++i)
      if (!alike(builder_.kernel(), other.arguments[i], call.arguments[i])) return false;
    return true;
  };
  const bool too_deep = active_.size() >= max_call_depth;
  auto first = std::find_if(active_.begin(), active_.end(), again);
  if (first == active_.end() && too_deep)
    first = std::find_if(active_.begin(), active_.end(),
                         [&](const ActiveCall& other) { return other.function == call.function; });
  if (first != active_.end()) {
    std::string cycle;
    for (auto other = first; other != active_.end() && cycle.size() < 200; ++other)
      cycle += fmt::format("'{}' calls ", other->name);
    throw Mistake{fmt::format("recursion is not supported in a kernel: {}'{}'", cycle, call.name),
                  "use a loop"};
  }
  if (too_deep)
    throw Mistake{fmt::format("functions call each other more than {} levels deep", max_call_depth),
                  ""};
}

Value Lowering::call_function(const Function& function, const CallArguments& arguments) {
  if (++calls_ > max_calls)
    throw Mistake{fmt::format("the kernel inlines more than {} calls", max_calls), ""};
  const ir::Location before = builder_.location();
  const py::LoadedModule* module = place_module_;
  const py::Node* place = place_;
  ActiveCall call{.caller = module,
                  .place = place,
                  .name = function.name,
                  .function = function.node,
                  .arguments = all_of(arguments)};
  check_recursion(call);
  // A line that only calls has an op of its own, where one stops before the call.
  if (options_.names_assignments && !active_.empty())
    builder_.constant(ir::Type::scalar(i32), std::int64_t{0});
  Frame frame(*this, *function.module, function.node,
              function.is_jit ? Frame::Mode::Jit : Frame::Mode::Plain);
  bind(frame, function, arguments);
  const Active active(active_, std::move(call));
  Value result = frame.run_body(function.node->body);
  set_place(module, place);
  builder_.set_location(before);
  return result;
}

// An undecorated function: Python's, run on constants. The evaluator knows all of the language;
// what it cannot hold (types, tensors) goes through the function as a kernel's code does.
Value Lowering::call_plain(const Function& function, const CallArguments& arguments) {
  std::vector<py::Value> positional;
  py::Keywords keywords;
  bool convertible = true;
  const auto convert = [&](const Value& value) {
    const std::optional<py::Value> converted = to_python(value);
    convertible = convertible && converted.has_value();
    return converted.value_or(py::Value());
  };
  for (const Value& value : arguments.positional) positional.push_back(convert(value));
  for (const auto& [name, value] : arguments.keywords) keywords.emplace_back(name, convert(value));
  if (!convertible) return call_function(function, arguments);
  const py::FunctionValue target{.module = function.module, .node = function.node};
  try {
    return from_python(evaluator_.call(target, positional, keywords));
  } catch (const SyntaxOrTypeError&) {
    return call_function(function, arguments);
  }
}

}  // namespace tilewright::triton
