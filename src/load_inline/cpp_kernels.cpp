// SPDX-License-Identifier: Apache-2.0
// load_inline/cpp_kernels.cpp — plain C++ functions as CPU kernels.
#include "load_inline/cpp_kernels.h"

#include <fmt/format.h>

#include "base/cpu_entry.h"
#include "load_inline/signature.h"

namespace tilewright {

bool is_cpp_kernel(const InlineSource& source, const Declaration& d) {
  if (d.kind != Declaration::Kind::HostFunction || !d.has_body() || d.is_member ||
      d.return_type != "void")
    return false;
  if (d.name == "main" || d.name.starts_with("operator")) return false;
  const auto aliases = aliases_of(source.text, source.outline);
  for (const Parameter& parameter : signature_of(d, {}, aliases)) {
    const bool may_be_template_argument =
        d.is_template && parameter.kind == Parameter::Kind::Opaque;
    if (parameter.kind == Parameter::Kind::Opaque && !may_be_template_argument) return false;
  }
  return true;
}

std::string cpp_kernel_prelude() { return cpu_entry_text + embedded_part("torch/program.h"); }

std::string cpp_kernel_entry(std::string_view symbol, std::string_view expression,
                             std::size_t parameter_count) {
  std::string arguments;
  for (std::size_t i = 0; i < parameter_count; ++i)
    arguments += fmt::format("{0}*static_cast<ParameterOf<{1}, List>::type*>(parameters[{1}])",
                             i ? ", " : "", i);
  return fmt::format(
      "extern \"C\" __attribute__((visibility(\"default\"))) void {0}(const TwCpuLaunch* launch, "
      "[[maybe_unused]] void* const* "
      "parameters, unsigned long first, unsigned long last) {{\n"
      "  using namespace ::tilewright_inline;\n"
      "  [[maybe_unused]] typedef decltype(parameters_of(&{1})) List;\n"
      "  const long x = launch->grid[0], y = launch->grid[1], z = launch->grid[2];\n"
      "  for (long i = long(first); i < long(last); ++i) {{\n"
      "    program = {{{{i % x, i / x % y, i / x / y}}, {{x, y, z}}}};\n"
      "    {1}({2});\n"
      "  }}\n"
      "}}\n",
      symbol, expression, arguments);
}

}  // namespace tilewright
