// SPDX-License-Identifier: Apache-2.0
// load_inline/host_text.cpp — host functions with launches rewritten and bindings added.
#include "load_inline/host_text.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/cpu_entry.h"
#include "base/quote.h"
#include "codegen/emulate/features.h"
#include "codegen/text/cpp_tokens.h"
#include "load_inline/kernel_stubs.h"
#include "load_inline/launch_syntax.h"
#include "load_inline/text_edits.h"

namespace tilewright {
namespace {

using Kind = Declaration::Kind;

// ---- Standard headers by the names that need them.

struct HeaderOfName {
  std::string_view name;
  std::string_view header;
  bool is_basic =
      false;  // the emulation library has it, so that the header itself is not needed there
};

// Headers that the emulation library stands in for as a whole.
constexpr std::array<std::string_view, 16> basic_headers = {
    "cmath",  "math.h",  "cstdio",   "stdio.h", "cstdint", "stdint.h",    "cstddef", "stddef.h",
    "limits", "climits", "limits.h", "cfloat",  "float.h", "type_traits", "cstring", "string.h"};

constexpr std::array<HeaderOfName, 92> header_of_name = {{
    {"vector", "vector"},
    {"vec", "vector"},
    {"string", "string"},
    {"to_string", "string"},
    {"stoi", "string"},
    {"tuple", "tuple"},
    {"make_tuple", "tuple"},
    {"tie", "tuple"},
    {"pair", "utility"},
    {"make_pair", "utility"},
    {"optional", "optional"},
    {"nullopt", "optional"},
    {"map", "map"},
    {"unordered_map", "unordered_map"},
    {"unordered_set", "unordered_set"},
    {"set", "set"},
    {"array", "array"},
    {"deque", "deque"},
    {"list", "list"},
    {"queue", "queue"},
    {"function", "functional"},
    {"shared_ptr", "memory"},
    {"unique_ptr", "memory"},
    {"make_shared", "memory"},
    {"make_unique", "memory"},
    {"mutex", "mutex"},
    {"lock_guard", "mutex"},
    {"thread", "thread"},
    {"atomic", "atomic"},
    {"chrono", "chrono"},
    {"cout", "iostream"},
    {"cerr", "iostream"},
    {"endl", "iostream"},
    {"ostream", "iostream"},
    {"stringstream", "sstream"},
    {"ostringstream", "sstream"},
    {"runtime_error", "stdexcept"},
    {"invalid_argument", "stdexcept"},
    {"logic_error", "stdexcept"},
    {"out_of_range", "stdexcept"},
    {"sort", "algorithm"},
    {"accumulate", "numeric"},
    {"iota", "numeric"},
    {"copy", "algorithm"},
    {"fill", "algorithm"},
    {"min", "algorithm", true},
    {"max", "algorithm", true},
    {"clamp", "algorithm", true},
    {"min_element", "algorithm"},
    {"max_element", "algorithm"},
    {"find", "algorithm"},
    {"all_of", "algorithm"},
    {"any_of", "algorithm"},
    {"transform", "algorithm"},
    {"swap", "utility", true},
    {"move", "utility", true},
    {"forward", "utility", true},
    {"numeric_limits", "limits", true},
    {"is_same", "type_traits", true},
    {"is_same_v", "type_traits", true},
    {"enable_if_t", "type_traits", true},
    {"conditional_t", "type_traits", true},
    {"decay_t", "type_traits", true},
    {"sqrt", "cmath", true},
    {"sqrtf", "cmath", true},
    {"ceil", "cmath", true},
    {"floor", "cmath", true},
    {"exp", "cmath", true},
    {"expf", "cmath", true},
    {"log", "cmath", true},
    {"logf", "cmath", true},
    {"log2", "cmath", true},
    {"pow", "cmath", true},
    {"tanh", "cmath", true},
    {"tanhf", "cmath", true},
    {"erf", "cmath", true},
    {"erff", "cmath", true},
    {"abs", "cmath", true},
    {"fabs", "cmath", true},
    {"fabsf", "cmath", true},
    {"fmaxf", "cmath", true},
    {"fminf", "cmath", true},
    {"printf", "cstdio", true},
    {"fprintf", "cstdio"},
    {"snprintf", "cstdio"},
    {"exit", "cstdlib"},
    {"malloc", "cstdlib"},
    {"getenv", "cstdlib"},
    {"memcpy", "cstring", true},
    {"memset", "cstring", true},
    {"INT_MAX", "climits", true},
    {"FLT_MAX", "cfloat", true},
}};

// Headers that our own text asks about, with the macro that answers.
constexpr std::array<HeaderOfName, 4> announced = {{{"vector", "TW_WITH_VECTOR"},
                                                    {"string", "TW_WITH_STRING"},
                                                    {"tuple", "TW_WITH_TUPLE"},
                                                    {"optional", "TW_WITH_OPTIONAL"}}};

class IncludeFinder {
 public:
  void add_text(std::string_view text, std::string_view file) {
    for (const CppToken& token : tokenize_cpp(text, file)) {
      if (const std::string_view header = included_header(token); is_standard_header(header))
        add_header(header.substr(1, header.size() - 2));
      if (token.is_identifier()) add_name(token.text);
    }
  }

