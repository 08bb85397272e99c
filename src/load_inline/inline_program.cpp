// SPDX-License-Identifier: Apache-2.0
// load_inline/inline_program.cpp — from options to the sources that the compilers get.
#include "load_inline/inline_program.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "base/nearest.h"
#include "base/quote.h"
#include "load_inline/compiler_flags.h"
#include "load_inline/cpp_kernels.h"
#include "load_inline/device_text.h"
#include "load_inline/hidden_macros.h"
#include "load_inline/host_text.h"
#include "load_inline/kernel_stubs.h"

namespace tilewright {
namespace {

using Kind = Declaration::Kind;
using Wanted = std::vector<std::pair<const InlineKernel*, NameExpression>>;

std::string expression_text(const std::string& base, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return base;
  return fmt::format("{}<{}>", base, fmt::join(arguments, ", "));
}

bool names_torch_types(const Wanted& wanted) {
  for (const auto& [kernel, expression] : wanted)
    for (const std::string& argument : expression.arguments)
      if (argument.find("Half") != std::string::npos ||
          argument.find("BFloat16") != std::string::npos)
        return true;
  return false;
}

std::string entry_symbol(std::size_t index) { return fmt::format("tw_entry_{}", index); }

bool is_conditional(const Declaration& d) {
  return d.kind == Kind::Directive && d.name.starts_with("if");
}

// PYBIND11_MODULE(...) {...}, TORCH_LIBRARY(...) {...} and their kind name the functions to bind.
bool is_binding(const Declaration& d) {
  return d.kind == Kind::MacroCall &&
         (d.name == "PYBIND11_MODULE" || d.name.starts_with("TORCH_LIBRARY"));
}

bool calls_unknown_macros(const std::vector<InlineSource>& sources) {
  for (const InlineSource& source : sources)
    for (const Declaration& d : source.outline)
      if (d.kind == Kind::MacroCall && !is_binding(d)) return true;
  return false;
}

std::string stub_declarations(const std::vector<InlineSource>& sources) {
  std::string stubs;
  for (const InlineSource& source : sources)
    for (const Declaration& d : source.outline)
      if (d.kind == Kind::Kernel && !d.has_body()) stubs += stub_declaration(d, source.text);
  return stubs;
}

// NAME, NAME=value or NAME(x)=value
void check_macro(const std::string& macro) {
  const std::string_view name = std::string_view(macro).substr(0, macro.find_first_of("=("));
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
      !std::all_of(name.begin(), name.end(), is_part))
    throw ArgumentError(
        fmt::format("'{}' in macros defines nothing; write NAME or NAME=value", macro));
}

}  // namespace

InlineProgram::InlineProgram(const InlineOptions& options, bool for_gpu, bool is_whole)
    : options_(options) {
  if (options.cuda_sources.empty() && options.cpp_sources.empty())
    throw ArgumentError("load_inline needs a source: give cuda_sources or cpp_sources");
  for (const std::string& macro : options.macros) check_macro(macro);
  mode_ = options.cuda_sources.empty() ? InlineMode::Cpp
          : for_gpu                    ? InlineMode::Gpu
                                       : InlineMode::Emulated;
  add_sources();
  add_kernels();
  check_functions();
  if (is_whole) check_main();
}

void InlineProgram::add_sources() {
  // Declarations of host functions come in C++ sources: they stand first.
  const auto add = [&](const std::vector<std::string>& texts, const char* list, const char* suffix,
                       bool is_cuda) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool has_suffix = options_.name.ends_with(suffix);
      std::string file = texts.size() == 1 ? options_.name + (has_suffix ? "" : suffix)
                                           : fmt::format("{}[{}]", list, i);
      sources_.push_back(make_inline_source(texts[i], std::move(file), is_cuda));
    }
  };
  add(options_.cpp_sources, "cpp_sources", ".cpp", false);
  add(options_.cuda_sources, "cuda_sources", ".cu", true);
  has_host_functions_ = !options_.functions.empty();
  for (const InlineSource& source : sources_)
    for (const Declaration& d : source.outline) has_host_functions_ |= is_binding(d);
}

