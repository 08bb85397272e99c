// SPDX-License-Identifier: Apache-2.0
// load_inline/host_call.cpp — the table of callbacks, and one call from arguments to result.
#include "load_inline/host_call.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>

#include "base/check.h"
#include "base/cpu_entry.h"
#include "base/events.h"
#include "base/nvtx.h"
#include "load_inline/host_launch.h"
#include "load_inline/host_tensor.h"
#include "runtime/cpu/thread_pool.h"

namespace tilewright {
namespace {

// What runs on this thread.
struct RunningCall {
  const HostContext& context;
  std::string function;
  std::vector<HostFunction> defined;
  HostValue result;
  std::string message;         // for error()
  std::exception_ptr refused;  // the last error of a callback
  std::string failure;         // what the function threw
  bool has_failed = false;
  long wrong_position = -1;
  std::string expected;
};

thread_local RunningCall* running = nullptr;

RunningCall& current() {
  TW_CHECK(running, "a host function calls back outside of its call");
  return *running;
}

// Runs a callback's work; an error is kept and reported by the result.
template <class Work>
auto guarded(Work work) -> decltype(work()) {
  RunningCall& call = current();
  try {
    call.refused = nullptr;
    return work();
  } catch (const std::exception& error) {
    call.message = error.what();
    call.refused = std::current_exception();
  } catch (...) {
    call.message = "an unknown error";
    call.refused = std::current_exception();
  }
  return {};
}

// ---- Callbacks.

const char* error() { return current().message.c_str(); }

TwTensor* operate_by_name(const TwOperation* operation) {
  return guarded([&]() -> TwTensor* { return operate(*operation, current().context); });
}

int item(TwTensor* handle, double* number, long* integer) {
  return guarded([&] {
    const Tensor& tensor = tensor_of(handle);
    if (is_floating(tensor.dtype())) *number = tensor.item<double>();
    else *integer = tensor.item<std::int64_t>();
    return 1;
  });
}

int launch(const TwLaunch* request) {
  return guarded([&] {
    launch_from_host(*request, current().context);
    return 1;
  });
}

int synchronize() {
  return guarded([] {
    current().context.device.synchronize();
    return 1;
  });
}

void* current_stream_of(int) {
  return guarded([] { return current_stream(current().context.device).native(); });
}

// Memory of cudaMalloc, by its address.
std::mutex memory_mutex;
std::map<void*, Buffer>& memory() {
  static auto* const all = new std::map<void*, Buffer>;
  return *all;
}

int allocate(void** address, unsigned long bytes) {
  return guarded([&] {
    Buffer buffer = Buffer::allocate(bytes, current().context.device);
    *address = buffer.data();
    const std::lock_guard lock(memory_mutex);
    memory()[*address] = std::move(buffer);
    return 1;
  });
}

int release(void* address) {
  return guarded([&] {
    const std::lock_guard lock(memory_mutex);
    if (address && memory().erase(address) == 0)
      throw ArgumentError("cudaFree of an address that cudaMalloc did not give");
    return 1;
  });
}

int copy(void* to, const void* from, unsigned long bytes) {
  return guarded([&] {
    const Device device = current().context.device;
    const Stream stream = current_stream(device);
    const Buffer target = Buffer::wrap(to, bytes, device);
    const Buffer source = Buffer::wrap(const_cast<void*>(from), bytes, device);
    copy_async({target}, {source}, bytes, stream);
    stream.synchronize();
    return 1;
  });
}

int fill(void* address, int value, unsigned long bytes) {
  return guarded([&] {
    const Device device = current().context.device;
    const Buffer target = Buffer::wrap(address, bytes, device);
    const auto pattern = static_cast<std::byte>(value);
    fill_async({target}, bytes, {&pattern, 1}, current_stream(device));
    return 1;
  });
}

int parallel(long begin, long end, long grain, void (*work)(void*, long, long), void* data) {
  return guarded([&] {
    const auto count = static_cast<std::uint64_t>(end > begin ? end - begin : 0);
    const auto part = static_cast<std::uint64_t>(std::max(grain, 1l));
    ProgramCost unknown = 0;
    run_programs((count + part - 1) / part, unknown, [&](std::uint64_t first, std::uint64_t last) {
      work(data, begin + static_cast<long>(first * part),
           begin + static_cast<long>(std::min(last * part, count)));
    });
    return 1;
  });
}

int device_number(int what) {
  return guarded([&] {
    const HostContext& context = current().context;
    switch (what) {
      case 0:
        return context.is_emulated ? 1 : cuda_device_count();
      case 16:
        return context.device.target().processors;
      case 97:
        return context.is_emulated ? 232448 : context.device.target().shared_bytes_per_block_optin;
      default:
        throw ArgumentError(fmt::format(
            "device attribute {} is not part of tilewright's CUDA-shaped header", what));
    }
  });
}

// ---- Reports.

RunningCall& reported(void* call) { return *static_cast<RunningCall*>(call); }

void define(void* call, const char* name, long parameter_count, long required_count) {
  reported(call).defined.push_back({name, parameter_count, required_count});
}

void wrong_argument(void* call, long position, const char* expected) {
  reported(call).wrong_position = position;
  reported(call).expected = expected;
}

void fails(void* call, const char* message) {
  reported(call).has_failed = true;
  reported(call).failure = message;
}

void returns(void* call, const TwValue* value) {
  HostValue& result = reported(call).result;
  const auto count = static_cast<std::size_t>(value->count);
  switch (value->kind) {
    case TwValue::None:
      result = std::monostate{};
      break;
    case TwValue::Tensor:
      result = tensor_of(static_cast<const TwTensor*>(value->data));
      break;
    case TwValue::Number:
      result = value->number;
      break;
    case TwValue::Integer:
      result = static_cast<std::int64_t>(value->integer);
      break;
    case TwValue::Boolean:
      result = value->integer != 0;
      break;
    case TwValue::Text:
      result = std::string(static_cast<const char*>(value->data), count);
      break;
    case TwValue::Tensors: {
      std::vector<Tensor> all;
      for (std::size_t i = 0; i < count; ++i) {
        const TwTensor* handle = static_cast<TwTensor* const*>(value->data)[i];
        all.push_back(handle ? tensor_of(handle) : Tensor{});
      }
      result = std::move(all);
      break;
    }
    case TwValue::Integers: {
      const auto* begin = static_cast<const long*>(value->data);
      result = std::vector<std::int64_t>(begin, begin + count);
      break;
    }
    case TwValue::Numbers: {
      const auto* begin = static_cast<const double*>(value->data);
      result = std::vector<double>(begin, begin + count);
      break;
    }
    default:
      TW_UNREACHABLE("value of kind {}", value->kind);
  }
}

const TwHostApi host_api = {
    .size = sizeof(TwHostApi),
    .error = error,
    .destroy = [](TwTensor* handle) { delete static_cast<HostTensor*>(handle); },
    .operate = operate_by_name,
    .item = item,
    .launch = launch,
    .synchronize = synchronize,
    .current_stream = current_stream_of,
    .allocate = allocate,
    .release = release,
    .copy = copy,
    .fill = fill,
    .parallel = parallel,
    .device_number = device_number,
    .define = define,
    .wrong_argument = wrong_argument,
    .returns = returns,
    .fails = fails,
};

// ---- Arguments as C values; keeps what they point to.

class BoxedArguments {
 public:
  BoxedArguments(std::span<const HostValue> values, const HostContext& context)
      : context_(context) {
    values_.reserve(values.size());
    lists_.reserve(values.size());
    for (const HostValue& value : values)
      values_.push_back(std::visit([&](const auto& v) { return box(v); }, value));
  }
  ~BoxedArguments() {
    for (TwTensor* handle : handles_) release_host_tensor(handle);
  }
  BoxedArguments(const BoxedArguments&) = delete;
  BoxedArguments& operator=(const BoxedArguments&) = delete;
  const std::vector<TwValue>& values() const { return values_; }