  StandardIncludes finish() const {
    StandardIncludes out;
    out.beyond_basic = beyond_basic_;
    for (const std::string& header : headers_) {
      out.text += fmt::format("#include <{}>\n", header);
      for (const HeaderOfName& known : announced)
        if (known.name == header) out.text += fmt::format("#define {} 1\n", known.header);
    }
    return out;
  }

 private:
  void add_header(std::string_view header) {
    if (header == "assert.h" || header == "cassert") return;
    headers_.emplace(header);
    beyond_basic_ |=
        std::find(basic_headers.begin(), basic_headers.end(), header) == basic_headers.end();
  }
  void add_name(std::string_view name) {
    for (const HeaderOfName& known : header_of_name) {
      if (known.name != name) continue;
      headers_.emplace(known.header);
      beyond_basic_ |= !known.is_basic;
    }
  }

  std::set<std::string> headers_;
  bool beyond_basic_ = false;
};

// ---- The user's text.

bool is_half_header(std::string_view header) {
  return header.find("cuda_fp16") != std::string_view::npos ||
         header.find("cuda_bf16") != std::string_view::npos;
}

// A failed assert of host code is an error of the call, never the end of the process.
void rewrite_asserts(const InlineSource& source, TextRange range, TextEdits& edits) {
  const auto tokens = tokenize_cpp(
      std::string_view(source.text).substr(range.begin, range.end - range.begin), source.file);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
    if (tokens[i].is("assert") && tokens[i + 1].is("("))
      edits.replace({range.begin + tokens[i].offset, range.begin + tokens[i].end()}, "TORCH_CHECK");
}

// Members that only the device calls may use what only the device has.
void drop_device_members(const InlineSource& source, const Declaration& type, TextEdits& edits) {
  if (!type.has_body()) return;
  const std::size_t begin = type.body.begin + 1;
  const std::string_view inside =
      std::string_view(source.text).substr(begin, type.body.end - begin - 1);
  if (inside.find("__device__") == std::string_view::npos) return;
  for (const Declaration& member : outline_of(inside, source.file))
    if (member.kind == Kind::DeviceFunction && member.has_body())
      edits.replace({begin + member.body.begin, begin + member.body.end}, ";");
}

void replace_kernel(const Declaration& kernel, const std::string& body, TextEdits& edits) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    if (kernel.has_body() && kernel.parameters[i].name.empty())
      edits.insert(kernel.parameters[i].name_offset, " " + parameter_name(kernel, i));
  if (kernel.has_body()) edits.replace(kernel.body, body);
}

bool is_main(const Declaration& d) {
  return d.kind == Kind::HostFunction && d.qualified_name == "main" && d.has_body();
}

// `main` gets another name, and the `return 0` that C++ adds to main alone.
void rename_main(const Declaration& d, TextEdits& edits) {
  edits.replace(d.name_range, "tilewright_main");
  if (d.return_type == "int") edits.insert(d.body.end - 1, " return 0; ");
}

// Behind a variable of the device: the record by which the runtime finds it.
void register_symbol(const Declaration& d, TextEdits& edits) {
  if (!d.is_device || d.name.empty() || d.is_template) return;
  edits.insert(d.range.end,
               fmt::format(" static ::tilewright_inline::SymbolRecord tw_symbol_{0}((const "
                           "void*)&{0}, {1}, sizeof {0});",
                           d.name, cpp_string(d.qualified_name)));
}

bool is_overloaded(const InlineSource& source, const Declaration& kernel) {
  return std::count_if(source.outline.begin(), source.outline.end(), [&](const Declaration& d) {
           return d.kind == Kind::Kernel && d.has_body() && !d.is_specialization &&
                  d.qualified_name == kernel.qualified_name;
         }) > 1;
}

std::string gpu_host_code(const InlineSource& source, bool is_program) {
  TextEdits edits(source.text);
  for (const Declaration& d : source.outline) {
    if (d.kind == Kind::Directive) {
      const std::string_view header = included_header_of(source, d);
      if (is_torch_header(header) || is_cuda_header(header) || is_half_header(header) ||
          is_standard_header(header) || is_device_header(header))
        edits.blank(d.range);
    } else if (d.kind == Kind::DeviceFunction || d.kind == Kind::Instantiation) {
      edits.blank(d.range);
    } else if (d.kind == Kind::Kernel) {
      const std::string body =
          is_program ? gpu_program_stub_body(d, is_overloaded(source, d)) : gpu_stub_body(d);
      d.is_specialization ? edits.blank(d.range) : replace_kernel(d, body, edits);
    } else if (d.kind == Kind::Type) {
      drop_device_members(source, d, edits);
    } else if (d.kind == Kind::HostFunction || d.kind == Kind::MacroCall) {
      if (is_program && is_main(d)) rename_main(d, edits);
      rewrite_asserts(source, d.range, edits);
    } else if (is_program && d.kind == Kind::Variable) {
      register_symbol(d, edits);
    }
  }
  rewrite_launches(source.text, source.file, edits);
  return edits.apply();
}

// What the device code of the same source, which stands in front, does not have.
std::string emulated_host_code(const InlineSource& source, bool is_program) {
  TextEdits edits(source.text);
  for (const Declaration& d : source.outline) {
    if (d.kind == Kind::Directive) {
      if (!included_header_of(source, d).empty()) edits.blank(d.range);
    } else if (source.is_cuda && is_device_visible(source, d)) {
      edits.blank(d.range);
    } else if (d.kind == Kind::HostFunction || d.kind == Kind::MacroCall) {
      if (is_program && is_main(d)) rename_main(d, edits);
      rewrite_asserts(source, d.range, edits);
    }
  }
  rewrite_launches(source.text, source.file, edits);
  return edits.apply();
}

// ---- Around it.

std::string torch_headers() {
  std::string out;
  for (std::string_view name :
       {"torch/abi.h", "torch/core.h", "torch/tensor.h", "torch/cuda_launch.h", "torch/cuda_host.h",
        "torch/dispatch.h", "torch/binding.h"})
    out += embedded_part(name);
  return out;
}

std::string bindings(std::span<const InlineSource> sources,
                     const std::vector<std::string>& functions) {
  std::string out = line_directive(1, "bindings");
  bool has_module = false;
  for (const InlineSource& source : sources)
    for (const Declaration& d : source.outline)
      has_module |= d.kind == Kind::MacroCall && d.name == "PYBIND11_MODULE";
  out += "static void tilewright_define() {\n  ::tilewright_inline::Module m;\n";
  for (const std::string& function : functions)
    out += fmt::format("  m.def({}, &{});\n", cpp_string(function), function);
  if (has_module) out += "  tilewright_module(m);\n";
  out += "  ::tilewright_inline::define_libraries();\n";
  out += fmt::format(
      "  (void)m;\n}}\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void {}(const TwCpuLaunch*, void* "
      "const* parameters, unsigned "
      "long, unsigned long) {{\n"
      "  ::tilewright_inline::answer(**static_cast<TwCall* const*>(parameters[0]), "
      "tilewright_define);\n}}\n",
      host_entry);
  return out;
}

}  // namespace

