// SPDX-License-Identifier: Apache-2.0
// conformance/run.cpp — buffers between guards, the launch at each place, and the judgement.
#include "run.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "../../machines/wide_machine.h"
#include "base/check.h"
#include "codegen/cpu/emit.h"
#include "codegen/cuda/emit.h"
#include "compare.h"
#include "compiler/faults.h"
#include "compiler/triton/triton_state.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tilewright/device.h"
#include "tilewright/error.h"

namespace tilewright::conformance {
namespace {

// Under the sanitizers the loops of CPU kernels stay scalar: long sums add one term after another.
#ifdef TW_SANITIZE
constexpr double serial_ulps = 16;
#else
constexpr double serial_ulps = 0;
#endif

constexpr std::int64_t guard_bytes = 512;
constexpr unsigned char guard_byte = 0xA5;

// The contents of every buffer of a case, in the order of its arguments.
using Images = std::vector<std::vector<unsigned char>>;

Images initial_images(const Case& one) {
  Images images;
  for (std::size_t i = 0; i < one.arguments.size(); ++i)
    if (const auto* spec = std::get_if<BufferSpec>(&one.arguments[i]))
      images.push_back(
          fill_bytes(*spec, spec->seed != 0 ? spec->seed : static_cast<unsigned>(i + 1)));
  return images;
}

// The arguments of a launch on a device: each buffer in memory of its own, with guards around it.
class Arguments {
 public:
  Arguments(const Case& one, const Images& images, Device device, std::int64_t guard)
      : one_(one), guard_(guard) {
    for (const auto& image : images) add_memory(image, device);
    for (const CaseArgument& argument : one.arguments)
      std::visit([&](const auto& value) { add(value); }, argument);
  }

  const std::vector<TritonArgument>& arguments() const { return arguments_; }

  // What the launch left; says which guards it wrote over.
  Images contents(std::vector<std::string>& complaints) const {
    Images images;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const auto bytes = memory_[i].cpu().to_vector<std::uint8_t>();
      const auto is_guard = [](unsigned char byte) { return byte == guard_byte; };
      if (!std::all_of(bytes.begin(), bytes.begin() + guard_, is_guard))
        complaints.push_back(fmt::format("buffer {}: written before its first element", i));
      if (!std::all_of(bytes.end() - guard_, bytes.end(), is_guard))
        complaints.push_back(fmt::format("buffer {}: written after its last element", i));
      images.emplace_back(bytes.begin() + guard_, bytes.end() - guard_);
    }
    return images;
  }

 private:
  void add_memory(const std::vector<unsigned char>& image, Device device) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(guard_), guard_byte);
    bytes.insert(bytes.end(), image.begin(), image.end());
    bytes.insert(bytes.end(), static_cast<std::size_t>(guard_), guard_byte);
    memory_.push_back(tensor(bytes, device));
    // Alignment is part of what a kernel is compiled for: it must be the same at every place.
    TW_CHECK(reinterpret_cast<std::uintptr_t>(memory_.back().data()) % 64 == 0,
             "memory is aligned to less");
  }
  void add_view(std::size_t memory, const BufferSpec& spec, std::int64_t start) {
    const auto offset = guard_ / static_cast<std::int64_t>(size_of(spec.dtype)) + start;
    views_.push_back(std::make_unique<Tensor>(memory_[memory].buffer(), spec.dtype,
                                              Shape{spec.count - start}, Shape{1}, offset));
    arguments_.emplace_back(*views_.back());
  }

  void add(std::int64_t value) { arguments_.emplace_back(value); }
  void add(double value) { arguments_.emplace_back(value); }
  void add(const BufferSpec& spec) { add_view(next_memory_++, spec, spec.start); }
  void add(const SameBuffer& same) {
    std::size_t memory = 0;
    for (std::size_t i = 0; i < same.argument; ++i)
      memory += std::holds_alternative<BufferSpec>(one_.arguments[i]) ? 1 : 0;
    add_view(memory, std::get<BufferSpec>(one_.arguments[same.argument]), same.start);
  }
  void add(const Constant& constant) {
    arguments_.push_back(
        std::visit([](const auto& value) { return TritonArgument(value); }, constant.value));
    arguments_.back().name = constant.name;
  }

  const Case& one_;
  std::int64_t guard_;
  std::vector<Tensor> memory_;
  std::vector<std::unique_ptr<Tensor>> views_;
  std::size_t next_memory_ = 0;
  std::vector<TritonArgument> arguments_;
};

