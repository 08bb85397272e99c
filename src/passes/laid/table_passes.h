// SPDX-License-Identifier: Apache-2.0
// passes/laid/table_passes.h — the passes that write the tables of a Laid kernel, each by itself,
// as `tilewright opt --passes` and tests run them. An emitter runs them in one go.
//
// Scratch and offsets, which follow from layouts and places, are taken back where those are decided
// anew. Each throws ArgumentError for a machine without threads, and for a kernel that lacks what
// the pass before it writes.
#pragma once

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void run_assign_layouts(ir::Kernel& kernel, const Target& target);
void run_place_tiles(ir::Kernel& kernel, const Target& target);
void run_add_scratch(ir::Kernel& kernel, const Target& target);
void run_allocate_shared(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
