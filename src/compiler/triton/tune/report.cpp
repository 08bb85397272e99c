// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/report.cpp — all configs of a report together.
#include "compiler/triton/tune/report.h"

#include <fmt/format.h>

#include "compiler/triton/tune/config_text.h"

namespace tilewright {

void skip_hopeless(std::vector<ConfigOutcome>& configs) {
  std::vector<TrialOutcome*> trials;
  for (ConfigOutcome& config : configs) trials.push_back(&config);
  skip_hopeless(std::span<TrialOutcome* const>(trials));
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
