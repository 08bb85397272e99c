// SPDX-License-Identifier: Apache-2.0
// codegen/print/group_calls.h — calls of products of warpgroups, of rings and of tensor maps as
// text.
#pragma once

#include <map>
#include <set>
#include <string>

#include "codegen/print/expressions.h"
#include "codegen/text/wgmma_functions.h"

namespace tilewright {

// In which boxes a tensor map is copied.
struct CopiedBox {
  int line = 0;           // elements of a line
  int lines = 0;
  int swizzle_bytes = 0;  // in which chunks of 16 bytes are exchanged
};

// The part of the device library that has the function of a call; null where it is none of these.
const char* group_part(const ir::Op& op);
std::string group_call(const ExpressionPrinter& expressions, const ir::Kernel& kernel,
                       const ir::Op& op);

// The instructions of all products that a kernel starts, and in which boxes its maps are copied.
std::set<WgmmaFunction> products_of(const ir::Kernel& kernel);
std::map<std::string, CopiedBox> boxes_of(const ir::Kernel& kernel);

}  // namespace tilewright
