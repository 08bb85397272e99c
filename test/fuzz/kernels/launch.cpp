// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/launch.cpp — memory between guards, a launch, and the first element that differs.
#include "launch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cpu/emit.h"
#include "codegen/cuda/emit.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/tile.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "runtime/plan.h"
#include "tilewright/tensor.h"

namespace tilewright::fuzz {
namespace {

constexpr std::int64_t guard_bytes = 512;
constexpr unsigned char guard_byte = 0xA5;

std::vector<unsigned char> image_of(const Memory& memory, unsigned seed) {
  const std::size_t width = size_of(memory.dtype);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(memory.count) * width);
  if (memory.fill == Memory::Fill::Zero) return bytes;
  std::mt19937 random(seed);
  std::vector<std::int64_t> order(static_cast<std::size_t>(memory.period));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  for (std::int64_t i = 0; i < memory.count; ++i) {
    std::int64_t value = static_cast<std::int64_t>(random() % 101);
    if (is_floating(memory.dtype) || is_signed(memory.dtype)) value -= 50;
    if (memory.fill == Memory::Fill::Permutation)
      value = order[static_cast<std::size_t>(i % memory.period)];
    ir::Element element;
    if (is_floating(memory.dtype)) element.f = static_cast<double>(value);
    else element.i = value;
    ir::write_element(memory.dtype, element, &bytes[static_cast<std::size_t>(i) * width]);
  }
  return bytes;
}

bool is_same(DType dtype, const unsigned char* a, const unsigned char* b) {
  if (!is_floating(dtype)) return std::memcmp(a, b, size_of(dtype)) == 0;
  const double x = ir::read_element(dtype, a).f;
  const double y = ir::read_element(dtype, b).f;
  return x == y || (std::isnan(x) && std::isnan(y));
}

std::string element_text(DType dtype, const unsigned char* at) {
  const ir::Element element = ir::read_element(dtype, at);
  return is_floating(dtype) ? fmt::format("{}", element.f) : fmt::format("{}", element.i);
}

Target target_of(Place place) {
  return place == Place::Cpu ? Target::host() : Target::parse("sm_90a");
}

}  // namespace

// The arguments of a launch over fresh memory.
class Launch::Arguments {
 public:
  Arguments(const Program& program, const Images& images, std::int64_t guard)
      : program_(program), guard_(guard) {
    for (const auto& image : images) add_memory(image);
    for (const PointerArgument& pointer : program.pointers) add(pointer);
    for (const IntegerArgument& integer : program.integers) {
      arguments_.emplace_back(integer.value);
      if (integer.is_constant) arguments_.back().name = integer.name;
    }
  }

  const std::vector<TritonArgument>& arguments() const { return arguments_; }

  const TritonArgument& named(const std::string& name) const {
    for (std::size_t i = 0; i < program_.pointers.size(); ++i)
      if (program_.pointers[i].name == name) return arguments_[i];
    for (std::size_t i = 0; i < program_.integers.size(); ++i)
      if (program_.integers[i].name == name) return arguments_[program_.pointers.size() + i];
    TW_UNREACHABLE("no argument '{}'", name);
  }

  Images contents(std::string* complaint) const {
    Images images;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const auto bytes = memory_[i].to_vector<std::uint8_t>();
      const auto is_guard = [](unsigned char byte) { return byte == guard_byte; };
      if (!std::all_of(bytes.begin(), bytes.begin() + guard_, is_guard) ||
          !std::all_of(bytes.end() - guard_, bytes.end(), is_guard))
        *complaint = fmt::format("buffer{}: written outside of it", i);
      images.emplace_back(bytes.begin() + guard_, bytes.end() - guard_);
    }
    return images;
  }

 private:
  void add_memory(const std::vector<unsigned char>& image) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(guard_), guard_byte);
    bytes.insert(bytes.end(), image.begin(), image.end());
    bytes.insert(bytes.end(), static_cast<std::size_t>(guard_), guard_byte);
    memory_.push_back(tensor(bytes, Device::cpu()));
    // Alignment is part of what a kernel is compiled for: it must be the same at every place.
    TW_CHECK(reinterpret_cast<std::uintptr_t>(memory_.back().data()) % 64 == 0,
             "memory is aligned to less");
  }
  void add(const PointerArgument& pointer) {
    const Memory& memory = program_.memory[pointer.memory];
    const auto offset = guard_ / static_cast<std::int64_t>(size_of(memory.dtype)) + pointer.start;
    views_.push_back(std::make_unique<Tensor>(memory_[pointer.memory].buffer(), memory.dtype,
                                              Shape{memory.count - pointer.start}, Shape{1},
                                              offset));
    arguments_.emplace_back(*views_.back());
  }

  const Program& program_;
  std::int64_t guard_;
  std::vector<Tensor> memory_;
  std::vector<std::unique_ptr<Tensor>> views_;
  std::vector<TritonArgument> arguments_;
};

