// SPDX-License-Identifier: Apache-2.0
// tilewright/load_inline.h — CUDA and C++ source from a string to a callable kernel or host
// function.
//
//   tw::InlineModule m = tw::load_inline({.cuda_sources = {source}, .functions = {"gelu"}});
//   tw::Tensor y = m("gelu", x);  // a host function over torch::Tensor
//   m.kernel("gelu_kernel")[{.grid = blocks, .block = 1024}](x, y, n);  // a kernel itself
//
// Sources written for PyTorch's load_inline run as they are, without PyTorch and without nvcc. On a
// machine without a GPU the same CUDA source runs on the CPU by emulation; tensors then report
// device "cuda" to the source's own checks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tilewright/module.h"
#include "tilewright/tensor.h"

namespace tilewright {

// The names are those of torch.utils.cpp_extension.load_inline where it has them.
struct InlineOptions {
  std::vector<std::string> cuda_sources = {};
  std::vector<std::string> cpp_sources = {};
  std::vector<std::string> functions =
      {};  // host functions to bind; those of a PYBIND11_MODULE are found too
  std::string name = "inline_extension";  // in messages and file names
  std::vector<std::string> macros = {};   // "NAME" or "NAME=value"
  std::vector<std::string> extra_cflags = {};
  std::vector<std::string> extra_cuda_cflags = {};
  std::vector<std::string> extra_include_paths = {};
  std::string build_directory =
      {};                // when set, the source as compiled and the log are also written there
  bool verbose = false;  // prints what is compiled, how, and the compiler's log, to stderr
  std::optional<Device> device = {};  // else default_device(); CUDA source on cpu means emulation
};

// What a host function takes and returns.
using HostValue = std::variant<std::monostate, Tensor, double, std::int64_t, bool, std::string,
                               std::vector<Tensor>, std::vector<std::int64_t>, std::vector<double>>;

// The result of a host function: converts to what the caller expects, or throws ArgumentError that
// names both.
class HostResult {
 public:
  explicit HostResult(std::string function, HostValue value)
      : function_(std::move(function)), value_(std::move(value)) {}
  operator Tensor() const { return tensor(); }
  Tensor tensor() const;
  std::vector<Tensor> tensors() const;
  double number() const;
  std::int64_t integer() const;
  const HostValue& value() const { return value_; }

 private:
  std::string function_;
  HostValue value_;
};

class InlineModule {
 public:
  // A kernel by name, or a template kernel by name expression: "scale<float, 4>". Throws
  // ArgumentError with the nearest names.
  Function kernel(std::string_view name) const;

  // Calls a host function.
  template <class... Values>
  HostResult operator()(std::string_view function, const Values&... values) const {
    const std::array<HostValue, sizeof...(Values)> arguments{to_host_value(values)...};
    return call(function, arguments);
  }
  HostResult call(std::string_view function, std::span<const HostValue> arguments) const;

  std::vector<std::string> kernels() const;
  std::vector<std::string> functions() const;
  // How many arguments it has to be given: the others have defaults (py::arg("eps") = 1e-5).
  std::size_t least_arguments(std::string_view function) const;
  bool is_emulated() const;
  Device device() const;

 private:
  friend InlineModule load_inline(const InlineOptions& options);
  template <class T>
  static HostValue to_host_value(const T& value) {
    if constexpr (std::is_same_v<T, HostResult>) return value.value();
    else if constexpr (std::is_same_v<T, bool>) return value;
    else if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(value);
    else if constexpr (std::is_floating_point_v<T>) return static_cast<double>(value);
    else return HostValue(value);
  }
  std::size_t number_of(std::string_view function) const;  // throws when there is none
  struct State;
  std::shared_ptr<State> state_;
};

InlineModule load_inline(const InlineOptions& options);

// Runs a CUDA program with main: cudaMalloc, cudaMemcpy, streams, events and <<<>>> as nvcc
// compiles them, on options.device or by emulation. `arguments` are those of main behind the
// program's name, which is options.name. The result is main's, or 1 where main gave 0 although a
// kernel or a launch failed; what failed is printed to the standard error.
int run_program(const InlineOptions& options, std::span<const std::string> arguments);

// Compiles only, for a target that need not be here: the binary of an inline CUDA source and what
// the compiler says of it.
struct CompiledSource {
  std::string target;
  std::vector<std::byte> binary;  // cubin, or a shared object
  std::string log;
};
CompiledSource compile_inline(const InlineOptions& options, std::string_view target);
// The source that it compiles.
KernelSource inline_kernel_source(const InlineOptions& options, std::string_view target);

}  // namespace tilewright
