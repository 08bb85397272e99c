// SPDX-License-Identifier: Apache-2.0
// ir/analysis/exact_integers.h — integers of addresses that may be taken apart into terms.
//
// An index of 32 or 64 bits does not overflow (find_access_forms.h), so that a sum of them is that
// of its terms. Narrower integers wrap: 200 + 100 of 8 bits is 44. So do unsigned ones of 32 bits,
// before they become an address: 0 - 4 is 4294967292 elements.
#pragma once

#include "ir/type.h"

namespace tilewright::ir {

// Whether a sum or product of this type is that of its terms.
inline bool has_exact_sums(const Type& type) {
  return type.is_pointer || type.dtype == i32 || type.element_bytes() == 8;
}

// Whether a cast between these types is one of integers that loses neither bits nor a sign.
inline bool is_exact_cast(const Type& from, const Type& to) {
  if (from.is_float() || from.is_pointer || to.is_float() || to.is_pointer || to.is_bool())
    return false;
  const bool has_same_sign = is_signed(from.dtype) == is_signed(to.dtype);
  const bool is_wider = to.element_bytes() > from.element_bytes();
  return to.element_bytes() >= from.element_bytes() &&
         (has_same_sign || (is_wider && !is_signed(from.dtype)));
}

}  // namespace tilewright::ir
