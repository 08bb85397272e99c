// SPDX-License-Identifier: Apache-2.0
// tilewright/module.h — compiled kernels and their launch, the same on CPU and CUDA.
//
//   Module m = Module::load(source, Device::cuda());
//   Function f = m.function("add");
//   f[{.grid = 128, .block = 256, .stream = s}](x, y, n);
//
// A warm launch takes no lock, allocates nothing and does no string work. It is legal from many
// threads and during the caller's graph capture.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tilewright/buffer.h"
#include "tilewright/dtype.h"
#include "tilewright/kernel_source.h"

namespace tilewright {

// Sizes along x, y, z. Signed and wide, so that a size that is out of range can be reported instead
// of wrapping.
struct Dim3 {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;
  constexpr Dim3() = default;
  constexpr Dim3(std::int64_t width, std::int64_t height = 1, std::int64_t depth = 1)
      : x(width), y(height), z(depth) {}
  constexpr std::int64_t count() const { return x * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

// One argument of a launch: a scalar, an address, or the bytes of a struct. Made by conversion from
// the user's value.
struct Argument {
  enum class Kind : std::uint8_t {
    Scalar,   // `bits` holds the value, `dtype` its type
    Pointer,  // `bits` is an address; nothing is known of its memory
    Memory,   // `bits` is an address in `buffer` (a tensor)
    Opaque,   // `bits` is the address of a struct of `bytes` bytes, copied at launch
  };
  // The first four are read together by launches that compare types.
  Kind kind = Kind::Scalar;
  DType dtype = DType::Int32;
  bool any_pointee = false;  // an untyped address: matches any pointer parameter
  bool is_defined = true;    // false: a null or freed tensor
  bool is_contiguous = true;
  Device device;  // of Memory
  std::uint64_t bits = 0;
  const Buffer* buffer =
      nullptr;              // of Memory: keeps the allocator informed of the streams that use it
  std::uint32_t bytes = 0;  // of Opaque

  Argument() = default;

  template <class T>
  requires std::is_arithmetic_v<T> Argument(T value) : dtype(dtype_of<T>), bits(bits_of(value)) {}
  Argument(Half value) : dtype(DType::Float16), bits(value.bits) {}
  Argument(BFloat16 value) : dtype(DType::BFloat16), bits(value.bits) {}

  template <class T>
  Argument(T* address)
      : kind(Kind::Pointer),
        any_pointee(!Element<std::remove_cv_t<T>>),
        bits(reinterpret_cast<std::uintptr_t>(address)) {
    if constexpr (Element<std::remove_cv_t<T>>) dtype = dtype_of<std::remove_cv_t<T>>;
  }
  Argument(std::nullptr_t) : kind(Kind::Pointer), any_pointee(true) {}

  // A struct passed by value; `value` must live until the launch returns.
  template <class T>
  requires(std::is_class_v<T>&& std::is_trivially_copyable_v<T> &&
           !std::is_convertible_v<T, Argument>) static Argument of_struct(const T& value) {
    Argument a;
    a.kind = Kind::Opaque;
    a.bytes = sizeof(T);
    a.bits = reinterpret_cast<std::uintptr_t>(&value);
    return a;
  }

 private:
  // Zeros above the value. All of `bits` is written at once: a launch that read them after two
  // smaller writes would wait for both.
  template <class T>
  static constexpr std::uint64_t bits_of(T value) {
    static_assert(sizeof(T) <= sizeof(bits));
    if constexpr (std::is_same_v<T, bool>) return value;
    else if constexpr (std::is_same_v<T, float>) return std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::is_same_v<T, double>) return std::bit_cast<std::uint64_t>(value);
    else return static_cast<std::make_unsigned_t<T>>(value);
  }
};

struct LaunchConfig {
  Dim3 grid = {};
  Dim3 block = {};
  std::size_t shared_bytes = 0;       // dynamic shared memory
  std::optional<Stream> stream = {};  // else the current stream of the function's device
  Dim3 cluster = {};
  bool cooperative = false;
};

struct FunctionAttributes {
  int registers = 0;
  std::size_t shared_bytes = 0;  // static
  std::size_t local_bytes = 0;   // per thread: spills and indexed arrays
  std::size_t constant_bytes = 0;
  int max_threads_per_block = 0;
  int binary_version = 0;
};

struct FunctionState;

class Function {
 public:
  Function() = default;

  // Arguments are checked against the kernel's signature: count, kind, element type, device,
  // contiguity where asked.
  void launch(const LaunchConfig& config, std::span<const Argument> arguments) const;
  // The same for arguments that do not lie side by side.
  void launch(const LaunchConfig& config, std::span<const Argument* const> arguments) const;

  class Bound {
   public:
    template <class... Values>
    void operator()(const Values&... values) const {
      const std::array<Argument, sizeof...(Values)> arguments{Argument(values)...};
      function_.launch(config_, arguments);
    }

   private:
    friend class Function;
    Bound(const Function& function, LaunchConfig config) : function_(function), config_(config) {}
    const Function& function_;
    LaunchConfig config_;
  };
  Bound operator[](LaunchConfig config) const { return Bound(*this, config); }

  const std::string& name() const;
  Device device() const;
  std::span<const Parameter> parameters() const;
  FunctionAttributes attributes() const;
  // Blocks of `threads` threads that one multiprocessor holds at a time; 1 on the CPU.
  int blocks_per_processor(int threads, std::size_t shared_bytes) const;
  // Prefers this share of the multiprocessor's memory as shared memory, in percent; -1 is the
  // driver's choice.
  void set_carveout(int percent) const;
  explicit operator bool() const { return state_ != nullptr; }

 private:
  friend class Module;
  explicit Function(std::shared_ptr<FunctionState> state) : state_(std::move(state)) {}
  std::shared_ptr<FunctionState> state_;
};

struct ModuleState;

class Module {
 public:
  Module() = default;

  // Compiles (or takes from the caches) and loads. Throws CompileError with the compiler's log,
  // MissingError without a compiler or device.
  static Module load(const KernelSource& source, Device device);

  // Throws ArgumentError with the nearest names.
  Function function(std::string_view name) const;
  std::vector<std::string> names() const;
  Device device() const;

 private:
  std::shared_ptr<ModuleState> state_;
};

}  // namespace tilewright
