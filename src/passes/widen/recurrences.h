// SPDX-License-Identifier: Apache-2.0
// passes/widen/recurrences.h — loops that are the same when two of their rounds are made as one:
// what they carry are sums of what a round computes, largest elements of it, and sums that are
// scaled down as the largest element grows (the softmax of attention).
//
//   sum = sum + f(i)                        sum, matrix product or sum along the axis
//   largest' = max(largest, max(x(i)) * c)  of the axis; c is not negative
//   sum' = sum * exp2(largest - largest') + f(exp2(x(i) - largest'))
//
// Each row of a sum shrinks by what its own elements are scaled by.
//
// The last one holds for any two rounds as one since exp2(a - b) * exp2(b - c) is exp2(a - c), if
// only b is not -inf: a row without any number after its first round has sums that are NaN from
// then on (-inf - -inf), while two rounds as one may have found a number in the second.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/kernel.h"
#include "passes/widen/sides.h"

namespace tilewright {

class Recurrences {
 public:
  Recurrences(const ir::Kernel& kernel, ir::Op& loop)
      : kernel_(kernel), loop_(loop), body_(loop.regions[0]), sides_(kernel, loop) {}

  // Whether every value that the loop carries is one of these.
  bool hold();

  Sides& sides() { return sides_; }
  // Whether the first round has to be made alone: the largest element may be -inf before it.
  bool begins_alone() const { return begins_alone_; }
  // Scalars that must not be negative.
  const std::vector<ir::Value>& factors() const { return factors_; }
  // Products whose result becomes twice as wide.
  std::vector<const ir::Op*> wide_products();

 private:
  struct Largest {
    std::size_t number = 0;
    ir::Value before, next;
  };

  // The number of the largest element that scales a value; none: it is not scaled.
  using Softmax = std::optional<std::size_t>;

  bool is_plain() const;
  bool finds_scalars() const;
  bool finds_largest(std::size_t number);
  const ir::Op* largest_of(ir::Value value);
  bool scales_down(const Largest& largest);
  bool is_sum(std::size_t number);
  bool is_scaled_sum(std::size_t number);
  bool is_part(ir::Value value, Softmax of);
  bool is_shrunk(ir::Value value, ir::Value before, Softmax of) const;
  bool sums_up(const ir::Op& reduce) const;
  bool is_depth_product(const ir::Op& dot, Softmax of);
  Softmax softmax_of(const std::map<std::uint32_t, std::size_t>& by, ir::Value value) const;
  bool is_alike_along(ir::Value value, int axis) const;
  bool only_by(ir::Value value, const std::set<const ir::Op*>& users) const;
  ir::Value through_views(ir::Value value) const;
  const ir::Op* inside(ir::Value value) const;

  const ir::Kernel& kernel_;
  ir::Op& loop_;
  const ir::Region& body_;
  Sides sides_;
  std::vector<ir::Value> factors_;
  bool begins_alone_ = false;
  // By value, the number of the largest element.
  std::map<std::uint32_t, std::size_t> shrinks_;  // exp2(largest - largest')
  std::map<std::uint32_t, std::size_t> scaled_;   // exp2(x - largest'), and narrower
  std::set<const ir::Op*> of_scaled_;             // what sums these up
};

}  // namespace tilewright
