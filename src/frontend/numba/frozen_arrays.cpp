// SPDX-License-Identifier: Apache-2.0
// frontend/numba/frozen_arrays.cpp — arrays that the module makes with numpy: their values are
// known when a kernel is compiled, as Numba has it.
#include <algorithm>

#include <fmt/format.h>

#include "frontend/numba/externals.h"
#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

namespace {

constexpr std::size_t most_elements = 1 << 16;
constexpr std::size_t most_constant_bytes = 60 << 10;  // of 64 KiB that a GPU has

// Elements of nested lists, row by row. False when the lists are no box.
bool add_list(const Value& value, std::vector<Value>& elements, std::vector<std::int64_t>& shape,
              std::size_t depth) {
  if (!value.type.is_tuple()) {
    elements.push_back(value);
    return depth == shape.size() && value.constant.has_value();
  }
  const auto size = static_cast<std::int64_t>(value.items.size());
  if (depth == shape.size() && elements.empty()) shape.push_back(size);
  if (depth >= shape.size() || shape[depth] != size) return false;
  return std::all_of(value.items.begin(), value.items.end(),
                     [&](const Value& item) { return add_list(item, elements, shape, depth + 1); });
}

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

Number converted_to(const Number& number, DType dtype) {
  const Value value = std::holds_alternative<double>(number)
                          ? float_constant(std::get<double>(number))
                          : integer_constant(std::get<std::int64_t>(number));
  return *converted(value, dtype).constant;
}

}  // namespace

std::string FrozenArray::declaration(Dialect dialect) const {
  std::string sizes, values;
  for (const std::int64_t size : shape)
    sizes += fmt::format("[{}]", std::max<std::int64_t>(size, 1));
  for (const Number& number : elements) {
    const Value value = std::holds_alternative<double>(number)
                            ? float_constant(std::get<double>(number), dtype)
                            : integer_constant(std::get<std::int64_t>(number), dtype);
    values += (values.empty() ? "" : ", ") + value.text;
  }
  const bool is_small = elements.size() * size_of(dtype) <= most_constant_bytes;
  const char* const memory = dialect == Dialect::Loop ? "static "
                             : is_small               ? "__constant__ "
                                                      : "__device__ ";
  return fmt::format("{}{} {}{} = {{{}}};\n", memory, cpp_type(dtype), name, sizes, values);
}

std::optional<FrozenArray> FunctionWriter::frozen_array(const Node* node) {
  const auto* call = cast_if<Call>(node);
  if (call == nullptr) return {};
  const std::string name = program_.loader.resolve(module_, call->function).external;
  if (name.starts_with("numpy.")) return frozen_call(std::string_view(name).substr(6), *call);
  // array.reshape(...), array.astype(...)
  const auto* method = cast_if<Attribute>(call->function);
  if (method == nullptr) return {};
  std::optional<FrozenArray> array = frozen_array(method->value);
  if (!array) return {};
  const Arguments given = arguments_of(*call);
  if (method->name == "astype" && given.size() == 1) {
    const std::optional<DType> dtype = dtype_named(given.values[0].external);
    if (!dtype) return {};
    array->dtype = *dtype;
    for (Number& number : array->elements) number = converted_to(number, *dtype);
    return array;
  }
  if (method->name != "reshape") return {};
  std::vector<Value> sizes = given.values;
  if (sizes.size() == 1 && sizes[0].type.is_tuple()) sizes = std::vector<Value>(sizes[0].items);
  array->shape.clear();
  for (const Value& size : sizes) array->shape.push_back(size.integer().value_or(-1));
  if (count_of(array->shape) != static_cast<std::int64_t>(array->elements.size())) return {};
  return array;
}

