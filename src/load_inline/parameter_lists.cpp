// SPDX-License-Identifier: Apache-2.0
// load_inline/parameter_lists.cpp — function and template parameter lists, from tokens to their
// parts.
#include "load_inline/parameter_lists.h"

#include <algorithm>
#include <array>

namespace tilewright {
namespace {

using Tokens = std::span<const CppToken>;

constexpr std::array<std::string_view, 14> builtin_words = {
    "void", "bool",   "char",     "short",  "int",     "long",    "float",
    "auto", "double", "unsigned", "signed", "char8_t", "wchar_t", "size_t"};

constexpr std::array<std::string_view, 12> qualifier_words = {"const",
                                                              "volatile",
                                                              "struct",
                                                              "class",
                                                              "enum",
                                                              "union",
                                                              "register",
                                                              "typename",
                                                              "__restrict",
                                                              "__restrict__",
                                                              "__grid_constant__",
                                                              "restrict"};

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// The first token `wanted` that stands in no bracket; tokens.size() when there is none.
std::size_t find_at_top(Tokens tokens, std::string_view wanted) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is(wanted)) return i;
    const bool opens = tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{") ||
                       (tokens[i].is("<") && i > 0 && tokens[i - 1].is_identifier());
    if (!opens) continue;
    const std::size_t close = matching_bracket(tokens, i);
    if (close < tokens.size()) i = close;
  }
  return tokens.size();
}

// Does a type stand before position `name`, so that the identifier there is a name and not (part
// of) the type?
bool has_type_before(Tokens tokens, std::size_t name) {
  for (std::size_t i = 0; i < name; ++i) {
    const CppToken& token = tokens[i];
    if (token.is("[") && i + 1 < name && tokens[i + 1].is("[")) {
      i = matching_bracket(tokens, i);
    } else if (token.is_identifier() && !is_one_of(token.text, qualifier_words)) {
      return !tokens[name - 1].is("::");
    }
  }
  return false;
}

// The declared name: the last plain identifier, before array bounds; inside `(*name)` of a function
// pointer.
std::size_t name_position(Tokens tokens) {
  std::size_t end = tokens.size();
  while (end > 0 && tokens[end - 1].is("]")) {
    std::size_t open = end - 1;
    while (open > 0 && !tokens[open].is("[")) --open;
    end = open;
  }
  for (std::size_t i = 0; i + 2 < end; ++i)
    if (tokens[i].is("(") && (tokens[i + 1].is("*") || tokens[i + 1].is("&")) &&
        tokens[i + 2].is_identifier())
      return i + 2;
  if (end == 0) return tokens.size();
  const CppToken& last = tokens[end - 1];
  const bool is_name = last.is_identifier() && !is_one_of(last.text, builtin_words) &&
                       !is_one_of(last.text, qualifier_words) && has_type_before(tokens, end - 1);
  return is_name ? end - 1 : tokens.size();
}

// Where a name may be put in: after the type, before array bounds.
std::size_t unnamed_offset(Tokens tokens) {
  for (const CppToken& token : tokens)
    if (token.is("[") && token.offset > tokens[0].offset) return token.offset;
  return tokens.empty() ? 0 : tokens.back().end();
}

std::string join_without(Tokens tokens, std::size_t skipped) {
  if (skipped >= tokens.size()) return join_tokens(tokens);
  std::string out = join_tokens(tokens.first(skipped));
  const std::string rest = join_tokens(tokens.subspan(skipped + 1));
  return out + rest;
}

DeclaredParameter parse_parameter(Tokens tokens) {
  DeclaredParameter parameter;
  const std::size_t equals = find_at_top(tokens, "=");
  parameter.has_default = equals < tokens.size();
  tokens = tokens.first(equals);
  const std::size_t name = name_position(tokens);
  if (name < tokens.size()) parameter.name = tokens[name].text;
  parameter.name_offset = name < tokens.size() ? tokens[name].offset : unnamed_offset(tokens);
  parameter.type = join_without(tokens, name);
  parameter.is_pack =
      std::any_of(tokens.begin(), tokens.end(), [](const CppToken& t) { return t.is("..."); });
  return parameter;
}

TemplateParameter parse_template_parameter(Tokens tokens) {
  TemplateParameter parameter;
  const std::size_t equals = find_at_top(tokens, "=");
  if (equals < tokens.size()) parameter.default_text = join_tokens(tokens.subspan(equals + 1));
  tokens = tokens.first(equals);
  if (tokens.empty()) return parameter;
  parameter.is_pack =
      std::any_of(tokens.begin(), tokens.end(), [](const CppToken& t) { return t.is("..."); });
  if (tokens[0].is("template")) parameter.kind = TemplateParameter::Kind::Template;
  else if (!tokens[0].is("typename") && !tokens[0].is("class"))
    parameter.kind = TemplateParameter::Kind::Value;
  const bool is_dependent_type =
      tokens[0].is("typename") && find_at_top(tokens, "::") < tokens.size();
  if (is_dependent_type) parameter.kind = TemplateParameter::Kind::Value;
  const CppToken& last = tokens.back();
  const bool is_word = last.is("typename") || last.is("class");
  if (parameter.kind == TemplateParameter::Kind::Value) {
    const std::size_t name = name_position(tokens);
    if (name < tokens.size()) parameter.name = tokens[name].text;
  } else if (last.is_identifier() && !is_word) {
    parameter.name = last.text;
  }
  return parameter;
}

}  // namespace

std::vector<Tokens> split_at_commas(Tokens tokens) {
  std::vector<Tokens> pieces;
  while (!tokens.empty()) {
    const std::size_t comma = find_at_top(tokens, ",");
    pieces.push_back(tokens.first(comma));
    tokens = tokens.subspan(std::min(comma + 1, tokens.size()));
  }
  return pieces;
}

std::vector<DeclaredParameter> parse_parameters(Tokens tokens) {
  std::vector<DeclaredParameter> parameters;
  if (tokens.size() == 1 && tokens[0].is("void")) return parameters;
  for (Tokens piece : split_at_commas(tokens))
    if (!piece.empty()) parameters.push_back(parse_parameter(piece));
  return parameters;
}

std::vector<TemplateParameter> parse_template_parameters(Tokens tokens) {
  std::vector<TemplateParameter> parameters;
  for (Tokens piece : split_at_commas(tokens))
    parameters.push_back(parse_template_parameter(piece));
  return parameters;
}

}  // namespace tilewright
