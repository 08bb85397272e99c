// SPDX-License-Identifier: Apache-2.0
// numba/numba_cases.cpp — reads the launches, makes their tensors, compares.
#include "numba_cases.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "bench/json.h"

namespace tilewright {
namespace {

double number_in(const Json& value) {
  if (!value.is_string()) return value.get<double>();
  const std::string text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  return text == "-inf" ? -infinite : infinite;
}

std::vector<double> numbers_in(const Json& list) {
  std::vector<double> numbers;
  for (const Json& value : list) numbers.push_back(number_in(value));
  return numbers;
}

NumbaCaseArgument argument_in(const Json& json) {
  NumbaCaseArgument argument;
  argument.dtype = parse_dtype(json["dtype"].get<std::string>());
  argument.is_array = json.contains("shape");
  if (!argument.is_array) {
    argument.value = number_in(json["value"]);
    return argument;
  }
  argument.shape = json["shape"].get<Shape>();
  argument.strides = json["strides"].get<Shape>();
  argument.before = numbers_in(json["before"]);
  argument.after = numbers_in(json["after"]);
  return argument;
}

Dim3 sizes_in(const Json& json) {
  return {json[0].get<std::int64_t>(), json[1].get<std::int64_t>(), json[2].get<std::int64_t>()};
}

template <class Visit>
void with_type(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::Float16:
      return visit(Half());
    case DType::Float32:
      return visit(float());
    case DType::Float64:
      return visit(double());
    case DType::Int8:
      return visit(std::int8_t());
    case DType::Int32:
      return visit(std::int32_t());
    case DType::Int64:
      return visit(std::int64_t());
    case DType::UInt8:
      return visit(std::uint8_t());
    case DType::UInt16:
      return visit(std::uint16_t());
    case DType::UInt32:
      return visit(std::uint32_t());
    case DType::Bool:
      return visit(bool());
    default:
      FAIL() << "no case has elements of " << name_of(dtype);
  }
}

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, Half>) return Half(static_cast<float>(value));
  else return static_cast<T>(value);
}

template <class T>
double to_double(T value) {
  if constexpr (std::is_same_v<T, Half>) return static_cast<double>(static_cast<float>(value));
  else return static_cast<double>(value);
}

// The place of the i-th element in row-major order.
std::int64_t place_of(const Shape& shape, const Shape& strides, std::int64_t i) {
  std::int64_t place = 0;
  for (std::size_t d = shape.size(); d-- > 0; i /= shape[d]) place += i % shape[d] * strides[d];
  return place;
}

NumbaArgument number_of(const NumbaCaseArgument& argument) {
  switch (argument.dtype) {
    case DType::Float64:
      return argument.value;
    case DType::Int32:
      return static_cast<std::int32_t>(argument.value);
    case DType::Bool:
      return argument.value != 0;
    default:
      return static_cast<std::int64_t>(argument.value);
  }
}

// The simulator computes in NumPy's types, where float32 * 2.0 is a float32.
bool is_close(double got, double wanted, DType dtype) {
  if (std::isnan(wanted)) return std::isnan(got);
  if (!is_floating(dtype) || std::isinf(wanted)) return got == wanted;
  const double loose = dtype == DType::Float16 ? 1e-3 : 1e-5;  // a rounding more or less
  return std::fabs(got - wanted) <= 2e-6 + loose * std::fabs(wanted);
}

}  // namespace

std::string NumbaCase::path() const {
  return std::string(TW_SOURCE_FOLDER) + "/test/numba/kernels/" + file + ".py";
}

std::vector<numba::Type> NumbaCase::types() const {
  std::vector<numba::Type> types;
  for (const NumbaCaseArgument& argument : arguments) types.push_back(argument.type());
  return types;
}

bool NumbaCaseArgument::is_contiguous() const {
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d])
    if (strides[d] != stride) return false;
  return true;
}

numba::Type NumbaCaseArgument::type() const {
  if (!is_array) return numba::Type::scalar(dtype);
  return numba::Type::array(dtype, static_cast<int>(shape.size()), is_contiguous());
}

Tensor NumbaCaseArgument::tensor() const {
  std::int64_t span = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) span += (shape[d] - 1) * strides[d];
  const Tensor memory = zeros({span}, TensorOptions(dtype, Device::cpu()));
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < before.size(); ++i)
      memory.data<T>()[place_of(shape, strides, static_cast<std::int64_t>(i))] =
          from_double<T>(before[i]);
  });
  return Tensor(memory.buffer(), dtype, shape, strides, memory.offset());
}

std::vector<NumbaCase> numba_cases(const std::string& file) {
  std::ifstream in(std::string(TW_SOURCE_FOLDER) + "/test/numba/expected.json");
  std::stringstream text;
  text << in.rdbuf();
  std::vector<NumbaCase> cases;
  for (const Json& json : parse_json(text.str())) {
    NumbaCase each{json["file"].get<std::string>(),
                   json["kernel"].get<std::string>(),
                   sizes_in(json["grid"]),
                   sizes_in(json["block"]),
                   {}};
    if (!file.empty() && each.file != file) continue;
    for (const Json& argument : json["arguments"]) each.arguments.push_back(argument_in(argument));
    cases.push_back(std::move(each));
  }
  if (cases.empty()) throw std::runtime_error("expected.json has no launches of " + file);
  return cases;
}

void expect_as_simulated(const NumbaCase& each, Device device, bool emulate) {
  SCOPED_TRACE(each.name());
  std::vector<Tensor> tensors;
  for (const NumbaCaseArgument& argument : each.arguments)
    tensors.push_back(argument.is_array ? argument.tensor().to(device) : Tensor());
  std::vector<NumbaArgument> arguments;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    arguments.push_back(each.arguments[i].is_array ? NumbaArgument(tensors[i])
                                                   : number_of(each.arguments[i]));
  try {
    load_numba(each.path(), each.kernel)
        .launch({.grid = each.grid, .block = each.block, .emulate = emulate}, arguments);
    device.synchronize();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
    return;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const NumbaCaseArgument& argument = each.arguments[i];
    if (!argument.is_array) continue;
    const Tensor result = tensors[i].to(Device::cpu()).contiguous();
    with_type(argument.dtype, [&](auto zero) {
      for (std::size_t k = 0; k < argument.after.size(); ++k) {
        const auto got = to_double(result.data<decltype(zero)>()[k]);
        ASSERT_TRUE(is_close(got, argument.after[k], argument.dtype))
            << "argument " << i << ", element " << k << ": " << got << " instead of "
            << argument.after[k];
      }
    });
  }
}

}  // namespace tilewright
