// SPDX-License-Identifier: Apache-2.0
// codegen/emulated_module.h — for tests: CUDA text to emulated kernels, without the run time's
// caches and thread pool.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_entry.h"
#include "base/dynamic_library.h"
#include "codegen/emulate/rewrite.h"

namespace tilewright {

struct Blocks {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  int threads = 1;  // operating-system threads that share the blocks
};

class EmulatedModule {
 public:
  // Compiles with the host compiler, and with this build's sanitizers.
  EmulatedModule(std::string_view text, std::vector<std::string> kernel_expressions);

  template <class... Values>
  void run(std::string_view kernel, const Blocks& blocks, Values... values) const {
    std::array<void*, sizeof...(Values) + 1> parameters{static_cast<void*>(&values)..., nullptr};
    launch(kernel, blocks, parameters.data());
  }
  void launch(std::string_view kernel, const Blocks& blocks, void* const* parameters) const;
  bool with_barriers(std::string_view kernel) const;

 private:
  EmulatedSource source_;
  std::vector<std::string> kernels_;
  DynamicLibrary library_;
};

// Sets the seed of the thread order while it lives.
class WithSeed {
 public:
  explicit WithSeed(std::uint64_t seed);
  ~WithSeed();

 private:
  struct State;
  State* state_;
};

// Turns the checks of shared memory on or off while it lives; they are part of a module that is made
// meanwhile.
class WithCheck {
 public:
  explicit WithCheck(bool is_on);
  ~WithCheck();

 private:
  struct State;
  State* state_;
};

// A module made with or without checks, whatever the environment says.
EmulatedModule module_with_check(bool is_on, std::string_view text,
                                 std::vector<std::string> kernel_expressions);

}  // namespace tilewright
