// SPDX-License-Identifier: Apache-2.0
// frontend/numba/statements.cpp — which statement is which, and assignments.
#include <algorithm>

#include <fmt/format.h>

#include "base/quote.h"
#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

namespace {

// What a statement of this kind is called in messages.
std::string statement_name(Kind kind) {
  switch (kind) {
    case Kind::FunctionDef:
      return "a function inside a function";
    case Kind::ClassDef:
      return "a class";
    case Kind::With:
      return "'with'";
    case Kind::Try:
      return "'try'";
    case Kind::Raise:
      return "'raise'";
    case Kind::Assert:
      return "'assert'";
    case Kind::Delete:
      return "'del'";
    case Kind::Match:
      return "'match'";
    case Kind::Global:
      return "'global'";
    case Kind::Nonlocal:
      return "'nonlocal'";
    case Kind::Import:
    case Kind::ImportFrom:
      return "'import' inside a function";
    default:
      return fmt::format("the statement {}", name_of(kind));
  }
}

// Does a size or stride of the array mention one of the variable's?
bool is_made_from(const Value& array, const Value& variable) {
  std::set<std::string, std::less<>> mentioned;
  for (const auto* list : {&array.shape, &array.strides})
    for (const std::string& text : *list) mentioned.merge(identifiers_in(text));
  for (const auto* list : {&variable.shape, &variable.strides})
    for (const std::string& name : *list)
      if (mentioned.contains(name)) return true;
  return false;
}

}  // namespace

void FunctionWriter::mark_line(const Node& node) {
  if (!is_final_ || node.span.line == line_) return;
  line_ = node.span.line;
  out_.raw(line_directive(line_, module_.tree->source.file));
}

void FunctionWriter::block(NodeList body) {
  scopes_.emplace_back();
  for (const Node* node : body) statement(*node);
  scopes_.pop_back();
}

void FunctionWriter::statement(const Node& node) {
  mark_line(node);
  // What stands before a guard is run twice: only names may be assigned there.
  const bool is_plain = is<If>(&node) || is<ExprStmt>(&node) ||
                        (is<Assign>(&node) && !is<Subscript>(cast<Assign>(&node).targets.front()));
  may_guard_ &= is_plain;
  switch (node.kind) {
    case Kind::Assign:
      return assign(cast<Assign>(&node));
    case Kind::AugAssign:
      return augmented(cast<AugAssign>(&node));
    case Kind::AnnAssign:
      return annotated(cast<AnnAssign>(&node));
    case Kind::If:
      return conditional(cast<If>(&node), false);
    case Kind::While:
      return while_loop(cast<While>(&node));
    case Kind::For:
      return for_loop(cast<For>(&node));
    case Kind::Return:
      return return_value(cast<Return>(&node));
    case Kind::ExprStmt:
      return expression_statement(cast<ExprStmt>(&node));
    case Kind::Break:
      return out_.line("break;");
    case Kind::Continue:
      return out_.line("continue;");
    case Kind::Pass:
      return;
    default:
      missing(node, statement_name(node.kind));
  }
}

// ---- Assignments.

void FunctionWriter::assign(const Assign& node) {
  const auto* name = cast_if<Name>(node.targets.front());
  if (is_final_ && name != nullptr && node.targets.size() == 1) {
    const WebState& state = states_[static_cast<std::size_t>(webs_.of_definition.at(name))];
    if (state.is_alias && state.variable >= 0)
      array_name_ = variables_[static_cast<std::size_t>(state.variable)].name;
  }
  const Value value = expression(node.value);
  array_name_.clear();
  // a = b = value: the value is made once.
  if (node.targets.size() > 1 && !value.is_stable && value.type.is_scalar() && is_final_) {
    const std::string made = names_.make("tw_value");
    out_.format("const {} {} = {};", cpp_type(value.type.dtype), made, value.text);
    for (const Node* target : node.targets)
      assign_to(target, scalar_value(value.type.dtype, made), node);
    return;
  }
  for (const Node* target : node.targets) assign_to(target, value, node);
}

