// SPDX-License-Identifier: Apache-2.0
// bench/ceilings.cpp — the two ceilings of a device, through the runtime like any other kernel.
#include "bench/ceilings.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/cpu_entry.h"
#include "base/embedded.h"
#include "bench/ceiling_kernels.h"
#include "tilewright/buffer.h"
#include "tilewright/error.h"
#include "tilewright/module.h"

namespace tilewright {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

Parameter scalar(const char* name, DType dtype) { return {.name = name, .dtype = dtype}; }
Parameter pointer(const char* name) {
  return {.name = name, .kind = Parameter::Kind::Pointer, .any_pointee = true};
}

KernelSource cuda_source() {
  KernelSource source;
  source.language = Language::Cuda;
  source.name = "ceilings";
  source.text = std::string(embedded_file("kernels/ceilings.cu"));
  source.kernels = {{.name = "tw_multiply_add",
                     .parameters = {pointer("out"), scalar("factor", DType::Float32),
                                    scalar("rounds", DType::Int32)}}};
  return source;
}

// Several times the last cache, but never more than a fraction of the memory that is free.
std::size_t copy_size(Device device) {
  const Target& target = device.target();
  const std::size_t cache = static_cast<std::size_t>(std::max(target.l2_bytes, target.l3_bytes));
  const std::size_t wanted =
      device.is_cuda() ? 1024 * mib : std::clamp(4 * cache, 64 * mib, 512 * mib);
  const std::size_t possible = device.memory().free / 8;
  return std::max(std::min(wanted, possible) / mib, std::size_t{1}) * mib;
}

void fill_with_ones(const Buffer& buffer) {
  const float one = 1;
  fill_async({buffer}, buffer.size(), std::as_bytes(std::span(&one, 1)),
             current_stream(buffer.device()));
}

BenchResult time_cuda_copy(const Buffer& to, const Buffer& from) {
  const Stream stream = current_stream(to.device());
  return benchmark(
      "copy", [&] { copy_async({to}, {from}, from.size(), stream); }, quick_options(to.device()));
}

BenchResult time_cpu_copy(const Buffer& to, const Buffer& from) {
  constexpr std::uint64_t part = 256 << 10;
  const Function copy =
      Module::load(cpu_ceilings(Target::host()), Device::cpu()).function("tw_copy");
  const std::int64_t parts = static_cast<std::int64_t>(from.size() / part);
  return benchmark(
      "copy", [&] { copy[{.grid = parts}](from.data(), to.data(), part); },
      quick_options(Device::cpu()));
}

Ceiling copy_ceiling(Device device, std::size_t bytes) {
  const Buffer from = Buffer::allocate(bytes, device);
  const Buffer to = Buffer::allocate(bytes, device);
  fill_with_ones(from);
  fill_with_ones(to);
  Ceiling ceiling;
  ceiling.times = device.is_cuda() ? time_cuda_copy(to, from) : time_cpu_copy(to, from);
  ceiling.per_second = 2 * static_cast<double>(bytes) / ceiling.times.median;
  return ceiling;
}

// So near to 1 that the values stay finite and no number becomes tiny and slow.
constexpr float factor = 0.999f;

Ceiling cpu_multiply_add() {
  const Target& target = Target::host();
  const Function f = Module::load(cpu_ceilings(target), Device::cpu()).function("tw_multiply_add");
  // Many programs, so that cores that are busy with something else do fewer of them.
  const std::int64_t programs = std::int64_t{16} * target.processors;
  constexpr std::uint64_t steps = 20000;
  const Buffer out =
      Buffer::allocate(static_cast<std::size_t>(programs) * sizeof(float), Device::cpu());
  Ceiling ceiling;
  ceiling.times = benchmark(
      "multiply-add", [&] { f[{.grid = programs}](out.data(), factor, steps); },
      quick_options(Device::cpu()));
  const double per_program = 2.0 * 12 * (target.vector_bits / 32) * static_cast<double>(steps);
  ceiling.per_second = per_program * static_cast<double>(programs) / ceiling.times.median;
  return ceiling;
}

Ceiling cuda_multiply_add(Device device) {
  const Function f = Module::load(cuda_source(), device).function("tw_multiply_add");
  constexpr int threads = 256;
  constexpr int rounds = 1000;
  const std::int64_t blocks = std::int64_t{8} * device.target().processors;
  const Buffer out = Buffer::allocate(static_cast<std::size_t>(blocks) * sizeof(float), device);
  Ceiling ceiling;
  ceiling.times = benchmark(
      "multiply-add", [&] { f[{.grid = blocks, .block = threads}](out.data(), factor, rounds); },
      quick_options(device));
  ceiling.per_second =
      2.0 * 8 * 16 * rounds * threads * static_cast<double>(blocks) / ceiling.times.median;
  return ceiling;
}

Ceiling measured_copy(Device device, std::size_t bytes) {
  // The CPU kernel works in parts of 256 KiB.
  const std::size_t size =
      bytes > 0 ? std::max(bytes / mib, std::size_t{1}) * mib : copy_size(device);
  return copy_ceiling(device, size);
}

Ceiling measured_multiply_add(Device device) {
  return device.is_cuda() ? cuda_multiply_add(device) : cpu_multiply_add();
}

// A missing compiler or too little memory costs the figure, not the rest of the report.
template <class Measure>
Ceiling or_problem(Measure&& measure) {
  try {
    return measure();
  } catch (const EnvironmentError& error) {
    Ceiling ceiling;
    ceiling.problem = error.what();
    return ceiling;
  }
}

}  // namespace

BenchOptions quick_options(Device device) {
  return {.device = device,
          .flush_cache = false,
          .relative_interval = 0.02,
          .min_seconds = 0.1,
          .max_seconds = 0.4};
}

KernelSource cpu_ceilings(const Target& target) {
  KernelSource source;
  source.language = Language::Cpp;
  source.name = "ceilings";
  source.text = fmt::format("#define TW_VECTOR_BYTES {}\n{}{}", target.vector_bits / 8,
                            cpu_entry_text, embedded_file("kernels/ceilings.cpp.in"));
  source.options = {"-ffp-contract=fast"};
  source.kernels = {{.name = "tw_copy",
                     .parameters = {pointer("from"), pointer("to"), scalar("part", DType::UInt64)}},
                    {.name = "tw_multiply_add",
                     .parameters = {pointer("out"), scalar("factor", DType::Float32),
                                    scalar("steps", DType::UInt64)}}};
  if (target.has(Feature::Bf16Dot))
    source.kernels.push_back(
        {.name = "tw_bf16_dot", .parameters = {pointer("out"), scalar("steps", DType::UInt64)}});
  return source;
}

Ceiling measure_copy(Device device, std::size_t bytes) {
  return or_problem([&] { return measured_copy(device, bytes); });
}

Ceiling measure_multiply_add(Device device) {
  return or_problem([&] { return measured_multiply_add(device); });
}

double measure_copy_bandwidth(Device device, std::size_t bytes) {
  return measured_copy(device, bytes).per_second;
}

double measure_multiply_add_rate(Device device) { return measured_multiply_add(device).per_second; }

}  // namespace tilewright
