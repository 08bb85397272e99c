// SPDX-License-Identifier: Apache-2.0
// frontend/numba/function.cpp — inference by repeated walks, and the function around its
// statements.
#include "frontend/numba/function.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quote.h"
#include "frontend/numba/places.h"

namespace tilewright::numba {

using namespace python;

namespace {

// More walks than any chain of types needs.
constexpr int most_walks = 64;

}  // namespace

FunctionWriter::FunctionWriter(Program& program, const LoadedModule& module,
                               const FunctionDef& function, const std::vector<Type>& arguments,
                               const std::vector<bool>& nonnegative)
    : program_(program),
      module_(module),
      function_(function),
      argument_types_(arguments),
      webs_(find_webs(function)),
      states_(webs_.all.size()) {
  for (const Node* parameter : function.parameters) {
    const auto& each = cast<Parameter>(parameter);
    if (each.role != ParameterRole::Normal && each.role != ParameterRole::PositionOnly)
      missing(*parameter, "a parameter like *args or **kwargs");
  }
  if (!webs_.unassigned.empty())
    fail(*webs_.unassigned.front(),
         fmt::format("'{}' is used before it is assigned", webs_.unassigned.front()->id));
  make_parameters(nonnegative);
}

// ---- Inference.

void FunctionWriter::infer() {
  for (int i = 0; i < most_walks; ++i) {
    walk(false);
    if (!is_changed_) break;
  }
  for (std::size_t i = 0; i < states_.size(); ++i)
    if (states_[i].type.is_unknown() && seen_webs_.contains(static_cast<int>(i)))
      fail(*webs_.all[i].definitions.front(),
           fmt::format("the type of '{}' cannot be inferred", webs_.all[i].name),
           "give it a value whose type does not depend on itself first");
  make_variables();
  walk(true);
}

void FunctionWriter::walk(bool is_final) {
  is_final_ = is_final;
  is_changed_ = false;
  out_ = TextWriter();
  arrays_.clear();
  helpers.clear();
  callees.clear();
  written_.clear();
  declared_.clear();
  shared_bytes_ = 0;
  scopes_.assign(1, {});
  line_ = -1;
  may_guard_ = is_loop_dialect() && is_kernel_;
  out_.open("");  // the function's own brace
  if (is_final) declare_variables();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Node* const parameter = function_.parameters[i];
    const auto found = webs_.of_definition.find(parameter);
    if (found == webs_.of_definition.end()) continue;
    begin_parameter(parameter, parameters_[i]);
  }
  for (const Node* node : function_.body) statement(*node);
}

// A parameter that is never assigned stands for itself; else it begins a variable.
void FunctionWriter::begin_parameter(const Node* parameter, const Value& value) {
  const auto web = static_cast<std::size_t>(webs_.of_definition.at(parameter));
  if (webs_.all[web].definitions.size() > 1) return define(parameter, value, *parameter);
  states_[web].type = value.type;
  states_[web].is_nonnegative = value.is_nonnegative;
  states_[web].is_alias = true;
  states_[web].alias = value;
}

void FunctionWriter::make_parameters(const std::vector<bool>& nonnegative) {
  parameters_.clear();
  slots_.clear();
  for (std::size_t i = 0; i < argument_types_.size(); ++i) {
    const Type& type = argument_types_[i];
    const std::string name = names_.make(cast<Parameter>(function_.parameters[i]).name);
    parameter_names_.push_back(name);
    const int argument = static_cast<int>(i);
    if (type.is_array()) {
      slots_.push_back({Slot::Kind::Data, argument, 0, type.dtype, name});
      parameters_.push_back(array_parameter(name, type, argument));
    } else if (type.is_tuple()) {
      parameters_.push_back(tuple_parameter(name, type, argument));
    } else {
      slots_.push_back({Slot::Kind::Scalar, argument, 0, type.dtype, name});
      Value value = scalar_value(type.dtype, name);
      value.is_nonnegative |= nonnegative[i];
      value.is_stable = true;
      if (is_kernel_) value.row = AlongRow::Same;
      parameters_.push_back(value);
    }
  }
}

void FunctionWriter::set_constants(const std::vector<Value>& values,
                                   const std::vector<std::string>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].empty()) continue;
    parameters_[i] = values[i];
    std::erase_if(slots_, [&](const Slot& slot) { return slot.argument == static_cast<int>(i); });
  }
}

