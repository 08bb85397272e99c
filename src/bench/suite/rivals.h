// SPDX-License-Identifier: Apache-2.0
// bench/suite/rivals.h — PyTorch, torch.compile and Triton as contenders, in the user's own Python.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/suite/contest.h"
#include "bench/suite/run.h"

namespace tilewright::suite {

struct RivalOptions {
  std::string python = "python3";
  double prepare_seconds = 300;  // torch.compile is slow the first time
  double measure_seconds = 60;   // beyond what was asked for
  Clock clock = Clock::Automatic;
  std::optional<int> warmups = {};
  std::optional<int> trials = {};
  std::function<void(const std::string&)> show = [](const std::string&) {};
  std::function<bool()> is_interrupted = [] { return false; };
};

// The helper process and what it has prepared. A rival whose process dies or hangs gets a record
// that says so; the process is started again for the others.
class Rivals {
 public:
  explicit Rivals(RivalOptions options);
  ~Rivals();

  std::vector<Contender> contenders(const Problem& problem, std::int64_t dim);

  // A phase of the MLP (mlp.h): PyTorch, and torch.compile in its modes. `like` has all of a record
  // but the way.
  std::vector<Contender> mlp_contenders(const Record& like, int steps);

  // A Python function on tensors from files: torch.nn.functional.gelu, or any expression over torch
  // and F that can be called.
  struct Function {
    std::string expression;
    std::vector<std::pair<std::string, std::string>> inputs;  // .npy file, dtype
    std::vector<std::string> outputs;                         // files for what it returns
  };
  // It has run once and written its outputs where the record is Ok.
  Contender contender(const Function& function, Record record);

  // "PyTorch 2.11.0, Triton 3.6.0", or why there are none.
  std::string versions() const;

  struct Team;

 private:
  std::shared_ptr<Team> team_;
};

}  // namespace tilewright::suite
