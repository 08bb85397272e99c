// SPDX-License-Identifier: Apache-2.0
// passes/roles/polynomial.h — integer scalars as sums of products of what they are computed from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ir/builder.h"

namespace tilewright {

// Factors, by number and in order, with what the product is multiplied by. Index arithmetic is
// taken not to overflow.
class Polynomial {
 public:
  using Factors = std::vector<std::uint32_t>;

  static Polynomial number(std::int64_t value);
  static Polynomial of(ir::Value value);
  // Through sums, products and casts down to what is neither.
  static Polynomial expand(const ir::Kernel& kernel, ir::Value value);

  Polynomial plus(const Polynomial& other, std::int64_t times = 1) const;
  Polynomial times(const Polynomial& other) const;
  // What `product`, a single term, is multiplied with, without it; the rest.
  struct Parts;
  Parts split_by(const Polynomial& product) const;

  std::optional<std::int64_t> constant() const;
  const std::map<Factors, std::int64_t>& terms() const { return terms_; }
  ir::Value build(ir::Builder& build,
                  const std::map<std::uint32_t, ir::Value>& renamed) const;  // an i32

 private:
  void add(const Factors& factors, std::int64_t times);
  std::map<Factors, std::int64_t> terms_;  // none is 0
};

struct Polynomial::Parts {
  Polynomial with, without;
};

}  // namespace tilewright
