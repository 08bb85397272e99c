// SPDX-License-Identifier: Apache-2.0
// frontend/python/config_reader.h — what decorators and launches say, as plain data: jit options,
// configs, keys, heuristics, grids.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "frontend/python/decorators.h"
#include "frontend/python/evaluate.h"

namespace tilewright::python {

struct JitOptions {
  std::vector<std::string> do_not_specialize;  // names; positions are translated
  std::vector<std::string> do_not_specialize_on_alignment;
  bool noinline = false;
  bool debug = false;
  bool has_repr = false;
  bool has_launch_metadata = false;
};

struct Autotune {
  std::vector<ConfigValue> configs;
  std::vector<std::string> key;
  std::vector<std::string> reset_to_zero;
  std::vector<std::string> restore_value;
  const Node* prune = nullptr;  // of prune_configs_by: the list is read unpruned
  Moment prune_moment = {};
};

struct Heuristic {
  std::string name;  // of the parameter it sets
  Value function;    // takes the dict of arguments
};

// Each throws SyntaxOrTypeError at the place of what cannot be read.
JitOptions read_jit_options(Evaluator& evaluator, const DecoratedFunction& function);
Autotune read_autotune(Evaluator& evaluator, const Decorator& decorator);
// Its key alone, which may be readable where the configs are not.
std::vector<std::string> read_autotune_key(Evaluator& evaluator, const Decorator& decorator);
std::vector<Heuristic> read_heuristics(Evaluator& evaluator, const Decorator& decorator);

// Runs the heuristics in order on `arguments`, which each of them sees with the results of those
// before.
void apply_heuristics(Evaluator& evaluator, const std::vector<Heuristic>& heuristics,
                      DictValue& arguments);

// A grid: a tuple, an int, or a function of the dict of meta-parameters. Absent dimensions are 1.
std::array<std::int64_t, 3> read_grid(Evaluator& evaluator, const Value& grid,
                                      const DictValue& meta);

}  // namespace tilewright::python
