// SPDX-License-Identifier: Apache-2.0
// cli/numba_call.cpp — reads values, grid and block of a @cuda.jit kernel.
#include "cli/numba_call.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "cli/cuda_call.h"
#include "cli/kernel_path.h"
#include "cli/scalar_types.h"
#include "cli/symbolic_sizes.h"
#include "cli/verbs.h"
#include "compiler/numba/numba_state.h"
#include "compiler/triton/grid_text.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

constexpr std::string_view random_states = "xoroshiro:";

// xoroshiro:1000: states for a thousand threads, by the seed.
Tensor read_states(const std::string& name, const std::string& text,
                   const ValueTextOptions& options) {
  const std::string_view count = std::string_view(text).substr(random_states.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), number);
  if (error != std::errc() || end != count.data() + count.size() || number < 1 ||
      number > std::int64_t{1} << 24)
    throw ArgumentError(fmt::format(
        "{}={}: write how many states there are, from 1 to 16777216: xoroshiro:1000", name, text));
  return xoroshiro128p_states(number, options.seed, 0, options.device);
}

// Numbers as Numba takes Python's (int64 and float64) where no type is given.
NumbaArgument numba_argument(const NamedValue& named, std::optional<DType> dtype) {
  if (const Tensor* tensor = named.tensor()) return *tensor;
  const auto& value = std::get<triton::Value>(named.value);
  if (const auto* constant = value.get_if<triton::Constant>()) {
    const auto& content = constant->value;
    if (const auto* flag = std::get_if<bool>(&content)) return *flag;
    if (const auto* real = std::get_if<double>(&content))
      return converted_number(Argument(*real), dtype.value_or(DType::Float64));
    if (const auto* integer = std::get_if<triton::Int128>(&content)) {
      const bool is_large = *integer > INT64_MAX;
      return converted_number(Argument(static_cast<std::int64_t>(*integer)),
                              dtype.value_or(is_large ? DType::UInt64 : DType::Int64));
    }
  }
  throw ArgumentError(
      fmt::format("'{}' of a @cuda.jit kernel is a number or a tensor", named.name));
}

std::map<std::string, std::int64_t> integers_of(const std::vector<NamedValue>& values) {
  std::map<std::string, std::int64_t> numbers;
  for (const NamedValue& named : values) {
    const NumbaArgument argument = numba_argument(named, {});
    if (argument.tensor == nullptr && argument.value.dtype == DType::Int64)
      numbers[named.name] = static_cast<std::int64_t>(argument.value.bits);
  }
  return numbers;
}

NumbaLaunch launch_of(const NumbaKernel& kernel, const NumbaCallText& text,
                      const std::vector<NamedValue>& values) {
  if (text.grid.empty())
    throw UsageError{
        fmt::format("the kernel '{}' needs --grid, and --block unless 256 threads are meant, as in "
                    "--grid 4 --block 256",
                    kernel.name())};
  const auto sizes = [&](const std::string& size) {
    return grid_from_numbers(kernel.name(),
                             grid_with_sizes(size, text.arguments, kernel.parameters()),
                             integers_of(values));
  };
  return {.grid = sizes(text.grid),
          .block = text.block.empty() ? Dim3(256) : sizes(text.block),
          .shared_bytes = static_cast<std::size_t>(text.shared_bytes)};
}

}  // namespace

NumbaKernel load_numba_kernel(const std::string& text) {
  const KernelPath path = parse_kernel_path(text);
  if (!path.kernel.empty()) return load_numba(path.file, path.kernel);
  python::ModuleLoader loader;
  return load_numba(path.file, chosen_kernel(path, numba_kernels(loader, loader.load(path.file))));
}

std::vector<NumbaArgument> NumbaCall::arguments(const NumbaKernel& kernel) const {
  std::vector<NumbaArgument> list;
  for (const std::string& name : kernel.parameters()) {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const NamedValue& value) { return value.name == name; });
    if (found == values.end())
      throw ArgumentError(
          fmt::format("'{0}' needs a value for '{1}'; add {1}=VALUE", kernel.name(), name));
    const auto type = types.find(name);
    list.push_back(numba_argument(
        *found, type == types.end() ? std::nullopt : std::optional<DType>(type->second)));
  }
  return list;
}

NumbaCall read_numba_call(const NumbaKernel& kernel, const NumbaCallText& text,
                          const ValueTextOptions& options) {
  NumbaCall call;
  NumbaCallText plain = text;
  std::erase_if(plain.arguments, [&](const std::string& each) {
    const auto [name, value] = parse_assignment(each, "NAME=VALUE");
    if (!value.starts_with(random_states)) return false;
    const Tensor states = read_states(name, value, options);
    call.values.push_back({name, states, states.to(Device::cpu()).clone()});
    return true;
  });
  for (std::string& each : plain.arguments) {
    const auto [name, value] = parse_assignment(each, "NAME=VALUE");
    const std::optional<TypedNumber> number = typed_number(name, value);
    if (!number) continue;
    call.types[name] = number->dtype;
    each = fmt::format("{}={}", name, number->text);
  }
  for (NamedValue& value : values_for(plain.arguments, kernel.name(), kernel.parameters(), options))
    call.values.push_back(std::move(value));
  call.launch = launch_of(kernel, plain, call.values);
  return call;
}

}  // namespace tilewright::cli