 private:
  static TwValue make(int kind, std::size_t count, const void* data) {
    return {kind, static_cast<long>(count), 0, 0, data};
  }
  TwTensor* handle(const Tensor& tensor) {
    if (!tensor.is_defined()) return nullptr;
    handles_.push_back(make_host_tensor(tensor, context_.is_emulated || tensor.device().is_cuda()));
    return handles_.back();
  }
  TwValue box(std::monostate) { return make(TwValue::None, 0, nullptr); }
  TwValue box(const Tensor& tensor) {
    TwTensor* const boxed = handle(tensor);
    return boxed ? make(TwValue::Tensor, 1, boxed) : make(TwValue::None, 0, nullptr);
  }
  TwValue box(double value) { return {TwValue::Number, 1, value, 0, nullptr}; }
  TwValue box(std::int64_t value) { return {TwValue::Integer, 1, 0, value, nullptr}; }
  TwValue box(bool value) { return {TwValue::Boolean, 1, 0, value ? 1 : 0, nullptr}; }
  TwValue box(const std::string& text) { return make(TwValue::Text, text.size(), text.data()); }
  TwValue box(const std::vector<Tensor>& tensors) {
    lists_.emplace_back();
    for (const Tensor& tensor : tensors) lists_.back().push_back(handle(tensor));
    return make(TwValue::Tensors, tensors.size(), lists_.back().data());
  }
  TwValue box(const std::vector<std::int64_t>& values) {
    return make(TwValue::Integers, values.size(), values.data());
  }
  TwValue box(const std::vector<double>& values) {
    return make(TwValue::Numbers, values.size(), values.data());
  }

