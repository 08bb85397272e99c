// SPDX-License-Identifier: Apache-2.0
// bench/matrix_ceiling.cpp — the ceiling of matrix products: the widest instruction that the device
// has for a type, again and again.
#include <fmt/format.h>

#include "base/check.h"
#include "base/embedded.h"
#include "bench/ceiling_kernels.h"
#include "bench/ceilings.h"
#include "tilewright/buffer.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

// An operand type as the instructions name it, and how deep a product is.
struct Instruction {
  DType dtype;
  const char* name;
  const char* result;  // of a sum
  int group_depth;     // of wgmma's m64n256
  const char* scales;  // that wgmma takes after its operands
  const char* shape;   // of mma.sync
  int depth;           // of that
};
constexpr Instruction instructions[] = {
    {DType::Float16, "f16", "f32", 16, ", 1, 1, 0, 0", "m16n8k16.row.col.f32.f16.f16.f32", 16},
    {DType::BFloat16, "bf16", "f32", 16, ", 1, 1, 0, 0", "m16n8k16.row.col.f32.bf16.bf16.f32", 16},
    {DType::Float32, "tf32", "f32", 8, ", 1, 1", "m16n8k8.row.col.f32.tf32.tf32.f32", 8},
    {DType::Int8, "s8", "s32", 32, "", "m16n8k32.row.col.s32.s8.s8.s32", 32},
};

const Instruction* instruction_for(DType dtype) {
  for (const Instruction& instruction : instructions)
    if (instruction.dtype == dtype) return &instruction;
  return nullptr;
}

// The definitions that the kernel's text asks for.
std::string definitions(const Instruction& instruction, bool uses_groups) {
  const bool is_integer = instruction.result == std::string_view("s32");
  const char* constraint = is_integer ? "+r" : "+f";
  std::string text = fmt::format("#define TW_RESULT {}\n#define TW_REGISTER(x) \"{}\"(x)\n",
                                 is_integer ? "int" : "float", constraint);
  if (!uses_groups) return text + fmt::format("#define TW_SHAPE \"{}\"\n", instruction.shape);
  std::string places, results;
  for (int i = 0; i < 128; ++i) {
    places += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    results += fmt::format("{}\"{}\"(d[{}])", i == 0 ? "" : ", ", constraint, i);
  }
  return text + fmt::format(
                    "#define TW_WARP_GROUPS\n#define TW_SHAPE \"m64n256k{}.{}.{}.{}\"\n"
                    "#define TW_PLACES \"{}\"\n#define TW_RESULTS {}\n#define TW_SCALES \"{}\"\n",
                    instruction.group_depth, instruction.result, instruction.name, instruction.name,
                    places, results, instruction.scales);
}

Ceiling cuda_matrix(Device device, const Instruction& instruction) {
  const Target& target = device.target();
  const Function f =
      Module::load(matrix_source(target, instruction.dtype), device).function("tw_matrix");
  constexpr int rounds = 500, threads = 256;
  const bool uses_groups = target.has(Feature::Wgmma);
  // Warp groups fill a processor with one block; single warps need more of them.
  const std::int64_t blocks = std::int64_t{uses_groups ? 1 : 2} * target.processors;
  const Buffer out = Buffer::allocate(static_cast<std::size_t>(blocks) * 4, device);
  Ceiling ceiling;
  ceiling.times = benchmark(
      "matrix products", [&] { f[{.grid = blocks, .block = threads}](out.data(), rounds); },
      quick_options(device));
  // Per round: 2 groups with 4 products of 64 x 256, or 8 warps with 4 times 8 of 16 x 8.
  const double products = uses_groups ? 2.0 * 4 * 64 * 256 * instruction.group_depth
                                      : 8.0 * 4 * 8 * 16 * 8 * instruction.depth;
  ceiling.per_second = 2 * products * rounds * static_cast<double>(blocks) / ceiling.times.median;
  return ceiling;
}

bool has_bf16_dot(const Target& target) { return target.has(Feature::Bf16Dot); }

Ceiling cpu_bf16() {
  const Target& target = Target::host();
  const Function f = Module::load(cpu_ceilings(target), Device::cpu()).function("tw_bf16_dot");
  const std::int64_t programs = std::int64_t{16} * target.processors;
  constexpr std::uint64_t steps = 20000;
  const Buffer out = Buffer::allocate(static_cast<std::size_t>(programs) * 4, Device::cpu());
  Ceiling ceiling;
  ceiling.times = benchmark(
      "bf16 products", [&] { f[{.grid = programs}](out.data(), steps); },
      quick_options(Device::cpu()));
  const double per_step = target.has(Feature::Amx) ? 2.0 * 4 * 16 * 16 * 32 : 2.0 * 12 * 32;
  ceiling.per_second =
      per_step * static_cast<double>(steps) * static_cast<double>(programs) / ceiling.times.median;
  return ceiling;
}

Ceiling measured(Device device, DType dtype) {
  const Instruction* instruction = instruction_for(dtype);
  if (device.is_cuda() && instruction) return cuda_matrix(device, *instruction);
  if (device.is_cpu() && dtype == DType::BFloat16 && has_bf16_dot(device.target()))
    return cpu_bf16();
  // Without an instruction of their own, operands are widened to float32.
  if (device.is_cpu() && is_floating(dtype)) return measure_multiply_add(device);
  throw MissingError(
      fmt::format("{} has no instruction for products of {}", device.name(), name_of(dtype)));
}

}  // namespace

KernelSource matrix_source(const Target& target, DType dtype) {
  const Instruction* instruction = instruction_for(dtype);
  TW_CHECK(instruction, "no matrix instruction for {}", name_of(dtype));
  KernelSource source;
  source.language = Language::Cuda;
  source.name = fmt::format("matrix_ceiling_{}", instruction->name);
  source.text = definitions(*instruction, target.has(Feature::Wgmma)) +
                std::string(embedded_file("kernels/matrix_ceiling.cu"));
  source.kernels = {
      {.name = "tw_matrix",
       .parameters = {{.name = "out", .kind = Parameter::Kind::Pointer, .any_pointee = true},
                      {.name = "rounds", .dtype = DType::Int32}}}};
  return source;
}

std::vector<DType> matrix_dtypes(const Target& target) {
  if (!target.is_cuda())
    return has_bf16_dot(target) ? std::vector{DType::BFloat16} : std::vector<DType>{};
  if (!target.has(Feature::MmaTf32) || !target.has(Feature::MmaBf16)) return {};
  std::vector<DType> dtypes;
  for (const Instruction& instruction : instructions) dtypes.push_back(instruction.dtype);
  return dtypes;
}

Ceiling measure_matrix(Device device, DType dtype) {
  try {
    return measured(device, dtype);
  } catch (const EnvironmentError& error) {
    Ceiling ceiling;
    ceiling.problem = error.what();
    return ceiling;
  }
}

}  // namespace tilewright
