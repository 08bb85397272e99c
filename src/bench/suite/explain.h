// SPDX-License-Identifier: Apache-2.0
// bench/suite/explain.h — why a way takes the time it takes: its work against the machine's
// ceilings, how its blocks fill the GPU, what the hardware counted, and the usual faults.
#pragma once

#include <optional>
#include <vector>

#include "bench/suite/record.h"
#include "compiler/launch_facts.h"
#include "profile/counters.h"

namespace tilewright::suite {

// What is known of a way besides its times.
struct Evidence {
  std::vector<LaunchFacts> launches;      // of one run
  std::optional<Counters> counters = {};  // of one run
  std::string problem = {};               // why there is nothing; empty otherwise
};

// Lines of a topic and a sentence, in the order a reader wants them.
Explanation explain(const Record& record, const Evidence& evidence, const Target& target,
                    const Ceilings& ceilings);

// For every record that has evidence, against the report's ceilings.
void explain_all(Report& report, const Target& target);

}  // namespace tilewright::suite
