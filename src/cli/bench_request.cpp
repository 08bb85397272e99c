// SPDX-License-Identifier: Apache-2.0
// cli/bench_request.cpp — checks of the command line of `tilewright bench`.
#include "cli/bench_request.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "bench/suite/sizes.h"
#include "bench/suite/user_kernel.h"
#include "cli/cuda_call.h"
#include "cli/kernel_path.h"
#include "cli/run_numba.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

bool is_file(const std::string& text) {
  for (const char* ending : {".py", ".cu", ".cpp", ".cc"})
    if (text.ends_with(ending) || text.find(std::string(ending) + ":") != std::string::npos)
      return true;
  return false;
}

bool is_triton_kernel(const std::string& text) {
  return text.ends_with(".py") || text.find(".py:") != std::string::npos;
}

// Also names mlp and compile, which are not operations of one size (bench_whole.cpp).
void check_operation(const std::string& name) {
  std::vector<std::string> names;
  for (const suite::Operation& operation : suite::operations()) names.emplace_back(operation.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  names.insert(names.end(), {"mlp", "compile"});
  throw ArgumentError(
      fmt::format("there is no operation '{}'{}", name, suggest_names(name, names)));
}

const suite::Operation& operation_of(const BenchVerbOptions& options) {
  if (options.operation.empty())
    throw UsageError{"tilewright bench needs an operation (see tilewright bench --list)"};
  if (!is_file(options.operation)) {
    if (!options.like.empty())
      throw UsageError{
          fmt::format("--like goes with FILE:KERNEL, not with '{}'", options.operation)};
    check_operation(options.operation);
    return suite::operation_named(options.operation);
  }
  if (options.like.empty())
    throw UsageError{
        fmt::format("{} needs its arguments (x=randn:f32[4096] n=4096), or --like OP, the "
                    "operation that it does, "
                    "for its inputs and its reference",
                    options.operation)};
  return suite::operation_named(options.like);
}

Clock clock_of(const std::string& text) {
  if (text.empty()) return Clock::Automatic;
  if (text == "wall") return Clock::Wall;
  if (text == "device") return Clock::Device;
  throw UsageError{fmt::format("--clock is wall or device, not '{}'", text)};
}

suite::UserKernel user_kernel(const BenchVerbOptions& options) {
  const KernelPath path = parse_kernel_path(options.operation);
  if (path.kernel.empty())
    throw UsageError{fmt::format("'{}' names no kernel; write FILE:KERNEL", options.operation)};
  suite::UserKernel kernel{path.file, path.kernel, {}, options.grid, options.block};
  for (const std::string& text : options.arguments)
    kernel.arguments.push_back(parse_assignment(text, "NAME=VALUE"));
  return kernel;
}

// Options that say how a kernel of the user's is launched are for nothing else.
void check_user_options(const BenchVerbOptions& options) {
  if (!options.reference.empty()) return;
  if (is_file(options.operation)) {
    static_cast<void>(suite::user_entry(user_kernel(options)));
    return;
  }
  if (!options.arguments.empty())
    throw UsageError{fmt::format("'{}' goes with FILE:KERNEL, not with the operation '{}'",
                                 options.arguments.front(), options.operation)};
  if (!options.grid.empty() || !options.block.empty())
    throw UsageError{
        fmt::format("--grid and --block go with FILE:KERNEL, not with '{}'", options.operation)};
}

DType float_dtype(const std::string& text) {
  const DType dtype = parse_dtype(text);
  if (!is_floating(dtype) || size_of(dtype) < 2 || dtype == DType::Float64)
    throw UsageError{fmt::format("--dtype is one of f32, f16, bf16, not '{}'", text)};
  return dtype;
}

std::vector<DType> dtypes_of(const BenchVerbOptions& options, const BenchRequest& request) {
  if (options.dtypes.empty())
    return {request.device.is_cuda() ? request.operation->cuda_dtype : DType::Float32};
  std::vector<DType> dtypes;
  for (const std::string& text : options.dtypes) dtypes.push_back(float_dtype(text));
  return dtypes;
}

std::vector<suite::Case> cases_of(const BenchVerbOptions& options, const BenchRequest& request,
                                  DType dtype) {
  const suite::Operation& op = *request.operation;
  std::vector<suite::Case> cases;
  if (!options.shapes.empty()) {
    for (const Shape& shape : suite::parse_shapes(options.shapes))
      cases.push_back({&op, shape, 0, dtype, request.device});
    return cases;
  }
  const std::vector<std::int64_t> dims =
      !options.dims.empty() ? suite::parse_sizes(options.dims)
                            : std::vector{request.device.is_cuda() ? op.cuda_dim : op.cpu_dim};
  for (const std::int64_t dim : dims)
    cases.push_back({&op, op.shape_of(dim), dim, dtype, request.device});
  return cases;
}

suite::RunOptions run_options(const BenchVerbOptions& options) {
  if (options.warmups && *options.warmups < 0)
    throw UsageError{fmt::format("--warmup is 0 or more, not {}", *options.warmups)};
  if (options.trials && *options.trials < 1)
    throw UsageError{fmt::format("--trials is 1 or more, not {}", *options.trials)};
  if (!(options.seconds > 0 && options.seconds <= 3600))
    throw UsageError{fmt::format("--seconds is between 0 and 3600, not {}", options.seconds)};
  if (!(options.threshold >= 0 && options.threshold <= 1e6))
    throw UsageError{fmt::format("--threshold is 0 percent or more, not {}", options.threshold)};
  suite::RunOptions run;
  run.warmups = options.warmups;
  run.trials = options.trials;
  run.clock = clock_of(options.clock);
  run.seconds = options.seconds;
  run.explain = options.explain;
  run.timeline = !options.html.empty();
  return run;
}

void check_way_names(const BenchVerbOptions& options, const suite::Operation& operation) {
  std::vector<std::string> names;
  for (const suite::Way& way : suite::ways_of(operation.name)) names.emplace_back(way.name);
  for (const std::string& wanted : options.ways)
    if (std::find(names.begin(), names.end(), wanted) == names.end())
      throw ArgumentError(fmt::format("{} has no way '{}'{}", operation.name, wanted,
                                      suggest_names(wanted, names)));
}

}  // namespace

