// SPDX-License-Identifier: Apache-2.0
// compiler/tune/outcome.cpp — judging candidates before they are timed.
#include "compiler/tune/outcome.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/units.h"

namespace tilewright {
namespace {

// A few spilled registers often cost nothing; hundreds of bytes per thread always do.
constexpr std::size_t much_spilled = 256;

bool is_compiled_for_gpu(const TrialOutcome& outcome) {
  return outcome.kind != TrialOutcome::Kind::Skipped && outcome.threads > 0;
}

}  // namespace

void skip_hopeless(std::span<TrialOutcome* const> trials) {
  for (TrialOutcome* t : trials)
    if (is_compiled_for_gpu(*t) && t->blocks_per_processor == 0)
      t->skip(fmt::format(
          "no block of {} threads with {} registers each and {} of shared memory fits "
          "a multiprocessor",
          t->threads, t->registers, format_bytes(static_cast<std::size_t>(t->shared_bytes))));
  const bool some_fit = std::any_of(trials.begin(), trials.end(), [](const TrialOutcome* t) {
    return is_compiled_for_gpu(*t) && t->local_bytes == 0;
  });
  for (TrialOutcome* t : trials)
    if (some_fit && is_compiled_for_gpu(*t) && t->local_bytes >= much_spilled)
      t->skip(
          fmt::format("{} of registers per thread are spilled to memory, and other configs spill "
                      "nothing",
                      format_bytes(t->local_bytes)));
}

}  // namespace tilewright
