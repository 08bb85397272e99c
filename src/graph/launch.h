// SPDX-License-Identifier: Apache-2.0
// graph/launch.h — runs a formula over tensors: finds or makes the kernel for the class of the walk
// and launches it.
#pragma once

#include <cstddef>
#include <optional>
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

const IrKernel& group_kernel(const Formula& formula, const WalkClass& walk, DeviceKind device,
                             int lists = 1);

// `operands` are leaves and outputs in the order of the walk's. Allocates nothing when the kernel
// is there. Nothing runs where no output has elements: the caller sees to that.
// Without `num_warps` the kernel has what suits it.
void run_group(const Formula& formula, const Walk& walk, std::span<const Argument> operands,
               std::span<const Argument> numbers, std::optional<int> num_warps = {});
// The same over several lists of operands at once (lower_lists): `operands` has them one after the
// other, `sizes` the number of elements of each.
void run_lists(const Formula& formula, const Walk& walk, std::span<const Argument> operands,
               std::span<const Argument> numbers, std::span<const std::int64_t> sizes);
inline constexpr int most_lists = 8;
// Is the kernel for this class of walks there?
bool has_group_kernel(const Formula& formula, const WalkClass& walk, DeviceKind device,
                      int lists = 1);

// A number as a kernel takes it.
Argument number_argument(DType dtype, const Scalar& number);
// Of an operation that computes with operands of this dtype: bools are what is not 0.
Argument operand_argument(DType operand_dtype, const Scalar& number);
// Back.
double number_value(const Argument& number);

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

 private:
  std::vector<LaunchedGroup>* const before_;
};
// For kernels that are not groups: products, tables. Null without an observer.
std::vector<LaunchedGroup>* observed_launches();

// What this thread has done for operations besides launches, calls of libraries and copies: whoever
// replays launches makes such steps anew.
void note_foreign_call();
std::size_t foreign_calls();

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
