// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/trials.h — the configs of a tuning as code that is ready to run.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "compiler/triton/resolve.h"
#include "compiler/triton/tune/report.h"

namespace tilewright {

struct Trial {
  KernelDraft draft;
  ResolvedLaunch resolved;
  std::string code;          // a hash of its source; empty when there is none
  std::exception_ptr error;  // why it cannot be run
};

// One trial per config, in their order. Sources are drafted one after the other under the kernel's
// lock, while up to `threads` others compile. What fails gets its outcome skipped with the reason;
// what `is_over` left out has no code.
std::vector<Trial> make_trials(const LaunchRequest& request, std::vector<ConfigOutcome>& configs,
                               int threads, const std::function<void(std::size_t)>& progress,
                               const std::function<bool()>& is_over);

}  // namespace tilewright