Value FunctionWriter::array_parameter(const std::string& name, const Type& type, int argument) {
  Value value;
  value.type = type;
  value.text = name;
  value.is_stable = true;
  for (int i = 0; i < type.ndim; ++i) {
    value.shape.push_back(names_.make(fmt::format("{}_shape{}", name, i)));
    slots_.push_back({Slot::Kind::Shape, argument, i, DType::Int64, value.shape.back()});
  }
  if (type.is_contiguous) return value;
  for (int i = 0; i < type.ndim; ++i) {
    value.strides.push_back(names_.make(fmt::format("{}_stride{}", name, i)));
    slots_.push_back({Slot::Kind::Stride, argument, i, DType::Int64, value.strides.back()});
  }
  return value;
}

// Of a device function: its items are parameters of their own.
Value FunctionWriter::tuple_parameter(const std::string& name, const Type& type, int argument) {
  std::vector<Value> items;
  for (std::size_t i = 0; i < type.items.size(); ++i) {
    const std::string item = names_.make(fmt::format("{}_{}", name, i));
    slots_.push_back(
        {Slot::Kind::Scalar, argument, static_cast<int>(i), type.items[i].dtype, item});
    items.push_back(scalar_value(type.items[i].dtype, item));
    items.back().is_stable = true;
  }
  Value value = tuple_value(std::move(items));
  value.type = type;
  return value;
}

// ---- Variables.

void FunctionWriter::make_variables() {
  std::map<std::pair<std::string_view, std::string>, int> known;
  const Places places(function_);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    WebState& state = states_[i];
    const Web& web = webs_.all[i];
    if (state.is_alias && web.is_parameter) continue;
    if (state.type.is_unknown() || state.type.kind == Type::Kind::Constant) continue;
    // Arrays under other names do not share a variable.
    const bool is_narrow = state.most && state.type == Type::scalar(DType::Int64);
    const std::string kind = state.type.is_array()
                                 ? fmt::format("{} {}", text_of(state.type), i)
                                 : text_of(state.type) + (is_narrow ? " narrow" : "");
    const auto [found, is_new] =
        known.emplace(std::pair(web.name, kind), static_cast<int>(variables_.size()));
    if (is_new) variables_.push_back(make_variable(web.name, state.type));
    variables_[static_cast<std::size_t>(found->second)].is_narrow = is_narrow;
    state.variable = found->second;
    state.is_declarable = places.is_declarable(web);
    state.first_place = places.first_definition(web);
    Variable& variable = variables_[static_cast<std::size_t>(found->second)];
    variable.definitions += static_cast<int>(web.definitions.size());
    variable.is_at_top |= !state.is_declarable;
    for (const Node* definition : web.definitions)
      variable.is_only_counted &= !web.is_parameter && is<For>(places.of(definition).statement);
  }
}

FunctionWriter::Variable FunctionWriter::make_variable(std::string_view name, const Type& type) {
  Variable variable{names_.make(name), {}};
  Value& value = variable.value;
  if (type.is_tuple()) {
    std::vector<Value> items;
    for (std::size_t i = 0; i < type.items.size(); ++i)
      items.push_back(
          scalar_value(type.items[i].dtype, names_.make(fmt::format("{}_{}", variable.name, i))));
    value = tuple_value(std::move(items));
    value.type = type;
    return variable;
  }
  value.type = type;
  value.text = variable.name;
  if (!type.is_array()) return variable;
  for (int i = 0; i < type.ndim; ++i) {
    value.shape.push_back(names_.make(fmt::format("{}_shape{}", variable.name, i)));
    if (!type.is_contiguous)
      value.strides.push_back(names_.make(fmt::format("{}_stride{}", variable.name, i)));
  }
  return variable;
}

void FunctionWriter::declare_variables() {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const Variable& variable = variables_[i];
    const bool is_alias_only = std::all_of(states_.begin(), states_.end(), [&](const WebState& s) {
      return s.variable != static_cast<int>(i) || s.is_alias;
    });
    if (!variable.is_at_top || is_alias_only) continue;
    scopes_.front().insert(static_cast<int>(i));
    const Value& value = variable.value;
    if (value.type.is_array()) {
      out_.format("{}* {} = nullptr;", cpp_type(value.type.dtype), variable.name);
      for (const auto* list : {&value.shape, &value.strides})
        for (const std::string& name : *list) out_.format("long long {} = 0;", name);
    } else if (value.type.is_tuple()) {
      for (const Value& item : value.items)
        out_.format("{} {} = 0;", cpp_type(item.type.dtype), item.text);
    } else {
      out_.format("{} {} = {};", variable.declared_type(), variable.name,
                  value.type.dtype == DType::Float16 ? "{}" : "0");
    }
  }
}

std::string FunctionWriter::Variable::declared_type() const {
  return is_narrow ? "int" : cpp_type(value.type.dtype);
}

// ---- The function's frame.

