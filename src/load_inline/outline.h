// SPDX-License-Identifier: Apache-2.0
// load_inline/outline.h — what a CUDA or C++ source declares at namespace scope, without compiling
// it.
//
// There is no preprocessing: both branches of an #if are seen, and a macro that stands alone at
// namespace scope (PYBIND11_MODULE(...) {...}) is a MacroCall. Object-like macros of the same
// source that stand for __host__, __device__ or
// __global__ are followed. What is not understood becomes Other and is left as it is by every user
// of the outline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

// A piece of the source text: [begin, end) in bytes.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool empty() const { return begin == end; }
  friend bool operator==(const TextRange&, const TextRange&) = default;
};

struct DeclaredParameter {
  std::string type;  // "const float*", without name and default; "float[16]" keeps its bounds
  std::string name;  // may be empty
  bool is_pack = false;
  bool has_default = false;
  std::size_t name_offset = 0;  // where the name stands in the text, or would stand
};

struct TemplateParameter {
  enum class Kind : std::uint8_t { Type, Value, Template };
  Kind kind = Kind::Type;
  std::string name;  // may be empty
  std::string default_text;
  bool is_pack = false;
};

struct Declaration {
  enum class Kind : std::uint8_t {
    Kernel,          // __global__
    DeviceFunction,  // __device__ only
    HostDeviceFunction,
    HostFunction,  // no annotation, or __host__ only
    Type,          // struct, class, union, enum
    Alias,         // using, typedef, static_assert, namespace alias
    Variable,
    Directive,
    MacroCall,
    Instantiation,  // template void k<float>(float*);
    Other,
  };
  Kind kind = Kind::Other;
  std::string name;            // without namespaces; of a MacroCall the macro's
  std::string qualified_name;  // "ns::k"; anonymous namespaces are left out
  std::string return_type;     // of functions, without annotations and storage words
  std::vector<TemplateParameter> template_parameters;
  bool is_template =
      false;  // also of explicit specialisations, whose template_parameters are empty
  bool is_specialization = false;
  bool is_constexpr = false;
  bool is_extern_c = false;
  bool is_static = false;
  bool is_member = false;  // defined outside its class: Type::f
  bool is_device = false;  // a variable with __device__, __constant__, __shared__ or __managed__
  std::vector<DeclaredParameter> parameters;
  int line = 0;     // of the name
  TextRange range;  // the whole declaration with its ';' or body
  TextRange name_range;
  TextRange template_header;  // every `template <...>` before it
  TextRange parameter_list;   // with its parentheses
  TextRange body;             // with its braces; empty for a declaration without one

  bool is_function() const { return kind <= Kind::HostFunction; }
  bool has_body() const { return !body.empty(); }
};

// In source order; the contents of namespaces and extern "C" blocks are part of the list, the
// namespaces are not. Throws SyntaxOrTypeError, with `file` as its file, for text that does not end
// (a comment, a string).
std::vector<Declaration> outline_of(std::string_view text, std::string_view file);

// The same with what is needed to name types: `using real = float;` and `typedef float real;` at
// namespace scope.
struct TypeAlias {
  std::string name;
  std::string type;
};
std::vector<TypeAlias> aliases_of(std::string_view text, const std::vector<Declaration>& outline);

}  // namespace tilewright
