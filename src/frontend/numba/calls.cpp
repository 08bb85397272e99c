// SPDX-License-Identifier: Apache-2.0
// frontend/numba/calls.cpp — calls of device functions and of Python's own functions.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quote.h"
#include "frontend/numba/externals.h"
#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

Arguments FunctionWriter::arguments_of(const Call& node) {
  Arguments given;
  for (const Node* each : node.arguments) {
    given.values.push_back(expression(each));
    given.nodes.push_back(each);
  }
  for (const Node* each : node.keywords) {
    const auto& keyword = cast<Keyword>(each);
    if (keyword.name.empty()) missing(*each, "'**' in a call");
    given.keywords.emplace_back(keyword.name, expression(keyword.value));
  }
  return given;
}

Value FunctionWriter::call(const Call& node) {
  if (const auto* method = cast_if<Attribute>(node.function); method != nullptr) {
    if (method->name == "view") {
      const Value array = expression(method->value);
      if (array.type.is_array()) return reinterpreted(array, arguments_of(node), node);
    }
    if (method->name == "conjugate") {
      const Value number = expression(method->value);
      if (number.type.is_complex && !number.is_packed)
        return complex_value(number.items[0],
                             binary(BinaryOperator::Multiply, number.items[1],
                                    float_constant(-1, number.items[1].type.dtype), node),
                             number.items[0].type.dtype);
    }
  }
  const Value callee = expression(node.function);
  if (callee.type.kind != Type::Kind::Constant) {
    if (callee.type.kind == Type::Kind::Unknown) return {};
    fail(node, fmt::format("{} cannot be called", text_of(callee.type)));
  }
  // The text of print's first argument may be a string.
  if (callee.external == "builtins.print") return call_print(node);
  const Arguments given = arguments_of(node);
  if (!callee.external.empty()) return call_external(callee.external, node, given);
  if (callee.binding.kind == Binding::Kind::Function)
    return call_function(callee.binding, node, given);
  missing(node, fmt::format("a call of '{}'", dotted_name(node.function)));
}

Value FunctionWriter::call_external(const std::string& name, const Call& node,
                                    const Arguments& given) {
  if (const std::optional<DType> dtype = dtype_named(name)) return convert_to(*dtype, given, node);
  const std::string short_name = without_package(name);
  for (const Value& value : given.values)
    if (value.type.is_unknown()) return {};
  if (short_name.starts_with("cuda.libdevice."))
    return call_math(std::string_view(short_name).substr(15), given, node);
  if (short_name.starts_with("cuda.atomic."))
    return call_atomic(std::string_view(short_name).substr(12), given, node);
  if (short_name.starts_with("cuda."))
    return call_cuda(std::string_view(short_name).substr(5), given, node);
  if (short_name.starts_with("math.")) return call_math(short_name.substr(5), given, node);
  if (short_name.starts_with("numpy.")) return call_numpy(short_name.substr(6), given, node);
  if (short_name.starts_with("builtins."))
    return call_builtin(std::string_view(short_name).substr(9), given, node);
  missing(node, fmt::format("a call of '{}'", name));
}

Value FunctionWriter::convert_to(DType dtype, const Arguments& given, const Node& place) {
  expect_count(given, 0, 1, name_of(dtype), place);
  if (given.size() == 0) return converted(integer_constant(0), dtype);
  const Value& value = given.values[0];
  if (value.type.is_unknown()) return {};
  if (!is_supported(dtype)) missing(place, fmt::format("the type {}", name_of(dtype)));
  expect_scalar(value, fmt::format("what {} converts", name_of(dtype)), place);
  Value result = converted(value, dtype);
  result.is_simple = result.is_simple || result.text.starts_with("(");
  return result;
}

// ---- Python's functions.

Value FunctionWriter::minimum_or_maximum(bool is_minimum, const Arguments& given,
                                         const Node& place) {
  const std::string name = is_minimum ? "min" : "max";
  std::vector<Value> values = given.values;
  if (values.size() == 1 && values[0].type.is_tuple()) values = std::vector<Value>(values[0].items);
  if (values.size() < 2) fail(place, fmt::format("{}(...) takes two or more numbers", name));
  Type type;
  for (const Value& value : values) {
    expect_scalar(value, fmt::format("an argument of {}", name), place);
    type = *unify(type, value.type);
  }
  const DType wanted = type.dtype;
  type.dtype = computed_type(wanted);
  Value result = converted(values[0], type.dtype);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const bool is_nonnegative = is_minimum ? result.is_nonnegative && values[i].is_nonnegative
                                           : result.is_nonnegative || values[i].is_nonnegative;
    result = scalar_value(
        type.dtype,
        fmt::format("{}<{}>({}, {})", helper(is_minimum ? "tw_min" : "tw_max"),
                    cpp_type(type.dtype), result.text, converted(values[i], type.dtype).text));
    result.is_nonnegative |= is_nonnegative;
  }
  return converted(result, wanted);
}

