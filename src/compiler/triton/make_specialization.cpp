// SPDX-License-Identifier: Apache-2.0
// compiler/triton/make_specialization.cpp — the long way of a first launch: a config is chosen, its
// code is compiled and remembered.
#include <algorithm>

#include <fmt/format.h>

#include "base/settings.h"
#include "compiler/memory_use.h"
#include "compiler/triton/resolve.h"
#include "compiler/triton/tune/tune.h"

namespace tilewright {
namespace {

using python::Decorator;

bool has_overlaps(const triton::ParameterType& type) {
  return type.memory >= 0 || std::any_of(type.items.begin(), type.items.end(), has_overlaps);
}

void forget_overlaps(triton::ParameterType& type) {
  type.memory = type.address = -1;
  for (triton::ParameterType& item : type.items) forget_overlaps(item);
}

// Arguments that overlap need code of their own only where the kernel writes to them.
void drop_idle_overlaps(const LaunchRequest& request, ResolvedLaunch& resolved) {
  TritonSignature& signature = resolved.signature;
  const bool has_any = std::any_of(signature.begin(), signature.end(), [](const auto& parameter) {
    return has_overlaps(parameter.second);
  });
  if (!has_any || request.state.compiled.contains(code_key(request, resolved))) return;
  const TileKernel tiles = lower_to_tiles(request.state.loader, request.state.function, signature,
                                          request.target(), resolved.options);
  if (writes_overlap(tiles.lowered.kernel)) return;
  for (auto& [name, type] : signature) forget_overlaps(type);
}

// What is compiled for this config, by now or already. Needs the kernel's lock.
const TritonSpecialization& specialization_of(const LaunchRequest& request,
                                              const python::ConfigValue* config) {
  ResolvedLaunch resolved = resolve(request, config);
  drop_idle_overlaps(request, resolved);
  const std::string key = code_key(request, resolved);
  const auto found = request.state.compiled.find(key);
  if (found != request.state.compiled.end()) return *found->second;
  KernelDraft drafted = draft(request, resolved);
  load_draft(drafted, request.place.device);
  return *(request.state.compiled[key] = std::move(drafted.specialization));
}

// The first config that compiles; when none does, the error of the first.
const TritonSpecialization& first_valid(const LaunchRequest& request,
                                        const std::vector<python::ConfigValue>& configs) {
  std::exception_ptr first_error;
  for (const python::ConfigValue& config : configs) {
    try {
      return specialization_of(request, &config);
    } catch (const UserError&) {
      if (!first_error) first_error = std::current_exception();
    }
  }
  std::rethrow_exception(first_error);
}

const TritonSpecialization& untuned(const LaunchRequest& request) {
  const std::optional<KernelAutotune> autotune = autotune_of(request);
  if (!autotune) return specialization_of(request, nullptr);
  return first_valid(request, autotune->content.configs);
}

bool asks_only_for_none(const python::Node* node) {
  if (const auto* both = python::cast_if<python::BoolOp>(node))
    return std::all_of(both->values.begin(), both->values.end(), asks_only_for_none);
  const auto* compare = python::cast_if<python::Compare>(node);
  return compare != nullptr && python::is<python::Subscript>(compare->left) &&
         compare->comparators.size() == 1 &&
         python::is<python::NoneLiteral>(compare->comparators[0]);
}

}  // namespace

const TritonSpecialization& make_specialization(TritonKernel::State& state, const LaunchKey& key,
                                                const TritonArgument* const* slots,
                                                const TritonLaunch& launch,
                                                const LaunchPlace& place) {
  std::unique_lock lock(state.mutex);
  if (const Specialization* found = state.table.find(key)) return as_triton(*found);
  const LaunchRequest request = request_of(state, slots, launch, place);
  std::optional<python::ConfigValue> tuned;
  if (is_tuned_at_launch(request)) {
    lock.unlock();  // grids may be Python of the kernel's files
    tuned = tuned_config(request, slots);
    lock.lock();
  }
  const TritonSpecialization& made = tuned ? specialization_of(request, &*tuned) : untuned(request);
  state.table.add(key, KnownLaunch(state.key_rules, key, place.device, made));
  return made;
}

const TritonSpecialization& make_specialization(TritonKernel::State& state, std::string_view text,
                                                const TritonLaunch& launch,
                                                const LaunchPlace& place) {
  const std::lock_guard lock(state.mutex);
  return untuned(request_of(state, text, launch, place));
}

bool heuristics_read_values(const python::DecoratedFunction& function) {
  for (const Decorator& decorator : function.decorators) {
    if (decorator.kind != Decorator::Kind::Heuristics) continue;
    const python::Node* values = decorator.call == nullptr || decorator.call->arguments.empty()
                                     ? nullptr
                                     : decorator.call->arguments[0];
    const auto* dict = python::cast_if<python::Dict>(values);
    if (dict == nullptr) return true;
    for (const python::Node* value : dict->values) {
      const auto* lambda = python::cast_if<python::Lambda>(value);
      if (lambda == nullptr || !asks_only_for_none(lambda->body)) return true;
    }
  }
  return false;
}

}  // namespace tilewright