void InlineProgram::add_kernels() {
  for (const InlineSource& source : sources_) {
    int conditions = 0;
    for (const Declaration& d : source.outline) {
      conditions += is_conditional(d) ? 1 : d.kind == Kind::Directive && d.name == "endif" ? -1 : 0;
      const bool is_kernel = mode_ == InlineMode::Cpp ? is_cpp_kernel(source, d)
                                                      : d.kind == Kind::Kernel && d.has_body();
      if (is_kernel && !d.is_specialization && !d.name.empty())
        kernels_.push_back({&source, &d, d.is_template || conditions > 0, false});
    }
  }
  for (InlineKernel& kernel : kernels_)
    kernel.is_overloaded =
        std::count_if(kernels_.begin(), kernels_.end(),
                      [&](const InlineKernel& other) { return other.name() == kernel.name(); }) > 1;
}

// What a macro may define cannot be known here: the compiler says it then.
void InlineProgram::check_functions() const {
  if (calls_unknown_macros(sources_)) return;
  std::vector<std::string> known;
  for (const InlineSource& source : sources_)
    for (const Declaration& d : source.outline) {
      const bool is_host = d.kind == Kind::HostFunction || d.kind == Kind::HostDeviceFunction;
      if (is_host && !d.is_member) known.push_back(d.qualified_name);
    }
  for (const std::string& function : options_.functions) {
    if (std::find(known.begin(), known.end(), function) != known.end()) continue;
    const bool is_kernel =
        std::any_of(kernels_.begin(), kernels_.end(),
                    [&](const InlineKernel& kernel) { return kernel.name() == function; });
    if (is_kernel)
      throw ArgumentError(fmt::format(
          "'{}' in functions is a kernel of '{}', not a host function; leave it out and launch it "
          "by kernel(\"{}\")",
          function, options_.name, function));
    throw ArgumentError(fmt::format("'{}' in functions is not a host function of '{}'{}", function,
                                    options_.name, suggest_names(function, known)));
  }
}

const InlineKernel& InlineProgram::find(const NameExpression& expression) const {
  std::vector<std::string> names;
  std::vector<const InlineKernel*> found;
  for (const InlineKernel& kernel : kernels_) {
    names.push_back(kernel.name());
    if (kernel.name() == expression.base) found.insert(found.begin(), &kernel);
    else if (kernel.declaration->name == expression.base) found.push_back(&kernel);
  }
  if (found.empty())
    throw ArgumentError(fmt::format("source '{}' has no kernel '{}'{}", options_.name,
                                    expression.base, suggest_names(expression.base, names)));
  const InlineKernel& kernel = *found[0];
  if (kernel.is_overloaded)
    throw ArgumentError(
        fmt::format("source '{}' has several kernels '{}'; give them names of their own to launch "
                    "them from here",
                    options_.name, kernel.name()));
  const bool needs_arguments = std::any_of(
      kernel.declaration->template_parameters.begin(),
      kernel.declaration->template_parameters.end(), [](const TemplateParameter& parameter) {
        return parameter.default_text.empty() && !parameter.is_pack;
      });
  if (kernel.declaration->is_template && !expression.has_arguments && needs_arguments)
    throw ArgumentError(fmt::format(
        "kernel '{0}' is a template; name its arguments, as in {0}<float>", kernel.name()));
  if (!kernel.declaration->is_template && expression.has_arguments)
    throw ArgumentError(
        fmt::format("kernel '{0}' is no template; launch it by kernel(\"{0}\")", kernel.name()));
  return kernel;
}

bool InlineProgram::declares_host_function(std::string_view name) const {
  for (const InlineSource& source : sources_)
    for (const Declaration& d : source.outline)
      if (d.kind == Kind::HostFunction && !d.is_member &&
          (d.name == name || d.qualified_name == name))
        return true;
  return false;
}

// ---- Sources for the compilers.

KernelSource InlineProgram::empty_source(Language language) const {
  KernelSource source;
  source.language = language;
  source.name = options_.name;
  source.include_folders = options_.extra_include_paths;
  return source;
}

