// SPDX-License-Identifier: Apache-2.0
// compiler/triton/parameters.h — what the text of a kernel says of its parameters: constexpr or not, types
// by annotation, defaults, what is not specialised.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/python/config_reader.h"
#include "ir/type.h"

namespace tilewright {

struct TritonParameter {
  std::string name;
  bool is_constexpr = false;
  bool has_default = false;
  std::optional<python::Value> default_value;  // where it can be told: grids may ask for it
  std::optional<ir::Type> type;                // fixed by an annotation such as `n: tl.int64`
  bool is_const = false;                       // annotated tl.const: a pointer that is only read
  // False for names in do_not_specialize, which are never the constant 1 nor known as aligned.
  bool specializes = true;
  bool specializes_alignment = true;
  // Heuristics or the autotuner read the value of a scalar: launches with other values are others.
  bool is_keyed_by_value = false;
};

std::vector<TritonParameter> read_parameters(python::ModuleLoader& loader,
                                             python::Evaluator& evaluator,
                                             const python::DecoratedFunction& function);

std::vector<std::string> names_of(std::span<const TritonParameter> parameters);

// The parameter of this name; throws ArgumentError with the nearest names.
std::size_t parameter_index(std::string_view kernel, std::span<const TritonParameter> parameters,
                            std::string_view name);
const TritonParameter& parameter_named(std::string_view kernel,
                                       std::span<const TritonParameter> parameters,
                                       std::string_view name);

// The jit function `name` of the module; throws ArgumentError that says what it is instead, or with
// the nearest names.
python::DecoratedFunction find_kernel(python::ModuleLoader& loader,
                                      const python::LoadedModule& module, std::string_view name);

}  // namespace tilewright
