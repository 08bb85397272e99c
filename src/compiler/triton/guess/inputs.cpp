// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/inputs.cpp — by the name and the use of each parameter.
#include "compiler/triton/guess/inputs.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include <fmt/format.h>

#include "compiler/triton/guess/names.h"

namespace tilewright {
namespace {

using triton::ParameterType;

// "stride_am" and "stride_ak" belong to one tensor, and so do "q_stride_b" and "q_stride_h", or
// "k_s_t" and "k_s_c": the name without what tells the dimension.
std::string stride_group(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t end = name.rfind('_');
  const std::size_t word = name.find("stride");
  if (word == std::string::npos) return name.substr(0, end);  // s_qk, k_s_t
  if (end != std::string::npos && end > word + 6) return name.substr(0, end);
  return name.size() > word + 7 ? name.substr(0, name.size() - 1) : name;
}

bool is_integer(const ParameterType& type) {
  if (type.kind == ParameterType::Kind::Tensor) return !type.type.is_pointer && type.type.is_int();
  const auto* constant = type.constant.get_if<triton::Constant>();
  return type.kind == ParameterType::Kind::Constant && constant != nullptr &&
         std::holds_alternative<triton::Int128>(constant->value);
}

// From the last dimension outward: 1, a row, a matrix, ...
std::int64_t stride_at(std::size_t from_last, const InputSizes& sizes) {
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < from_last; ++i)
    stride *= i == 0 ? sizes.pitch : i == 1 ? sizes.pitch : 2;
  return stride;
}

// Room for a whole tile in the last two dimensions, and two matrices in those before.
void add_descriptor(const std::string& name, std::size_t rank, const InputSizes& sizes,
                    std::map<std::string, std::int64_t>& values) {
  for (std::size_t i = 0; i < rank; ++i)
    values[fmt::format("{}.shape.{}", name, i)] = i + 2 < rank ? 2 : sizes.extent;
  for (std::size_t i = 0; i + 1 < rank; ++i)
    values[fmt::format("{}.strides.{}", name, i)] = stride_at(rank - 1 - i, sizes);
}

std::int64_t plausible_integer(const std::string& name, const InputSizes& sizes) {
  if (name.find("seed") != std::string::npos) return 123;
  if (looks_like_count(name)) return 2;
  return sizes.extent;
}

Tensor integers(const std::string& name, DType dtype, std::int64_t numel) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(numel));
  const bool is_pairs = name.find("chunk_ind") != std::string::npos;
  const bool is_offsets =
      name.find("cu_seq") != std::string::npos || name.find("offset") != std::string::npos;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (is_pairs) values[i] = at % 2 == 0 ? (at / 2) % 2 : 0;
    else if (is_offsets) values[i] = std::min<std::int64_t>(at, 3) * 40;
    else values[i] = at % 64;
  }
  return tensor(values, {numel}, Device::cpu()).to(dtype);
}

}  // namespace

std::vector<InputSizes> input_sizes(std::int64_t largest) {
  const auto power_above = [](std::int64_t number) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(number)));
  };
  const std::int64_t tile = power_above(std::clamp<std::int64_t>(largest, 16, 1 << 16));
  const std::int64_t numel = std::clamp<std::int64_t>(tile * tile * 16, 1 << 18, 1 << 21);
  std::vector<InputSizes> sizes;
  for (const std::int64_t extent : {tile + tile / 4, tile, tile / 2, std::int64_t{4}})
    sizes.push_back(
        {.extent = extent, .pitch = std::max(tile, power_above(extent)), .numel = numel});
  return sizes;
}

std::map<std::string, std::int64_t> generate_integers(
    const std::vector<TritonParameter>& parameters, const TritonSignature& signature,
    const InputSizes& sizes) {
  std::map<std::string, std::vector<std::string>> strides;  // by group, in order
  std::map<std::string, std::int64_t> values;
  for (const TritonParameter& parameter : parameters) {
    const auto found = signature.find(parameter.name);
    if (found == signature.end()) continue;
    if (found->second.kind == ParameterType::Kind::Descriptor)
      add_descriptor(parameter.name, found->second.block_shape.size(), sizes, values);
    if (!is_integer(found->second)) continue;
    const bool is_constant = found->second.kind == ParameterType::Kind::Constant;
    if (looks_like_stride(parameter.name))
      strides[stride_group(parameter.name)].push_back(parameter.name);
    else if (!is_constant) values[parameter.name] = plausible_integer(parameter.name, sizes);
  }
  for (const auto& [group, names] : strides)
    for (std::size_t i = 0; i < names.size(); ++i)
      values[names[i]] = names.size() == 1 ? sizes.pitch : stride_at(names.size() - 1 - i, sizes);
  return values;
}

Tensor generate_tensor(const std::string& name, DType dtype, const ParameterUse& use,
                       const InputSizes& sizes, std::uint64_t seed) {
  if (use.is_atomic || name.find("lock") != std::string::npos ||
      name.find("Lock") != std::string::npos)
    return zeros({sizes.numel}, {dtype, Device::cpu()});
  if (!is_floating(dtype)) return integers(name, dtype, sizes.numel);
  // A short sequence over and over: as good as a long one, and quick to make.
  constexpr std::int64_t period = 65521;
  const Tensor some = randn({period}, RandomOptions(DType::Float32, Device::cpu()).with_seed(seed));
  const std::vector<float> numbers = some.to_vector<float>();
  std::vector<float> values(static_cast<std::size_t>(sizes.numel));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = numbers[i % static_cast<std::size_t>(period)];
  return tensor(values, {sizes.numel}, Device::cpu()).to(dtype);
}

double generate_float(const std::string& name) {
  return name.find("eps") != std::string::npos ? 1e-5 : 0.5;
}

}  // namespace tilewright
