// SPDX-License-Identifier: Apache-2.0
// compiler/numba/numba_signature.cpp — Numba's notation of types: void(float32[:, ::1], int32).
#include <fmt/format.h>

#include "compiler/numba/numba_state.h"
#include "frontend/numba/externals.h"
#include "frontend/python/parser.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using namespace python;
using NumbaType = numba::Type;

// float32, numba.float32, types.float32.
std::optional<DType> scalar_of(const Node* node) {
  const std::string dotted = dotted_name(node);
  const std::size_t dot = dotted.rfind('.');
  const std::string last = dot == std::string::npos ? dotted : dotted.substr(dot + 1);
  return numba::dtype_named("numba." + last);
}

// A step of 1 says that neighbours in memory lie along that dimension.
bool is_contiguous_mark(const Node* node) {
  const auto* slice = cast_if<Slice>(node);
  return slice != nullptr && cast_if<IntLiteral>(slice->step) != nullptr;
}

std::optional<NumbaType> type_of_node(const Node* node) {
  if (const auto* array = cast_if<Subscript>(node)) {
    if (numba::is_complex_name(dotted_name(array->value)))
      throw ArgumentError(numba::no_complex_arrays);
    const std::optional<DType> dtype = scalar_of(array->value);
    if (!dtype) return {};
    std::vector<const Node*> parts = {array->index};
    if (const auto* tuple = cast_if<Tuple>(array->index))
      parts.assign(tuple->elements.begin(), tuple->elements.end());
    for (const Node* part : parts)
      if (!is<Slice>(part)) return {};
    return NumbaType::array(*dtype, static_cast<int>(parts.size()),
                            is_contiguous_mark(parts.back()));
  }
  const std::optional<DType> dtype = scalar_of(node);
  if (!dtype) return {};
  return NumbaType::scalar(*dtype);
}

std::optional<std::vector<NumbaType>> types_of(NodeList nodes) {
  std::vector<NumbaType> types;
  for (const Node* node : nodes) {
    const std::optional<NumbaType> type = type_of_node(node);
    if (!type) return {};
    types.push_back(*type);
  }
  return types;
}

std::optional<std::vector<NumbaType>> signature_of_node(const Node* node) {
  if (const auto* call = cast_if<Call>(node)) return types_of(call->arguments);
  if (const auto* tuple = cast_if<Tuple>(node)) return types_of(tuple->elements);
  const std::optional<NumbaType> type = type_of_node(node);
  if (!type) return {};
  return std::vector{*type};
}

}  // namespace

std::vector<NumbaType> parse_numba_signature(const std::string& text) {
  try {
    const auto tree = parse_expression(make_source("<signature>", "(" + text + ")"));
    const Node* const value = cast<ExprStmt>(tree->root->body.front()).value;
    if (auto types = signature_of_node(value)) return *types;
  } catch (const SyntaxOrTypeError&) {
  }
  throw ArgumentError(fmt::format(
      "'{}' is no list of Numba's types; write float32[:], float32[:, :], int32", text));
}

std::optional<std::vector<NumbaType>> decorator_signature(ModuleLoader& loader,
                                                          const LoadedModule& module,
                                                          const FunctionDef& function) {
  for (const Node* decorator : function.decorators) {
    const auto* call = cast_if<Call>(decorator);
    if (call == nullptr || call->arguments.empty()) continue;
    const std::string name = loader.resolve(module, call->function).external;
    if (!name.starts_with("numba")) continue;
    try {
      if (const auto* text = cast_if<StrLiteral>(call->arguments[0]))
        return parse_numba_signature(std::string(text->value));
      if (auto types = signature_of_node(call->arguments[0])) return types;
    } catch (const ArgumentError& error) {
      fail_at(module.tree->source, call->arguments[0]->span, error.what());
    }
    fail_at(module.tree->source, call->arguments[0]->span,
            "the signature of the decorator is not understood",
            "write it as a text: @cuda.jit(\"void(float32[:], int32)\")");
  }
  return {};
}

}  // namespace tilewright
