// SPDX-License-Identifier: Apache-2.0
// load_inline/load_inline.cpp — compiling and loading an inline program, and the module that the
// user holds.
#include "tilewright/load_inline.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <future>
#include <map>
#include <mutex>

#include "base/check.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "load_inline/build_report.h"
#include "load_inline/compile_errors.h"
#include "load_inline/compiler_flags.h"
#include "load_inline/host_call.h"
#include "load_inline/host_text.h"
#include "load_inline/inline_program.h"

namespace tilewright {

struct InlineModule::State {
  State(const InlineOptions& options, Device where)
      : program(options, where.is_cuda()), device(where) {}

  InlineProgram program;
  Device device;
  Module module;       // kernels; without a GPU also the host functions
  Module host_module;  // host functions beside a GPU's kernels
  Function host_entry;
  HostContext context;
  std::vector<HostFunction> functions;

  std::mutex mutex;  // of `instances`
  std::map<std::string, std::optional<Module>>
      instances;  // kernels that were asked for by name expression

  bool is_gpu() const { return program.mode() == InlineMode::Gpu; }
  Device kernel_device() const { return is_gpu() ? device : Device::cpu(); }

  Module load(const KernelSource& source, Device where) {
    try {
      report_build(program.options(), source, where);
      return Module::load(source, where);
    } catch (const CompileError& error) {
      throw explained(error, program.options().name);
    }
  }

  void load_all() {
    if (!is_gpu()) {
      module = load(program.main_source(), kernel_device());
      if (program.has_host_functions()) host_module = module;
    } else if (!program.has_host_functions()) {
      load_gpu_kernels();
    } else {
      // Two compilers at the same time.
      auto host = std::async(std::launch::async,
                             [this] { return load(program.gpu_host_source(), Device::cpu()); });
      try {
        load_gpu_kernels();
      } catch (...) {
        host.wait();
        throw;
      }
      host_module = host.get();
    }
    if (program.has_host_functions()) bind_host_functions();
  }

  // Sources whose kernels are all templates are compiled for their errors only: there is nothing to
  // load yet.
  void load_gpu_kernels() {
    const KernelSource source = program.main_source();
    if (!source.kernels.empty()) module = load(source, device);
    else if (!program.kernels().empty()) compile_for_errors(source);
  }

  void compile_for_errors(const KernelSource& source) {
    try {
      compile_reported(program.options(), source, device.target());
    } catch (const CompileError& error) {
      throw explained(error, program.options().name);
    }
  }

  void bind_host_functions() {
    host_entry = host_module.function(tilewright::host_entry);
    context.device = kernel_device();
    context.is_emulated = program.mode() == InlineMode::Emulated;
    context.gpu_kernel = [this](const std::string& expression) {
      const std::string name = InlineProgram::host_launch_name(expression);
      return module_of(expression).function(name);
    };
    functions = list_host_functions(host_entry, context);
  }

  // The module that holds a kernel; compiled now when it is on demand.
  Module module_of(const std::string& text) {
    const NameExpression expression = parse_name_expression(text);
    const InlineKernel& kernel = program.find(expression);
    if (!kernel.is_on_demand) return module;
    const std::lock_guard lock(mutex);
    std::optional<Module>& instance = instances[canonical(kernel, expression)];
    if (!instance) instance = load(program.instance_source(kernel, expression), kernel_device());
    return *instance;
  }

  static std::string canonical(const InlineKernel& kernel, const NameExpression& expression) {
    if (expression.arguments.empty()) return kernel.name();
    return fmt::format("{}<{}>", kernel.name(), fmt::join(expression.arguments, ", "));
  }

  Function kernel(std::string_view name) {
    const NameExpression expression = parse_name_expression(name);
    const InlineKernel& found = program.find(expression);
    return module_of(std::string(name)).function(canonical(found, expression));
  }
};

// ---- The module.

Function InlineModule::kernel(std::string_view name) const {
  if (!state_) throw ArgumentError("an empty InlineModule has no kernels; load one first");
  return state_->kernel(name);
}

std::size_t InlineModule::number_of(std::string_view function) const {
  if (!state_) throw ArgumentError("an empty InlineModule has no functions; load one first");
  const std::vector<HostFunction>& all = state_->functions;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const HostFunction& f) { return f.name == function; });
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  if (state_->program.declares_host_function(function))
    throw ArgumentError(
        fmt::format("function '{0}' of source '{1}' is not bound; add \"{0}\" to functions",
                    function, state_->program.options().name));
  throw ArgumentError(fmt::format("source '{}' has no function '{}'{}",
                                  state_->program.options().name, function,
                                  suggest_names(function, functions())));
}

HostResult InlineModule::call(std::string_view function,
                              std::span<const HostValue> arguments) const {
  const std::size_t number = number_of(function);
  const HostFunction& called = state_->functions[number];
  return HostResult(called.name, call_host_function(state_->host_entry, state_->context, called,
                                                    static_cast<long>(number), arguments));
}

std::size_t InlineModule::least_arguments(std::string_view function) const {
  const std::size_t number = number_of(function);
  return static_cast<std::size_t>(state_->functions[number].required_count);
}

