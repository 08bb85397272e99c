// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/keep_launch.cpp — launch.json names the files; .npy lacks bfloat16 and
// float8, which are written as float32.
#include "compiler/triton/guess/keep_launch.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/output_file.h"
#include "base/quote.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using triton::ParameterType;

std::string float_text(double value) {
  return fmt::format("{{\"float\": \"{}\"}}",
                     value);  // JSON has no infinity, and 2.0 is an integer
}

std::string constant_json(const triton::Value& value) {
  if (const auto* type = value.get_if<triton::TypeValue>())
    return fmt::format("{{\"type\": \"{}\", \"is_pointer\": {}}}", name_of(type->type.dtype),
                       type->type.is_pointer);
  const auto* constant = value.get_if<triton::Constant>();
  if (constant == nullptr) return "{\"unknown\": true}";
  if (const auto* flag = std::get_if<bool>(&constant->value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<double>(&constant->value)) return float_text(*number);
  if (const auto* text = std::get_if<std::string>(&constant->value)) return json_string(*text);
  if (const auto* integer = std::get_if<triton::Int128>(&constant->value))
    return fmt::format("{}", *integer);
  return "null";
}

std::string type_json(const ParameterType& type) {
  const std::string_view dtype = name_of(type.type.dtype);
  switch (type.kind) {
    case ParameterType::Kind::Constant:
      return fmt::format("{{\"constant\": {}}}", constant_json(type.constant));
    case ParameterType::Kind::Tuple: {
      std::vector<std::string> items;
      for (const ParameterType& item : type.items) items.push_back(type_json(item));
      return fmt::format("{{\"tuple\": [{}]}}", fmt::join(items, ", "));
    }
    case ParameterType::Kind::Descriptor:
      return fmt::format("{{\"descriptor\": \"{}\", \"block\": [{}]}}", dtype,
                         fmt::join(type.block_shape, ", "));
    default:
      return fmt::format("{{\"{}\": \"{}\"}}", type.type.is_pointer ? "pointer" : "scalar", dtype);
  }
}

Tensor with_npy_type(const Tensor& tensor) {
  const bool is_unknown = is_floating(tensor.dtype()) && size_of(tensor.dtype()) <= 2 &&
                          tensor.dtype() != DType::Float16;
  return is_unknown ? tensor.to(DType::Float32) : tensor;
}

// Writes the files of one argument; what JSON says of it.
class ArgumentWriter {
 public:
  ArgumentWriter(const std::string& folder, const KeptLaunch& launch)
      : folder_(folder), launch_(launch) {}

  std::string write(const GeneratedValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      return fmt::format("\"value\": {}", *integer);
    if (const auto* number = std::get_if<double>(&value))
      return fmt::format("\"value\": {}", float_text(*number));
    const auto& before = std::get<Tensor>(value);
    const std::size_t t = tensors_++;
    save(t, "before", before);
    save(t, "after", launch_.after[t]);
    for (std::size_t run = 0; run < launch_.rounded.size(); ++run)
      save(t, fmt::format("rounded{}", run), launch_.rounded[run][t]);
    return fmt::format("\"tensor\": {}, \"dtype\": \"{}\"", t, name_of(before.dtype()));
  }

 private:
  void save(std::size_t t, std::string_view moment, const Tensor& tensor) const {
    save_npy(fmt::format("{}/{}.{}.npy", folder_, t, moment), with_npy_type(tensor));
  }

  const std::string& folder_;
  const KeptLaunch& launch_;
  std::size_t tensors_ = 0;
};

std::string launch_json(const std::string& folder, const KeptLaunch& launch) {
  std::vector<std::string> parameters;
  for (const TritonParameter& parameter : launch.parameters) {
    const auto found = launch.signature.find(parameter.name);
    if (found != launch.signature.end())
      parameters.push_back(
          fmt::format("    {}: {}", json_string(parameter.name), type_json(found->second)));
  }
  ArgumentWriter writer(folder, launch);
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < launch.values.size(); ++i)
    arguments.push_back(fmt::format("    {{\"name\": {}, {}}}", json_string(launch.arguments[i]),
                                    writer.write(launch.values[i])));
  return fmt::format(
      "{{\n  \"file\": {},\n  \"kernel\": {},\n  \"grid\": [{}, {}, {}],\n  \"num_warps\": {},\n"
      "  \"rounded_runs\": {},\n  \"parameters\": {{\n{}\n  }},\n  \"arguments\": [\n{}\n  ]\n}}\n",
      json_string(launch.file), json_string(launch.kernel), launch.grid.x, launch.grid.y,
      launch.grid.z, launch.num_warps, launch.rounded.size(), fmt::join(parameters, ",\n"),
      fmt::join(arguments, ",\n"));
}

}  // namespace

void keep_launch(const std::string& folder, const KeptLaunch& launch) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    throw EnvironmentError(
        fmt::format("cannot make the folder '{}': {}", folder, problem.message()));
  write_output(folder + "/launch.json", launch_json(folder, launch));
}

}  // namespace tilewright
