// SPDX-License-Identifier: Apache-2.0
// frontend/triton/lower_text.h — tests only: lowers a kernel of a text, with a signature written in
// one line: "add x=*f32:16 n=i32 BLOCK=1024 DTYPE=tl.float16 MODE='fast' y=none".
#pragma once

#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "frontend/triton/builtins.h"
#include "frontend/triton/lower.h"

namespace tilewright::triton {

inline ParameterType constant_parameter(Value value) {
  ParameterType parameter;
  parameter.kind = ParameterType::Kind::Constant;
  parameter.constant = std::move(value);
  return parameter;
}

// A type with its alignment, a constant, or a tuple "(*f32;i32;4)" of them.
inline ParameterType parse_parameter(const std::string& text) {
  ParameterType parameter;
  if (text.starts_with('(')) {
    parameter.kind = ParameterType::Kind::Tuple;
    std::istringstream items(text.substr(1, text.size() - 2));
    for (std::string item; std::getline(items, item, ';');)
      parameter.items.push_back(parse_parameter(item));
    return parameter;
  }
  const std::size_t colon = text.find(':');
  if (ir::parse_type(text.substr(0, colon), parameter.type)) {
    if (colon != std::string::npos) parameter.divisible = std::stoi(text.substr(colon + 1));
    return parameter;
  }
  if (text == "none") return constant_parameter({});
  if (text == "true" || text == "false") return constant_parameter(Value::boolean(text == "true"));
  if (text.starts_with('\''))
    return constant_parameter(Value::text(text.substr(1, text.size() - 2)));
  if (text.starts_with("tl."))
    return constant_parameter(external_value("triton.language." + text.substr(3)));
  if (text.find_first_of(".ein") != std::string::npos)
    return constant_parameter(Value::number(std::stod(text)));
  return constant_parameter(Value::integer(std::stoll(text)));
}

inline LoweredKernel lower_text(const std::string& text, const std::string& request,
                                const std::string& file = "kernel.py",
                                const LowerOptions& options = {}) {
  python::ModuleLoader loader;
  const python::LoadedModule& module = loader.load_text(file, text);
  std::istringstream words(request);
  std::string kernel;
  words >> kernel;
  std::map<std::string, ParameterType> signature;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    signature[word.substr(0, equals)] = parse_parameter(word.substr(equals + 1));
  }
  for (const python::DecoratedFunction& function : python::jit_functions(loader, module))
    if (function.name == kernel) return lower(loader, function, signature, options);
  throw std::runtime_error("the text has no kernel " + kernel);
}

}  // namespace tilewright::triton
