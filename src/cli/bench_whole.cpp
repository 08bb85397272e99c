// SPDX-License-Identifier: Apache-2.0
// cli/bench_whole.cpp — `tilewright bench mlp` and `tilewright bench compile`: whole programs
// instead of one operation.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "bench/suite/compile_cases.h"
#include "bench/suite/mlp.h"
#include "bench/suite/sizes.h"
#include "cli/bench_request.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

void check_names(const std::string& what, const std::vector<std::string>& wanted,
                 const std::vector<std::string>& known) {
  for (const std::string& name : wanted)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw ArgumentError(fmt::format("{} '{}'{}", what, name, suggest_names(name, known)));
}

std::int64_t size_of_option(const char* option, const std::optional<std::int64_t>& given,
                            std::int64_t otherwise) {
  if (!given) return otherwise;
  if (*given < 1 || *given > 1 << 20)
    throw UsageError{fmt::format("{} is between 1 and 1048576, not {}", option, *given)};
  return *given;
}

// The squares of gradients that AdamW keeps are below the smallest float16.
DType mlp_dtype(const std::string& text) {
  const DType dtype = parse_dtype(text);
  if (dtype != DType::Float32 && dtype != DType::BFloat16)
    throw UsageError{fmt::format("--dtype of mlp is f32 or bf16, not '{}'", text)};
  return dtype;
}

std::vector<suite::MlpCase> mlp_cases(const BenchVerbOptions& options, Device device) {
  if (!options.shapes.empty())
    throw UsageError{"mlp takes --dim, --layers and --batch instead of --shape"};
  std::vector<suite::MlpCase> cases;
  const std::vector<std::string> dtypes =
      options.dtypes.empty() ? std::vector<std::string>{"f32"} : options.dtypes;
  const std::vector<std::int64_t> dims =
      options.dims.empty() ? std::vector<std::int64_t>{256} : suite::parse_sizes(options.dims);
  for (const std::string& dtype : dtypes)
    for (const std::int64_t dim : dims)
      cases.push_back({.dim = dim,
                       .layers = size_of_option("--layers", options.layers, 4),
                       .batch = size_of_option("--batch", options.batch, 256),
                       .steps = static_cast<int>(size_of_option("--steps", options.steps, 1)),
                       .dtype = mlp_dtype(dtype),
                       .device = device});
  return cases;
}

void request_compile(const BenchVerbOptions& options, BenchRequest& request) {
  if (!options.dims.empty() || !options.shapes.empty() || !options.dtypes.empty())
    throw UsageError{"bench compile has cases with sizes of their own: --ways chooses among them"};
  std::vector<std::string> known;
  for (const suite::CompileCase& each : suite::compile_cases()) known.emplace_back(each.name);
  check_names("bench compile has no case", options.ways, known);
  request.whole = [names = options.ways, device = request.device](
                      const suite::RunOptions& run, const suite::Ceilings& ceilings, suite::Rivals*,
                      std::vector<suite::Record>& records) {
    return suite::run_compile_cases(names, device, ceilings, run, records);
  };
}

}  // namespace

bool is_whole(const BenchVerbOptions& options) {
  return options.operation == "mlp" || options.operation == "compile";
}

void request_whole(const BenchVerbOptions& options, BenchRequest& request) {
  if (options.operation == "compile") return request_compile(options, request);
  check_names("mlp has no way", options.ways, suite::mlp_ways());
  const std::vector<suite::MlpCase> cases = mlp_cases(options, request.device);
  for (const suite::MlpCase& each : cases)
    if (std::find(request.products.begin(), request.products.end(), each.dtype) ==
        request.products.end())
      request.products.push_back(each.dtype);
  request.whole = [cases, ways = options.ways](
                      const suite::RunOptions& run, const suite::Ceilings& ceilings,
                      suite::Rivals* rivals, std::vector<suite::Record>& records) {
    for (const suite::MlpCase& each : cases)
      if (!suite::run_mlp(each, ways, ceilings, run, rivals, records)) return false;
    return true;
  };
}

void print_losses(const BenchVerbOptions& options) {
  check_names("mlp has no way", options.ways, suite::mlp_ways());
  const Device device = options.device.empty() ? default_device() : Device::parse(options.device);
  suite::MlpCase which = mlp_cases(options, device).front();
  if (!options.steps) which.steps = 10;
  suite::train_mlp(which, options.ways.empty() ? "compiled" : options.ways.front(),
                   [](int step, double loss) { fmt::print("step {}: loss {:.6f}\n", step, loss); });
}

}  // namespace tilewright::cli
