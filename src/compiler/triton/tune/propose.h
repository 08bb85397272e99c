// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/propose.h — configs for a kernel that has no list.
//
// Constants that the launch does not give are filled with powers of two where that cannot change
// what the kernel computes: those that the grid divides by, or that a loop of the kernel steps by.
// With matrix products, tiles and stages that fit them; on CUDA also numbers of warps.
#pragma once

#include <string>
#include <vector>

#include "compiler/triton/resolve.h"

namespace tilewright {

// `grid` is the text of the grid; empty where it is that of the file's own launch. Takes the
// kernel's lock. Throws ArgumentError that names a constant that must be given.
std::vector<python::ConfigValue> propose_configs(const LaunchRequest& request,
                                                 const std::string& grid);

// The choice itself: `sizes` are the names of free constants, in the order of the parameters.
struct ProposalFacts {
  std::vector<std::string> sizes;
  bool has_dot = false;
  bool is_cuda = false;
};
std::vector<python::ConfigValue> propose_configs(const ProposalFacts& facts);

}  // namespace tilewright
