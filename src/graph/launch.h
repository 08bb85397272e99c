// SPDX-License-Identifier: Apache-2.0
// graph/launch.h — runs a formula over tensors: finds or makes the kernel for the class of the walk
// and launches it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "graph/formula.h"
#include "graph/layout.h"
#include "tilewright/ir.h"
#include "tilewright/ops.h"

namespace tilewright::graph {

// Made for one class of walks, never changed and never removed while its formula lives.
struct GroupKernel {
  std::uint64_t head = 0;
  std::uint64_t access = 0;
  IrKernel kernel;
  GroupKernel* next = nullptr;
};

const IrKernel& group_kernel(const Formula& formula, const Walk& walk, DeviceKind device);

// `operands` are leaves and outputs in the order of the walk's. Allocates nothing when the kernel
// is there. Nothing runs where no output has elements: the caller sees to that.
void run_group(const Formula& formula, const Walk& walk, std::span<const Argument> operands,
               std::span<const Argument> numbers);

// A number as a kernel takes it.
Argument number_argument(DType dtype, const Scalar& number);

// How many kernels were made by all formulas of the process.
std::size_t group_kernels_made();

// What a launch was, for those who measure.
struct LaunchedGroup {
  std::string kernel;
  std::int64_t programs = 0;
  double operations = 0;  // of all elements
  double bytes_read = 0;
  double bytes_written = 0;
};
// Adds this thread's launches to the list while it lives.
class LaunchObserver {
 public:
  explicit LaunchObserver(std::vector<LaunchedGroup>& list);
  ~LaunchObserver();
  LaunchObserver(const LaunchObserver&) = delete;
  LaunchObserver& operator=(const LaunchObserver&) = delete;
};
// For kernels that are not groups: products, tables. Null without an observer.
std::vector<LaunchedGroup>* observed_launches();

// For tests: kernels on tensors of the CPU run as the CUDA text of a target, emulated.
class EmulatedGroups {
 public:
  explicit EmulatedGroups(const Target& target);
  ~EmulatedGroups();
  EmulatedGroups(const EmulatedGroups&) = delete;
  EmulatedGroups& operator=(const EmulatedGroups&) = delete;
};
const Target* emulated_target();

}  // namespace tilewright::graph
