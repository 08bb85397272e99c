// SPDX-License-Identifier: Apache-2.0
// load_inline/kernel_stubs.cpp — the text of stubs.
#include "load_inline/kernel_stubs.h"

#include <fmt/format.h>

#include "base/quote.h"
#include "codegen/emulate/rewrite.h"
#include "codegen/text/cpp_tokens.h"
#include "load_inline/text_edits.h"

namespace tilewright {
namespace {

// ", p, n, rest..."
std::string argument_list(const Declaration& kernel) {
  std::string out;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    out += ", " + parameter_name(kernel, i) + (kernel.parameters[i].is_pack ? "..." : "");
  return out;
}

// A KernelName with its template arguments.
std::string kernel_name(const Declaration& kernel) {
  std::string out =
      fmt::format("::tilewright_inline::KernelName({})", cpp_string(kernel.qualified_name));
  for (const TemplateParameter& parameter : kernel.template_parameters) {
    if (parameter.name.empty()) continue;
    const std::string text = parameter.name + (parameter.is_pack ? "..." : "");
    out += parameter.kind == TemplateParameter::Kind::Type ? fmt::format(".types<{}>()", text)
                                                           : fmt::format(".values({})", text);
  }
  return out;
}

std::string name_expression(const Declaration& kernel) { return kernel_name(kernel) + ".c_str()"; }

// "<T, N, Rest...>", empty for a kernel that is no template
std::string template_arguments(const Declaration& kernel) {
  std::string out;
  for (const TemplateParameter& parameter : kernel.template_parameters) {
    if (parameter.name.empty()) continue;
    out += (out.empty() ? "" : ", ") + parameter.name + (parameter.is_pack ? "..." : "");
  }
  return out.empty() ? out : "<" + out + ">";
}

std::string parameter_types(const Declaration& kernel) {
  std::string out;
  for (const DeclaredParameter& parameter : kernel.parameters)
    out += (out.empty() ? "" : ", ") + parameter.type;
  return out;
}

// `&k<T>`, or a cast that chooses among overloads.
std::string address_expression(const Declaration& kernel, const std::string& name,
                               bool is_overloaded) {
  const std::string address = "&" + name + template_arguments(kernel);
  if (!is_overloaded) return address;
  return fmt::format("static_cast<void (*)({})>({})", parameter_types(kernel), address);
}

// The launch of a program's stub; `entry` is a lambda that gives the address of the CPU entry.
std::string registered_launch(const Declaration& kernel, const std::string& entry,
                              bool is_overloaded) {
  return fmt::format("{{ ::tilewright_inline::launch_registered<{}>([] {{ return {}; }}, {}{}); }}",
                     address_expression(kernel, kernel.name, is_overloaded), kernel_name(kernel),
                     entry, argument_list(kernel));
}

// The declaration's own parameter list, with names for those that have none.
std::string named_parameter_list(const Declaration& kernel, std::string_view text) {
  const TextRange range = kernel.parameter_list;
  TextEdits edits(text.substr(0, range.end));
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    if (kernel.parameters[i].name.empty())
      edits.insert(kernel.parameters[i].name_offset, " " + parameter_name(kernel, i));
  return edits.apply().substr(range.begin);
}

// Without comments and line ends.
std::string single_line(const std::string& text) {
  return join_tokens(tokenize_cpp(text, "declaration"));
}

// "template <class T> static inline void k(T* p, int n)"
std::string stub_head(const Declaration& kernel, std::string_view text) {
  const TextRange header = kernel.template_header;
  return fmt::format("{} static inline void {}{}",
                     single_line(std::string(text.substr(header.begin, header.end - header.begin))),
                     kernel.name, single_line(named_parameter_list(kernel, text)));
}

std::string in_namespace(const Declaration& kernel, const std::string& text) {
  const std::size_t length = kernel.qualified_name.size() - kernel.name.size();
  if (length == 0) return text + "\n";
  return fmt::format("namespace {} {{ {} }}\n", kernel.qualified_name.substr(0, length - 2), text);
}

}  // namespace

std::string thread_name(std::string_view kernel) {
  const std::string_view bare = kernel.substr(0, kernel.find('<'));
  const std::size_t colon = bare.rfind("::");
  const std::size_t at = colon == std::string_view::npos ? 0 : colon + 2;
  return std::string(kernel.substr(0, at)) + "tw_thread_" + std::string(kernel.substr(at));
}

std::string parameter_name(const Declaration& kernel, std::size_t index) {
  const std::string& name = kernel.parameters[index].name;
  return name.empty() ? fmt::format("tw_parameter_{}", index) : name;
}

std::string gpu_stub_body(const Declaration& kernel) {
  return fmt::format("{{ ::tilewright_inline::launch({}, nullptr{}); }}", name_expression(kernel),
                     argument_list(kernel));
}

std::string stub_declaration(const Declaration& kernel, std::string_view text) {
  return in_namespace(kernel, stub_head(kernel, text) + ";");
}

namespace {

// The CPU entry of a kernel whose threads run under another name.
std::string emulated_entry_lambda(const Declaration& kernel, bool uses_barriers,
                                  bool is_overloaded) {
  return fmt::format(
      "[](const TwCpuLaunch* l, void* const* p, unsigned long first, unsigned long last) {{ "
      "tw_emulate::run<{1}, {2}>({0}, l, p, first, last); }}",
      cpp_string(kernel.qualified_name),
      address_expression(kernel, thread_name(kernel.name), is_overloaded),
      uses_barriers || is_emulation_checked());  // only such threads can end alone
}

}  // namespace

std::string emulated_stub(const Declaration& kernel, std::string_view text, bool uses_barriers,
                          bool is_overloaded) {
  const std::string body = fmt::format(
      " {{ ::tilewright_inline::launch({}, reinterpret_cast<void*>(+{}){}); }}",
      cpp_string(kernel.qualified_name),
      emulated_entry_lambda(kernel, uses_barriers, is_overloaded), argument_list(kernel));
  return in_namespace(kernel, stub_head(kernel, text) + body);
}

std::string gpu_program_stub_body(const Declaration& kernel, bool is_overloaded) {
  return registered_launch(kernel, "[] { return nullptr; }", is_overloaded);
}

std::string emulated_program_stub(const Declaration& kernel, std::string_view text,
                                  bool uses_barriers, bool is_overloaded) {
  const std::string entry =
      fmt::format("[] {{ return reinterpret_cast<void*>(+{}); }}",
                  emulated_entry_lambda(kernel, uses_barriers, is_overloaded));
  return in_namespace(
      kernel, stub_head(kernel, text) + " " + registered_launch(kernel, entry, is_overloaded));
}

}  // namespace tilewright
