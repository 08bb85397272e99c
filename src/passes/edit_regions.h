// SPDX-License-Identifier: Apache-2.0
// passes/edit_regions.h — ops put beside others, and loops that carry one value more.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/kernel.h"

namespace tilewright {

// Whether the op, if there is one, is directly in the region.
bool stands_in(const ir::Region& region, const ir::Op* op);

// The ops of `made` go into the region: at its begin, before the op that ends it, or beside one.
void put_first(ir::Region& region, const ir::Region& made);
void put_last(ir::Region& region, const ir::Region& made);
void put_before(ir::Region& region, const ir::Op& op, const ir::Region& made);
void put_behind(ir::Region& region, const ir::Op& op, const ir::Region& made);

// The loop carries one value more: what it is in the body. What the body yields for it is left to
// the caller.
ir::Value carry(ir::Kernel& kernel, ir::Op& loop, ir::Value initial, const std::string& name);

// `rewrite(op, before, behind)` is asked about each op of the region in turn, and may make ops that
// go before and behind it.
template <class Rewrite>
void rewrite_ops(ir::Region& region, const Rewrite& rewrite) {
  std::vector<ir::Op*> out;
  for (ir::Op* op : region.ops) {
    ir::Region before, behind;
    rewrite(*op, before, behind);
    out.insert(out.end(), before.ops.begin(), before.ops.end());
    out.push_back(op);
    out.insert(out.end(), behind.ops.begin(), behind.ops.end());
  }
  region.ops = std::move(out);
}

}  // namespace tilewright
