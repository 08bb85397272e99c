// SPDX-License-Identifier: Apache-2.0
// bench/suite/record.h — one row of a benchmark as plain data, and all rows of a run with the
// machine they were measured on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/device.h"
#include "tilewright/tensor.h"

namespace tilewright::suite {

enum class Status {
  Ok,
  Wrong,         // ran, but is further from the reference than rounding explains
  Failed,        // threw, died or hung; `reason` says how
  NotAvailable,  // cannot run here: not installed, another dtype or device
  Interrupted,   // stopped by the user; the numbers are of the runs made so far
};
std::string_view name_of(Status status);

struct Evidence;  // explain.h

// Lines of a topic ("bound by") and a sentence.
using Explanation = std::vector<std::pair<std::string, std::string>>;

struct Record {
  std::string op;
  std::string way;
  std::string device;
  std::string dtype;
  Shape shape;
  std::int64_t dim = 0;  // of --dim; 0 where a shape was given
  Status status = Status::Ok;
  std::string reason;  // one sentence, of what is not Ok
  std::string note;
  double seconds = 0;  // the median; 0 when nothing was measured, as below
  double p10 = 0;
  double p90 = 0;
  double min = 0;
  double mean = 0;
  double interval_low = 0;  // 95% interval of the median
  double interval_high = 0;
  int runs = 0;
  int outliers = 0;
  bool is_stable = false;
  std::string clock;         // "device" or "wall"
  double host_seconds = 0;   // of queueing one run; 0 where the host does the work itself
  double graph_seconds = 0;  // of one run in a replayed CUDA graph; 0 where that was not measured
  double first_seconds = 0;  // compiling, loading and the first run
  double rate = 0;           // bytes or FLOPs that the operation needs, per second
  std::string unit;          // of rate: "B/s" or "FLOP/s"
  double percent_of_ceiling = 0;  // 0: the ceiling is not known
  double bytes = 0;               // every input and the output once
  double bytes_moved = 0;         // by this way
  double flops = 0;
  int kernels = 0;
  int lines = 0;
  std::optional<double> error = {};  // empty: nothing was compared
  double tolerance = 0;
  // Where they were asked for: what was found out, and the sentences that explain_all makes of it.
  std::shared_ptr<const Evidence> evidence = {};
  Explanation explanation = {};
  std::string drawing = {};  // SVG of a compiled function: its kernels and what goes between them

  bool is_measured() const { return seconds > 0; }
};

struct Ceilings {
  double bytes_per_second = 0;  // 0: not measured, see `problem`
  double flops_per_second = 0;  // of multiply-adds on vectors; 0: not measured
  std::string problem;
  // Of matrix products, by the name of the operands' type.
  std::vector<std::pair<std::string, double>> matrix = {};

  double flops_for(std::string_view dtype) const {
    for (const auto& [name, rate] : matrix)
      if (name == dtype) return rate;
    return flops_per_second;
  }
};

// How time grows with size: seconds ~ size^exponent.
struct Fit {
  std::string way;
  std::string dtype;
  std::string against;  // "dim" or "elements"
  double exponent = 0;
  int points = 0;
};

struct Report {
  std::string version;
  std::string command;
  std::string date;         // of its start: "2026-11-16 16:30 UTC"
  std::string device;       // "cpu", "cuda:0"
  std::string device_name;  // "NVIDIA H200"
  std::string rivals;       // versions of PyTorch and Triton; empty when none were asked for
  std::string clock_note;   // throttling, clocks; empty when there is nothing to say
  Ceilings ceilings;
  std::vector<Record> records;
  std::vector<Fit> fits;
  bool is_interrupted = false;
};

}  // namespace tilewright::suite
