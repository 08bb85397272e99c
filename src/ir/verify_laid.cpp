// SPDX-License-Identifier: Apache-2.0
// ir/verify_laid.cpp — the rules of verify_laid.h.
#include "ir/verify_laid.h"

#include <algorithm>

#include "ir/analysis/memory_order.h"
#include "ir/verify_types.h"

namespace tilewright::ir {
namespace {

class LaidRules {
 public:
  explicit LaidRules(const Kernel& kernel) : kernel_(kernel), order_(kernel) {}

  void check(const Region& region, const Op* sweep) const {
    for (const Op* op : region.ops) {
      const Place place = place_of(*op);
      if (sweep && place == Place::Outside)
        fail_verification(kernel_, op, "rule L1: it cannot stand in a sweep");
      if (!sweep && place == Place::Inside && has_tile(*op))
        fail_verification(kernel_, op,
                          "rule L1: an op on the elements of a tile stands in a sweep");
      if (gives_element(*op))
        fail_verification(kernel_, op, "rule L1: an element of a tile is a scalar by a reduction");
      if (sweep && op->results.empty() && place == Place::Inside)
        check_shape(*op, *sweep, "stores");
      if (sweep && op->kind == OpKind::Reduce) check_shape(*op, *sweep, "reduces");
      if (op->facts().has(Combines)) continue;  // scalars
      for (const Region& inner : op->regions)
        check(inner, op->kind == OpKind::Sweep ? op : nullptr);
      if (op->kind == OpKind::Sweep) check_order(op->regions[0]);
    }
  }

 private:
  enum class Place { Inside, Outside, Either };

  // Where an op on tiles may stand.
  static Place place_of(const Op& op) {
    switch (op.facts().family) {
      case Family::Across:
      case Family::Control:
      case Family::Final:
      case Family::Sync:
        return Place::Outside;
      case Family::Elementwise:
      case Family::Access:
      case Family::Reduction:
        return Place::Inside;
      case Family::Check:  // an assumption is about a scalar
        return op.kind == OpKind::Assume ? Place::Either : Place::Inside;
      case Family::Source:
      case Family::View:
      case Family::Ends:
        break;
    }
    return Place::Either;
  }

  bool has_tile(const Op& op) const {
    const auto is_tile = [&](Value value) { return kernel_.type(value).is_tile(); };
    return std::any_of(op.operands.begin(), op.operands.end(), is_tile) ||
           std::any_of(op.results.begin(), op.results.end(), is_tile);
  }

  // Where a view stands says nothing of when what it sees is read.
  bool gives_element(const Op& op) const {
    return op.facts().is(Family::View) && has_tile(op) && !kernel_.type(op.result()).is_tile() &&
           !kernel_.type(op.result()).is_pointer;
  }

  void check_shape(const Op& op, const Op& sweep, const std::string& what) const {
    const std::vector<std::int64_t> shape = sweep.integers("shape");
    const Type& type = kernel_.type(op.operands[0]);
    const auto sizes = type.shape();
    if (!std::equal(shape.begin(), shape.end(), sizes.begin(), sizes.end()))
      fail_verification(kernel_, &op,
                        "rule L1: what a sweep " + what + " has the shape of the sweep");
  }

  void check_order(const Region& sweep) const {
    std::vector<const Op*> accesses;
    for (const Op* op : sweep.ops) {
      if (!op->facts().has(Reads) && !op->facts().has(Writes)) continue;
      for (const Op* before : accesses) check_pair(*before, *op);
      accesses.push_back(op);
    }
  }

  void check_pair(const Op& before, const Op& op) const {
    if (!order_.must_order(before, op)) return;
    const Value first = before.operands[0], second = op.operands[0];
    if (!order_.is_apart(first, second) && !order_.is_same_place(first, second))
      fail_verification(kernel_, &op,
                        "rule L4: it may meet another element of an access before it in its sweep");
  }

  const Kernel& kernel_;
  const MemoryOrder order_;
};

}  // namespace

void verify_laid(const Kernel& kernel) {
  LaidRules(kernel).check(kernel.body, nullptr);
  verify_buffers(kernel);
  verify_held(kernel);
  verify_tables(kernel);
  verify_shared(kernel);
}

}  // namespace tilewright::ir