namespace {

// A kernel of the user's has arguments instead of an operation at some sizes.
void check_pair_options(const BenchVerbOptions& options) {
  const char* beside = options.reference.empty() ? "a kernel alone" : "--reference";
  if (!is_triton_kernel(options.operation) && !is_cuda_path(options.operation))
    throw UsageError{fmt::format(
        "--reference goes with FILE.py:KERNEL or FILE.cu:NAME, not with '{}'", options.operation)};
  const std::pair<const char*, bool> others[] = {
      {"--like", !options.like.empty()},
      {"--dim", !options.dims.empty()},
      {"--shape", !options.shapes.empty()},
      {"--dtype", !options.dtypes.empty()},
      {"--ways", !options.ways.empty()},
      {"--rivals", options.has_rivals && !options.reference.starts_with("torch:")}};
  for (const auto& [name, is_given] : others)
    if (is_given)
      throw UsageError{
          fmt::format("{} does not go with {}, where NAME=VALUE says everything", name, beside)};
}

}  // namespace

bool is_pair(const BenchVerbOptions& options) {
  const bool has_parameters =
      is_triton_kernel(options.operation) || is_cuda_path(options.operation);
  const bool is_alone = has_parameters && options.like.empty() && !options.arguments.empty();
  return is_alone || !options.reference.empty();
}

BenchRequest bench_request(const BenchVerbOptions& options) {
  BenchRequest request;
  request.run = run_options(options);
  if (is_pair(options)) {
    check_pair_options(options);
    request.device = options.device.empty() ? default_device() : Device::parse(options.device);
    return request;
  }
  const bool has_sizes = options.layers || options.batch || options.steps || options.print_loss;
  if (has_sizes && options.operation != "mlp")
    throw UsageError{"--layers, --batch, --steps and --print-loss go with the operation mlp"};
  if (is_whole(options)) {
    request.device = options.device.empty() ? default_device() : Device::parse(options.device);
    if (request.device.is_cuda()) static_cast<void>(request.device.properties());
    request_whole(options, request);
    return request;
  }
  request.operation = &operation_of(options);
  check_user_options(options);
  check_way_names(options, *request.operation);
  request.device = options.device.empty() ? default_device() : Device::parse(options.device);
  if (request.device.is_cuda()) static_cast<void>(request.device.properties());
  for (const DType dtype : dtypes_of(options, request))
    for (suite::Case& each : cases_of(options, request, dtype)) {
      suite::check_shape(*each.operation, each.shape);
      suite::check_memory(*each.operation, each.shape, each.dtype, each.device);
      request.cases.push_back(std::move(each));
    }
  return request;
}

std::vector<suite::Entry> bench_entries(const BenchVerbOptions& options, const suite::Case& which) {
  std::vector<suite::Entry> entries;
  for (const suite::Way& way : suite::ways_of(which.operation->name)) {
    const bool is_asked =
        std::find(options.ways.begin(), options.ways.end(), way.name) != options.ways.end();
    if (!options.ways.empty() && !is_asked) continue;
    entries.push_back(suite::entry_of(way, which.shape, which.dtype, which.device));
    if (is_asked && which.device.is_cpu() && way.emulation_limit > 0 &&
        !(way.is_float32_only && which.dtype != DType::Float32))
      entries.back().why_not.clear();
  }
  if (is_file(options.operation)) entries.push_back(suite::user_entry(user_kernel(options)));
  return entries;
}

}  // namespace tilewright::cli
