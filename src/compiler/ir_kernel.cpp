// SPDX-License-Identifier: Apache-2.0
// compiler/ir_kernel.cpp — kernels in the IR: loading, specialising, launching.
#include "tilewright/ir.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/input_file.h"
#include "base/nvtx.h"
#include "base/settings.h"
#include "compiler/ir_state.h"
#include "compiler/launch_recording.h"
#include "compiler/launch_watch.h"
#include "compiler/memory_use.h"
#include "compiler/pack_blocks.h"
#include "compiler/run_launch.h"
#include "compiler/specialize_kernel.h"
#include "ir/clone.h"
#include "ir/print.h"
#include "ir/read.h"
#include "ir/verify.h"
#include "runtime/plan.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

IrKernel::State& checked(const std::shared_ptr<IrKernel::State>& state) {
  if (!state) throw ArgumentError("an empty IrKernel was used; take one from load_ir first");
  return *state;
}

Parameter parameter_of(const ir::Kernel& kernel, const ir::KernelArgument& argument) {
  const ir::Type& type = kernel.type(argument.value);
  return {.name = kernel.name_of(argument.value),
          .kind = type.is_pointer ? Parameter::Kind::Pointer : Parameter::Kind::Scalar,
          .dtype = type.dtype,
          .is_const = argument.is_const};
}

void check_stage(const ir::Kernel& kernel) {
  if (kernel.stage == ir::Stage::Source || kernel.stage == ir::Stage::Tile) return;
  throw ArgumentError(fmt::format(
      "kernel '{}' is at stage laid or final; a kernel to be compiled is at stage source or tile",
      kernel.name));
}

// Promises that nobody can check at a launch are checked here.
void check_arguments(const ir::Kernel& kernel) {
  if (kernel.arguments.size() > max_slots)
    throw ArgumentError(fmt::format("kernel '{}' has {} arguments; {} is the most", kernel.name,
                                    kernel.arguments.size(), max_slots));
  const MemoryUse use = memory_use(kernel);
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const ir::KernelArgument& argument = kernel.arguments[i];
    const std::string& name = kernel.name_of(argument.value);
    if (kernel.type(argument.value).is_tile())
      throw ArgumentError(
          fmt::format("argument '{}' of kernel '{}' is a tile; arguments are "
                      "scalars and pointers",
                      name, kernel.name));
    if (argument.divisible < 1)
      throw ArgumentError(
          fmt::format("argument '{}' of kernel '{}' has divisible = {}, which must "
                      "be 1 or more",
                      name, kernel.name, argument.divisible));
    if (argument.is_positive && !kernel.type(argument.value).is_int())
      throw ArgumentError(
          fmt::format("argument '{}' of kernel '{}' is positive = 1, which only integers are", name,
                      kernel.name));
    if (argument.is_const && use.writes[i])
      throw ArgumentError(
          fmt::format("argument '{}' of kernel '{}' is const, but the kernel may write through it",
                      name, kernel.name));
  }
}

IrKernel make_kernel(ir::Kernel kernel, std::string text, bool specializes_integers = true) {
  check_stage(kernel);
  check_arguments(kernel);
  auto state = std::make_shared<IrKernel::State>();
  state->signature.name = kernel.name;
  for (const ir::KernelArgument& argument : kernel.arguments)
    state->signature.parameters.push_back(parameter_of(kernel, argument));
  if (nvtx_takes_launches()) state->range = kernel.name;
  state->key_rules = key_rules_of(kernel, specializes_integers);
  state->specializes_integers = specializes_integers;
  state->text = std::move(text);
  state->kernel = std::move(kernel);
  return IrKernel(std::move(state));
}

// Ops without a place of their own stand where the text has them.
void set_places(ir::ParsedKernel& parsed, const std::string& file) {
  if (!parsed.kernel.files.empty()) return;
  parsed.kernel.files.push_back(file);
  ir::walk(parsed.kernel.body, [&](ir::Op& op) {
    const Span& place = parsed.places.at(&op);
    op.location = {.file = 0, .line = place.line, .column = place.column};
  });
}

Device device_of(const IrLaunch& launch, std::span<const Argument> arguments) {
  for (const Argument& argument : arguments)
    if (argument.kind == Argument::Kind::Memory && argument.is_defined) return argument.device;
  return launch.stream ? launch.stream->device() : default_device();
}