  const HostContext& context_;
  std::vector<TwValue> values_;
  std::vector<TwTensor*> handles_;
  std::vector<std::vector<TwTensor*>> lists_;
};

const char* given_kind(const HostValue& value) {
  constexpr const char* names[] = {
      "nothing",  "a tensor",          "a number",           "an integer",       "a bool",
      "a string", "a list of tensors", "a list of integers", "a list of numbers"};
  const auto* tensor = std::get_if<Tensor>(&value);
  if (tensor && !tensor->is_defined()) return "a tensor without memory (null or freed)";
  return names[value.index()];
}

void run(const Function& entry, RunningCall& call, TwCall& request) {
  RunningCall* const outer = running;
  running = &call;
  try {
    entry[{}](static_cast<void*>(&request));
  } catch (...) {
    running = outer;
    throw;
  }
  running = outer;
}

}  // namespace

std::vector<HostFunction> list_host_functions(const Function& entry, const HostContext& context) {
  RunningCall call{.context = context};
  TwCall request{&host_api, &call, -1, nullptr, 0};
  run(entry, call, request);
  if (call.has_failed)
    throw UserError(fmt::format("binding the host functions failed: {}", call.failure));
  return std::move(call.defined);
}

HostValue call_host_function(const Function& entry, const HostContext& context,
                             const HostFunction& function, long number,
                             std::span<const HostValue> arguments) {
  const auto given = static_cast<long>(arguments.size());
  if (given > function.parameter_count || given < function.required_count)
    throw ArgumentError(fmt::format("function '{}' takes {}{} argument{}, got {}", function.name,
                                    function.required_count == function.parameter_count
                                        ? std::string()
                                        : fmt::format("{} to ", function.required_count),
                                    function.parameter_count,
                                    function.parameter_count == 1 ? "" : "s", arguments.size()));
  RunningCall call{.context = context, .function = function.name};
  const NvtxScope range(nvtx_takes_launches() ? function.name : std::string());
  const EventScope event(EventKind::Range, function.name);
  const BoxedArguments boxed(arguments, context);
  TwCall request{&host_api, &call, number, boxed.values().data(),
                 static_cast<long>(boxed.values().size())};
  run(entry, call, request);
  if (call.wrong_position >= 0)
    throw ArgumentError(
        fmt::format("argument {} of function '{}' must be {}, got {}", call.wrong_position + 1,
                    function.name, call.expected,
                    call.wrong_position < given
                        ? given_kind(arguments[static_cast<std::size_t>(call.wrong_position)])
                        : "a default of another kind"));
  if (!call.has_failed) return std::move(call.result);
  // The function ended because the library refused something: that error says more.
  if (call.refused && call.failure == call.message) std::rethrow_exception(call.refused);
  throw UserError(fmt::format("function '{}' failed: {}", function.name, call.failure));
}

}  // namespace tilewright
