// SPDX-License-Identifier: Apache-2.0
// profile/counters.h — what a GPU's hardware counted while a function ran, through CUPTI's range
// profiler.
//
// Counters do not all fit into the hardware at once: the function is run again for every group of
// them, so it must do the same work each time. Drivers let only administrators read counters
// unless they are told otherwise; `problem` then says so, and nothing else changes.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/device.h"

namespace tilewright {

struct Counters {
  std::string problem;  // why there are none; empty otherwise
  double dram_bytes_read = 0;
  double dram_bytes_written = 0;
  double l2_hit_percent = 0;           // of the sectors that were looked for in the L2 cache
  double tensor_percent = 0;           // of the time in which the matrix units worked
  double occupancy_percent = 0;        // resident warps, of those that a processor can hold
  double sectors_per_load = 0;         // of 32 bytes, per load of a warp; 0: there were none
  double sectors_per_store = 0;        //
  double threads_per_instruction = 0;  // of 32
  double conflict_percent = 0;         // of shared memory's turns that bank conflicts added
  // What warps spent their time on, in percent of it, largest first.
  std::vector<std::pair<std::string, double>> stalls = {};
};

// Runs it once to warm up, then once per group of counters, and waits for the device.
Counters read_counters(const std::function<void()>& run, Device device);

// The same as lines for people: "DRAM" and "1.00 GiB read, 1.00 GiB written", ...
std::vector<std::pair<std::string, std::string>> counter_lines(const Counters& counters);

// The usual faults that counters show, one sentence each: scattered accesses, divergence, bank
// conflicts.
std::vector<std::string> faults_in_counters(const Counters& counters);

// The metrics that are read, for a test that asks CUPTI whether it knows them.
std::vector<std::string> counter_metrics();

}  // namespace tilewright
