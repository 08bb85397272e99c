// SPDX-License-Identifier: Apache-2.0
// load_inline/signature.h — a kernel's declared parameters as what the runtime checks a launch
// against.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "load_inline/outline.h"
#include "tilewright/kernel_source.h"

namespace tilewright {

// "ns::scale<float, 4>" => base "ns::scale", arguments {"float", "4"}.
struct NameExpression {
  std::string base;
  std::vector<std::string> arguments;
  bool has_arguments = false;
};
NameExpression parse_name_expression(std::string_view text);

// A type that is not known here (a struct, an enumeration, a macro) becomes Opaque of unknown size,
// a pointer to one a pointer to anything.
Parameter parameter_of(const DeclaredParameter& declared, const std::vector<TypeAlias>& aliases);

// Template parameters are replaced by `arguments`, in their order; those without one by their
// default.
std::vector<Parameter> signature_of(const Declaration& kernel,
                                    const std::vector<std::string>& arguments,
                                    std::vector<TypeAlias> aliases);

}  // namespace tilewright
