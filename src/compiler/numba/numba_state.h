// SPDX-License-Identifier: Apache-2.0
// compiler/numba/numba_state.h — a loaded kernel of thread-level Python and what was compiled of
// it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/numba/text.h"
#include "frontend/python/module_loader.h"
#include "tilewright/numba.h"

namespace tilewright {

struct FunctionState;  // of the runtime

// Where a kernel's text runs.
enum class NumbaPlace : std::uint8_t { Gpu, Emulated, Loop };

inline constexpr std::size_t most_numba_arguments = 64;
inline constexpr std::size_t most_numba_slots = 256;

// What a launch passes for a slot of the text.
struct NumbaPassed {
  numba::Slot::Kind kind = numba::Slot::Kind::Data;
  DType dtype = DType::Int64;  // of a number: int32 where the text is narrow, else the decorator's
  std::uint8_t argument = 0;
  std::uint8_t dimension = 0;
};

// The code for one list of types.
struct NumbaSpecialization {
  std::vector<std::uint32_t> key;  // a word per argument, then the place
  std::vector<NumbaPassed> passed;
  Function function;
  std::shared_ptr<const FunctionState> direct;  // the same, for launches whose arguments are known
  NumbaPlace place = NumbaPlace::Gpu;
  bool is_cooperative = false;
  const NumbaSpecialization* next = nullptr;
};

struct NumbaKernel::State {
  std::string name;
  std::vector<std::string> parameters;
  python::ModuleLoader loader;
  const python::LoadedModule* module = nullptr;
  const python::FunctionDef* function = nullptr;
  // Of the decorator; empty when it has none.
  std::optional<std::vector<numba::Type>> signature;

  std::mutex mutex;  // of all below but reading `first`
  std::vector<std::unique_ptr<NumbaSpecialization>> made;
  std::atomic<const NumbaSpecialization*> first{nullptr};
};

// The source of a kernel for arguments of these types: CUDA text for NVRTC or the emulation, or a
// loop over threads. Empty where the kernel's threads need each other and a loop was asked for.
struct NumbaSource {
  KernelSource source;
  numba::KernelText text;
};
// What the launches of a source promise (frontend/numba/text.h); of interest on a GPU only.
struct NumbaPromises {
  bool is_narrow = false;
  bool are_apart = false;
};
std::optional<NumbaSource> numba_source(NumbaKernel::State& state,
                                        const std::vector<numba::Type>& types, NumbaPlace place,
                                        NumbaPromises promises = {});

NumbaPromises promises_of(const NumbaKernel::State& state, const NumbaLaunch& launch,
                          std::span<const NumbaArgument> arguments);

// ---- Parts of a launch.

// That of the first tensor.
Device device_of_launch(const NumbaLaunch& launch, std::span<const NumbaArgument> arguments);
// "argument 2 'y' of kernel 'square'"
std::string place_in(const NumbaKernel::State& state, std::size_t argument);
// The code for these types: known, or compiled now. Throws for types that the kernel cannot take.
const NumbaSpecialization& specialize(NumbaKernel::State& state, const NumbaLaunch& launch,
                                      std::span<const NumbaArgument> arguments,
                                      std::span<const std::uint32_t> key);

// "float32[:], float32[:, ::1], int32", as decorators have it, with or without "void(...)".
// Throws ArgumentError for what is no such list.
std::vector<numba::Type> parse_numba_signature(const std::string& text);
// What the decorator of the function says; empty when it says nothing.
std::optional<std::vector<numba::Type>> decorator_signature(python::ModuleLoader& loader,
                                                            const python::LoadedModule& module,
                                                            const python::FunctionDef& function);

// A number as one of another type, as Numba converts it.
Argument converted_number(const Argument& number, DType dtype);

// Is the function of that name in the file decorated with @cuda.jit? An empty name: is any?
bool is_numba_kernel(const std::string& file, const std::string& kernel);
// Kernels of the file, in its order; device functions are none.
std::vector<std::string> numba_kernels(python::ModuleLoader& loader,
                                       const python::LoadedModule& module);

}  // namespace tilewright