StandardIncludes standard_includes(std::span<const InlineSource> sources) {
  IncludeFinder finder;
  for (const InlineSource& source : sources)
    for (const Declaration& d : source.outline) {
      const std::string_view text =
          std::string_view(source.text).substr(d.range.begin, d.range.end - d.range.begin);
      const bool is_device_only = d.kind == Kind::Kernel || d.kind == Kind::DeviceFunction;
      // A macro may be used anywhere: its definition counts as code.
      if (d.kind == Kind::Directive && d.name == "define")
        finder.add_text(text.substr(1), source.file);
      else if (!is_device_only) finder.add_text(text, source.file);
    }
  return finder.finish();
}

std::string gpu_host_text(std::span<const InlineSource> sources,
                          const std::vector<std::string>& functions) {
  std::string out = standard_includes(sources).text + cpu_entry_text;
  out +=
      embedded_part("torch/small_floats.h") + embedded_part("torch/accessor.h") + torch_headers();
  for (const InlineSource& source : sources)
    out += line_directive(1, source.file) + gpu_host_code(source, false) + "\n";
  return out + bindings(sources, functions);
}

std::string emulated_host_text(std::span<const InlineSource> sources,
                               const std::vector<std::string>& functions,
                               const std::string& stubs) {
  std::string out =
      "#define TW_EMULATED 1\n" + torch_headers() + line_directive(1, "stubs") + stubs;
  for (const InlineSource& source : sources)
    out += line_directive(1, source.file) + emulated_host_code(source, false) + "\n";
  return out + bindings(sources, functions);
}