// One case being run: the kernel, its buffers and what the interpreter makes of them.
class CaseRun {
 public:
  CaseRun(const Family& family, const Case& one)
      : one_(one),
        kernel_(load_triton_source("import triton\nimport triton.language as tl\n"
                                   "from triton.language.extra import libdevice\n" +
                                       family.source,
                                   one.kernel)),
        initial_(initial_images(one)) {
    plain_ = interpret(false);
    if (!one.exact) reference_ = interpret(true);
  }

  std::vector<std::string> at(Place place) {
    switch (place) {
      case Place::Interpreter:
        break;
      case Place::Cpu:
        launch(Device::cpu());
        break;
      case Place::Cuda:
        launch(Device::cuda());
        break;
      case Place::Emulated:
        emulate(Target::parse("sm_90a"));
        break;
      case Place::Wide:
        emulate(wide_machine());
        interpret_sweeps(laid_for_cuda(tiles_for(wide_machine()).lowered.kernel,
                                       {.target = wide_machine(), .num_warps = one_.num_warps}));
        break;
      case Place::Sm80:
      case Place::Sm90a:
        compile_only(Target::parse(place_name(place)));
        break;
      case Place::Laid:
        run_sweeps_of_cpu();
        run_sweeps_of_cuda();
        break;
    }
    return complaints_;
  }

 private:
  TritonLaunch options() const { return {.grid = one_.grid, .num_warps = one_.num_warps}; }

  Images interpret(bool float64) {
    const Arguments arguments(one_, initial_, Device::cpu(), 0);
    TritonLaunch launch = options();
    launch.interpret = true;
    launch.float64 = float64;
    kernel_.launch(launch, arguments.arguments());
    return arguments.contents(complaints_);
  }

  void launch(Device device) {
    const Arguments arguments(one_, initial_, device, guard_bytes);
    kernel_.launch(options(), arguments.arguments());
    judge(arguments);
  }

  // For the same specialisation that the interpreter was given.
  TileKernel tiles_for(const Target& target) {
    TritonKernel::State& state = *kernel_.state();
    TW_CHECK(state.compiled.size() == 1, "one specialisation");
    specialization_ = state.compiled.begin()->second.get();
    return lower_to_tiles(state.loader, state.function, specialization_->signature, target,
                          specialization_->options);
  }

  KernelSource source_for(const Target& target) {
    const TileKernel tiles = tiles_for(target);
    return emit_source(kernel_.state()->loader, tiles, target, specialization_->options);
  }

  // A kernel of stage Laid that was printed and read back is interpreted, and emitted as the one it
  // was.
  void run_sweeps_of_cpu() {
    const ir::Kernel laid = laid_for_cpu(tiles_for(Target::host()).lowered.kernel);
    ir::Kernel read = read_back(laid);
    expect_same_text(emit_cpu(laid).text, emit_cpu(read).text);
    interpret_sweeps(std::move(read));
    // Its loops, too.
    const ir::Kernel loops = final_for_cpu(laid);
    ir::Kernel read_loops = read_back(loops);
    expect_same_text(emit_cpu(loops).text, emit_cpu(read_loops).text);
    interpret_sweeps(std::move(read_loops));
  }

  void run_sweeps_of_cuda() {
    const Target target = Target::parse("sm_90a");
    const CudaEmitOptions options{.target = target, .num_warps = one_.num_warps};
    const ir::Kernel laid = laid_for_cuda(tiles_for(target).lowered.kernel, options);
    ir::Kernel read = read_back(laid);
    expect_same_text(emit_cuda(laid, options).text, emit_cuda(read, options).text);
    interpret_sweeps(std::move(read));
    // The program of one thread, too.
    ir::Kernel read_program = read_back(final_for_cuda(laid, options));
    expect_same_text(emit_cuda(laid, options).text, emit_cuda(read_program, options).text);
    interpret_sweeps(std::move(read_program));
  }

