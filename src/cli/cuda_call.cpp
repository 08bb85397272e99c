// SPDX-License-Identifier: Apache-2.0
// cli/cuda_call.cpp — reads the file, finds the name, and turns values into arguments.
#include "cli/cuda_call.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "cli/argument_views.h"
#include "cli/kernel_path.h"
#include "cli/symbolic_sizes.h"
#include "cli/verbs.h"
#include "compiler/triton/grid_text.h"
#include "load_inline/local_includes.h"
#include "load_inline/signature.h"
#include "load_inline/text_edits.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

using CudaKind = Declaration::Kind;

bool is_cuda_kernel(const Declaration& d) {
  return d.kind == CudaKind::Kernel && d.has_body() && !d.is_specialization;
}
bool is_host_function(const Declaration& d) {
  return (d.kind == CudaKind::HostFunction || d.kind == CudaKind::HostDeviceFunction) &&
         d.has_body() && !d.is_member && !d.is_template && d.name != "main";
}

const Declaration* find_named(const CudaFile& file, std::string_view base,
                              bool (*is_wanted)(const Declaration&)) {
  for (const Declaration& d : file.source.outline)
    if (is_wanted(d) && (d.qualified_name == base || d.name == base)) return &d;
  return nullptr;
}

std::vector<std::string> names_in(const CudaFile& file) {
  std::vector<std::string> names;
  for (const Declaration& d : file.source.outline)
    if (is_cuda_kernel(d) || is_host_function(d)) names.push_back(d.qualified_name);
  return names;
}

// The text without the other kernels: what emulation lacks may be in one of them.
std::string with_one_kernel(const InlineSource& source, std::string_view wanted) {
  TextEdits edits(source.text);
  for (const Declaration& d : source.outline) {
    const bool is_kernel = d.kind == CudaKind::Kernel || d.kind == CudaKind::Instantiation;
    if (is_kernel && d.qualified_name != wanted && d.name != wanted) edits.blank(d.range);
  }
  return edits.apply();
}

InlineModule load_kernel_of(const CudaFile& file, const InlineOptions& options,
                            std::string_view kernel) {
  try {
    return load_inline(options);
  } catch (const SyntaxOrTypeError&) {
    InlineOptions alone = options;
    alone.cuda_sources = {with_one_kernel(file.source, kernel)};
    return load_inline(alone);
  }
}

// ---- Values.

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

// Where the name of a file with one of these endings ends, before a colon or the text's end; 0
// where there is none.
std::size_t end_of_file(const std::string& text, std::initializer_list<std::string_view> endings) {
  for (const std::string_view ending : endings) {
    if (text.ends_with(ending)) return text.size();
    const std::size_t at = text.find(std::string(ending) + ":");
    if (at != std::string::npos) return at + ending.size();
  }
  return 0;
}

std::vector<NamedValue>::const_iterator given_for(const std::vector<NamedValue>& values,
                                                  const std::string& name) {
  return std::find_if(values.begin(), values.end(),
                      [&](const NamedValue& value) { return value.name == name; });
}

}  // namespace

bool is_cuda_path(const std::string& path) {
  return end_of_file(path, {".cu", ".cpp", ".cc"}) != 0;
}

void refuse_cpp(const std::string& path) {
  if (end_of_file(path, {".cpp", ".cc"}) != 0)
    throw UsageError{fmt::format(
        "'{}' is C++ for the host, without kernels; tilewright run and tilewright bench call its "
        "functions",
        path)};
}

CudaFile read_cuda_file(const std::string& text) {
  // Names may hold colons of their own: ns::kernel<float>.
  const std::size_t end = end_of_file(text, {".cu", ".cpp", ".cc"});
  CudaFile file;
  file.path = text.substr(0, end);
  file.wanted = end == text.size() ? "" : text.substr(end + 1);
  if (end != text.size() && file.wanted.empty())
    throw UsageError{fmt::format("'{}' names nothing; write {}:NAME", text, file.path)};
  file.name = std::filesystem::path(file.path).filename().string();
  file.is_cuda = file.path.ends_with(".cu");
  file.source = make_inline_source(read_with_local_includes(file.path), file.name, file.is_cuda);
  return file;
}

bool CudaFile::has_main() const {
  return std::any_of(source.outline.begin(), source.outline.end(), [](const Declaration& d) {
    return d.kind == CudaKind::HostFunction && d.qualified_name == "main" && d.has_body();
  });
}

std::vector<std::string> CudaFile::kernels() const {
  std::vector<std::string> names;
  for (const Declaration& d : source.outline)
    if (is_cuda_kernel(d)) names.push_back(d.qualified_name);
  return names;
}

InlineOptions inline_options(const CudaFile& file, Device device) {
  const std::string folder = std::filesystem::path(file.path).parent_path().string();
  const std::vector<std::string> text = {file.source.text}, none;
  return {.cuda_sources = file.is_cuda ? text : none,
          .cpp_sources = file.is_cuda ? none : text,
          .name = file.name,
          .extra_include_paths = {folder.empty() ? "." : folder},
          .device = device};
}

