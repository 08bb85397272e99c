// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_scans.h — scans: of tiles whose elements stay in registers
// (thread_scans.cpp), and of longer ones through shared memory (thread_shared_scans.cpp).
#pragma once

#include <string>
#include <vector>

#include "codegen/lower/thread_reductions.h"

namespace tilewright {

class ThreadScans : private ThreadElements {
 public:
  explicit ThreadScans(ThreadState& state) : ThreadElements(state) {}

  void scan(const Step& step);

 private:
  using Reduction = ThreadReductions::Reduction;
  struct ScanShape;
  struct Stretch;

  Reduction begin_scan(const ir::Op& op, const ScanPlan& plan);

  // ---- Through shared memory
  void scan_shared(const Step& step);
  ScanShape scan_shape(const ir::Op& op) const;
  Reduction begin_running(const ir::Op& op, const char* name, const std::string& type);
  void shared_lines(const Step& step, const ScanShape& shape);
  void own_lines(const Step& step, const ScanShape& shape);
  void scan_stretch(const Step& step, const ScanShape& shape, const Stretch& stretch);
  void add_first(const Stretch& stretch, const std::vector<ir::Value>& values);
  std::vector<ir::Value> added(const Reduction& to, const std::vector<ir::Value>& values);
  void set_all(const Reduction& to, const std::vector<ir::Value>& values);
};

}  // namespace tilewright