void FunctionWriter::assign_to(const Node* target, const Value& value, const Node& statement) {
  if (is<Name>(target)) return define(target, value, statement);
  if (const auto* element = cast_if<Subscript>(target))
    return assign_element(*element, value, statement);
  const auto* tuple = cast_if<Tuple>(target);
  if (tuple == nullptr) missing(*target, "an assignment to this");
  if (value.type.kind == Type::Kind::Unknown) {
    for (const Node* each : tuple->elements) assign_to(each, {}, statement);
    return;
  }
  if (!value.type.is_tuple())
    fail(statement, fmt::format("{} cannot be unpacked", text_of(value.type)));
  if (value.items.size() != tuple->elements.size())
    fail(statement, fmt::format("{} values are unpacked into {} names", value.items.size(),
                                tuple->elements.size()));
  const std::vector<Value> items = unpacked(value, *tuple);
  for (std::size_t i = 0; i < items.size(); ++i) assign_to(tuple->elements[i], items[i], statement);
}

// a, b = b, a: all values are read before any is written.
std::vector<Value> FunctionWriter::unpacked(const Value& value, const Tuple& targets) {
  if (!is_final_) return value.items;
  std::vector<Value> items = value.items;
  if (value.is_packed) {
    const std::string made = names_.make("tw_result");
    out_.format("const {} {} = {};", result_text(value.type), made, value.text);
    for (std::size_t i = 0; i < items.size(); ++i)
      items[i].text = fmt::format("{}.item{}", made, i);
    return items;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    Value& item = items[i];
    const bool is_last = i + 1 == items.size() && is<Name>(targets.elements[i]);
    if (i == 0 && is_fresh(targets)) break;
    if (item.is_stable || item.type.kind == Type::Kind::Unknown || (is_last && i == 0)) continue;
    item = kept(item);
  }
  return items;
}

// The value under names of its own, since what it is made from is about to change.
Value FunctionWriter::kept(const Value& value) {
  if (value.is_stable) return value;
  if (value.type.is_array()) return copied_array(value);
  if (value.type.is_tuple()) {
    std::vector<Value> items;
    for (const Value& item : packed_items(value)) items.push_back(kept(item));
    return tuple_value(std::move(items));
  }
  const std::string made = names_.make("tw_value");
  out_.format("const {} {} = {};", cpp_type(value.type.dtype), made, value.text);
  Value name = scalar_value(value.type.dtype, made);
  name.is_nonnegative |= value.is_nonnegative;
  return name;
}

// Is the variable declared in a block that is open?
bool FunctionWriter::is_visible(int variable) const {
  return std::any_of(scopes_.begin(), scopes_.end(),
                     [&](const std::set<int>& scope) { return scope.contains(variable); });
}

// Are all targets names that get their first value here? Then no value can depend on them.
bool FunctionWriter::is_fresh(const Tuple& targets) const {
  return std::all_of(targets.elements.begin(), targets.elements.end(), [&](const Node* target) {
    if (!is<Name>(target)) return false;
    const WebState& state = states_[static_cast<std::size_t>(webs_.of_definition.at(target))];
    return state.is_declarable && state.first_place == target && !is_visible(state.variable);
  });
}

// An array under a pointer of its own, since its variable is about to change.
Value FunctionWriter::copied_array(const Value& array) {
  Value copy = pointer_array(array);
  const std::string made = names_.make("tw_array");
  out_.format("{}* const {} = {};", cpp_type(array.type.dtype), made, copy.text);
  copy.text = made;
  for (auto* list : {&copy.shape, &copy.strides})
    for (std::string& size : *list) {
      const std::string name = names_.make("tw_size");
      out_.format("const long long {} = {};", name, size);
      size = name;
    }
  return copy;
}