// Also what the text promises of each argument.
void check_values(const IrKernel::State& state, std::span<const Argument> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    // An int has zeros above its bits, whatever its sign.
    if (state.kernel.arguments[i].is_positive &&
        integer_of_bits(arguments[i].dtype, arguments[i].bits) <= 0)
      throw ArgumentError(
          fmt::format("argument {} '{}' of kernel '{}' must be above 0, as its text says", i + 1,
                      state.signature.parameters[i].name, state.signature.name));
    const auto divisor = static_cast<std::uint64_t>(state.kernel.arguments[i].divisible);
    if (divisor == 1 || arguments[i].bits % divisor == 0) continue;
    throw ArgumentError(
        fmt::format("argument {} '{}' of kernel '{}' must be a multiple of {}, as its text says",
                    i + 1, state.signature.parameters[i].name, state.signature.name, divisor));
  }
}

void check_types(const IrKernel::State& state, Device device, std::span<const Argument> arguments) {
  FunctionState function;
  function.kernel = &state.signature;
  function.device = device;
  if (arguments.size() != state.signature.parameters.size())
    throw_wrong_count(function, arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    static_cast<void>(checked_bits(function, i, arguments[i]));
}

KernelOptions options_of(const IrLaunch& launch) {
  return {.num_warps = launch.num_warps.value_or(4),
          .num_stages = launch.num_stages.value_or(3),
          .num_ctas = launch.num_ctas.value_or(1),
          .chooses_warps = !launch.num_warps && !launch.num_ctas,
          .maxnreg = launch.maxnreg,
          .fp_fusion = launch.fp_fusion,
          .flush_to_zero = launch.flush_to_zero};
}

LaunchPlace place_of(const IrKernel::State& state, const IrLaunch& launch,
                     std::span<const Argument> arguments) {
  const LaunchPlace place{device_of(launch, arguments), launch.interpret || settings().interpret,
                          launch.emulate};
  check_types(state, place.device, arguments);
  check_values(state, arguments);
  check_emulated(state.signature.name, place);
  return place;
}

struct Tiles {
  ir::Kernel kernel;
  PassResults passes = {};
};

// The kernel as this launch compiles it, at stage Tile; as it came where somebody watches it.
Tiles tiles_of(const IrKernel::State& state, std::span<const Argument> arguments,
               const LaunchPlace& place, const KernelOptions& options) {
  check_options(state.signature.name, options);
  Tiles out{ir::clone(state.kernel)};
  specialize_kernel(out.kernel, arguments, Overlaps(arguments), state.specializes_integers);
  check_target(out.kernel, place.target());
  if (!is_watched(place)) out.passes = run_passes(out.kernel, place.target(), options);
  return out;
}

KernelSource source_of(const IrKernel::State& state, const Tiles& tiles,
                       const LaunchPlace& place, const KernelOptions& options) {
  const auto line_text = [&](int file, int line) {
    return file == 0 ? line_of(state.text, line) : std::string_view();
  };
  const KernelSource source =
      emit_source(tiles.kernel, place.target(), options, line_text, tiles.passes.plan);
  return packed_source(tiles.kernel, place_source(source, place), place.target());
}

std::unique_ptr<Specialization> compiled(const IrKernel::State& state, Tiles tiles,
                                         const LaunchPlace& place, const KernelOptions& options) {
  auto made = std::make_unique<Specialization>();
  made->options = options;
  for (std::size_t i = 0; i < state.signature.parameters.size(); ++i) {
    made->sources.push_back({i});
    made->names.push_back(state.signature.parameters[i].name);
  }
  if (place.interpret) {
    made->tiles = std::move(tiles.kernel);
    return made;
  }
  made->is_emulated = place.emulate != nullptr;
  made->function = load_function(source_of(state, tiles, place, options), place.device);
  return made;
}

// What tells the code of two launches apart.
std::string code_key(const ir::Kernel& tiles, const LaunchPlace& place, const KernelOptions& o) {
  return fmt::format("{} {} {} | {}{} {} {} {} {}{} | {}", place.device.name(), place.interpret,
                     place.emulate != nullptr ? place.emulate->name : "-",
                     o.chooses_warps ? "~" : "", o.num_warps, o.num_stages, o.num_ctas,
                     o.maxnreg.value_or(0), o.fp_fusion, o.flush_to_zero, ir::print(tiles));
}

// The long way: specialises, compiles, remembers. Takes the kernel's lock.
const Specialization& make_specialization(IrKernel::State& state, const LaunchKey& key,
                                          const IrLaunch& launch, const LaunchPlace& place,
                                          std::span<const Argument> arguments) {
  const std::lock_guard lock(state.mutex);
  if (const Specialization* found = state.table.find(key)) return *found;
  const KernelOptions options = options_of(launch);
  Tiles tiles = tiles_of(state, arguments, place, options);
  const std::string code = code_key(tiles.kernel, place, options);
  auto found = state.compiled.find(code);
  if (found == state.compiled.end())
    found = state.compiled.emplace(code, compiled(state, std::move(tiles), place, options)).first;
  state.table.add(key, KnownLaunch(state.key_rules, key, place.device, *found->second));
  return *found->second;
}

void run(const IrKernel::State& state, const Specialization& specialization, const IrLaunch& launch,
         std::span<const Argument> arguments) {
  check_grid(state.signature.name, launch.grid);
  if (launch.grid.x == 0 || launch.grid.y == 0 || launch.grid.z == 0) return;
  if (LaunchRecording* const recording = LaunchRecording::current()) [[unlikely]] {
    recording->add(state.signature.name, specialization, launch.grid, arguments);
    if (!recording->runs()) return;
  }
  const Argument* passed[max_slots];
  for (std::size_t i = 0; i < arguments.size(); ++i) passed[i] = &arguments[i];
  run_launch({state.signature.name,
              specialization,
              {passed, arguments.size()},
              launch.grid,
              launch.stream},
             launch.float64);
}

// Compiled code like that of an earlier launch; null when there is none. The interpreter checks
// nothing by itself, so its launches always go the long way.
const Specialization* repeated(const IrKernel::State& state, const IrLaunch& launch,
                               std::span<const Argument> arguments) {
  if (launch.interpret || settings().interpret) return nullptr;
  for (std::size_t i = 0; i < SpecializationTable::recent_count; ++i) {
    const KnownLaunch* const known = state.table.recent(i);
    if (known == nullptr) return nullptr;
    if (!repeats(*known, arguments)) continue;
    const OptionWords options =
        option_words_of(launch, {known->device, false, false, Overlaps(arguments).word()});
    if (!std::equal(options.begin(), options.end(), known->words.begin())) continue;
    if (known->has_tensors || device_of(launch, arguments) == known->device) return known->value;
  }
  return nullptr;
}

}  // namespace

