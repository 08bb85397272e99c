// SPDX-License-Identifier: Apache-2.0
// passes/widen/advances.h — by how much the scalars of a loop grow from one round to the next.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "ir/kernel.h"
#include "passes/roles/polynomial.h"

namespace tilewright {

class Advances {
 public:
  Advances(const ir::Kernel& kernel, const ir::Op& loop);

  // Elements, for a pointer. None where it is not the same in all rounds.
  std::optional<Polynomial> of(ir::Value scalar) const;
  bool is_inside(const ir::Op* op) const { return op && inside_.contains(op); }
  bool is_carried(ir::Value value) const {
    return !kernel_.maker(value) && number_of(value).has_value();
  }
  // The number of a carried value among those of the loop.
  std::optional<std::size_t> number_of(ir::Value value) const;

 private:
  std::optional<Polynomial> find(ir::Value scalar) const;
  std::optional<Polynomial> of_carried(std::size_t number) const;
  std::optional<Polynomial> of_op(const ir::Op& op) const;
  bool keeps_advance(const ir::Op& op) const;

  const ir::Kernel& kernel_;
  const ir::Region& body_;
  const ir::Op& loop_;
  std::set<const ir::Op*> inside_;
  mutable std::map<std::uint32_t, std::optional<Polynomial>> known_;
};

bool are_equal(const Polynomial& a, const Polynomial& b);

}  // namespace tilewright
