// SPDX-License-Identifier: Apache-2.0
// passes/widen/sides.h — which tiles of two rounds lie side by side, as one tile twice as wide.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/kernel.h"
#include "passes/widen/advances.h"

namespace tilewright {

struct Side {
  enum class Kind {
    Same,   // of all rounds
    Wide,   // the next round's lies behind this one's along `axis`
    Other,  // depends on what was summed up, or has no such form
  };
  Kind kind = Kind::Other;
  int axis = -1;

  bool is_wide(int along) const { return kind == Kind::Wide && axis == along; }
};

class Sides {
 public:
  Sides(const ir::Kernel& kernel, const ir::Op& loop)
      : kernel_(kernel), advances_(kernel, loop), loop_(loop) {}

  Side of(ir::Value tile);
  // Tiles of which a round takes its own and gives others are the same for both: the next maximum.
  void take_as_same(ir::Value tile) {
    same_.insert(tile.id);
    known_.clear();
  }
  // Whether a tile of all rounds is alike along the axis, so that it has a form twice as wide.
  bool extends(ir::Value tile, int axis);
  bool is_linear(ir::Value tile) const { return linear(tile).has_value(); }
  const Advances& advances() const { return advances_; }

 private:
  // An integer tile that is a scalar and so much more for each index.
  struct Linear {
    Polynomial advance;
    std::vector<std::int64_t> by_axis;
  };
  std::optional<Linear> linear(ir::Value tile) const;
  std::optional<Linear> linear(const ir::Op& op) const;

  Side find(ir::Value tile);
  Side of_linear(const Linear& form, const ir::Type& type) const;
  Side of_affine(const ir::Op& op) const;
  Side of_bounds(const ir::Op& op) const;
  Side of_dot(const ir::Op& op);
  Side of_elements(const ir::Op& op);

  const ir::Kernel& kernel_;
  const Advances advances_;
  const ir::Op& loop_;
  std::map<std::uint32_t, Side> known_;
  std::set<std::uint32_t> same_;
};

// The operand's axis of a view that an axis of its result comes from; -1: none.
int axis_before(const ir::Kernel& kernel, const ir::Op& view, int axis);
// And the other way.
int axis_behind(const ir::Kernel& kernel, const ir::Op& view, int axis);

}  // namespace tilewright
