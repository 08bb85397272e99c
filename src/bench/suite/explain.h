// SPDX-License-Identifier: Apache-2.0
// bench/suite/explain.h — why a way takes the time it takes: its work against the machine's
// ceilings, how its blocks fill the GPU, what the hardware counted, and the usual faults.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/suite/record.h"
#include "compiler/triton/launch_facts.h"
#include "profile/counters.h"

namespace tilewright::suite {

// One bar of the timeline of a run.
struct TimelineEvent {
  std::string lane;  // "host", "GPU stream 7"
  std::string name;
  double start = 0;  // seconds since the run's first event
  double seconds = 0;
};

// What is known of a way besides its times.
struct Evidence {
  std::vector<LaunchFacts> launches;      // of one run
  std::optional<Counters> counters = {};  // of one run
  std::vector<TimelineEvent> timeline = {};
  std::string problem = {};  // why there is nothing; empty otherwise
};

// One run under the profiler; empty where another profile is being taken.
std::vector<TimelineEvent> timeline_of(const std::function<void()>& run);

// Lines of a topic and a sentence, in the order a reader wants them.
Explanation explain(const Record& record, const Evidence& evidence, const Target& target,
                    const Ceilings& ceilings);

// For every record that has evidence, against the report's ceilings.
void explain_all(Report& report, const Target& target);

}  // namespace tilewright::suite