void InlineProgram::add_kernel(KernelSource& source, const InlineKernel& kernel,
                               const std::vector<std::string>& arguments, const std::string& name,
                               const std::string& entry) const {
  std::vector<TypeAlias> aliases;
  for (const InlineSource& one : sources_) {
    const auto more = aliases_of(one.text, one.outline);
    aliases.insert(aliases.end(), more.begin(), more.end());
  }
  const auto parameters = signature_of(*kernel.declaration, arguments, aliases);
  source.kernels.push_back({name, parameters, {direct_plan(entry, parameters.size())}, {}});
}

KernelSource InlineProgram::gpu_source(const Wanted& wanted) const {
  KernelSource source = empty_source(Language::Cuda);
  source.text = nvrtc_text(sources_, names_torch_types(wanted));
  source.options = nvrtc_flags(options_).options;
  hide_macros(source);
  for (const auto& [kernel, expression] : wanted) {
    const std::string text = expression_text(kernel->name(), expression.arguments);
    source.name_expressions.push_back(text);
    add_kernel(source, *kernel, expression.arguments, text, text);
    if (!has_host_functions_) continue;
    Parameter address;
    address.kind = Parameter::Kind::Opaque;
    const std::size_t count = source.kernels.back().parameters.size();
    source.kernels.push_back({host_launch_name(text),
                              std::vector<Parameter>(count, address),
                              {direct_plan(text, count)},
                              {},
                              text});
  }
  return source;
}

std::string InlineProgram::emulated_program(const Wanted& wanted, bool with_host) const {
  const StandardIncludes includes = with_host ? standard_includes(sources_) : StandardIncludes{};
  EmulationNeeds needs;
  needs.with_host = with_host;
  needs.with_standard_library = includes.beyond_basic;
  needs.with_torch_types = names_torch_types(wanted);
  if (includes.beyond_basic) needs.includes = includes.text;
  const EmulatedText device = emulated_text(sources_, needs);
  std::string out = device.text;
  if (with_host) {
    std::string stubs = stub_declarations(sources_);
    for (const InlineKernel& kernel : kernels_)
      stubs +=
          emulated_stub(*kernel.declaration, kernel.source->text,
                        device.uses_barriers(thread_name(kernel.name())), kernel.is_overloaded);
    out += emulated_host_text(sources_, options_.functions, stubs);
  }
  out += line_directive(1, "entries");
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string name = expression_text(wanted[i].first->name(), wanted[i].second.arguments);
    const std::string expression = with_host ? thread_name(name) : name;
    out += emulated_entry(entry_symbol(i), expression, device.uses_barriers(expression));
  }
  return out;
}

std::string InlineProgram::cpp_program(const Wanted& wanted, bool with_host) const {
  std::string out = cpp_kernel_prelude();
  // The host text brings the calling convention itself.
  if (with_host)
    out = embedded_part("torch/program.h") + gpu_host_text(sources_, options_.functions);
  else
    for (const InlineSource& source : sources_)
      out += line_directive(1, source.file) + source.text + "\n";
  out += line_directive(1, "entries");
  for (std::size_t i = 0; i < wanted.size(); ++i)
    out += cpp_kernel_entry(entry_symbol(i),
                            expression_text(wanted[i].first->name(), wanted[i].second.arguments),
                            wanted[i].first->declaration->parameters.size());
  return out;
}

KernelSource InlineProgram::cpu_source(const Wanted& wanted, bool with_host) const {
  KernelSource source = empty_source(Language::Cpp);
  const bool is_emulated = mode_ == InlineMode::Emulated;
  source.text = is_emulated ? emulated_program(wanted, with_host) : cpp_program(wanted, with_host);
  source.options =
      is_emulated ? emulation_options() : std::vector<std::string>{"-fvisibility=hidden"};
  const auto flags = host_flags(options_, is_emulated);
  source.options.insert(source.options.end(), flags.begin(), flags.end());
  hide_macros(source);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    add_kernel(source, *wanted[i].first, wanted[i].second.arguments,
               expression_text(wanted[i].first->name(), wanted[i].second.arguments),
               entry_symbol(i));
  if (with_host) {
    Parameter call;
    call.kind = Parameter::Kind::Pointer;
    call.any_pointee = true;
    source.kernels.push_back({host_entry, {call}, {}, {}, ""});
  }
  return source;
}