Launch::Launch(const Program& program)
    : program_(program), kernel_(load_triton_source(source_of(program), program.name)) {
  for (std::size_t i = 0; i < program.memory.size(); ++i)
    initial_.push_back(image_of(program.memory[i], static_cast<unsigned>(i + 1)));
  const Arguments arguments(program, initial_, 0);
  TritonLaunch launch{.grid = program.grid};
  if (program.warps > 0) launch.num_warps = program.warps;
  launch.interpret = true;
  kernel_.launch(launch, arguments.arguments());
  // The result is that of the kernel as it was written: the passes before stage Tile, which that
  // launch has been through, are on trial too.
  TritonKernel::State& state = *kernel_.state();
  const ir::Kernel written =
      lower_to_source(state.loader, state.function, specialization().signature,
                      target_of(Place::Cpu), specialization().options)
          .lowered.kernel;
  expected_ = images_of(written, written);
}

const TritonSpecialization& Launch::specialization() const {
  const TritonKernel::State& state = *kernel_.state();
  TW_CHECK(state.compiled.size() == 1, "one specialisation");
  return *state.compiled.begin()->second;
}

TileKernel Launch::lower(Place place) {
  TritonKernel::State& state = *kernel_.state();
  return lower_to_tiles(state.loader, state.function, specialization().signature, target_of(place),
                        specialization().options);
}

KernelSource Launch::emit(Place place, const TileKernel& tiles) {
  KernelSource source =
      emit_source(kernel_.state()->loader, tiles, target_of(place), specialization().options);
  // As on a GPU with one multiprocessor, on which a few programs are enough to share a block.
  if (place == Place::Emulated)
    for (LaunchPlan& plan : source.kernels.front().variants)
      for (LaunchStep& step : plan.steps)
        for (PlanExpression* sizes : {step.grid, step.block})
          for (int axis = 0; axis < 3; ++axis) sizes[axis] = simplified(sizes[axis], 1);
  return source;
}

std::string Launch::run_laid() {
  const auto text_of_cpu = [](const ir::Kernel& laid) { return emit_cpu(laid).text; };
  const ir::Kernel on_host = laid_for_cpu(lower(Place::Cpu).lowered.kernel);
  const std::string on_cpu = run_sweeps(on_host, on_host, text_of_cpu);
  if (!on_cpu.empty()) return "sweeps of the CPU: " + on_cpu;
  const std::string in_loops = run_sweeps(final_for_cpu(on_host), on_host, text_of_cpu);
  if (!in_loops.empty()) return "loops of the CPU: " + in_loops;
  const Target cuda = Target::parse("sm_90a");
  const CudaEmitOptions options{.target = cuda,
                                .num_warps = program_.warps > 0 ? program_.warps : 4};
  const auto text_of_cuda = [&](const ir::Kernel& kernel) {
    return emit_cuda(kernel, options).text;
  };
  const ir::Kernel on_device = laid_for_cuda(lower(Place::Emulated).lowered.kernel, options);
  const std::string on_cuda = run_sweeps(on_device, on_device, text_of_cuda);
  if (!on_cuda.empty()) return "sweeps of CUDA: " + on_cuda;
  const std::string in_threads =
      run_sweeps(final_for_cuda(on_device, options), on_device, text_of_cuda);
  return in_threads.empty() ? "" : "threads of CUDA: " + in_threads;
}

// The kernel that was read back is interpreted, and emitted as the one it was. Its arguments are
// those of `laid`, in that order: at stage Final they may have names that C++ leaves them.
std::string Launch::run_sweeps(const ir::Kernel& kernel, const ir::Kernel& laid,
                               const EmitText& emit_text) const {
  ir::verify(kernel);
  const std::string text = ir::print(kernel);
  const ir::Kernel read = ir::parse(text);
  ir::verify(read);
  TW_CHECK(ir::print(read) == text, "the text of a kernel changes when it is read back");
  if (emit_text(kernel) != emit_text(read))
    return "what is emitted changes when the kernel is read back";
  return difference(images_of(read, laid));
}

