// SPDX-License-Identifier: Apache-2.0
// ir/type_rules.h — what the type rules of an op are written with.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "ir/kernel.h"
#include "ir/verify_types.h"

namespace tilewright::ir {

// The rules of one family are a class that asks these questions about its op.
class TypeRules {
 public:
  TypeRules(const Kernel& kernel, const Op& op) : kernel_(kernel), op_(op) {}

 protected:
  template <class... Arguments>
  void require(bool holds, fmt::format_string<Arguments...> rule, Arguments&&... arguments) const {
    if (!holds)
      fail_verification(kernel_, &op_, fmt::format(rule, std::forward<Arguments>(arguments)...));
  }
  void require_type(const Type& found, const Type& wanted, std::string_view what) const;

  const Type& operand(std::size_t i) const { return kernel_.type(op_.operands[i]); }
  const Type& result(std::size_t i = 0) const { return kernel_.type(op_.results[i]); }
  static bool is_index(const Type& type) { return type.is_scalar() && type.is_int(); }

  // That `axis` is one of the tile's.
  void check_axis(const Type& tile) const;
  // That operand `i`, where there is one, is a mask for a tile of the shape.
  void check_mask(std::size_t i, const Type& shape) const;

  const Kernel& kernel_;
  const Op& op_;
};

// Of ops in these families, and of those across elements that are like them.
void verify_access_types(const Kernel& kernel, const Op& op);
void verify_region_types(const Kernel& kernel, const Op& op);
void verify_final_types(const Kernel& kernel, const Op& op);
void verify_call_types(const Kernel& kernel, const Op& op);

}  // namespace tilewright::ir
