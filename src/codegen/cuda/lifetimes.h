// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/lifetimes.h — from which step to which one an array must be kept.
//
// Steps count by their order, which rises with execution; those inside a loop follow the loop
// itself. An array of a loop's body that is not carried lives from its first use in a round to its
// last; any other array that the loop uses lives as long as the whole loop.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "passes/laid/sweeps.h"

namespace tilewright {

struct Lifetime {
  int first = 0;
  int last = std::numeric_limits<int>::max();

  bool meets(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

class Lifetimes {
 public:
  Lifetimes(const ir::Kernel& kernel, const Sweeps& schedule);

  // Of the array of a Stored value; of one that nothing uses, for ever.
  Lifetime of(ir::Value value) const;
  Lifetime of_buffer(std::size_t buffer) const { return buffers_[buffer]; }

 private:
  int visit(const Steps& steps);  // the order of the last step inside
  int visit(const Step& step);
  int visit_control(const Step& step);
  void use(ir::Value value, int order);
  void use_reads(const Step& at, const std::vector<ir::Value>& values, int order);
  void extend_over_loops();

  const ir::Kernel& kernel_;
  const Sweeps& schedule_;
  std::unordered_map<std::uint32_t, Lifetime> arrays_;  // by storage
  std::vector<Lifetime> buffers_;
  std::vector<Lifetime> loops_;  // outer ones after inner ones; the loop's own step is the first
};

}  // namespace tilewright
