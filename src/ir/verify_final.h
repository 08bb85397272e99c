// SPDX-License-Identifier: Apache-2.0
// ir/verify_final.h — the rules of stage Final beyond types and structure.
//
//   F1  values are scalars, pointers and arrays; memory is read by `load`, arrays by `read`
//   F2  a constant index of an array is below its count
//   F4  where threads meet, all of them come to: control around it is uniform
//   F5  between accesses of two threads to one place in shared memory, one of them a write, all
//       threads meet
//   F6  a copy that runs ahead is committed and waited for before its place is touched, and at the
//       end; a product of warpgroups is waited for before its sums are touched, before its words or
//       what it reads are written, and before the end; what threads wrote is shown to it
//   F7  the region of for_programs sees its arguments alone
//   F8  a value without a name is used once, in its own region, and nothing between changes what it
//       reads; names are identifiers of C++, which finds the value by each that is meant
//       (verify_names.cpp)
//   F9  a `call` names a function of the library, and fits it
//
// There is no rule that an array of a thread is indexed by constants and unrolled loops alone:
// loops over slices stay loops where a text would be too long, and whether an array then spills is
// the assembler's to say (conformance and kernel_diff ask it).
#pragma once

#include <string_view>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

// Throws VerificationError. Structure and types must be right already.
void verify_final(const Kernel& kernel);

// Rule F8.
void verify_names(const Kernel& kernel);

// Whether C++ could call a value so.
bool is_identifier(std::string_view name);

// How often each value is used in the region that defines it; any other use counts as two.
std::vector<int> uses_in_own_region(const Kernel& kernel);

}  // namespace tilewright::ir
