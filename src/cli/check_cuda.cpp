// SPDX-License-Identifier: Apache-2.0
// cli/check_cuda.cpp — the emulation's complaints about a launch become findings.
#include "cli/check_cuda.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

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
#include "codegen/device_lib/emulate/faults.h"
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
    {"has not been waited for", ir::FindingKind::Copy,
     "wait for the copy (__pipeline_wait_prior, cooperative_groups::wait) and let the block meet "
     "at "
     "a barrier before the access"},
    {"without a barrier between", ir::FindingKind::Race, "put {} between the two accesses"},
    {"asynchronous copy", ir::FindingKind::Copy,
     "copy 4, 8 or 16 bytes between addresses that are multiples of as many"},
    {"through a null pointer", ir::FindingKind::OutOfBounds, "give the argument memory"},
    {"divides an integer by zero", ir::FindingKind::DivisionByZero,
     "look at the divisor before the division"},
    {"outside of every tensor", ir::FindingKind::OutOfBounds,
     "compare the index with the size before the access"},
    {"outside of", ir::FindingKind::OutOfBounds,
     "compare the index with the size of the array before the access"},
    {"barrier", ir::FindingKind::Barrier,
     "let all threads of the block reach the same {}, outside of branches"},
    {"__sync", ir::FindingKind::Barrier,
     "let all threads of the block reach the same {}, outside of branches"},
    {"has written it", ir::FindingKind::Unwritten,
     "write shared memory before it is read, with {} between"},
    {"", ir::FindingKind::Race, "put {} between the two accesses"},
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

// The lines that the sentence names, in its order.
std::vector<int> lines_in(std::string_view sentence) {
  std::vector<int> lines;
  constexpr std::string_view word = "line ";
  for (std::size_t at = sentence.find(word); at != std::string_view::npos;
       at = sentence.find(word, at + 1)) {
    int line = 0;
    std::from_chars(sentence.data() + at + word.size(), sentence.data() + sentence.size(), line);
    if (line > 0) lines.push_back(line);
  }
  return lines;
}

struct CudaFinding {
  ir::Finding finding;
  std::vector<int> lines;
};

// The line of an access is the last one that its sentence names, before that of a copy; of two that
// race it is the later one, whichever thread came first.
CudaFinding finding_of(const std::string& path, const std::string& kernel,
                       const CollectedFault& fault, const std::string& barrier) {
  CudaFinding out;
  ir::Finding& finding = out.finding;
  finding.kernel = kernel;
  finding.message = fault.sentence;
  finding.elements = fault.count;
  finding.has_program = false;
  const std::string words = without_names(fault.sentence);
  for (const Reading& reading : readings)
    if (words.find(reading.words) != std::string::npos) {
      finding.kind = reading.kind;
      finding.remedy = fmt::format(fmt::runtime(reading.remedy), barrier);
      break;
    }
  out.lines = lines_in(fault.sentence);
  if (finding.kind == ir::FindingKind::Copy) std::reverse(out.lines.begin(), out.lines.end());
  if (finding.kind == ir::FindingKind::Race) std::sort(out.lines.begin(), out.lines.end());
  const int line = out.lines.empty() ? 0 : out.lines.back();
  const std::string text = read_input(path);
  const std::size_t blanks = line_of(text, line).find_first_not_of(" \t");
  finding.place = {path, line, blanks == std::string::npos ? 1 : static_cast<int>(blanks) + 1};
  return out;
}

}  // namespace

// Two lines race once, whichever came first; and what is read before another thread has written it
// is that race, not memory that nobody writes.
std::vector<ir::Finding> findings_of_emulation(const std::string& path, const std::string& kernel,
                                               const std::vector<CollectedFault>& faults,
                                               const std::string& barrier) {
  std::vector<CudaFinding> all;
  for (const CollectedFault& fault : faults) {
    CudaFinding next = finding_of(path, kernel, fault, barrier);
    const auto same = std::find_if(all.begin(), all.end(), [&](const CudaFinding& other) {
      return other.finding.kind == next.finding.kind && other.lines == next.lines &&
             (next.finding.kind == ir::FindingKind::Race ||
              next.finding.kind == ir::FindingKind::Copy);
    });
    if (same == all.end()) all.push_back(std::move(next));
    else same->finding.elements += next.finding.elements;
  }
  std::vector<ir::Finding> findings;
  for (const CudaFinding& each : all) {
    const bool is_race = std::any_of(all.begin(), all.end(), [&](const CudaFinding& other) {
      return other.finding.kind == ir::FindingKind::Race &&
             std::find(other.lines.begin(), other.lines.end(), each.finding.place.line) !=
                 other.lines.end();
    });
    if (each.finding.kind != ir::FindingKind::Unwritten || !is_race)
      findings.push_back(each.finding);
  }
  return findings;
}

void check_cuda(const CheckVerbOptions& options) {
  if (!options.sizes.empty() || options.bare)
    throw UsageError{"--sizes and --bare go with FILE.py:KERNEL"};
  refuse_cpp(options.path);
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
  const auto blocks = static_cast<std::uint64_t>(grid.x) * grid.y * grid.z;
  CheckReport report{
      call.name(), fmt::format("{} block{} of 1 launch", blocks, blocks == 1 ? "" : "s"), {}};
  explain_crashes(fmt::format("'{}'", call.name()), "a debugger names the place");
  const PollsInterrupts polls;
  std::optional<PrintsAside> aside;
  if (options.json) aside.emplace();
  FaultCollector faults;
  try {
    const std::vector<TwMemory> memory = memory_of(values);
    const LaunchMemoryScope scope(memory);
    static_cast<void>(call.run());
  } catch (const KernelFault& fault) {  // of what is no thread of a block
    faults.add(fault.what());
  }
  report.findings = findings_of_emulation(file.path, call.name(), faults.all(), "__syncthreads");
  aside.reset();
  report_findings(report, options.json);
}

}  // namespace tilewright::cli
