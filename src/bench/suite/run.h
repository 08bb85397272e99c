// SPDX-License-Identifier: Apache-2.0
// bench/suite/run.h — runs the ways of an operation at one size: prepares, checks, measures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/suite/contest.h"
#include "bench/suite/ways.h"

namespace tilewright::suite {

struct RunOptions {
  std::optional<int> warmups = {};
  std::optional<int> trials = {};
  Clock clock = Clock::Automatic;
  double seconds = 1.0;  // of measuring, per way
  bool explain = false;
  bool timeline = false;
  std::function<bool()> is_interrupted = [] { return false; };
  std::function<void(const std::string&)> show = [](const std::string&) {};
};

// Something that takes part besides the registered ways: a user's kernel.
struct Entry {
  std::string name;
  std::function<Prepared(const Problem&)> prepare;
  std::string why_not = {};  // not empty: it is only named in the table
  int lines = 0;
  int roundings = 4;
};
Entry entry_of(const Way& way, const Shape& shape, DType dtype, Device device);

// What others (rivals) add to the contest at one problem.
using MoreContenders = std::function<std::vector<Contender>(const Problem&)>;

struct Case {
  const Operation* operation;
  Shape shape;
  std::int64_t dim = 0;
  DType dtype = DType::Float32;
  Device device;
};

// Runs for about `seconds`. Throws Interrupted when nothing was measured before the user stopped
// it.
Turn take_turn(const Prepared& prepared, BenchOptions bench, double seconds,
               const std::function<bool()>& is_interrupted);

// Says of a measured way whose data fits the caches of a CPU that a copy of memory is no ceiling.
void note_cache(Record& record, Device device);

// How a contender is looked at after its time was taken; empty where nothing was asked for.
std::function<Evidence()> look_at(const Prepared& prepared, Device device,
                                  const RunOptions& options);

// Has the contender looked at, where it was measured; what cannot be found out is said.
void add_evidence(Contender& contender);

// One record per entry, in their order, then those of `more`. A way that fails has a record that
// says why. Returns false (with what there is so far) when interrupted.
bool run_case(const Case& which, const std::vector<Entry>& entries, const Ceilings& ceilings,
              const RunOptions& options, const MoreContenders& more, std::vector<Record>& records);

// The copy bandwidth of the device and, where they are asked for, its rates of multiply-adds and of
// products of matrices.
struct CeilingsWanted {
  bool multiply_adds = false;
  std::vector<DType> matrix = {};
};
Ceilings measure_ceilings(Device device, const CeilingsWanted& wanted);

// Measured again after the ways: a machine that was busy before may show now what it can do. The
// higher figures count, and the percentages of the records are made anew.
void raise_ceilings(Report& report, const Ceilings& again, bool is_arithmetic);

}  // namespace tilewright::suite
