// SPDX-License-Identifier: Apache-2.0
// tilewright/numba.h — kernels in thread-level Python, as Numba's @cuda.jit takes them, compiled at
// their first launch and run on the GPU or the CPU, without Python and without Numba.
//
//   auto square = tw::load_numba("square.py", "square");
//   square[{.grid = tw::cdiv(n, 256), .block = 256}](x, y);
//
// A kernel is compiled for the types of its arguments: dtype, number of dimensions and contiguity
// of tensors, the dtype of numbers (a C++ int is an int32, a double a float64). Types of the
// results are Numba's: int32 + int32 is an int64, float32 * 2.0 a float64. The device is that of
// the tensors. On the CPU a kernel whose threads do not need each other is a loop that the host
// compiler makes vector code of; one with barriers, shared memory, atomics or functions of a warp
// is emulated.
//
// Launches may come from many threads. A launch like an earlier one takes no lock and allocates
// nothing.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tilewright/module.h"
#include "tilewright/tensor.h"

namespace tilewright {

// One argument of a launch: a tensor or a number. A tensor lives until the launch returns.
struct NumbaArgument {
  Argument value;
  const Tensor* tensor = nullptr;

  NumbaArgument(const Tensor& array) : value(array), tensor(&array) {}
  template <class T>
  requires std::is_arithmetic_v<T> NumbaArgument(T number) : value(number) {}
  NumbaArgument(Argument number) : value(number) {}
};

struct NumbaLaunch {
  Dim3 grid = {};
  Dim3 block = {};
  std::size_t shared_bytes = 0;       // of cuda.shared.array(0, dtype)
  std::optional<Stream> stream = {};  // else the current stream of the device
  // On the CPU thread by thread, whatever the kernel; checked with TILEWRIGHT_EMULATE_CHECK=1.
  bool emulate = false;
};

class NumbaKernel {
 public:
  NumbaKernel() = default;

  class Bound {
   public:
    template <class... Values>
    void operator()(const Values&... values) const {
      const std::array<NumbaArgument, sizeof...(Values)> arguments{NumbaArgument(values)...};
      kernel_.launch(launch_, arguments);
    }

   private:
    friend class NumbaKernel;
    Bound(const NumbaKernel& kernel, NumbaLaunch launch)
        : kernel_(kernel), launch_(std::move(launch)) {}
    const NumbaKernel& kernel_;
    NumbaLaunch launch_;
  };
  Bound operator[](NumbaLaunch launch) const { return Bound(*this, std::move(launch)); }

  // Throws ArgumentError for wrong arguments and blocks that are too large, and an error with the
  // place for what the kernel may not do with arguments of these types.
  void launch(const NumbaLaunch& launch, std::span<const NumbaArgument> arguments) const;

  const std::string& name() const;
  std::vector<std::string> parameters() const;
  // How many different specialisations there are by now.
  std::size_t specializations() const;

  struct State;
  explicit NumbaKernel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

// A @cuda.jit function of a file. Throws ArgumentError when there is no such file or function, an
// error with the place when it is no Python.
NumbaKernel load_numba(const std::string& file, std::string_view kernel);
NumbaKernel load_numba_source(std::string_view text, std::string_view kernel);

// States for the functions of numba.cuda.random, uint64[count, 2]: those that Numba's
// create_xoroshiro128p_states makes, each 2^64 numbers behind the one before.
Tensor xoroshiro128p_states(std::int64_t count, std::uint64_t seed,
                            std::int64_t subsequence_start = 0, Device device = default_device());

}  // namespace tilewright
