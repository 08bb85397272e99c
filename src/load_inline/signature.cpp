// SPDX-License-Identifier: Apache-2.0
// load_inline/signature.cpp — a kernel's declared parameters as what the runtime checks a launch
// against.
#include "load_inline/signature.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "codegen/text/cpp_tokens.h"
#include "load_inline/parameter_lists.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using Tokens = std::span<const CppToken>;

struct NamedType {
  std::string_view name;
  DType dtype;
};

constexpr std::array<NamedType, 50> scalar_types = {{
    {"float", f32},
    {"double", f64},
    {"bool", b1},
    {"char", i8},
    {"signed char", i8},
    {"unsigned char", u8},
    {"short", i16},
    {"unsigned short", u16},
    {"int", i32},
    {"signed", i32},
    {"unsigned", u32},
    {"unsigned int", u32},
    {"long", i64},
    {"unsigned long", u64},
    {"long long", i64},
    {"unsigned long long", u64},
    {"int8_t", i8},
    {"int16_t", i16},
    {"int32_t", i32},
    {"int64_t", i64},
    {"uint8_t", u8},
    {"uint16_t", u16},
    {"uint32_t", u32},
    {"uint64_t", u64},
    {"size_t", u64},
    {"ptrdiff_t", i64},
    {"intptr_t", i64},
    {"uintptr_t", u64},
    {"uint", u32},
    {"uchar", u8},
    {"ushort", u16},
    {"ulong", u64},
    {"half", f16},
    {"__half", f16},
    {"Half", f16},
    {"__nv_half", f16},
    {"nv_half", f16},
    {"float16", f16},
    {"_Float16", f16},
    {"__nv_bfloat16", bf16},
    {"nv_bfloat16", bf16},
    {"bfloat16", bf16},
    {"BFloat16", bf16},
    {"__bfloat16", bf16},
    {"__nv_fp8_e4m3", f8e4m3},
    {"Float8_e4m3fn", f8e4m3},
    {"__nv_fp8_e5m2", f8e5m2},
    {"Float8_e5m2", f8e5m2},
    {"fp16", f16},
    {"bf16", bf16},
}};

struct VectorType {
  std::string_view name;
  DType dtype;
  std::uint32_t bytes;
};

// Pointers to these take tensors of the element type; by value they are structs.
constexpr std::array<VectorType, 22> vector_types = {{
    {"float2", f32, 8},     {"float3", f32, 12},
    {"float4", f32, 16},    {"double2", f64, 16},
    {"double4", f64, 32},   {"int2", i32, 8},
    {"int3", i32, 12},      {"int4", i32, 16},
    {"uint2", u32, 8},      {"uint3", u32, 12},
    {"uint4", u32, 16},     {"char4", i8, 4},
    {"uchar4", u8, 4},      {"char2", i8, 2},
    {"uchar2", u8, 2},      {"short2", i16, 4},
    {"short4", i16, 8},     {"half2", f16, 4},
    {"__half2", f16, 4},    {"__nv_bfloat162", bf16, 4},
    {"longlong2", i64, 16}, {"nv_bfloat162", bf16, 4},
}};

// What remains of a type after its qualifiers: a normalised name and how often it is pointed to.
struct TypeShape {
  std::string name;
  int pointers = 0;
  bool is_reference = false;
  bool is_const = false;  // of the pointee
};

bool is_noise(const CppToken& token) {
  static constexpr std::array<std::string_view, 13> words = {
      "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__",
      "struct",   "enum",         "typename",   "std",      "c10",
      "at",       "torch",        "class"};
  return std::find(words.begin(), words.end(), token.text) != words.end() || token.is("::");
}

// `unsigned`, `long`, `int` come in any order: "long unsigned int" is "unsigned long".
std::string normalize_integer(const std::vector<std::string_view>& words) {
  int longs = 0;
  bool is_unsigned = false, is_signed = false, is_char = false, is_short = false, is_double = false;
  for (std::string_view word : words) {
    if (word == "long") ++longs;
    else if (word == "unsigned") is_unsigned = true;
    else if (word == "signed") is_signed = true;
    else if (word == "char") is_char = true;
    else if (word == "short") is_short = true;
    else if (word == "double") is_double = true;
    else if (word != "int") return {};
  }
  if (is_double) return longs == 0 ? "double" : "long double";
  const std::string sign = is_unsigned ? "unsigned " : "";
  if (is_char) return is_unsigned ? "unsigned char" : is_signed ? "signed char" : "char";
  if (is_short) return sign + "short";
  if (longs == 2) return sign + "long long";
  if (longs == 1) return sign + "long";
  return is_unsigned ? "unsigned" : "int";
}