// An array's address is always passed; of the rest what the text mentions.
std::vector<Slot> FunctionWriter::used_slots() const {
  const std::set<std::string, std::less<>> mentioned = identifiers_in(out_.text());
  std::vector<Slot> used;
  for (const Slot& slot : slots_) {
    const bool is_size = slot.kind == Slot::Kind::Shape || slot.kind == Slot::Kind::Stride;
    if (is_size && is_kernel_ && !mentioned.contains(slot.name)) continue;
    used.push_back(slot);
    used.back().is_const = slot.kind == Slot::Kind::Data && !written_.contains(slot.argument);
    used.back().is_narrow = narrow_names_.contains(slot.name);
  }
  return used;
}

std::string FunctionWriter::parameter_list(const std::vector<Slot>& slots) const {
  std::vector<std::string> list;
  for (const Slot& slot : slots) {
    const bool is_data = slot.kind == Slot::Kind::Data;
    // Arrays that are written stay as they are: other threads write them, too, between barriers.
    const bool is_apart = is_data && slot.is_const && program_.are_apart && is_kernel_;
    list.push_back(fmt::format("{}{} {}", slot.is_narrow ? "int" : cpp_type(slot.dtype),
                               is_apart  ? "* __restrict__"
                               : is_data ? "*"
                                         : "",
                               slot.name));
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

// " {", declarations, statements, "}".
std::string FunctionWriter::body_text() const {
  std::string body = out_.text();
  return body.insert(body.find('\n') + 1, arrays_) + "}\n";
}

std::string FunctionWriter::result_text(const Type& type) {
  if (type.kind == Type::Kind::None) return "void";
  if (type.is_scalar()) return cpp_type(type.dtype);
  std::string name = "tw_tuple";
  for (const Type& item : type.items) name += fmt::format("_{}", name_of(item.dtype));
  helpers.insert(name);
  return name;
}

// Sizes, strides and int64 numbers of the kernel are ints.
void FunctionWriter::narrow_parameters() {
  for (const Slot& slot : slots_)
    if (slot.kind != Slot::Kind::Data && slot.dtype == DType::Int64)
      narrow_names_.insert(slot.name);
  for (Value& value : parameters_) {
    if (!narrow_names_.contains(value.text)) continue;
    value.is_nonnegative = true;
    value.most = most_of_narrow;
  }
}

void FunctionWriter::write_kernel(KernelText& out, const std::string& name) {
  if (program_.is_narrow) narrow_parameters();
  infer();
  if (is_loop_dialect()) out_.line("return true;");
  if (result_.kind != Type::Kind::Unknown && result_.kind != Type::Kind::None)
    fail(*result_place_,
         fmt::format("kernel '{}' returns {}; a kernel returns nothing", name, text_of(result_)),
         "write the result into an array, or make it a device function: @cuda.jit(device=True)");
  out.entry = program_.names.make(name);
  out.has_guard = has_guard_;
  out.slots = used_slots();
  const std::string head =
      is_loop_dialect()
          ? fmt::format(
                "template <int tw_mode>\nTW_ALWAYS static inline bool {}(const TwThread& tw_thread",
                out.entry)
          : fmt::format("extern \"C\" __global__ void {}(", out.entry);
  const std::string list = parameter_list(out.slots);
  const char* const comma = is_loop_dialect() && !list.empty() ? ", " : "";
  out.text = line_directive(function_.span.line, module_.tree->source.file) +
             fmt::format("{}{}{}){}", head, comma, list, body_text());
}

void FunctionWriter::write_device(Instance& instance) {
  is_kernel_ = false;
  infer();
  instance.result = result_.kind == Type::Kind::Unknown ? Type::none() : result_;
  instance.is_result_nonnegative = is_result_nonnegative_;
  const std::string list = parameter_list(used_slots());
  const std::string thread =
      is_loop_dialect() ? fmt::format("const TwThread& tw_thread{}", list.empty() ? "" : ", ") : "";
  instance.text =
      line_directive(function_.span.line, module_.tree->source.file) +
      fmt::format("{} {} {}({}{}){}",
                  is_loop_dialect() ? "TW_ALWAYS static inline" : "static __device__",
                  result_text(instance.result), instance.name, thread, list, body_text());
  instance.callees = callees;
  instance.helpers = helpers;
  for (std::size_t i = 0; i < argument_types_.size(); ++i)
    instance.writes.push_back(written_.contains(static_cast<int>(i)));
}

// ---- Messages.

void FunctionWriter::fail(const Node& place, std::string message, std::string hint) const {
  fail_at(module_.tree->source, place.span, std::move(message), std::move(hint));
}

void FunctionWriter::missing(const Node& place, std::string_view what) const {
  fail(place, fmt::format("{} is not supported in @cuda.jit functions here", what));
}

std::string FunctionWriter::helper(const char* name) {
  helpers.insert(name);
  return name;
}

}  // namespace tilewright::numba