std::vector<std::string> InlineModule::kernels() const {
  std::vector<std::string> names;
  if (state_)
    for (const InlineKernel& kernel : state_->program.kernels()) names.push_back(kernel.name());
  return names;
}

std::vector<std::string> InlineModule::functions() const {
  std::vector<std::string> names;
  if (state_)
    for (const HostFunction& function : state_->functions) names.push_back(function.name);
  return names;
}

bool InlineModule::is_emulated() const {
  return state_ && state_->program.mode() == InlineMode::Emulated;
}

Device InlineModule::device() const {
  if (!state_) throw ArgumentError("an empty InlineModule has no device; load one first");
  return state_->kernel_device();
}

// ---- Results.

namespace {

const char* kind_of(const HostValue& value) {
  constexpr const char* names[] = {
      "nothing",  "a tensor",          "a number",           "an integer",       "a bool",
      "a string", "a list of tensors", "a list of integers", "a list of numbers"};
  return names[value.index()];
}

[[noreturn]] void throw_wrong_result(const std::string& function, const HostValue& value,
                                     const char* expected) {
  throw ArgumentError(
      fmt::format("function '{}' returned {}, not {}", function, kind_of(value), expected));
}

}  // namespace

Tensor HostResult::tensor() const {
  if (const auto* tensor = std::get_if<Tensor>(&value_)) return *tensor;
  throw_wrong_result(function_, value_, "a tensor");
}

std::vector<Tensor> HostResult::tensors() const {
  if (const auto* tensors = std::get_if<std::vector<Tensor>>(&value_)) return *tensors;
  throw_wrong_result(function_, value_, "a list of tensors");
}

double HostResult::number() const {
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&value_))
    return static_cast<double>(*integer);
  throw_wrong_result(function_, value_, "a number");
}

std::int64_t HostResult::integer() const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return *integer;
  if (const auto* boolean = std::get_if<bool>(&value_)) return *boolean ? 1 : 0;
  throw_wrong_result(function_, value_, "an integer");
}

// ---- Loading.

namespace {

Hash128 key_of(const InlineOptions& options, Device device) {
  Hasher hasher;
  const auto add = [&](const std::vector<std::string>& list) {
    hasher.add(static_cast<std::int64_t>(list.size()));
    for (const std::string& text : list) hasher.add(text);
  };
  for (const auto* list :
       {&options.cuda_sources, &options.cpp_sources, &options.functions, &options.macros,
        &options.extra_cflags, &options.extra_cuda_cflags, &options.extra_include_paths})
    add(*list);
  hasher.add(options.name).add(device.name());
  return hasher.finish();
}

}  // namespace

// Programs that were loaded last stay loaded, so that a call in a loop costs a hash and a look-up.
class InlineCache {
 public:
  using State = std::shared_ptr<void>;

  State find(const Hash128& key) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, state] : recent_)
      if (known == key) return state;
    return nullptr;
  }
  void keep(const Hash128& key, State state) {
    State dropped;  // unloaded after the lock
    const std::lock_guard lock(mutex_);
    recent_.emplace_front(key, std::move(state));
    if (recent_.size() <= 32) return;
    dropped = std::move(recent_.back().second);
    recent_.pop_back();
  }

  // Never destroyed: at the end of the process the driver may be gone before us.
  static InlineCache& shared() {
    static auto* const cache = new InlineCache;
    return *cache;
  }

 private:
  std::mutex mutex_;
  std::deque<std::pair<Hash128, State>> recent_;
};

InlineModule load_inline(const InlineOptions& options) {
  const Device device = options.device.value_or(default_device());
  InlineModule module;
  // Headers on disk may change, and reports are for every call.
  const bool may_remember =
      options.extra_include_paths.empty() && options.build_directory.empty() && !options.verbose;
  const Hash128 key = key_of(options, device);
  if (may_remember)
    if (auto known = InlineCache::shared().find(key)) {
      module.state_ = std::static_pointer_cast<InlineModule::State>(known);
      return module;
    }
  auto state = std::make_shared<InlineModule::State>(options, device);
  state->load_all();
  if (may_remember) InlineCache::shared().keep(key, state);
  module.state_ = std::move(state);
  return module;
}

KernelSource inline_kernel_source(const InlineOptions& options, std::string_view target_name) {
  const Target target = Target::parse(target_name);
  const InlineProgram program(options, target.is_cuda());
  if (target.is_cuda() && program.mode() == InlineMode::Cpp)
    throw ArgumentError(fmt::format("source '{}' is C++ for the CPU and cannot be compiled for {}",
                                    options.name, target.name));
  return program.main_source();
}

CompiledSource compile_inline(const InlineOptions& options, std::string_view target_name) {
  const Target target = Target::parse(target_name);
  try {
    Binary binary = compile_reported(options, inline_kernel_source(options, target_name), target);
    return {target.name, std::move(binary.bytes), std::move(binary.log)};
  } catch (const CompileError& error) {
    throw explained(error, options.name);
  }
}

}  // namespace tilewright