Value FunctionWriter::call_builtin(std::string_view name, const Arguments& given,
                                   const Node& place) {
  if (name == "min" || name == "max") return minimum_or_maximum(name == "min", given, place);
  if (name == "complex") return complex_call(given, place);
  if (name == "abs") {
    expect_count(given, 1, 1, name, place);
    if (given.values[0].type.is_complex && !given.values[0].is_packed) {
      Arguments parts = given;
      parts.values = given.values[0].items;
      return call_math("hypot", parts, place);
    }
    const Value& value = expect_scalar(given.values[0], "the argument of abs", place);
    if (value.type.is_float()) return call_math("fabs", given, place);
    const DType dtype = arithmetic_type(value.type.dtype, value.type.dtype);
    if (value.is_nonnegative) return converted(value, dtype);
    if (value.integer() && dtype == DType::Int64) return integer_constant(-*value.integer());
    Value result =
        scalar_value(dtype, fmt::format("{}({})", helper("tw_abs"), typed_text(value, dtype)));
    result.is_nonnegative = true;
    return result;
  }
  if (name == "len") {
    expect_count(given, 1, 1, name, place);
    const Value& value = given.values[0];
    if (value.type.is_tuple())
      return integer_constant(static_cast<std::int64_t>(value.items.size()));
    if (!value.type.is_array())
      fail(place, fmt::format("len(...) takes an array or a tuple, not {}", text_of(value.type)));
    return size_value(value, value.shape[0]);
  }
  if (name == "round") {
    expect_count(given, 1, 2, name, place);
    if (given.size() == 2 && given.values[0].type.is_float()) {
      const DType wanted = given.values[0].type.dtype;
      const Value rounded =
          scalar_value(DType::Float64, fmt::format("{}({}, {})", helper("tw_round_to"),
                                                   converted(given.values[0], DType::Float64).text,
                                                   converted(given.values[1], DType::Int64).text));
      return converted(rounded, wanted);
    }
    const DType dtype = computed_type(math_type(given.values[0].type.dtype));
    return scalar_value(DType::Int64, fmt::format("(long long){}({})", math_function("rint", dtype),
                                                  converted(given.values[0], dtype).text));
  }
  if (name == "pow") {
    expect_count(given, 2, 2, name, place);
    return binary(BinaryOperator::Power, given.values[0], given.values[1], place);
  }
  if (name == "divmod") {
    expect_count(given, 2, 2, name, place);
    return tuple_value(
        {binary(BinaryOperator::FloorDivide, given.values[0], given.values[1], place),
         binary(BinaryOperator::Modulo, given.values[0], given.values[1], place)});
  }
  if (name == "range") missing(place, "range(...) outside of 'for'");
  missing(place, fmt::format("the function {}(...)", name));
}

// print(a, "text", b)
Value FunctionWriter::call_print(const Call& node) {
  std::string format, arguments;
  for (const Node* each : node.arguments) {
    if (!format.empty()) format += " ";
    if (const auto* text = cast_if<StrLiteral>(each)) {
      for (const char c : text->value) format += c == '%' ? "%%" : std::string(1, c);
      continue;
    }
    const Value value = expression(each);
    if (value.type.is_unknown()) return {};
    expect_scalar(value, "an argument of print", *each);
    const DType wide = value.type.is_float() ? DType::Float64
                                             : arithmetic_type(value.type.dtype, value.type.dtype);
    format += value.type.is_float() ? "%f" : wide == DType::UInt64 ? "%llu" : "%lld";
    arguments += ", " + typed_text(value, wide);
  }
  need_threads();  // the emulation keeps the order of what threads print
  Value result{Type::none()};
  result.text = fmt::format("printf({}{})", cpp_string(format + "\n"), arguments);
  return result;
}

// ---- Device functions.

Value FunctionWriter::call_function(const Binding& binding, const Call& node,
                                    const Arguments& given) {
  const auto& function = cast<FunctionDef>(binding.node);
  const JitKind kind = jit_kind(program_.loader, *binding.module, function);
  if (!kind.is_jit)
    fail(node, fmt::format("'{}' is a plain Python function", function.name),
         "decorate it with @cuda.jit(device=True)");
  std::vector<Value> values = given.values;
  const std::size_t count = function.parameters.size();
  if (values.size() > count)
    fail(node, fmt::format("'{}' takes {} arguments and is given {}", function.name, count,
                           values.size()));
  for (std::size_t i = values.size(); i < count; ++i) {
    const auto& parameter = cast<Parameter>(function.parameters[i]);
    const auto named = std::find_if(given.keywords.begin(), given.keywords.end(),
                                    [&](const auto& each) { return each.first == parameter.name; });
    if (named != given.keywords.end()) values.push_back(named->second);
    else if (parameter.default_value != nullptr)
      values.push_back(expression(parameter.default_value));
    else
      fail(node, fmt::format("'{}' takes {} arguments and is given {}", function.name, count,
                             given.size() + given.keywords.size()));
  }
  for (const Value& value : values)
    if (value.type.is_unknown()) return {};
  const Instance& instance = instance_of(binding, values, node);
  callees.push_back(&instance);
  std::vector<std::string> texts;
  if (is_loop_dialect()) texts.emplace_back("tw_thread");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i < instance.writes.size() && instance.writes[i]) note_write(values[i]);
    if (instance.constants[i].empty()) add_argument(values[i], instance.arguments[i], texts);
  }
  return call_result(instance, fmt::format("{}({})", instance.name, fmt::join(texts, ", ")));
}

