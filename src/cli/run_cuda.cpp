// SPDX-License-Identifier: Apache-2.0
// cli/run_cuda.cpp — from FILE.cu:NAME and NAME=VALUE to a call, a launch, or a whole program.
#include "cli/run_cuda.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "cli/crash_hint.h"
#include "cli/kernel_path.h"
#include "cli/prints_aside.h"
#include "compiler/grid_text.h"
#include "load_inline/inline_source.h"
#include "load_inline/local_includes.h"
#include "load_inline/signature.h"
#include "tilewright/error.h"
#include "tilewright/load_inline.h"

namespace tilewright::cli {
namespace {

using Kind = Declaration::Kind;
using Clock = std::chrono::steady_clock;

// ---- The file.

struct CudaFile {
  std::string path;
  std::string wanted;  // behind the colon
  std::string name;    // of the file alone
  InlineSource source;

  const Declaration* find(std::string_view base, auto is_wanted) const {
    for (const Declaration& d : source.outline)
      if (is_wanted(d) && (d.qualified_name == base || d.name == base)) return &d;
    return nullptr;
  }
};

bool is_kernel(const Declaration& d) {
  return d.kind == Kind::Kernel && d.has_body() && !d.is_specialization;
}
bool is_host_function(const Declaration& d) {
  return (d.kind == Kind::HostFunction || d.kind == Kind::HostDeviceFunction) && d.has_body() &&
         !d.is_member && !d.is_template && d.name != "main";
}
bool is_program_entry(const Declaration& d) {
  return d.kind == Kind::HostFunction && d.qualified_name == "main" && d.has_body();
}

CudaFile read_cuda_file(const std::string& text) {
  // Names may hold colons of their own: ns::kernel<float>.
  const std::size_t colon = text.find(".cu:");
  CudaFile file;
  file.path = colon == std::string::npos ? text : text.substr(0, colon + 3);
  file.wanted = colon == std::string::npos ? "" : text.substr(colon + 4);
  if (colon != std::string::npos && file.wanted.empty())
    throw UsageError{fmt::format("'{}' names nothing; write FILE.cu:NAME", text)};
  file.name = std::filesystem::path(file.path).filename().string();
  file.source = make_inline_source(read_with_local_includes(file.path), file.name, true);
  return file;
}

std::vector<std::string> names_in(const CudaFile& file) {
  std::vector<std::string> names;
  for (const Declaration& d : file.source.outline)
    if (is_kernel(d) || is_host_function(d)) names.push_back(d.qualified_name);
  return names;
}

// ---- Where.

// "emulate" and "cpu" mean the same for CUDA source.
Device device_for(const std::string& name) {
  if (name.empty()) return default_device();
  if (name == "interpret")
    throw UsageError{
        "a .cu file is not interpreted; write --device emulate, which checks it on the CPU"};
  if (name == "emulate" || name == "cpu") return Device::cpu();
  if (!name.starts_with("cuda"))
    throw UsageError{fmt::format("'{}' is not a device; write cuda, cuda:N or emulate", name)};
  const Device device = Device::parse(name);
  static_cast<void>(device.properties());  // says what is missing
  return device;
}

std::string place_name(Device device) { return device.is_cuda() ? device.name() : "cpu, emulated"; }

InlineOptions inline_options(const CudaFile& file, Device device) {
  const std::string folder = std::filesystem::path(file.path).parent_path().string();
  return {.cuda_sources = {file.source.text},
          .name = file.name,
          .extra_include_paths = {folder.empty() ? "." : folder},
          .device = device};
}

// ---- Arguments by the names of parameters.

std::vector<NamedValue> values_for(const RunVerbOptions& options, const std::string& function,
                                   const std::vector<std::string>& parameters, Device device) {
  std::map<std::string, std::string> texts;
  for (const std::string& text : options.arguments) {
    const auto [name, value] = parse_assignment(text, "NAME=VALUE");
    if (std::find(parameters.begin(), parameters.end(), name) == parameters.end())
      throw ArgumentError(fmt::format("'{}' has no parameter '{}'{}", function, name,
                                      suggest_names(name, parameters)));
    if (!texts.emplace(name, value).second)
      throw UsageError{fmt::format("'{}' is given twice", name)};
  }
  std::vector<NamedValue> values;
  std::uint64_t seed = options.seed;
  for (const std::string& name : parameters) {
    const auto text = texts.find(name);
    if (text == texts.end()) continue;
    NamedValue value{name, read_value(name, text->second, {.device = device, .seed = seed++}), {}};
    if (const Tensor* tensor = value.tensor()) value.before = tensor->to(Device::cpu()).clone();
    values.push_back(std::move(value));
  }
  return values;
}

HostValue to_host_value(const NamedValue& named) {
  if (const Tensor* tensor = named.tensor()) return *tensor;
  const auto& value = std::get<triton::Value>(named.value);
  const auto* constant = value.get_if<triton::Constant>();
  if (constant == nullptr)
    throw ArgumentError(
        fmt::format("'{}' of a host function is a number, a tensor or text, not a "
                    "type",
                    named.name));
  const auto& content = constant->value;
  if (const auto* flag = std::get_if<bool>(&content)) return *flag;
  if (const auto* number = std::get_if<double>(&content)) return *number;
  if (const auto* text = std::get_if<std::string>(&content)) return *text;
  if (const auto* integer = std::get_if<triton::Int128>(&content))
    return static_cast<std::int64_t>(*integer);
  return std::monostate{};
}

std::vector<std::string> parameter_names(const Declaration& d) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < d.parameters.size(); ++i)
    names.push_back(d.parameters[i].name.empty() ? fmt::format("arg{}", i) : d.parameters[i].name);
  return names;
}

