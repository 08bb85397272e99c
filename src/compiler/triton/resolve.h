// SPDX-License-Identifier: Apache-2.0
// compiler/triton/resolve.h — a launch before its code exists: what its arguments say, filled in by
// a config and by heuristics, and drafted as source.
//
// All that reads the kernel's files needs the kernel's lock; load_draft needs none.
#pragma once

#include <memory>
#include <optional>

#include "compiler/triton/triton_state.h"

namespace tilewright {

// A launch whose arguments are in their places.
struct LaunchRequest {
  TritonKernel::State& state;
  TritonSignature given;        // what the arguments alone say
  python::DictValue arguments;  // as heuristics and configs' functions see them
  const TritonLaunch& launch;
  LaunchPlace place;

  const Target& target() const { return place.target(); }
};
LaunchRequest request_of(TritonKernel::State& state, const TritonArgument* const* slots,
                         const TritonLaunch& launch, const LaunchPlace& place);
// The same for a signature as text.
LaunchRequest request_of(TritonKernel::State& state, std::string_view signature,
                         const TritonLaunch& launch, const LaunchPlace& place);

python::Evaluator evaluator_of(const LaunchRequest& request);

// The outermost triton.autotune; empty for bare launches and kernels without one. Throws an error
// at its place when a key is no parameter of the kernel.
struct KernelAutotune {
  const python::Decorator* decorator = nullptr;
  python::Autotune content;
};
std::optional<KernelAutotune> autotune_of(const LaunchRequest& request);

struct ResolvedLaunch {
  TritonSignature signature;
  KernelOptions options;
};
// `config` stands for the list of the kernel's autotune, or is applied first when there is none;
// null where there is nothing to choose. Throws ArgumentError for what is set twice or missing.
ResolvedLaunch resolve(const LaunchRequest& request, const python::ConfigValue* config);

// What tells the code of two resolved launches apart.
std::string code_key(const LaunchRequest& request, const ResolvedLaunch& resolved);

// A kernel as source, not compiled yet.
struct KernelDraft {
  std::unique_ptr<TritonSpecialization> specialization;  // without its function
  TileKernel tiles;  // for the interpreter: in the specialisation, without its kernel here
  KernelSource source;
};
KernelDraft draft(const LaunchRequest& request, const ResolvedLaunch& resolved);
// Compiles the source and puts its function into the specialisation. Takes no lock of the kernel.
void load_draft(KernelDraft& draft, Device device);

}  // namespace tilewright