// np.array(list, dtype), np.arange(...), np.zeros(shape, dtype), np.ones(shape, dtype)
std::optional<FrozenArray> FunctionWriter::frozen_call(std::string_view name, const Call& call) {
  constexpr std::string_view known[] = {"array", "asarray", "arange", "zeros", "ones"};
  if (std::find(std::begin(known), std::end(known), name) == std::end(known)) return {};
  // Lists of numbers are tuples here.
  is_reading_lists_ = true;
  const Arguments given = arguments_of(call);
  is_reading_lists_ = false;
  std::optional<DType> dtype;
  const bool is_list = name == "array" || name == "asarray", is_range = name == "arange";
  if (!is_range && given.size() > 1) dtype = dtype_named(given.values[1].external);
  for (const auto& [keyword, value] : given.keywords)
    if (keyword == "dtype") dtype = dtype_named(value.external);
  if (given.size() == 0) return {};
  FrozenArray array;
  std::vector<Value> elements;
  if (is_list) {
    if (!given.values[0].type.is_tuple() || !add_list(given.values[0], elements, array.shape, 0))
      return {};
  } else if (is_range) {
    std::vector<std::int64_t> bounds;
    for (const Value& bound : given.values) bounds.push_back(bound.integer().value_or(-1));
    if (bounds.size() > 3 || std::any_of(given.values.begin(), given.values.end(),
                                         [](const Value& bound) { return !bound.integer(); }))
      return {};
    const std::int64_t begin = bounds.size() > 1 ? bounds[0] : 0;
    const std::int64_t end = bounds.size() > 1 ? bounds[1] : bounds[0];
    const std::int64_t step = bounds.size() > 2 ? bounds[2] : 1;
    if (step <= 0 || end - begin > static_cast<std::int64_t>(most_elements)) return {};
    for (std::int64_t i = begin; i < end; i += step) elements.push_back(integer_constant(i));
    array.shape = {static_cast<std::int64_t>(elements.size())};
  } else {
    const Value& shape = given.values[0];
    const std::vector<Value> sizes =
        shape.type.is_tuple() ? shape.items : std::vector<Value>{shape};
    for (const Value& size : sizes) array.shape.push_back(size.integer().value_or(-1));
    const std::int64_t count = count_of(array.shape);
    if (count < 0 || count > static_cast<std::int64_t>(most_elements)) return {};
    elements.assign(static_cast<std::size_t>(count), float_constant(name == "ones" ? 1 : 0));
  }
  const bool has_float =
      elements.empty() || std::any_of(elements.begin(), elements.end(),
                                      [](const Value& value) { return value.type.is_float(); });
  const bool is_bool =
      !elements.empty() && std::all_of(elements.begin(), elements.end(),
                                       [](const Value& value) { return value.type.is_bool(); });
  array.dtype = dtype.value_or(is_bool ? DType::Bool : has_float ? DType::Float64 : DType::Int64);
  if (!is_supported(array.dtype) || elements.size() > most_elements) return {};
  for (const Value& element : elements) {
    const Value value = converted(element, array.dtype);
    if (!value.constant) return {};
    array.elements.push_back(*value.constant);
  }
  return array;
}

// The array that a name of the module stands for, declared once per text.
std::optional<Value> FunctionWriter::frozen_value(const Binding& binding, std::string_view name) {
  auto found = program_.frozen.find(binding.node);
  if (found == program_.frozen.end()) {
    static constexpr NodeList no_nodes;
    FunctionDef nothing{};
    nothing.kind = Kind::FunctionDef;
    nothing.parameters = nothing.body = no_nodes;
    FunctionWriter reader(program_, *binding.module, nothing, {}, {});
    std::optional<FrozenArray> array = reader.frozen_array(binding.node);
    if (!array) return {};
    array->name = program_.names.make(fmt::format("{}_of_module", name));
    found = program_.frozen.emplace(binding.node, std::move(*array)).first;
  }
  const FrozenArray& array = found->second;
  Value value;
  value.type = Type::array(array.dtype, static_cast<int>(array.shape.size()), true);
  value.text = array.name;
  for (const std::int64_t size : array.shape) value.shape.push_back(fmt::format("{}", size));
  value.is_declared = value.is_stable = value.is_frozen = true;
  return value;
}

Value FunctionWriter::const_array_like(const Arguments& given, const Node& place) {
  expect_count(given, 1, 1, "cuda.const.array_like", place);
  if (!given.values[0].is_frozen)
    fail(place,
         fmt::format("cuda.const.array_like takes an array of the module, not {}",
                     text_of(given.values[0].type)),
         "make it outside of the kernel: TABLE = np.array([1, 2, 3], dtype=np.float32)");
  return given.values[0];
}

}  // namespace tilewright::numba