void FunctionWriter::add_argument(const Value& value, const Type& type,
                                  std::vector<std::string>& texts) {
  if (type.is_scalar()) {
    texts.push_back(value.text);
  } else if (type.is_tuple()) {
    for (const Value& item : value.items) texts.push_back(item.text);
  } else {
    const Value array = pointer_array(value);
    texts.push_back(array.text);
    for (const std::string& size : array.shape) texts.push_back(size.empty() ? "0" : size);
    for (const std::string& stride : array.strides) texts.push_back(stride);
  }
}

Value FunctionWriter::call_result(const Instance& instance, const std::string& text) {
  if (instance.result.is_scalar()) {
    Value value = scalar_value(instance.result.dtype, text);
    value.is_nonnegative |= instance.is_result_nonnegative;
    return value;
  }
  Value value{instance.result};
  value.text = text;
  value.is_packed = instance.result.is_tuple();
  if (value.is_packed) static_cast<void>(result_text(instance.result));
  for (const Type& item : instance.result.items)
    value.items.push_back(scalar_value(item.dtype, "v"));
  return value;
}

namespace {

// Does the name stand in the shape of cuda.shared.array(...) or cuda.local.array(...)?
bool is_in_shape(const Node& node, std::string_view name, bool is_inside) {
  const auto* used = cast_if<Name>(&node);
  if (used != nullptr) return is_inside && used->id == name;
  const auto* call = cast_if<Call>(&node);
  is_inside |= call != nullptr && dotted_name(call->function).ends_with(".array");
  bool found = false;
  for_each_child(node, [&](const Node& child) { found |= is_in_shape(child, name, is_inside); });
  return found;
}

}  // namespace

// Functions and dtypes as arguments, flags that choose a branch, and integers that are the size of
// an array: the callee is written for exactly these. Empty for what is passed.
std::string FunctionWriter::constant_key(const FunctionDef& function, std::size_t parameter,
                                         const Value& value) {
  if (value.type.kind == Type::Kind::Constant)
    return fmt::format("{} {}", value.external, fmt::ptr(value.binding.node));
  if (value.type.is_bool() && value.constant) return value.text;
  const std::string_view name = cast<Parameter>(function.parameters[parameter]).name;
  const std::vector<Value> sizes = value.type.is_tuple() ? value.items : std::vector<Value>{value};
  std::string key;
  for (const Value& size : sizes) {
    if (!size.integer()) return {};
    key += fmt::format("{} ", *size.integer());
  }
  return is_in_shape(function, name, false) ? key : std::string();
}

Instance& FunctionWriter::instance_of(const Binding& binding, const std::vector<Value>& given,
                                      const Node& place) {
  const auto& function = cast<FunctionDef>(binding.node);
  std::vector<Type> types;
  std::vector<bool> nonnegative;
  std::vector<std::string> constants;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Value& value = given[i];
    if (value.type.kind == Type::Kind::None) missing(place, "None as an argument");
    types.push_back(value.type);
    nonnegative.push_back(value.type.is_scalar() && value.is_nonnegative);
    constants.push_back(constant_key(function, i, value));
  }
  for (Instance& known : program_.instances)
    if (known.function == &function && known.arguments == types &&
        known.nonnegative == nonnegative && known.constants == constants)
      return known;
  auto& active = program_.active;
  if (std::find(active.begin(), active.end(), &function) != active.end())
    fail(
        place,
        fmt::format("'{}' calls itself; a function of a kernel cannot be recursive", function.name),
        "write it as a loop");
  active.push_back(&function);
  Instance made;
  made.function = &function;
  made.module = binding.module;
  made.arguments = types;
  made.nonnegative = nonnegative;
  made.constants = constants;
  made.name = program_.names.make(function.name);
  FunctionWriter writer(program_, *binding.module, function, types, nonnegative);
  writer.set_constants(given, constants);
  writer.write_device(made);
  active.pop_back();
  return program_.instances.emplace_back(std::move(made));
}

// ---- Checks.

void FunctionWriter::expect_count(const Arguments& given, std::size_t least, std::size_t most,
                                  std::string_view name, const Node& place) const {
  if (given.size() >= least && given.size() <= most) return;
  const std::string wanted =
      least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  fail(place, fmt::format("{}(...) takes {} argument{} and is given {}", name, wanted,
                          most == 1 ? "" : "s", given.size()));
}

const Value& FunctionWriter::expect_scalar(const Value& value, std::string_view what,
                                           const Node& place) const {
  if (!value.type.is_scalar())
    fail(place, fmt::format("{} must be a number, not {}", what, text_of(value.type)));
  return value;
}

}  // namespace tilewright::numba
