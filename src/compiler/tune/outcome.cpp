// SPDX-License-Identifier: Apache-2.0
// compiler/tune/outcome.cpp — judging configs before they are timed, and saying why none is left.
#include "compiler/tune/outcome.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/units.h"
#include "compiler/triton/tune/config_text.h"

namespace tilewright {
namespace {

// A few spilled registers often cost nothing; hundreds of bytes per thread always do.
constexpr std::size_t much_spilled = 256;

bool is_compiled_for_gpu(const ConfigOutcome& outcome) {
  return outcome.kind != ConfigOutcome::Kind::Skipped && outcome.threads > 0;
}

}  // namespace

void skip_hopeless(std::vector<ConfigOutcome>& configs) {
  for (ConfigOutcome& c : configs)
    if (is_compiled_for_gpu(c) && c.blocks_per_processor == 0)
      c.skip(fmt::format(
          "no block of {} threads with {} registers each and {} of shared memory fits "
          "a multiprocessor",
          c.threads, c.registers, format_bytes(static_cast<std::size_t>(c.shared_bytes))));
  const bool some_fit = std::any_of(configs.begin(), configs.end(), [](const ConfigOutcome& c) {
    return is_compiled_for_gpu(c) && c.local_bytes == 0;
  });
  for (ConfigOutcome& c : configs)
    if (some_fit && is_compiled_for_gpu(c) && c.local_bytes >= much_spilled)
      c.skip(
          fmt::format("{} of registers per thread are spilled to memory, and other configs spill "
                      "nothing",
                      format_bytes(c.local_bytes)));
}

std::string all_failed_text(const TuneReport& report) {
  std::string text =
      fmt::format("none of the {} configs of kernel '{}' can be run on {}:", report.configs.size(),
                  report.kernel, report.device);
  for (const ConfigOutcome& c : report.configs)
    text += fmt::format("\n  {}: {}", config_text(c.config), c.problem);
  return text;
}

}  // namespace tilewright
