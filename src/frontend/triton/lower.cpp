// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower.cpp — the kernel around the body: its arguments, places, errors and checks.
#include "frontend/triton/lower.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "frontend/triton/assigned.h"
#include "frontend/triton/frame.h"
#include "ir/verify.h"

namespace tilewright::triton {
namespace {

// Nodes inside nodes, over all calls that are under way; each takes stack.
constexpr int max_level = 1500;

// Makes the kernel's arguments and the values that its parameters start with.
class Parameters {
 public:
  Parameters(Lowering& lowering, LoweredKernel& out) : lowering_(lowering), out_(out) {}

  Value value(const ParameterType& parameter, const std::string& name, const std::string& shown) {
    switch (parameter.kind) {
      case ParameterType::Kind::Constant:
        return parameter.constant;
      case ParameterType::Kind::Tensor:
        return argument(parameter, name, shown);
      case ParameterType::Kind::Descriptor:
        return descriptor(parameter, name, shown);
      case ParameterType::Kind::Tuple:
        break;
    }
    std::vector<Value> items;
    for (std::size_t i = 0; i < parameter.items.size(); ++i)
      items.push_back(
          value(parameter.items[i], fmt::format("{}_{}", name, i), fmt::format("{}.{}", shown, i)));
    return Value::tuple(std::move(items));
  }

 private:
  ir::Value argument(const ParameterType& parameter, const std::string& name,
                     const std::string& shown) {
    const ir::Value made = out_.kernel.add_argument(parameter.type, name);
    out_.kernel.arguments.back().divisible = parameter.divisible;
    out_.kernel.arguments.back().is_const = parameter.is_const;
    out_.kernel.arguments.back().memory = parameter.memory;
    out_.argument_names.push_back(shown);
    // The same pointer once more is one value to the kernel: what it does at one element through
    // both is then seen to be the same place.
    if (parameter.address < 0) return made;
    return addresses_.try_emplace(parameter.address, made).first->second;
  }

  Value descriptor(const ParameterType& parameter, const std::string& name,
                   const std::string& shown) {
    Descriptor made{.block = {.base = argument(parameter, name, shown),
                              .shape = {},
                              .strides = {},
                              .offsets = {},
                              .block_shape = parameter.block_shape},
                    .pads_with_nan = parameter.pads_with_nan};
    ParameterType size;
    size.type = ir::Type::scalar(i64);
    const std::size_t rank = parameter.block_shape.size();
    for (std::size_t i = 0; i < rank; ++i)
      made.block.shape.push_back(argument(size, fmt::format("{}_shape_{}", name, i),
                                          fmt::format("{}.shape.{}", shown, i)));
    for (std::size_t i = 0; i + 1 < rank; ++i)
      made.block.strides.push_back(argument(size, fmt::format("{}_stride_{}", name, i),
                                            fmt::format("{}.strides.{}", shown, i)));
    made.block.strides.push_back(lowering_.builder().constant(size.type, std::int64_t{1}));
    return std::make_shared<const Descriptor>(std::move(made));
  }

  Lowering& lowering_;
  LoweredKernel& out_;
  std::map<int, ir::Value> addresses_;
};

void check_signature(const Lowering& lowering, const py::DecoratedFunction& function,
                     const std::map<std::string, ParameterType>& signature) {
  for (const auto& [name, type] : signature) {
    const auto& parameters = function.function->parameters;
    const bool known = std::any_of(parameters.begin(), parameters.end(), [&](const py::Node* node) {
      return py::cast<py::Parameter>(node).name == name;
    });
    if (!known)
      lowering.fail(*function.module, *function.function,
                    {fmt::format("kernel '{}' has no parameter '{}'", function.name, name), ""});
  }
}

// The kernel's parameters as arguments of a call; those without a value keep their defaults.
CallArguments kernel_arguments(Lowering& lowering, const py::DecoratedFunction& function,
                               const std::map<std::string, ParameterType>& signature,
                               LoweredKernel& out) {
  check_signature(lowering, function, signature);
  Parameters make(lowering, out);
  CallArguments arguments;
  for (const py::Node* node : function.function->parameters) {
    const auto& parameter = py::cast<py::Parameter>(node);
    const std::string name(parameter.name);
    const auto found = signature.find(name);
    const auto fail = [&](std::string message, std::string hint) {
      lowering.fail(*function.module, *node, {std::move(message), std::move(hint)});
    };
    if (parameter.role == py::ParameterRole::Arguments ||
        parameter.role == py::ParameterRole::Keywords)
      fail(fmt::format("kernel '{}' takes '*{}', which a launch cannot give", function.name, name),
           "name each parameter, or take one tuple");
    if (found == signature.end()) {
      if (parameter.default_value != nullptr) continue;
      fail(fmt::format("parameter '{}' of kernel '{}' is given no value", name, function.name),
           "give it in the call or the signature");
    }
    const bool is_constant = found->second.kind == ParameterType::Kind::Constant;
    if (is_constexpr_annotation(parameter.annotation) && !is_constant)
      fail(
          fmt::format("parameter '{}' of kernel '{}' is tl.constexpr and needs a value, not a type",
                      name, function.name),
          "give its value, such as 1024, where the others have types");
    arguments.keywords.emplace_back(name, make.value(found->second, name, name));
  }
  return arguments;
}

}  // namespace

Lowering::Lowering(py::ModuleLoader& loader, const LowerOptions& options, ir::Kernel& kernel)
    : loader_(loader),
      options_(options),
      evaluator_(loader, {.facts = options.facts}),
      builder_(kernel),
      semantic_(builder_, {.debug = options.debug, .fp_fusion = options.fp_fusion}) {}

Lowering::Level::Level(Lowering& lowering) : lowering_(lowering) {
  if (lowering.level_ >= max_level)
    throw Mistake{
        fmt::format("the code is nested more than {} levels deep, calls included", max_level),
        "split it"};
  ++lowering.level_;
}

void Lowering::note(const std::string& message) {
  std::string text = message;
  if (place_ != nullptr)
    text = fmt::format("{}:{}: {}", place_module_->tree->source.file, place_->span.line, message);
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end())
    notes_.push_back(std::move(text));
}

