// SPDX-License-Identifier: Apache-2.0
// frontend/triton/call.cpp — matching of arguments, with the same messages for every function.
#include "frontend/triton/call.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "frontend/triton/constants.h"

namespace tilewright::triton {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Value parse_default(std::string_view text) {
  if (text == "None") return {};
  if (text == "True") return Value::boolean(true);
  if (text == "False") return Value::boolean(false);
  if (text == "()") return Value::tuple({});
  if (text.front() == '"') return Value::text(std::string(text.substr(1, text.size() - 2)));
  return Value::integer(std::stoll(std::string(text)));
}

struct Parameter {
  std::string_view name;
  std::string_view default_text;  // empty: required
  bool is_rest = false;           // takes all further positional arguments
  bool is_keyword_only = false;
};

std::vector<Parameter> parse_parameters(std::string_view text) {
  std::vector<Parameter> parameters;
  bool is_keyword_only = false;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view item = trim(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    Parameter parameter{.name = item, .is_keyword_only = is_keyword_only};
    if (item.front() == '*') {
      is_keyword_only = true;
      if (item.size() == 1) continue;
      parameter.name = item.substr(1);
      parameter.is_rest = true;
      parameter.is_keyword_only = false;
    } else if (const std::size_t equals = item.find('='); equals != std::string_view::npos) {
      parameter.name = item.substr(0, equals);
      parameter.default_text = item.substr(equals + 1);
    }
    parameters.push_back(parameter);
  }
  return parameters;
}

}  // namespace

Call::Call(Semantic& the_semantic, Host& the_host, std::string shown, const BuiltinRow& the_row,
           const CallArguments& arguments)
    : semantic(the_semantic), host(the_host), name(std::move(shown)), row(the_row) {
  const std::vector<Parameter> parameters = parse_parameters(row.parameters);
  for (const Parameter& parameter : parameters) arguments_.push_back({parameter.name, {}, false});

  std::size_t next = 0;
  for (std::size_t i = 0; i < parameters.size() && next < arguments.positional.size(); ++i) {
    if (parameters[i].is_keyword_only) break;
    if (!parameters[i].is_rest) {
      set(arguments_[i], arguments.positional[next++]);
      continue;
    }
    set(arguments_[i],
        Value::tuple({arguments.positional.begin() + static_cast<std::ptrdiff_t>(next),
                      arguments.positional.end()}));
    next = arguments.positional.size();
  }
  if (next < arguments.positional.size())
    fail(fmt::format("takes {} positional argument{}, but {} are given", next, next == 1 ? "" : "s",
                     arguments.positional.size()));

  for (const auto& [keyword, value] : arguments.keywords) {
    Argument* argument = find(keyword);
    if (!argument) {
      std::vector<std::string> names;
      for (const Parameter& parameter : parameters) names.emplace_back(parameter.name);
      fail(fmt::format("has no argument '{}'{}", keyword, suggest_names(keyword, names)));
    }
    if (argument->is_given) fail(fmt::format("gets the argument '{}' twice", keyword));
    set(*argument, value);
  }

  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (arguments_[i].is_given) continue;
    if (parameters[i].is_rest) arguments_[i].value = Value::tuple({});
    else if (parameters[i].default_text.empty())
      fail(fmt::format("needs the argument '{}'", parameters[i].name));
    else arguments_[i].value = parse_default(parameters[i].default_text);
  }
}

Call::Argument* Call::find(std::string_view parameter) {
  for (Argument& argument : arguments_)
    if (argument.name == parameter) return &argument;
  return nullptr;
}

void Call::set(Argument& argument, const Value& value) {
  argument.value = value;
  argument.is_given = true;
}

const Value& Call::operator[](std::string_view parameter) const {
  for (const Argument& argument : arguments_)
    if (argument.name == parameter) return argument.value;
  TW_UNREACHABLE("{} has no parameter '{}'", name, parameter);
}

bool Call::is_given(std::string_view parameter) const {
  for (const Argument& argument : arguments_)
    if (argument.name == parameter) return argument.is_given;
  return false;
}

void Call::fail(std::string_view problem, std::string_view hint) const {
  throw Mistake{fmt::format("{} {}", name, problem), std::string(hint)};
}

std::string Call::describe(const Value& value) const {
  return triton::describe(semantic.kernel(), value);
}

std::string Call::what(std::string_view parameter) const {
  return fmt::format("'{}' of {}", parameter, name);
}

ir::Value Call::tensor(std::string_view parameter) {
  const Value& value = (*this)[parameter];
  if (value.is_tensor() || is_number(value)) return semantic.tensor(value);
  throw Mistake{
      fmt::format("{} must be a tensor or a number, not {}", what(parameter), describe(value)), ""};
}

ir::Value Call::tile(std::string_view parameter) {
  const ir::Value value = tensor(parameter);
  if (type(value).is_tile()) return value;
  throw Mistake{
      fmt::format("{} must be a block, not {}", what(parameter), describe((*this)[parameter])), ""};
}

std::int64_t Call::integer(std::string_view parameter) {
  return semantic.constant_integer((*this)[parameter], what(parameter));
}

bool Call::flag(std::string_view parameter) {
  return semantic.constant_bool((*this)[parameter], what(parameter));
}

std::string Call::text(std::string_view parameter) {
  return semantic.constant_text((*this)[parameter], what(parameter));
}

std::vector<std::int64_t> Call::shape(std::string_view parameter) {
  const std::vector<Value> items = unpacked((*this)[parameter]);
  return semantic.shape(Value::tuple(items), what(parameter));
}

std::vector<std::int64_t> Call::integers(std::string_view parameter) {
  std::vector<std::int64_t> values;
  for (const Value& item : unpacked((*this)[parameter]))
    values.push_back(semantic.constant_integer(item, what(parameter)));
  return values;
}

ir::Type Call::element_type(std::string_view parameter) {
  const Value& value = (*this)[parameter];
  if (const TypeValue* found = value.get_if<TypeValue>()) return found->type.element();
  if (const Constant* constant = value.get_if<Constant>())
    if (const auto* text = std::get_if<std::string>(&constant->value))
      if (const std::optional<DType> dtype = dtype_named(*text)) return ir::Type::scalar(*dtype);
  throw Mistake{
      fmt::format("{} must be a type like tl.float32, not {}", what(parameter), describe(value)),
      ""};
}

int Call::axis(std::string_view parameter, int rank) {
  const std::int64_t given = integer(parameter);
  if (given >= -rank && given < rank) return static_cast<int>(given < 0 ? given + rank : given);
  throw Mistake{fmt::format("{} is {}, but the block has {} dimension{}", what(parameter), given,
                            rank, rank == 1 ? "" : "s"),
                ""};
}

std::vector<Value> unpacked(const Value& value) {
  const Tuple* tuple = value.tuple();
  if (!tuple) return {value};
  if (tuple->items.size() == 1 && tuple->items[0].tuple()) return tuple->items[0].tuple()->items;
  return tuple->items;
}

}  // namespace tilewright::triton
