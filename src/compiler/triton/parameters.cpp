// SPDX-License-Identifier: Apache-2.0
// compiler/triton/parameters.cpp — annotations and jit options, read per parameter.
#include "compiler/triton/parameters.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.h"

namespace tilewright {
namespace {

std::string last_part(std::string_view dotted) {
  return std::string(dotted.substr(dotted.rfind('.') + 1));
}

// "constexpr", "int64", "const" of tl.constexpr, "tl.int64", tl.core.const, also of names given as
// text.
std::string annotation_name(python::ModuleLoader& loader, const python::LoadedModule& module,
                            const python::Node* annotation) {
  if (annotation == nullptr) return "";
  if (const auto* text = python::cast_if<python::StrLiteral>(annotation))
    return last_part(text->value);
  const python::Binding binding = loader.resolve(module, annotation);
  if (binding.external.starts_with("triton.")) return last_part(binding.external);
  if (binding.external.starts_with("builtins.")) return "";
  return last_part(python::dotted_name(annotation));
}

std::optional<ir::Type> annotated_type(const std::string& name) {
  if (name.empty() || name == "tensor" || name == "float" || name == "half" || name == "double")
    return std::nullopt;
  const bool is_pointer = name.starts_with('*');
  try {
    const DType dtype = parse_dtype(is_pointer ? std::string_view(name).substr(1) : name);
    return is_pointer ? ir::Type::pointer(dtype) : ir::Type::scalar(dtype);
  } catch (const ArgumentError&) {
    return std::nullopt;  // an annotation that is not Triton's says nothing
  }
}

std::optional<python::Value> value_of(python::Evaluator& evaluator, const python::Moment& moment,
                                      const python::Node* node) {
  if (node == nullptr) return std::nullopt;
  try {
    return evaluator.evaluate(*moment.module, node, {}, moment);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<TritonParameter> read_parameters(python::ModuleLoader& loader,
                                             python::Evaluator& evaluator,
                                             const python::DecoratedFunction& function) {
  const python::JitOptions options = read_jit_options(evaluator, function);
  std::vector<TritonParameter> parameters;
  for (const python::Node* node : function.function->parameters) {
    const auto& parameter = python::cast<python::Parameter>(node);
    TritonParameter read{.name = std::string(parameter.name)};
    const std::string annotation = annotation_name(loader, *function.module, parameter.annotation);
    read.is_constexpr = annotation == "constexpr";
    read.is_const = annotation == "const";
    if (!read.is_constexpr) read.type = annotated_type(annotation);
    read.has_default = parameter.default_value != nullptr;
    read.default_value = value_of(evaluator, function.moment, parameter.default_value);
    read.specializes = !holds(options.do_not_specialize, read.name);
    read.specializes_alignment =
        read.specializes && !holds(options.do_not_specialize_on_alignment, read.name);
    parameters.push_back(std::move(read));
  }
  return parameters;
}

std::vector<std::string> names_of(std::span<const TritonParameter> parameters) {
  std::vector<std::string> names;
  for (const TritonParameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

std::size_t parameter_index(std::string_view kernel, std::span<const TritonParameter> parameters,
                            std::string_view name) {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == name) return i;
  throw ArgumentError(fmt::format("kernel '{}' has no parameter '{}'{}", kernel, name,
                                  suggest_names(name, names_of(parameters))));
}

const TritonParameter& parameter_named(std::string_view kernel,
                                       std::span<const TritonParameter> parameters,
                                       std::string_view name) {
  return parameters[parameter_index(kernel, parameters, name)];
}

python::DecoratedFunction find_kernel(python::ModuleLoader& loader,
                                      const python::LoadedModule& module, std::string_view name) {
  const python::Binding binding = loader.lookup(module, name);
  if (binding.kind == python::Binding::Kind::Function) {
    python::DecoratedFunction function = read_decorators(loader, name, binding);
    if (function.is_jit()) return function;
  }
  std::vector<std::string> names;
  for (python::DecoratedFunction& function : jit_functions(loader, module)) {
    if (function.name == name) return std::move(function);
    names.push_back(function.name);
  }
  if (binding.kind == python::Binding::Kind::Function)
    throw ArgumentError(fmt::format("'{}' in {} is a function without @triton.jit{}", name,
                                    module.tree->source.file, suggest_names(name, names)));
  throw ArgumentError(fmt::format("{} has no kernel '{}'{}", module.tree->source.file, name,
                                  suggest_names(name, names)));
}

}  // namespace tilewright
