// SPDX-License-Identifier: Apache-2.0
// passes/laid/scan_plan.h — which bits of a layout a scan along an axis goes over, so that it can
// be made in registers: by each thread over its own elements, then by lanes, then by warps.
//
// Along the axis the bits must come in this order: `inner` registers (a thread's consecutive
// elements), lanes, warps, `outer` registers. Registers of neither kind belong to other lines.
//   tensor<64x64>, axis 0, rows in vectors of four, two warps:
//   register 1 2 | 64 128 256 512, lane 4 .. 32 1024, warp 2048
//   => inner 0b111100, lanes 0b10000, warps 0b1, outer 0
#pragma once

#include <cstdint>
#include <optional>

#include "layout/layout.h"

namespace tilewright {

struct ScanPlan {
  int inner = 0;  // bits of the register's number
  int outer = 0;
  int lanes = 0;  // bits of the lane's number
  int warps = 0;
  int log_registers = 0;

  // Values that a thread exchanges with others: one per stretch of inner registers.
  int exchanged() const;
  // Values in shared memory through which warps meet; 0 when they need not.
  std::int64_t slots(int all_warps, int all_lanes) const;
};

// None when the layout deals the axis out in another order.
std::optional<ScanPlan> plan_scan(const Layout& layout, LogSizes sizes, int axis);

// The same layout with the bits of the axis dealt out anew among the places that they have: the
// lowest to registers from `first_register` on, then to lanes, then to warps.
Layout with_axis_in_registers(const Layout& layout, LogSizes sizes, int axis, int first_register);

}  // namespace tilewright