int Lowering::num_warps() {
  asked_for_warps_ = true;
  return options_.num_warps;
}

// Loops may be lowered more than once; each line is printed once.
void Lowering::print(const std::string& line) {
  const std::pair<const py::Node*, std::string> entry(place_, line);
  if (std::find(printed_.begin(), printed_.end(), entry) == printed_.end())
    printed_.push_back(entry);
}

std::vector<std::string> Lowering::printed() const {
  std::vector<std::string> lines;
  for (const auto& [place, line] : printed_) lines.push_back(line);
  return lines;
}

void Lowering::set_place(const py::LoadedModule* module, const py::Node* node) {
  place_module_ = module;
  place_ = node;
  if (node != nullptr) builder_.set_location(location(*module, *node));
}

ir::Location Lowering::location(const py::LoadedModule& module, const py::Node& node) {
  std::vector<std::string>& files = kernel().files;
  const std::string& file = module.tree->source.file;
  const auto found = std::find(files.begin(), files.end(), file);
  const auto index = static_cast<std::uint16_t>(found - files.begin());
  if (found == files.end()) files.push_back(file);
  return {.file = index, .line = node.span.line, .column = node.span.column};
}

void Lowering::fail(const py::LoadedModule& module, const py::Node& node,
                    const Mistake& mistake) const {
  Diagnostic diagnostic{.file = module.tree->source.file,
                        .span = node.span,
                        .message = mistake.message,
                        .hint = mistake.hint};
  for (std::size_t i = active_.size(); i-- > 1;) {
    const ActiveCall& call = active_[i];
    diagnostic.notes.push_back(fmt::format("called from {}:{} in {} '{}'",
                                           call.caller->tree->source.file, call.place->span.line,
                                           i == 1 ? "kernel" : "function", active_[i - 1].name));
  }
  throw SyntaxOrTypeError(std::move(diagnostic), module.tree->source.text);
}

LoweredKernel lower(py::ModuleLoader& loader, const py::DecoratedFunction& function,
                    const std::map<std::string, ParameterType>& signature,
                    const LowerOptions& options) {
  LoweredKernel out;
  out.kernel.name = function.name;
  Lowering lowering(loader, options, out.kernel);
  const Function kernel{
      .name = function.name, .module = function.module, .node = function.function};
  lowering.set_place(function.module, function.function);
  const CallArguments arguments = kernel_arguments(lowering, function, signature, out);
  const Value result = lowering.call_function(kernel, arguments);
  if (!result.is_none())
    lowering.fail(
        *function.module, *function.function,
        {fmt::format("kernel '{}' returns a value, which a launch cannot give back", function.name),
         "store it through a pointer"});
  try {
    ir::verify(out.kernel);
  } catch (const InternalError& error) {
    throw InternalError(fmt::format("kernel '{}' in {} was lowered to wrong IR: {}", function.name,
                                    function.module->tree->source.file, error.what()));
  }
  out.notes = lowering.notes();
  out.printed = lowering.printed();
  out.asks_for_warps = lowering.asked_for_warps();
  return out;
}

}  // namespace tilewright::triton