TypeShape shape_of(std::string_view type) {
  const auto tokens = tokenize_cpp(type, "type");
  TypeShape shape;
  std::vector<std::string_view> words;
  bool is_plain = true;
  for (const CppToken& token : tokens) {
    if (token.is("*") || token.is("[")) ++shape.pointers;
    else if (token.is("&") || token.is("&&")) shape.is_reference = true;
    else if (token.is("const")) shape.is_const |= shape.pointers == 0;
    else if (token.is("(") || token.is("<") || token.is("...")) is_plain = false;
    else if (token.is_identifier() && !is_noise(token)) words.push_back(token.text);
  }
  if (is_plain) shape.name = words.size() == 1 ? std::string(words[0]) : normalize_integer(words);
  return shape;
}

std::optional<DType> scalar_type(std::string_view name) {
  for (const NamedType& type : scalar_types)
    if (type.name == name) return type.dtype;
  return std::nullopt;
}

const VectorType* vector_type(std::string_view name) {
  for (const VectorType& type : vector_types)
    if (type.name == name) return &type;
  return nullptr;
}

// Follows aliases until a type has no more; a few steps are enough, a circle ends too.
TypeShape resolve(std::string_view type, const std::vector<TypeAlias>& aliases) {
  TypeShape shape = shape_of(type);
  for (int step = 0; step < 8; ++step) {
    const auto found = std::find_if(aliases.begin(), aliases.end(), [&](const TypeAlias& alias) {
      return alias.name == shape.name;
    });
    if (found == aliases.end()) break;
    const TypeShape inner = shape_of(found->type);
    shape.name = inner.name;
    shape.pointers += inner.pointers;
    shape.is_const |= inner.is_const;
  }
  return shape;
}

}  // namespace

NameExpression parse_name_expression(std::string_view text) {
  const auto tokens = tokenize_cpp(text, "kernel name");
  NameExpression out;
  const auto open =
      std::find_if(tokens.begin(), tokens.end(), [](const CppToken& t) { return t.is("<"); });
  const auto count = static_cast<std::size_t>(open - tokens.begin());
  for (const CppToken& token : Tokens(tokens).first(count))
    if (!(out.base.empty() && token.is("::"))) out.base += token.text;
  if (open == tokens.end()) return out;
  out.has_arguments = true;
  const std::size_t close = std::min(matching_bracket(tokens, count), tokens.size());
  if (close + 1 != tokens.size())
    throw ArgumentError(fmt::format(
        "'{}' is no kernel's name: what its template gets stands between < and >, as in {}<float>",
        text, out.base));
  for (Tokens piece : split_at_commas(Tokens(tokens).subspan(count + 1, close - count - 1)))
    out.arguments.push_back(join_tokens(piece));
  return out;
}

Parameter parameter_of(const DeclaredParameter& declared, const std::vector<TypeAlias>& aliases) {
  Parameter parameter;
  parameter.name = declared.name;
  const TypeShape shape = resolve(declared.type, aliases);
  const std::optional<DType> scalar = scalar_type(shape.name);
  const VectorType* vector = vector_type(shape.name);
  if (shape.pointers > 0) {
    parameter.kind = Parameter::Kind::Pointer;
    parameter.is_const = shape.is_const;
    parameter.any_pointee = shape.pointers > 1 || (!scalar && !vector);
    if (!parameter.any_pointee) parameter.dtype = scalar ? *scalar : vector->dtype;
  } else if (scalar && !shape.is_reference) {
    parameter.dtype = *scalar;
  } else {
    parameter.kind = Parameter::Kind::Opaque;
    parameter.opaque_bytes = vector && !shape.is_reference ? vector->bytes : 0;
  }
  return parameter;
}

std::vector<Parameter> signature_of(const Declaration& kernel,
                                    const std::vector<std::string>& arguments,
                                    std::vector<TypeAlias> aliases) {
  std::vector<std::string> packed;  // what a parameter pack, which is the last, stands for
  std::string pack;
  for (std::size_t i = 0; i < kernel.template_parameters.size(); ++i) {
    const TemplateParameter& parameter = kernel.template_parameters[i];
    if (parameter.is_pack) {
      pack = parameter.name;
      if (i < arguments.size())
        packed.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      continue;
    }
    const std::string value = i < arguments.size() ? arguments[i] : parameter.default_text;
    if (!parameter.name.empty() && !value.empty())
      aliases.insert(aliases.begin(), {parameter.name, value});
  }
  std::vector<Parameter> out;
  for (const DeclaredParameter& declared : kernel.parameters) {
    if (!declared.is_pack) {
      out.push_back(parameter_of(declared, aliases));
      continue;
    }
    DeclaredParameter single = declared;
    if (const std::size_t dots = single.type.find("..."); dots != std::string::npos)
      single.type.erase(dots, 3);
    for (const std::string& argument : packed) {
      std::vector<TypeAlias> with_pack = aliases;
      with_pack.insert(with_pack.begin(), {pack, argument});
      out.push_back(parameter_of(single, with_pack));
    }
  }
  return out;
}

}  // namespace tilewright