std::vector<NamedValue> values_for(const std::vector<std::string>& given,
                                   const std::string& function,
                                   const std::vector<std::string>& parameters,
                                   const ValueTextOptions& options) {
  std::map<std::string, std::string> texts;
  for (const std::string& text : with_sizes(given, parameters)) {
    const auto [name, value] = parse_assignment(text, "NAME=VALUE");
    if (std::find(parameters.begin(), parameters.end(), name) == parameters.end())
      throw ArgumentError(fmt::format("'{}' has no parameter '{}'{}", function, name,
                                      suggest_names(name, parameters)));
    if (!texts.emplace(name, value).second)
      throw UsageError{fmt::format("'{}' is given twice", name)};
  }
  std::vector<NamedValue> values;
  std::vector<std::string> views;
  std::uint64_t seed = options.seed;
  for (const std::string& name : parameters) {
    const auto text = texts.find(name);
    if (text == texts.end()) continue;
    if (is_view_text(text->second)) {
      views.push_back(name + "=" + text->second);
      continue;
    }
    NamedValue value{
        name, read_value(name, text->second, {.device = options.device, .seed = seed++}), {}};
    if (const Tensor* tensor = value.tensor()) value.before = tensor->to(Device::cpu()).clone();
    values.push_back(std::move(value));
  }
  add_views(views, values);
  return values;
}

// The whole buffer: rows may be further apart than they are long.
std::vector<TwMemory> memory_of(const std::vector<NamedValue>& values) {
  std::vector<TwMemory> memory;
  for (const NamedValue& value : values)
    if (const Tensor* const tensor = value.tensor())
      memory.push_back({.name = value.name.c_str(),
                        .address = reinterpret_cast<std::uintptr_t>(tensor->buffer().data()),
                        .bytes = tensor->buffer().size()});
  return memory;
}

CudaCall::CudaCall(const CudaFile& file, Device device) : device_(device) {
  name_ = file.wanted.empty() ? chosen_kernel({file.path, ""}, names_in(file)) : file.wanted;
  const std::string base = parse_name_expression(name_).base;
  InlineOptions options = inline_options(file, device);
  if (const Declaration* function = find_named(file, base, is_host_function)) {
    name_ = function->qualified_name;
    parameters_ = parameter_names(*function);
    options.functions = {name_};
    module_ = load_inline(options);
    return;
  }
  if (!find_named(file, base, is_cuda_kernel))
    throw ArgumentError(fmt::format("{} has no function or kernel '{}'{}", file.path, base,
                                    suggest_names(base, names_in(file))));
  options_ = options;
  module_ = load_kernel_of(file, options, base);
  kernel_ = module_.kernel(name_);
  for (const Parameter& parameter : kernel_.parameters()) parameters_.push_back(parameter.name);
}

// How many of the first parameters must have values: those behind them have none, but defaults.
std::size_t CudaCall::least_given(const std::vector<NamedValue>& values) const {
  if (is_kernel()) return parameters_.size();
  std::size_t least = parameters_.size();
  while (least > module_.least_arguments(name_) &&
         given_for(values, parameters_[least - 1]) == values.end())
    --least;
  return least;
}

void CudaCall::bind(const std::vector<NamedValue>& values, const CudaShape& shape) {
  if (is_kernel() && shape.grid.empty())
    throw UsageError{
        fmt::format("the kernel '{}' needs --grid, and --block unless 256 threads are meant, as in "
                    "--grid \"cdiv(n, 256)\" --block 256",
                    name_)};
  for (std::size_t i = 0, least = least_given(values); i < least; ++i)
    if (const std::string& missing = parameters_[i]; given_for(values, missing) == values.end()) {
      const bool has_default = !is_kernel() && i >= module_.least_arguments(name_);
      throw ArgumentError(fmt::format(
          "'{0}' needs a value for '{1}'{2}; add {1}=VALUE", name_, missing,
          has_default ? fmt::format(", since '{}' behind it has one", parameters_[least - 1])
                      : ""));
    }
  is_kernel() ? bind_kernel(values, shape) : bind_function(values, shape);
}

void CudaCall::bind_function(const std::vector<NamedValue>& values, const CudaShape& shape) {
  if (!shape.grid.empty() || !shape.block.empty())
    throw UsageError{fmt::format(
        "'{}' is a host function, which launches by itself; leave --grid and --block out", name_)};
  std::vector<HostValue> arguments;
  for (std::size_t i = 0, least = least_given(values); i < least; ++i)
    arguments.push_back(to_host_value(*given_for(values, parameters_[i])));
  run_ = [module = module_, name = name_, arguments] {
    return module.call(name, arguments).value();
  };
}

void CudaCall::bind_kernel(const std::vector<NamedValue>& values, const CudaShape& shape) {
  // An argument points to the buffer of its tensor.
  const auto kept = std::make_shared<const std::vector<NamedValue>>(values);
  std::vector<Argument> arguments;
  for (const Parameter& parameter : kernel_.parameters())
    arguments.push_back(argument_of(parameter, *given_for(*kept, parameter.name)));
  const std::map<std::string, std::int64_t> numbers = integers_in(values);
  config_.block = shape.block.empty() ? Dim3(256) : grid_from_numbers(name_, shape.block, numbers);
  config_.grid = grid_from_numbers(name_, shape.grid, numbers);
  config_.shared_bytes = shape.shared_bytes;
  run_ = [kernel = kernel_, config = config_, arguments, kept]() -> HostValue {
    kernel.launch(config, arguments);
    return {};
  };
}

}  // namespace tilewright::cli