[[noreturn]] void throw_missing(const std::string& function, const std::string& parameter) {
  throw ArgumentError(
      fmt::format("'{0}' needs a value for '{1}'; add {1}=VALUE", function, parameter));
}

// ---- Host functions.

void add_result(const HostValue& result, std::vector<NamedValue>& values) {
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    if (tensor.is_defined()) values.push_back({name, tensor, {}});
  };
  if (const auto* tensor = std::get_if<Tensor>(&result)) add("result", *tensor);
  if (const auto* list = std::get_if<std::vector<Tensor>>(&result))
    for (std::size_t i = 0; i < list->size(); ++i) add(fmt::format("result.{}", i), (*list)[i]);
}

std::string number_in(const HostValue& result) {
  if (const auto* number = std::get_if<double>(&result)) return fmt::format("{}", *number);
  if (const auto* integer = std::get_if<std::int64_t>(&result)) return fmt::format("{}", *integer);
  if (const auto* flag = std::get_if<bool>(&result)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&result)) return *text;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&result))
    return fmt::format("{}", fmt::join(*list, ", "));
  if (const auto* numbers = std::get_if<std::vector<double>>(&result))
    return fmt::format("{}", fmt::join(*numbers, ", "));
  return {};
}

void call_function(const RunVerbOptions& options, const CudaFile& file, const Declaration& d,
                   Device device) {
  if (!options.grid.empty() || !options.block.empty())
    throw UsageError{fmt::format(
        "'{}' is a host function, which launches by itself; leave --grid and --block out",
        d.qualified_name)};
  const std::vector<std::string> parameters = parameter_names(d);
  RunReport report{.name = d.qualified_name, .place = place_name(device)};
  report.values = values_for(options, d.qualified_name, parameters, device);
  std::vector<HostValue> arguments;
  for (const std::string& parameter : parameters) {
    const auto given = std::find_if(report.values.begin(), report.values.end(),
                                    [&](const NamedValue& v) { return v.name == parameter; });
    if (given == report.values.end()) throw_missing(d.qualified_name, parameter);
    arguments.push_back(to_host_value(*given));
  }
  InlineOptions source = inline_options(file, device);
  source.functions = {d.qualified_name};
  const auto start = Clock::now();
  HostValue result;
  {
    std::optional<PrintsAside> aside;
    if (options.json) aside.emplace();
    result = load_inline(source).call(d.qualified_name, arguments).value();
    device.synchronize();
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  add_result(result, report.values);
  report.result = number_in(result);
  report_run(options, report);
}

// ---- Kernels.

Argument scalar_for(const Parameter& parameter, double value, std::int64_t integer) {
  switch (parameter.dtype) {
    case DType::Float64:
      return value;
    case DType::Float32:
      return static_cast<float>(value);
    case DType::Float16:
      return Half(static_cast<float>(value));
    case DType::BFloat16:
      return BFloat16(static_cast<float>(value));
    case DType::Int8:
      return static_cast<std::int8_t>(integer);
    case DType::Int16:
      return static_cast<std::int16_t>(integer);
    case DType::Int64:
      return integer;
    case DType::UInt8:
      return static_cast<std::uint8_t>(integer);
    case DType::UInt16:
      return static_cast<std::uint16_t>(integer);
    case DType::UInt32:
      return static_cast<std::uint32_t>(integer);
    case DType::UInt64:
      return static_cast<std::uint64_t>(integer);
    case DType::Bool:
      return value != 0;
    default:
      return static_cast<std::int32_t>(integer);
  }
}

Argument argument_of(const Parameter& parameter, const NamedValue& named) {
  if (const Tensor* tensor = named.tensor()) return *tensor;
  const HostValue value = to_host_value(named);
  if (std::holds_alternative<std::monostate>(value)) return nullptr;
  if (const auto* flag = std::get_if<bool>(&value)) return scalar_for(parameter, *flag, *flag);
  if (const auto* number = std::get_if<double>(&value))
    return scalar_for(parameter, *number, static_cast<std::int64_t>(*number));
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return scalar_for(parameter, static_cast<double>(*integer), *integer);
  throw ArgumentError(
      fmt::format("'{}' of a kernel is a number or a tensor, not text", named.name));
}

std::map<std::string, std::int64_t> integers_in(const std::vector<NamedValue>& values) {
  std::map<std::string, std::int64_t> numbers;
  for (const NamedValue& named : values) {
    if (named.tensor() != nullptr) continue;
    const HostValue value = to_host_value(named);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) numbers[named.name] = *integer;
  }
  return numbers;
}

