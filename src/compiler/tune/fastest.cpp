// SPDX-License-Identifier: Apache-2.0
// compiler/tune/fastest.cpp — which of several launches of a kernel in the IR is the fastest.
#include <exception>

#include <fmt/format.h>

#include "compiler/ir_state.h"
#include "compiler/memory_use.h"
#include "compiler/tune/rotation.h"
#include "compiler/tune/saved_memory.h"
#include "compiler/tune/stopwatch.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr double seconds_per_launch = 0.1;

// The launches of one kernel in turns, with the caller's arguments.
class IrTurns : public Turns {
 public:
  IrTurns(const IrKernel& kernel, std::span<const IrLaunch> launches,
          std::span<const Argument> arguments, const SavedMemory& memory, const Stream& stream)
      : kernel_(kernel),
        launches_(launches),
        arguments_(arguments),
        memory_(memory),
        watch_(stream) {}

  void take(std::size_t i, int count, std::vector<double>& seconds) override {
    watch_.time(
        count, [&] { memory_.before_run(); }, [&] { kernel_.launch(launches_[i], arguments_); },
        seconds);
  }
  double now() override { return stopwatch_now(); }
  bool is_over(std::size_t) override { return false; }

 private:
  const IrKernel& kernel_;
  std::span<const IrLaunch> launches_;
  std::span<const Argument> arguments_;
  const SavedMemory& memory_;
  Stopwatch watch_;
};

// Compiles each of them. Those that cannot run are out; when none is left, the first error is
// thrown.
std::vector<Candidate> compile_all(IrKernel::State& state, std::span<const IrLaunch> launches,
                                   std::span<const Argument> arguments) {
  std::vector<Candidate> candidates(launches.size());
  std::exception_ptr first_error;
  bool is_any_left = false;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    try {
      static_cast<void>(find_specialization(state, launches[i], arguments));
      is_any_left = true;
    } catch (const UserError& error) {
      candidates[i].is_out = true;
      candidates[i].problem = error.what();
      if (!first_error) first_error = std::current_exception();
    }
  }
  if (!is_any_left) std::rethrow_exception(first_error);
  return candidates;
}

std::vector<NamedArgument> written_arguments(const IrKernel::State& state,
                                             std::span<const Argument> arguments) {
  const MemoryUse use = memory_use(state.kernel);
  std::vector<NamedArgument> written;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (use.writes[i]) written.push_back({state.signature.parameters[i].name, &arguments[i]});
  return written;
}

Stream stream_of(const IrLaunch& launch, std::span<const Argument> arguments) {
  if (launch.stream) return *launch.stream;
  for (const Argument& argument : arguments)
    if (argument.kind == Argument::Kind::Memory) return current_stream(argument.device);
  return current_stream(default_device());
}

void check_launches(const IrKernel::State& state, std::span<const IrLaunch> launches) {
  if (launches.empty())
    throw ArgumentError(
        fmt::format("kernel '{}' has no launches to choose from", state.signature.name));
  for (const IrLaunch& launch : launches)
    if (launch.grid.count() == 0)
      throw ArgumentError(
          fmt::format("a launch of kernel '{}' has an empty grid, so it cannot be "
                      "timed",
                      state.signature.name));
}

}  // namespace

std::size_t IrKernel::fastest(std::span<const IrLaunch> launches,
                              std::span<const Argument> arguments) const {
  if (!state_) throw ArgumentError("an empty IrKernel was used; take one from load_ir first");
  check_launches(*state_, launches);
  std::vector<Candidate> candidates = compile_all(*state_, launches, arguments);
  const Stream stream = stream_of(launches[0], arguments);
  const SavedMemory memory(stream, written_arguments(*state_, arguments));
  IrTurns turns(*this, launches, arguments, memory, stream);
  try {
    rotate(candidates, turns,
           {.seconds = seconds_per_launch * static_cast<double>(launches.size()),
            .turn_seconds = seconds_per_launch / 16});
  } catch (...) {
    try {
      memory.bring_back();
    } catch (const Error&) {
      // The first error says more: after a fault of the device nothing can be copied.
    }
    throw;
  }
  memory.bring_back();
  const int best = tilewright::fastest(candidates);
  if (best >= 0) return static_cast<std::size_t>(best);
  throw ArgumentError(fmt::format("none of the launches of kernel '{}' can be run: {}",
                                  state_->signature.name, candidates[0].problem));
}

}  // namespace tilewright
