// SPDX-License-Identifier: Apache-2.0
// cli/check_cuda.cpp — the emulation's complaint about a launch becomes a finding.
#include "cli/check_cuda.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/input_file.h"
#include "base/interrupt.h"
#include "base/settings.h"
#include "cli/check_report.h"
#include "cli/crash_hint.h"
#include "cli/cuda_call.h"
#include "cli/prints_aside.h"
#include "cli/symbolic_sizes.h"
#include "runtime/cpu/launch_memory.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

struct Reading {
  std::string_view words;  // in the emulation's sentence
  ir::FindingKind kind;
  std::string_view remedy;
};

// The first that fits.
constexpr Reading readings[] = {
    {"without a barrier between", ir::FindingKind::Race,
     "put __syncthreads between the two accesses"},
    {"outside of every tensor", ir::FindingKind::OutOfBounds,
     "compare the index with the size before the access"},
    {"outside of", ir::FindingKind::OutOfBounds,
     "compare the index with the size of the array before the access"},
    {"barrier", ir::FindingKind::Barrier,
     "let all threads of the block reach the same __syncthreads, outside of branches"},
    {"__sync", ir::FindingKind::Barrier,
     "let all threads of the block reach the same __syncthreads, outside of branches"},
    {"has written it", ir::FindingKind::Unwritten,
     "write shared memory before it is read, with __syncthreads between"},
    {"", ir::FindingKind::Race, "put __syncthreads between the two accesses"},
};

// Without names, which may be any words: kernel 'copy', 'barrier[3]'.
std::string without_names(std::string_view sentence) {
  std::string text;
  bool is_name = false;
  for (const char c : sentence) {
    if (c == '\'') is_name = !is_name;
    else if (!is_name) text += c;
  }
  return text;
}

// The last line that the sentence names, which is that of the access.
int line_in(std::string_view sentence) {
  const std::size_t at = sentence.rfind("at line ");
  if (at == std::string_view::npos) return 0;
  int line = 0;
  std::from_chars(sentence.data() + at + 8, sentence.data() + sentence.size(), line);
  return line;
}

ir::Finding finding_of(const CudaFile& file, const std::string& kernel,
                       const std::string& sentence) {
  ir::Finding finding;
  finding.kernel = kernel;
  const int line = line_in(sentence);
  const std::string text = read_input(file.path);
  const std::size_t blanks = line_of(text, line).find_first_not_of(" \t");
  finding.place = {file.path, line, blanks == std::string::npos ? 1 : static_cast<int>(blanks) + 1};
  finding.message = sentence;
  finding.has_program = false;
  const std::string words = without_names(sentence);
  for (const Reading& reading : readings)
    if (words.find(reading.words) != std::string::npos) {
      finding.kind = reading.kind;
      finding.remedy = reading.remedy;
      break;
    }
  return finding;
}

std::vector<TwMemory> memory_of(const std::vector<NamedValue>& values) {
  std::vector<TwMemory> memory;
  for (const NamedValue& value : values)
    if (const Tensor* const tensor = value.tensor())
      memory.push_back(
          {.name = value.name.c_str(),
           .address = reinterpret_cast<std::uintptr_t>(tensor->data()),
           .bytes = static_cast<std::size_t>(tensor->numel()) * size_of(tensor->dtype())});
  return memory;
}

}  // namespace

void check_cuda(const CheckVerbOptions& options) {
  if (!options.sizes.empty() || options.bare)
    throw UsageError{"--sizes and --bare go with FILE.py:KERNEL"};
  Settings checked = settings();
  checked.emulate_check = true;
  const SettingsOverride checks(std::move(checked));
  const CudaFile file = read_cuda_file(options.path);
  refuse_sweeps(options.arguments, "tilewright check");
  CudaCall call(file, Device::cpu());
  if (!call.is_kernel())
    throw UsageError{fmt::format(
        "'{}' is a function of the host; tilewright check takes a __global__ kernel and its "
        "arguments",
        options.path)};
  const std::vector<NamedValue> values =
      values_for(options.arguments, call.name(), call.parameters(),
                 {.device = Device::cpu(), .seed = options.seed});
  const auto with_numbers = [&](const std::string& text) {
    return grid_with_sizes(text, options.arguments, call.parameters());
  };
  call.bind(values, {with_numbers(options.grid), with_numbers(options.block),
                     static_cast<std::size_t>(options.shared_bytes)});
  const Dim3 grid = call.config().grid;
  CheckReport report{
      call.name(), fmt::format("the {} blocks of 1 launch", grid.x * grid.y * grid.z), {}};
  const CrashHint hint(fmt::format("'{}'", call.name()), "through a null pointer");
  const PollsInterrupts polls;
  std::optional<PrintsAside> aside;
  if (options.json) aside.emplace();
  try {
    const std::vector<TwMemory> memory = memory_of(values);
    const LaunchMemoryScope scope(memory);
    static_cast<void>(call.run());
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    report.findings.push_back(finding_of(file, call.name(), error.what()));
  }
  aside.reset();
  report_findings(report, options.json);
}

}  // namespace tilewright::cli