void FunctionWriter::define(const Node* target, const Value& value, const Node& statement) {
  const auto index = static_cast<std::size_t>(webs_.of_definition.at(target));
  WebState& state = states_[index];
  const Web& web = webs_.all[index];
  if (value.type.kind == Type::Kind::None)
    fail(statement,
         fmt::format("'{}' is assigned the result of a call that returns nothing", web.name));
  const std::optional<Type> joined = unify(state.type, value.type);
  if (!joined)
    fail(
        statement,
        fmt::format("'{}' is {} here, but {} at line {}", web.name, text_of(value.type),
                    text_of(state.first_type), state.first == nullptr ? 0 : state.first->span.line),
        "give the two values different names");
  if (state.first == nullptr && !value.type.is_unknown()) {
    state.first = &statement;
    state.first_type = value.type;
  }
  const bool is_nonnegative = state.is_nonnegative && value.is_nonnegative;
  is_changed_ |= !(state.type == *joined) || is_nonnegative != state.is_nonnegative;
  state.type = *joined;
  state.is_nonnegative = is_nonnegative;
  const bool is_once = web.definitions.size() == 1;
  if (value.type.kind == Type::Kind::Constant || (is_once && value.type.is_array())) {
    state.is_alias = true;
    state.alias = value;
    if (is_final_ && value.type.is_array()) alias_array(state, value);
    return;
  }
  state.row = is_once && scopes_.size() == 1 ? value.row : AlongRow::Unknown;
  raise_most(state, value);
  state.grid_part = is_once ? value.grid_part : GridPart{};
  if (is_final_ && state.variable >= 0) assign_variable(target, state, value);
}

// A variable is an int in the text when all that it is assigned is.
void FunctionWriter::raise_most(WebState& state, const Value& value) {
  constexpr int most_rises = 8;  // i += 1 raises for ever
  if (state.is_wide || value.type.is_unknown()) return;
  const std::optional<std::int64_t> most = most_of(value);
  if (most && state.most && *most <= *state.most) return;
  is_changed_ = true;
  state.is_wide = !most || !program_.is_narrow || ++state.rises > most_rises;
  state.most = state.is_wide ? std::nullopt : most;
}

// row = x[i]: a pointer under the user's name; sizes that are plain names stay what they are.
void FunctionWriter::alias_array(WebState& state, const Value& value) {
  const Variable& variable = variables_[static_cast<std::size_t>(state.variable)];
  if (value.is_declared || value.is_stable || value.text == variable.name) return;
  state.alias.text = variable.name;
  if (state.is_declarable) {
    out_.format("{}* const {} = {};", cpp_type(value.type.dtype), variable.name, value.text);
  } else {
    arrays_ += fmt::format("  {}* {} = nullptr;\n", cpp_type(value.type.dtype), variable.name);
    out_.format("{} = {};", variable.name, value.text);
  }
  for (auto* list : {&state.alias.shape, &state.alias.strides})
    for (std::size_t i = 0; i < list->size(); ++i) {
      std::string& size = (*list)[i];
      const bool is_name = size.find_first_of(" ()") == std::string::npos;
      if (is_name) continue;
      const char* const what = list == &state.alias.shape ? "shape" : "stride";
      const std::string made = names_.make(fmt::format("{}_{}{}", variable.name, what, i));
      if (state.is_declarable) {
        out_.format("const long long {} = {};", made, size);
      } else {
        arrays_ += fmt::format("  long long {} = 0;\n", made);
        out_.format("{} = {};", made, size);
      }
      size = made;
    }
}