const Specialization& find_specialization(IrKernel::State& state, const IrLaunch& launch,
                                          std::span<const Argument> arguments) {
  const LaunchPlace place = place_of(state, launch, arguments);
  LaunchKey key(state.key_rules);
  for (std::size_t i = 0; i < arguments.size(); ++i) key.add(i, arguments[i]);
  key.finish(
      option_words_of(launch, {place.device, place.interpret, false, Overlaps(arguments).word()}));
  if (const Specialization* found = state.table.find(key)) return *found;
  return make_specialization(state, key, launch, place, arguments);
}

void IrKernel::launch(const IrLaunch& launch, std::span<const Argument> arguments) const {
  State& state = checked(state_);
  const NvtxScope range(state.range);
  if (const Specialization* known = repeated(state, launch, arguments)) [[likely]] {
    check_values(state, arguments);
    return run(state, *known, launch, arguments);
  }
  run(state, find_specialization(state, launch, arguments), launch, arguments);
}

KernelSource IrKernel::source(const IrLaunch& launch, std::span<const Argument> arguments) const {
  const State& state = checked(state_);
  LaunchPlace place = place_of(state, launch, arguments);
  place.interpret = false;
  const KernelOptions options = options_of(launch);
  return source_of(state, tiles_of(state, arguments, place, options), place, options);
}

const std::string& IrKernel::name() const { return checked(state_).signature.name; }

const std::vector<Parameter>& IrKernel::parameters() const {
  return checked(state_).signature.parameters;
}

std::size_t IrKernel::specializations() const {
  const State& state = checked(state_);
  const std::lock_guard lock(state.mutex);
  return state.compiled.size();
}

IrKernel load_ir(std::string_view text, const std::string& file) {
  ir::ParsedKernel parsed = ir::read(text, file);
  set_places(parsed, file);
  return make_kernel(std::move(parsed.kernel), std::string(text));
}

IrKernel load_ir_file(const std::string& file) { return load_ir(read_input(file), file); }

IrKernel load_ir(ir::Kernel kernel, bool specializes_integers) {
  try {
    ir::verify(kernel);
  } catch (const ir::VerificationError& error) {
    throw ArgumentError(error.what());
  }
  return make_kernel(std::move(kernel), {}, specializes_integers);
}

}  // namespace tilewright
