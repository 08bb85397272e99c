// SPDX-License-Identifier: Apache-2.0
// codegen/lower/copy_facts.h — how copies that run ahead beside products of warpgroups find their
// places: they are what the threads do meanwhile, and compilers work them out anew where they can.
#pragma once

#include <cstdint>
#include <set>

#include "ir/kernel.h"
#include "passes/laid/laid_facts.h"

namespace tilewright {

// Whether pointers of copies are moved on from where they began: all operands of products are
// copied in lines along their depth, so that one mask holds for all vectors of a thread.
bool has_lines_along_depth(const ir::Kernel& laid, const LaidFacts& facts);

// Tiles of indices, by value, that are kept and not computed again in every round.
std::set<std::uint32_t> settled_indices(const ir::Kernel& laid, const Sweeps& sweeps);

}  // namespace tilewright
