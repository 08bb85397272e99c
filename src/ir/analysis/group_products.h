// SPDX-License-Identifier: Apache-2.0
// ir/analysis/group_products.h — products of warpgroups that may go on, in the order of the ops:
// what is touched before they are waited for.
#pragma once

#include <string>

#include "ir/kernel.h"

namespace tilewright::ir {

struct UndrainedProduct {
  const Op* op = nullptr;  // that touches it; null: none does
  std::string what = {};   // of it, as the end of a sentence
};

// The first op that touches the sums of a product that may go on, writes its words or what it reads
// in shared memory, or at which the kernel ends with it (rule F6).
UndrainedProduct find_undrained(const Kernel& kernel);

}  // namespace tilewright::ir
