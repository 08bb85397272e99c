// SPDX-License-Identifier: Apache-2.0
// passes/count_divisors.h — divisors that indices take to be above 0 are looked at.
//
// `(pid // groups * 64 + arange(64)) % n` is a run of neighbours where it is not negative: the
// remainders of -96, -95, .. by 48 are 0, -47, ... Nothing says of `groups` that it is above 0, as
// in every program that was meant. Where a run depends on it, the division ends a program whose
// divisor is not, instead of reading what is not there:
//
//   %q = div %pid, %groups        =>      %q = div %pid, %groups {divisor_from = 1.0}
//
// Not in loops without loops in them: they may compute ahead for rounds that never come.
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void count_divisors(ir::Kernel& kernel, const Target& target);

// Divisions of scalars whose divisor nothing is known of; the second lets all of them look at it.
std::vector<ir::Op*> open_divisions(ir::Kernel& kernel);
void count_divisors_of(const std::vector<ir::Op*>& divisions, bool are_counts);

}  // namespace tilewright