// What is in memory once the kernel was interpreted. Its arguments have the names that `named` has.
Launch::Images Launch::images_of(const ir::Kernel& kernel, const ir::Kernel& named) const {
  Images images = initial_;
  std::vector<ir::InterpretBuffer> buffers;
  for (std::size_t m = 0; m < images.size(); ++m)
    buffers.push_back(
        {.name = fmt::format("buffer{}", m), .data = images[m].data(), .bytes = images[m].size()});
  std::vector<ir::InterpretArgument> arguments;
  TW_CHECK(kernel.arguments.size() == named.arguments.size(), "arguments get lost on the way");
  for (const ir::KernelArgument& argument : named.arguments)
    arguments.push_back(interpreted(named.name_of(argument.value)));
  ir::InterpretOptions options;
  options.grid[0] = program_.grid;
  ir::interpret(kernel, buffers, arguments, options);
  return images;
}

ir::InterpretArgument Launch::interpreted(const std::string& name) const {
  for (const PointerArgument& pointer : program_.pointers)
    if (pointer.name == name)
      return ir::InterpretPointer{static_cast<int>(pointer.memory),
                                  pointer.start * static_cast<std::int64_t>(size_of(
                                                      program_.memory[pointer.memory].dtype))};
  for (const IntegerArgument& integer : program_.integers)
    if (integer.name == name) return std::int64_t{integer.value};
  TW_UNREACHABLE("no argument '{}'", name);
}

std::string Launch::run(const Function& function) {
  const Arguments arguments(program_, initial_, guard_bytes);
  std::vector<Argument> values;
  for (const ArgumentSource& from : specialization().sources)
    values.push_back(arguments.named(kernel_.state()->parameters[from.parameter].name).value);
  function.launch({.grid = Dim3(program_.grid)}, values);
  std::string complaint;
  const std::string wrong = difference(arguments.contents(&complaint));
  return wrong.empty() ? complaint : wrong;
}

std::string Launch::difference(const Images& got) const {
  for (std::size_t m = 0; m < got.size(); ++m) {
    const DType dtype = program_.memory[m].dtype;
    const std::size_t width = size_of(dtype);
    std::size_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t i = got[m].size() / width; i-- > 0;)
      if (!is_same(dtype, &got[m][i * width], &expected_[m][i * width])) first = i, ++wrong;
    if (wrong > 0)
      return fmt::format("buffer{}: {} of {} elements differ, first [{}]: {} instead of {}", m,
                         wrong, got[m].size() / width, first,
                         element_text(dtype, &got[m][first * width]),
                         element_text(dtype, &expected_[m][first * width]));
  }
  return "";
}

bool can_merge(const KernelSource& a, const KernelSource& b) {
  return a.options == b.options &&
         std::all_of(a.headers.begin(), a.headers.end(), [&](const NamedFile& of_a) {
           return std::all_of(b.headers.begin(), b.headers.end(), [&](const NamedFile& of_b) {
             return of_a.name != of_b.name || of_a.text == of_b.text;
           });
         });
}

KernelSource merge(const std::vector<KernelSource>& sources) {
  KernelSource out = sources.front();
  out.text.clear();
  out.kernels.clear();
  out.headers.clear();
  std::string bodies;
  for (const KernelSource& source : sources) {
    // A header comes after those that stand before it in any of the sources.
    std::size_t at = 0;
    for (const NamedFile& header : source.headers) {
      const auto found = std::find_if(out.headers.begin(), out.headers.end(),
                                      [&](const NamedFile& h) { return h.name == header.name; });
      if (found != out.headers.end()) {
        at = static_cast<std::size_t>(found - out.headers.begin()) + 1;
        continue;
      }
      out.headers.insert(out.headers.begin() + static_cast<std::ptrdiff_t>(at), header);
      ++at;
    }
    std::string_view text = source.text;
    while (text.starts_with("#include") || text.starts_with("//"))
      text.remove_prefix(text.find('\n') + 1);
    bodies += text;
    out.kernels.insert(out.kernels.end(), source.kernels.begin(), source.kernels.end());
  }
  for (const NamedFile& header : out.headers)
    out.text += fmt::format("#include \"{}\"\n", header.name);
  out.text += bodies;
  return out;
}

}  // namespace tilewright::fuzz
