// SPDX-License-Identifier: Apache-2.0
// tilewright/triton.h — kernels written in Triton, compiled at their first launch and run on the
// GPU or the CPU, without Python.
//
//   auto add = tw::load_triton("add.py", "add_kernel");
//   add[{tw::cdiv(n, 1024)}](x, y, out, n, tw::constant("BLOCK_SIZE", 1024));
//   add[{.grid = blocks, .num_warps = 8, .stream = s}](x, y, out, n, ...);
//   auto grid = [&](const tw::Meta& meta) { return tw::cdiv(n, meta["BLOCK_SIZE"]); };
//   add[grid](x, y, out, n, ...);
//
// Arguments specialise the kernel as in Triton: integers are int32 where they fit, those divisible
// by 16 and aligned addresses are known as such, 1 and none are constants, floats are float32.
// Configs of triton.autotune (timed at the first launch with a new key, unless TILEWRIGHT_AUTOTUNE
// is off) and triton.heuristics fill in what is not given. The device is that of the tensors. With
// TILEWRIGHT_INTERPRET=1 (or .interpret) the interpreter runs it and finds accesses out of bounds.
//
// Launches may come from many threads. A launch like an earlier one takes no lock and allocates
// nothing.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/module.h"
#include "tilewright/tensor.h"

namespace tilewright {

// ---- Arguments.

struct NoValue {};
inline constexpr NoValue none;  // Python's None

class TritonTuple;
class TensorDescriptor;

// A number with its name, made by constant(). Smaller than a TritonArgument, which is made from it
// where it is used.
template <class T>
struct NamedNumber {
  std::string_view name;
  T value;
};

// One argument of a launch, by position or by name; made by conversion from the user's value.
struct TritonArgument {
  enum class Kind : std::uint8_t { Value, Text, Type, None, Tuple, Descriptor };
  Kind kind = Kind::Value;
  DType type = DType::Float32;  // of Type
  std::string_view name;        // empty: by position
  // By `kind`; what is pointed to lives until the launch returns.
  union {
    Argument value;
    std::string_view text;
    const TritonTuple* tuple;
    const TensorDescriptor* descriptor;
  };

  TritonArgument() : value() {}
  TritonArgument(NoValue) : kind(Kind::None), value() {}
  TritonArgument(std::nullptr_t) : kind(Kind::None), value() {}
  TritonArgument(DType dtype) : kind(Kind::Type), type(dtype), value() {}
  TritonArgument(const char* words) : kind(Kind::Text), text(words) {}
  TritonArgument(std::string_view words) : kind(Kind::Text), text(words) {}
  TritonArgument(const std::string& words) : kind(Kind::Text), text(words) {}
  TritonArgument(const TritonTuple& items) : kind(Kind::Tuple), tuple(&items) {}
  TritonArgument(const TensorDescriptor& made) : kind(Kind::Descriptor), descriptor(&made) {}
  template <class T>
  TritonArgument(const NamedNumber<T>& given) : name(given.name), value(given.value) {}
  template <class T>
  requires(std::is_convertible_v<const T&, Argument> &&
           !std::is_convertible_v<const T&, std::string_view>) TritonArgument(const T& given)
      : value(given) {}
};

// What a parameter takes that the kernel indexes or unpacks: kernel[grid](tw::tuple(x, y), n).
// Its items are values as well; a tuple inside a tuple is refused.
class TritonTuple {
 public:
  explicit TritonTuple(std::vector<TritonArgument> items) : items_(std::move(items)) {}
  const std::vector<TritonArgument>& items() const { return items_; }

 private:
  std::vector<TritonArgument> items_;
};
template <class... Values>
TritonTuple tuple(const Values&... values) {
  return TritonTuple({TritonArgument(values)...});
}

// A view of a tensor that a kernel loads and stores in blocks: desc.load([row, column]). Outside
// the tensor it reads zeros (or NaN) and writes nothing.
class TensorDescriptor {
 public:
  enum class Padding : std::uint8_t { Zero, NaN };
  // The tensor has 1 to 5 dimensions, the last one contiguous; block sizes are powers of two.
  // Throws ArgumentError else.
  TensorDescriptor(const Tensor& tensor, std::vector<std::int64_t> block_shape,
                   Padding padding = Padding::Zero);
  const Tensor& tensor() const;
  const std::vector<std::int64_t>& block_shape() const;
  Padding padding() const;
  // As the compiled kernel takes it: the tensor, its sizes, its strides but the last.
  const std::vector<TritonArgument>& items() const;