// ---- Programs.

namespace {

// "<sys/time.h>": neither torch's nor CUDA's, nor one that the emulation must name.
bool is_system_header(std::string_view header) {
  if (!header.starts_with('<') || is_torch_header(header) || is_cuda_header(header)) return false;
  return !is_half_header(header) && !is_device_header(header) && unsupported_header(header).empty();
}

std::string program_entry() {
  return line_directive(1, "entries") +
         fmt::format(
             "extern \"C\" __attribute__((visibility(\"default\"))) void {}(const TwCpuLaunch*, "
             "void* const* parameters, unsigned long, unsigned long) {{\n"
             "  ::tilewright_inline::run_program(**static_cast<TwProgram* "
             "const*>(parameters[0]), tilewright_main);\n}}\n",
             host_entry);
}

}  // namespace

std::string program_includes(std::span<const InlineSource> sources) {
  std::set<std::string> headers = {"<algorithm>",       "<cfloat>", "<climits>",     "<cmath>",
                                   "<cstdint>",         "<cstdio>", "<cstdlib>",     "<cstring>",
                                   "<ctime>",           "<limits>", "<type_traits>", "<utility>",
                                   "<initializer_list>"};
  for (const InlineSource& source : sources)
    for (const Declaration& d : source.outline)
      if (const std::string_view header = included_header_of(source, d); is_system_header(header))
        headers.emplace(header);
  std::string out;
  for (const std::string& header : headers)
    // What another system has is for the source's own #if to decide.
    out += fmt::format("#if __has_include({0})\n#include {0}\n#endif\n", header);
  return out + standard_includes(sources).text;
}

std::string program_headers(std::span<const InlineSource> sources) {
  std::string out;
  for (std::string_view name :
       {"torch/abi.h", "torch/core.h", "torch/cuda_abi.h", "torch/cuda_launch.h",
        "torch/cuda_device.h", "torch/cuda_memory.h", "torch/cuda_program.h"})
    out += embedded_part(name);
  const bool has_helpers =
      std::any_of(sources.begin(), sources.end(), [](const InlineSource& source) {
        return std::any_of(source.outline.begin(), source.outline.end(), [&](const Declaration& d) {
          return included_header_of(source, d).find("helper_") == 1;
        });
      });
  if (has_helpers) out += embedded_part("torch/sample_helpers.h");
  return out;
}

std::string gpu_program_text(std::span<const InlineSource> sources) {
  std::string out = program_includes(sources) + cpu_entry_text;
  out += embedded_part("torch/small_floats.h") + program_headers(sources) +
         embedded_part("torch/program_host.h") + embedded_part("device_lib/emulate/cuda/types.cuh");
  for (const InlineSource& source : sources)
    out += line_directive(1, source.file) + gpu_host_code(source, true) + "\n";
  return out + program_entry();
}

std::string emulated_program_text(std::span<const InlineSource> sources, const std::string& stubs) {
  std::string out = line_directive(1, "stubs") + stubs;
  for (const InlineSource& source : sources)
    out += line_directive(1, source.file) + emulated_host_code(source, true) + "\n";
  return out + program_entry();
}

}  // namespace tilewright
