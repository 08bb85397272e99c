// SPDX-License-Identifier: Apache-2.0
// compiler/check_launch.h — launches that are checked (ir/check), and their findings.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/launch_watch.h"
#include "ir/check/finding.h"
#include "ir/check/shadow.h"
#include "ir/check/strides.h"

namespace tilewright {

class CheckedLaunches final : public LaunchWatch {
 public:
  // Memory of tensors that have no values yet; of the launches that follow.
  void set_unwritten(std::vector<ir::UnwrittenRange> ranges) { unwritten_ = std::move(ranges); }

  // The tensors that the launches that follow are given.
  void set_tensors(std::vector<ir::TensorLayout> tensors) { tensors_ = std::move(tensors); }

  // Findings are kept also when the launch throws, which it does only for an interruption.
  void run(const ir::Kernel& kernel, std::span<const ir::InterpretBuffer> buffers,
           std::span<const ir::InterpretArgument> arguments, ir::InterpretOptions options) override;

  // Of all launches so far, each once.
  const std::vector<ir::Finding>& findings() const { return findings_; }
  std::int64_t launches() const { return launches_; }
  std::int64_t programs() const { return programs_; }
  // The largest tile of the kernels, along any dimension.
  std::int64_t largest_dimension() const { return largest_dimension_; }

 private:
  std::vector<ir::UnwrittenRange> unwritten_;
  std::vector<ir::TensorLayout> tensors_;
  std::vector<ir::Finding> findings_;
  std::int64_t launches_ = 0;
  std::int64_t programs_ = 0;
  std::int64_t largest_dimension_ = 1;
};

// The one of a program that runs with TILEWRIGHT_CHECK: after each launch it writes what it has
// found so far to a file of that folder.
LaunchWatch* program_check();

}  // namespace tilewright