void launch_kernel(const RunVerbOptions& options, const CudaFile& file, Device device) {
  if (options.grid.empty())
    throw UsageError{
        fmt::format("the kernel '{}' needs --grid, and --block unless 256 threads are meant, as in "
                    "--grid \"cdiv(n, 256)\" --block 256",
                    file.wanted)};
  const auto start = Clock::now();
  const Function function = load_inline(inline_options(file, device)).kernel(file.wanted);
  std::vector<std::string> parameters;
  for (const Parameter& parameter : function.parameters()) parameters.push_back(parameter.name);
  RunReport report{.name = file.wanted, .place = place_name(device)};
  report.values = values_for(options, file.wanted, parameters, device);
  std::vector<Argument> arguments;
  for (const Parameter& parameter : function.parameters()) {
    const auto given = std::find_if(report.values.begin(), report.values.end(),
                                    [&](const NamedValue& v) { return v.name == parameter.name; });
    if (given == report.values.end()) throw_missing(file.wanted, parameter.name);
    arguments.push_back(argument_of(parameter, *given));
  }
  const auto numbers = integers_in(report.values);
  LaunchConfig config;
  config.block =
      options.block.empty() ? Dim3(256) : grid_from_numbers(file.wanted, options.block, numbers);
  config.grid = report.grid = grid_from_numbers(file.wanted, options.grid, numbers);
  config.shared_bytes = static_cast<std::size_t>(options.shared_bytes);
  {
    std::optional<PrintsAside> aside;
    if (options.json) aside.emplace();
    const StreamGuard on_device(Stream::default_of(device));
    function.launch(config, arguments);
    device.synchronize();
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report_run(options, report);
}

// ---- Programs.

void run_main(const RunVerbOptions& options, const CudaFile& file, Device device) {
  if (!options.grid.empty() || !options.block.empty() || !options.saves.empty() || options.json)
    throw UsageError{fmt::format(
        "{} is run as a program with main, which takes no --grid, --block, --save or --json; its "
        "own arguments go behind --, and {}:NAME runs one function or kernel of it",
        file.path, file.path)};
  if (options.device.empty() && device.is_cpu())
    fmt::print(stderr, "tilewright: {} is emulated on the CPU: {}\n", file.name, why_no_cuda());
  const int code = run_program(inline_options(file, device), options.arguments);
  if (code != 0) throw ExitWith{code};
}

}  // namespace

bool is_cuda_path(const std::string& path) {
  return path.ends_with(".cu") || path.find(".cu:") != std::string::npos;
}

void run_cuda(const RunVerbOptions& options) {
  CudaFile file = read_cuda_file(options.path);
  const Device device = device_for(options.device);
  std::optional<CrashHint> hint;
  if (device.is_cpu()) hint.emplace(file.wanted.empty() ? file.name : file.wanted);
  const auto has_main =
      std::any_of(file.source.outline.begin(), file.source.outline.end(), is_program_entry);
  if (file.wanted.empty() && has_main) return run_main(options, file, device);
  if (file.wanted.empty()) file.wanted = chosen_kernel({file.path, ""}, names_in(file));
  const std::string base = parse_name_expression(file.wanted).base;
  if (const Declaration* function = file.find(base, is_host_function))
    return call_function(options, file, *function, device);
  if (file.find(base, is_kernel)) return launch_kernel(options, file, device);
  throw ArgumentError(fmt::format("{} has no function or kernel '{}'{}", file.path, base,
                                  suggest_names(base, names_in(file))));
}

}  // namespace tilewright::cli