void FunctionWriter::assign_variable(const Node* target, const WebState& state,
                                     const Value& value) {
  Variable& variable = variables_[static_cast<std::size_t>(state.variable)];
  const bool declares = !is_visible(state.variable) && state.first_place == target;
  if (declares) scopes_.back().insert(state.variable);
  const char* const constant = declares && variable.definitions == 1 ? "const " : "";
  const auto set = [&](const std::string& type, const std::string& to, const std::string& from) {
    if (declares) out_.format("{}{} {} = {};", constant, type, to, from);
    else if (to != from) out_.format("{} = {};", to, from);
  };
  const Value& own = variable.value;
  if (own.type.is_scalar()) {
    const bool is_same = own.type.dtype == value.type.dtype;
    set(variable.declared_type(), own.text,
        is_same ? value.text : converted(value, own.type.dtype).text);
  } else if (own.type.is_tuple()) {
    std::vector<Value> items = own.type.is_complex && !value.is_packed
                                   ? as_complex(value, own.items[0].type.dtype).items
                                   : packed_items(value);
    // t = (t[1], t[0]): all items are read before any is written.
    if (!declares && !value.is_packed)
      for (Value& item : items) item = kept(item);
    for (std::size_t i = 0; i < items.size(); ++i)
      set(cpp_type(own.items[i].type.dtype), own.items[i].text,
          converted(items[i], own.items[i].type.dtype).text);
  } else {
    // a = a.T: sizes are read before any is written.
    const Value from =
        !declares && is_made_from(value, own) ? copied_array(value) : pointer_array(value);
    set(cpp_type(own.type.dtype) + "*", own.text, from.text);
    for (std::size_t i = 0; i < own.shape.size(); ++i)
      set("long long", own.shape[i], from.shape[i]);
    for (std::size_t i = 0; i < own.strides.size(); ++i)
      set("long long", own.strides[i], stride_text(from, i));
  }
}

// Items that can be read one by one.
std::vector<Value> FunctionWriter::packed_items(const Value& value) {
  if (!value.is_packed) return value.items;
  const std::string made = names_.make("tw_result");
  out_.format("const {} {} = {};", result_text(value.type), made, value.text);
  std::vector<Value> items = value.items;
  for (std::size_t i = 0; i < items.size(); ++i) items[i].text = fmt::format("{}.item{}", made, i);
  return items;
}

void FunctionWriter::assign_element(const Subscript& target, const Value& value,
                                    const Node& statement) {
  const Value array = expression(target.value);
  if (array.type.kind == Type::Kind::Unknown) return;
  if (!array.type.is_array())
    fail(target, fmt::format("an item of {} cannot be assigned", text_of(array.type)));
  if (array.is_frozen)
    fail(target, "an element of an array of the module is assigned; it is constant",
         "pass the array as an argument");
  const Value place = view(array, target.index, target);
  note_write(array);
  if (place.type.kind == Type::Kind::Unknown || value.type.is_unknown()) return;
  if (place.type.is_array()) return fill(place, value, statement);
  expect_scalar(value, "what an element is assigned", statement);
  out_.format("{} = {};", place.text, converted(value, place.type.dtype).text);
}

// x[i, :] = 0, x[a:b] = y[c:d]
void FunctionWriter::fill(const Value& to, const Value& value, const Node& place) {
  if (to.type.ndim != 1) missing(place, "an assignment to a slice of more than one dimension");
  if (value.type.is_array() && value.type.ndim != 1)
    fail(place, fmt::format("a slice of one dimension is assigned {}", text_of(value.type)));
  if (!value.type.is_array()) expect_scalar(value, "what a slice is assigned", place);
  if (!is_final_) return;
  const std::string index = names_.make("tw_i");
  Value at = scalar_value(DType::Int64, index);
  at.is_nonnegative = true;
  const Value item = value.type.is_array() ? element(value, {at}) : value;
  out_.open(fmt::format("for (long long {0} = 0; {0} < {1}; ++{0})", index, to.shape[0]));
  out_.format("{} = {};", element(to, {at}).text, converted(item, to.type.dtype).text);
  out_.close();
}

void FunctionWriter::note_write(const Value& array) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    // Views keep no trace of what they are views of: then every array may be meant.
    const bool is_other = array.is_stable && parameters_[i].text != array.text;
    if (parameters_[i].type.is_array() && !is_other) written_.insert(static_cast<int>(i));
  }
}

void FunctionWriter::augmented(const AugAssign& node) {
  const Value before = expression(node.target);
  const Value by = expression(node.value);
  if (before.type.is_unknown() || by.type.is_unknown()) {
    if (is<Name>(node.target)) define(node.target, {}, node);
    return;
  }
  assign_to(node.target, binary(node.op, before, by, node), node);
}

void FunctionWriter::annotated(const AnnAssign& node) {
  if (node.value == nullptr) return;
  assign_to(node.target, expression(node.value), node);
}

}  // namespace tilewright::numba
