// SPDX-License-Identifier: Apache-2.0
// layout/convert.h — how threads that hold a tile in one layout get the elements that another
// layout (of a view of the tile) asks of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "layout/index_map.h"
#include "layout/layout.h"

namespace tilewright {

struct Conversion {
  enum class Kind : std::uint8_t {
    Registers,  // every thread has what it needs: register r of the result is `source[r]`
    Shared,     // elements move between threads: through shared memory
  };
  Kind kind = Kind::Shared;
  std::vector<std::uint32_t> source;
};

// Lanes whose numbers differ in bit `lane` exchange registers whose numbers differ in bit
// `register_bit`: the one with the bit gives those without it, and the other way.
struct LaneSwap {
  int lane = 0;
  int register_bit = 0;
  friend bool operator==(const LaneSwap&, const LaneSwap&) = default;
};
// The layout after exchanges.
Layout swapped(const Layout& layout, const std::vector<LaneSwap>& swaps);
// After which exchanges every thread has what `to` asks of it; none where that takes more.
std::optional<std::vector<LaneSwap>> plan_swaps(const Layout& from, const Layout& to);

// `to` is the layout of the result; element i of the result is element view(i) of the operand,
// which is held in layout `from`.
Conversion plan_conversion(const Layout& from, const Layout& to, const IndexMap& view);

}  // namespace tilewright
