// SPDX-License-Identifier: Apache-2.0
// codegen/text/wgmma_functions.cpp — asm statements with as many operands as an instruction has.
#include "codegen/text/wgmma_functions.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace tilewright {
namespace {

struct Element {
  DType dtype;
  std::string_view name;  // in PTX, but for i8
};
constexpr Element elements[] = {{DType::Float16, "f16"},     {DType::BFloat16, "bf16"},
                                {DType::Float32, "tf32"},    {DType::Int8, "i8"},
                                {DType::Float8E4M3, "e4m3"}, {DType::Float8E5M2, "e5m2"}};

std::string_view multiplied_name(DType dtype) {
  for (const Element& one : elements)
    if (one.dtype == dtype) return one.name;
  TW_UNREACHABLE("{} is no operand of wgmma", name_of(dtype));
}

bool is_integer(const WgmmaFunction& function) { return function.left == DType::Int8; }
std::string_view sum_type(const WgmmaFunction& function) { return is_integer(function) ? "int" : "float"; }

std::string parameters(const WgmmaFunction& function) {
  return fmt::format("({}* d, {} a, Descriptor b, bool keeps)", sum_type(function),
                     function.has_words ? "const unsigned*" : "Descriptor");
}

std::string instruction(const WgmmaFunction& function) {
  const auto ptx = [&](DType dtype) { return is_integer(function) ? "s8" : multiplied_name(dtype); };
  return fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}", function.columns,
                     32 / size_of(function.left), is_integer(function) ? "s32" : "f32", ptx(function.left),
                     ptx(function.right));
}

// What follows the operands: signs of a and b, and which are transposed.
std::string modifiers(const WgmmaFunction& function) {
  if (is_integer(function)) return "";
  if (size_of(function.left) != 2) return ", 1, 1";
  if (function.has_words) return fmt::format(", 1, 1, {:d}", function.transposes_right);
  return fmt::format(", 1, 1, {:d}, {:d}", function.transposes_left, function.transposes_right);
}

std::string text_of(const WgmmaFunction& function) {
  const int sums = function.columns / 2;
  const int left = function.has_words ? 4 : 1;
  std::vector<std::string> registers, outputs, words, inputs;
  for (int i = 0; i < sums; ++i) {
    registers.push_back(fmt::format("%{}", i));
    outputs.push_back(fmt::format("\"+{}\"(d[{}])", is_integer(function) ? "r" : "f", i));
  }
  for (int i = 0; i < left; ++i) {
    words.push_back(fmt::format("%{}", sums + i));
    inputs.push_back(function.has_words ? fmt::format("\"r\"(a[{}])", i) : "\"l\"(a)");
  }
  const std::string a = function.has_words ? fmt::format("{{{}}}", fmt::join(words, ", ")) : words[0];
  return fmt::format(
      "TW_DEVICE void {}{} {{\n"
      "  asm volatile(\n"
      "      \"{{ .reg .pred keeps; setp.ne.b32 keeps, %{}, 0;\\n\"\n"
      "      \"{} \"\n"
      "      \"{{{}}}, \"\n"
      "      \"{}, %{}, keeps{}; }}\"\n"
      "      : {}\n"
      "      : {}, \"l\"(b), \"r\"(int(keeps)));\n"
      "}}\n",
      function.name(), parameters(function), sums + left + 1, instruction(function), fmt::join(registers, ", "), a, sums + left,
      modifiers(function), fmt::join(outputs, ", "), fmt::join(inputs, ", "));
}

std::string emulated_text_of(const WgmmaFunction& function) {
  return fmt::format(
      "TW_DEVICE void {}{} {{\n"
      "  emulated::start_product<{}, {}, emulated::decode_{}, emulated::decode_{}>(d, a, b, keeps, {}{});\n"
      "}}\n",
      function.name(), parameters(function), function.columns, size_of(function.left), multiplied_name(function.left),
      multiplied_name(function.right), function.has_words ? "" : fmt::format("{}, ", function.transposes_left),
      function.transposes_right);
}

// Takes "_text" away from the front.
bool accept(std::string_view& name, std::string_view text) {
  if (!name.starts_with(text)) return false;
  name.remove_prefix(text.size());
  return true;
}

WgmmaFunction parse_name(std::string_view name) {
  WgmmaFunction out;
  TW_CHECK(accept(name, "wgmma_n"), "'{}' starts no product", name);
  out.columns = 0;
  for (; !name.empty() && name[0] >= '0' && name[0] <= '9'; name.remove_prefix(1))
    out.columns = out.columns * 10 + (name[0] - '0');
  const auto element = [&](DType& dtype) {
    for (const Element& one : elements)
      if (accept(name, fmt::format("_{}", one.name))) {
        dtype = one.dtype;
        return true;
      }
    return false;
  };
  TW_CHECK(element(out.left), "'{}' has no operands", name);
  if (!element(out.right)) out.right = out.left;
  out.has_words = accept(name, "_words");
  out.transposes_left = accept(name, "_left_transposed");
  out.transposes_right = accept(name, "_right_transposed");
  return out;
}

template <class Text>
std::string in_namespace(const std::set<WgmmaFunction>& functions, const Text& text) {
  std::string out = "namespace tw {\n";
  for (const WgmmaFunction& function : functions) out += text(function);
  return out + "}  // namespace tw\n";
}

}  // namespace

std::string WgmmaFunction::name() const {
  return fmt::format("wgmma_n{}_{}{}{}{}{}", columns, multiplied_name(left),
                     left == right ? "" : fmt::format("_{}", multiplied_name(right)), has_words ? "_words" : "",
                     transposes_left ? "_left_transposed" : "", transposes_right ? "_right_transposed" : "");
}

std::string wgmma_functions(const std::set<WgmmaFunction>& functions) {
  return "// The asynchronous products of this kernel.\n" + in_namespace(functions, text_of);
}

std::string emulated_wgmma_functions(std::string_view header) {
  std::set<WgmmaFunction> functions;
  constexpr std::string_view before = "void wgmma_";
  for (std::size_t at = header.find(before); at != header.npos; at = header.find(before, at + 1)) {
    const std::string_view rest = header.substr(at + 5);
    functions.insert(parse_name(rest.substr(0, rest.find('('))));
  }
  return in_namespace(functions, emulated_text_of);
}

}  // namespace tilewright