 private:
  struct Content;
  std::shared_ptr<const Content> content_;
};

// The value of a tl.constexpr parameter (or of any other) by its name.
template <class T>
requires std::is_arithmetic_v<T> NamedNumber<T> constant(std::string_view name, T value) {
  return {name, value};
}
template <class T>
requires(!std::is_arithmetic_v<T>) TritonArgument constant(std::string_view name, const T& value) {
  TritonArgument argument(value);
  argument.name = name;
  return argument;
}

// ---- The grid.

struct LaunchView;

// The arguments and meta-parameters of a launch, for functions that compute its grid.
class Meta {
 public:
  explicit Meta(const LaunchView& view) : view_(&view) {}
  // An integer or bool; throws ArgumentError for what is none, and with the nearest names.
  std::int64_t operator[](std::string_view name) const;
  const LaunchView& view() const { return *view_; }

 private:
  const LaunchView* view_;
};

class Grid {
 public:
  Grid(std::int64_t x = 1, std::int64_t y = 1, std::int64_t z = 1) : sizes_(x, y, z) {}
  Grid(Dim3 sizes) : sizes_(sizes) {}
  template <class Function>
  requires std::is_invocable_r_v<Dim3, const Function&, const Meta&> Grid(Function function)
      : function_(std::move(function)) {}

  Dim3 sizes(const Meta& meta) const { return function_ ? function_(meta) : sizes_; }

 private:
  Dim3 sizes_;
  std::function<Dim3(const Meta&)> function_;
};

// ---- Launching.

// What is not set here comes from the kernel's configs, else from Triton's defaults.
struct TritonLaunch {
  Grid grid = {};
  std::optional<int> num_warps = {};   // 4
  std::optional<int> num_stages = {};  // 3
  std::optional<int> num_ctas = {};    // 1
  std::optional<int> maxnreg = {};
  std::optional<Stream> stream = {};  // else the current stream of the device
  bool fp_fusion = true;              // a multiply and an add may become one instruction
  bool flush_to_zero = false;         // denormal floats become 0
  bool debug = false;                 // asserts fire; so they do with TILEWRIGHT_DEBUG=1
  bool interpret = false;             // in the interpreter; so it is with TILEWRIGHT_INTERPRET=1
  bool bare = false;                  // without the kernel's autotune and heuristics: `kernel.fn`
  bool float64 = false;               // interpreter: floats are doubles until the end, a reference
  // The CUDA text for this target runs on the CPU thread by thread, over tensors of the CPU; checked
  // with TILEWRIGHT_EMULATE_CHECK=1. Null: code for the device of the tensors.
  const Target* emulate = nullptr;
};

class TritonKernel {
 public:
  TritonKernel() = default;

  class Bound {
   public:
    template <class... Values>
    void operator()(const Values&... values) const {
      const std::array<TritonArgument, sizeof...(Values)> arguments{TritonArgument(values)...};
      kernel_.launch(launch_, arguments);
    }

   private:
    friend class TritonKernel;
    Bound(const TritonKernel& kernel, TritonLaunch&& launch)
        : kernel_(kernel), launch_(std::move(launch)) {}
    // In place: a TritonLaunch is large, and this is part of every launch.
    template <class T>
    requires std::is_convertible_v<T, Grid> Bound(const TritonKernel& kernel, T&& grid)
        : kernel_(kernel), launch_{.grid = Grid(std::forward<T>(grid))} {}
    const TritonKernel& kernel_;
    TritonLaunch launch_;
  };
  Bound operator[](TritonLaunch launch) const { return Bound(*this, std::move(launch)); }
  template <class T>
  requires std::is_convertible_v<T, Grid> Bound operator[](T grid) const {
    return Bound(*this, std::move(grid));
  }
  // kernel[{x}], kernel[{x, y}], kernel[{x, y, z}]
  Bound operator[](std::initializer_list<std::int64_t> grid) const;

  // Arguments in the order of the kernel's parameters, those with a name anywhere. Throws
  // ArgumentError for wrong arguments, and what the compiler says of the kernel.
  void launch(const TritonLaunch& launch, std::span<const TritonArgument> arguments) const;

  // Compiles now, for the device that launches without tensors would take. The signature is
  // that of Triton's ahead-of-time tool: "*fp32:16, *fp32:16, i32, 1024".
  void precompile(std::string_view signature, const TritonLaunch& options = {}) const;

  const std::string& name() const;
  std::vector<std::string> parameters() const;
  // How many different specialisations there are by now.
  std::size_t specializations() const;

  struct State;
  explicit TritonKernel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

// A @triton.jit function of a file; its imports of other files are followed. Throws ArgumentError
// when there is no such file or function, an error with the place when it is no Python.
TritonKernel load_triton(const std::string& file, std::string_view kernel);
TritonKernel load_triton_source(std::string_view text, std::string_view kernel);

}  // namespace tilewright