  ir::Kernel read_back(const ir::Kernel& laid) {
    const std::string text = ir::print(laid);
    ir::Kernel read = ir::parse(text);
    ir::verify(read);
    if (ir::print(read) != text) complaints_.emplace_back("the text changes when it is read back");
    return read;
  }

  void expect_same_text(const std::string& before, const std::string& after) {
    if (before != after)
      complaints_.emplace_back("what is emitted changes when the kernel is read back");
  }

  // In place of the kernel that the specialisation has for the interpreter.
  void interpret_sweeps(ir::Kernel read) {
    specialization_->tiles = std::move(read);
    const Arguments arguments(one_, initial_, Device::cpu(), guard_bytes);
    TritonLaunch launch = options();
    launch.interpret = true;
    kernel_.launch(launch, arguments.arguments());
    judge(arguments);
  }

  void emulate(const Target& target) {
    const KernelSource source = source_for(target);
    const Module module = Module::load(emulate_source(source), Device::cpu());
    const Arguments arguments(one_, initial_, Device::cpu(), guard_bytes);
    std::vector<Argument> values;
    for (const ArgumentSource& from : specialization_->sources)
      values.push_back(argument_of(arguments.arguments(), from.parameter));
    module.function(source.kernels.front().name).launch({.grid = one_.grid}, values);
    judge(arguments);
  }

  Argument argument_of(const std::vector<TritonArgument>& arguments, std::size_t parameter) const {
    std::size_t position = 0;
    const std::string& name = kernel_.state()->parameters[parameter].name;
    for (const TritonArgument& argument : arguments) {
      if (argument.name == name || (argument.name.empty() && position == parameter))
        return argument.value;
      position += argument.name.empty() ? 1 : 0;
    }
    throw InternalError(fmt::format("no argument for '{}'", name));
  }

  void compile_only(const Target& target) {
    const Binary binary = compile(source_for(target), target);
    for (const std::string& fault : faults_in_log(binary.log)) complaints_.push_back(fault);
    for (const auto& kernel : resources_of(binary))
      if (!one_.may_spill && kernel.spill_store_bytes + kernel.spill_load_bytes > 0)
        complaints_.push_back(fmt::format("{} registers and {} bytes spilled", kernel.registers,
                                          kernel.spill_store_bytes));
  }

  void judge(const Arguments& arguments) {
    const Images got = arguments.contents(complaints_);
    std::size_t memory = 0;
    for (const CaseArgument& argument : one_.arguments) {
      const auto* spec = std::get_if<BufferSpec>(&argument);
      if (spec == nullptr) continue;
      const Judged judged{*spec, initial_[memory], plain_[memory],
                          one_.exact ? Bytes() : Bytes(reference_[memory])};
      const std::string what =
          difference(judged, got[memory], one_.ulps + serial_ulps, one_.magnitude);
      if (!what.empty()) complaints_.push_back(fmt::format("buffer {}: {}", memory, what));
      ++memory;
    }
  }

  const Case& one_;
  TritonKernel kernel_;
  Images initial_;
  Images plain_;
  Images reference_;
  TritonSpecialization* specialization_ = nullptr;
  std::vector<std::string> complaints_;
};

}  // namespace

std::string place_name(Place place) {
  constexpr const char* names[] = {"interpreter", "cpu",    "emulated", "cuda",
                                   "sm_80",       "sm_90a", "laid",     "wide"};
  return names[static_cast<std::size_t>(place)];
}

std::string why_not(Place place) {
  if (place == Place::Cuda && cuda_device_count() == 0) return why_no_cuda();
  if ((place == Place::Sm80 || place == Place::Sm90a) && cuda::nvrtc_path().empty())
    return "NVRTC is not on this machine";
  return {};
}

std::vector<std::string> run_case(const Family& family, const Case& one, Place place) {
  try {
    return CaseRun(family, one).at(place);
  } catch (const Error& error) {
    return {error.what()};
  }
}

}  // namespace tilewright::conformance
