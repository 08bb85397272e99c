// SPDX-License-Identifier: Apache-2.0
// load_inline/parameter_lists.h — function and template parameter lists, from tokens to their
// parts.
#pragma once

#include <span>
#include <vector>

#include "codegen/text/cpp_tokens.h"
#include "load_inline/outline.h"

namespace tilewright {

// The tokens between '(' and ')' of a function's parameters.
std::vector<DeclaredParameter> parse_parameters(std::span<const CppToken> tokens);

// The tokens between '<' and '>' of a template header.
std::vector<TemplateParameter> parse_template_parameters(std::span<const CppToken> tokens);

// Splits at commas that stand in no bracket, template brackets included.
std::vector<std::span<const CppToken>> split_at_commas(std::span<const CppToken> tokens);

}  // namespace tilewright