KernelSource InlineProgram::main_source() const {
  Wanted wanted;
  for (const InlineKernel& kernel : kernels_)
    if (!kernel.is_on_demand && !kernel.is_overloaded)
      wanted.push_back({&kernel, {kernel.name(), {}, false}});
  return mode_ == InlineMode::Gpu ? gpu_source(wanted) : cpu_source(wanted, has_host_functions_);
}

KernelSource InlineProgram::instance_source(const InlineKernel& kernel,
                                            const NameExpression& expression) const {
  const Wanted wanted = {{&kernel, expression}};
  return mode_ == InlineMode::Gpu ? gpu_source(wanted) : cpu_source(wanted, false);
}

KernelSource InlineProgram::gpu_host_source() const {
  KernelSource source = empty_source(Language::Cpp);
  source.text = gpu_host_text(sources_, options_.functions);
  // Host functions only check and launch: a quick compile is worth more than a fast loop. Hidden,
  // so that the statics of inline functions belong to this text alone.
  source.options = {"-O1", "-fvisibility=hidden"};
  const auto flags = host_flags(options_, false);
  source.options.insert(source.options.end(), flags.begin(), flags.end());
  hide_macros(source);
  Parameter call;
  call.kind = Parameter::Kind::Pointer;
  call.any_pointee = true;
  source.kernels.push_back({host_entry, {call}, {}, {}, ""});
  return source;
}

// ---- Whole programs.

void InlineProgram::check_main() const {
  for (const InlineSource& source : sources_)
    for (const Declaration& d : source.outline)
      if (d.kind == Kind::HostFunction && d.qualified_name == "main" && d.has_body()) return;
  throw ArgumentError(
      fmt::format("'{}' has no main, so it is no program; name a function or kernel of it to run",
                  options_.name));
}

std::string InlineProgram::emulated_whole_program() const {
  EmulationNeeds needs;
  needs.with_host = true;
  needs.with_standard_library = true;
  needs.includes = program_includes(sources_);
  needs.headers = "#define TW_EMULATED 1\n" + program_headers(sources_);
  const EmulatedText device = emulated_text(sources_, needs);
  std::string stubs = stub_declarations(sources_);
  for (const InlineKernel& kernel : kernels_)
    stubs += emulated_program_stub(*kernel.declaration, kernel.source->text,
                                   device.uses_barriers(thread_name(kernel.name())),
                                   kernel.is_overloaded);
  return device.text + emulated_program_text(sources_, stubs);
}

KernelSource InlineProgram::program_source() const {
  KernelSource source = empty_source(Language::Cpp);
  const bool is_emulated = mode_ != InlineMode::Gpu;
  if (!is_emulated) check_managed();
  source.text = is_emulated ? emulated_whole_program() : gpu_program_text(sources_);
  source.options =
      is_emulated ? emulation_options() : std::vector<std::string>{"-O2", "-fvisibility=hidden"};
  const auto flags = host_flags(options_, is_emulated);
  source.options.insert(source.options.end(), flags.begin(), flags.end());
  hide_macros(source);
  Parameter program;
  program.kind = Parameter::Kind::Pointer;
  program.any_pointee = true;
  source.kernels.push_back({host_entry, {program}, {}, {}, ""});  // run_program records it
  return source;
}

// The host's text would have a variable of its own.
void InlineProgram::check_managed() const {
  for (const InlineSource& source : sources_)
    for (const Declaration& d : source.outline)
      if (d.kind == Kind::Variable && d.is_device &&
          source.text.substr(d.range.begin, d.range.end - d.range.begin).find("__managed__") !=
              std::string::npos)
        throw ArgumentError(fmt::format(
            "'{}' of '{}' is a __managed__ variable, which a program run on a GPU cannot have "
            "here; use cudaMallocManaged, or --device emulate",
            d.name, options_.name));
}

KernelSource InlineProgram::program_kernels(std::vector<std::string> name_expressions) const {
  KernelSource source = empty_source(Language::Cuda);
  source.text = nvrtc_program_text(sources_);
  source.options = nvrtc_flags(options_).options;
  hide_macros(source);
  source.name_expressions = std::move(name_expressions);
  return source;
}

}  // namespace tilewright
