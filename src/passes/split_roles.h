// SPDX-License-Identifier: Apache-2.0
// passes/split_roles.h — a producer copies tiles by tensor maps, consumers multiply them. Takes a
// kernel at the Tile stage, after choose_units and instead of pipeline_loops. By itself it takes
// products of 16-bit floats, fp8 and tf32, and attention, that it was measured faster for
// (roles/model.h); where TILEWRIGHT_EXTRA_PASSES names it, all kernels that it can. unwrap_rows
// runs with it in products. Rounds of which fewer than three fit in shared memory become shallower
// ones (roles/split_rounds.h).
//
//   for %k (%sum)                           if is_producer
//     %a = load affine, bounds                for %k (%position)
//     %b = load affine, bounds         =>       acquire %position; copy_map .. ; copy_map ..
//     %sum = dot %a, %b, %sum               else
//   store %sum                                for %k (%sum, %position)
//                                               await %position
//                                               %sum = dot read_buffer %position, ..  {pending = 1}
//                                               release %position - 1
//                                             store %sum
//
// A kernel whose loops with products load nothing but tiles of tensors is taken apart: the
// producer has these loops, all loops around them and what coordinates need, and starts copies into
// rings; the consumers have all the rest and wait for the rings. Nobody waits for the other before
// a ring is full or empty: with programs in a loop (persist_programs) the next program's tiles
// arrive while the results of this one are stored. `roles/model.h` says where that pays.
//
// Where a product waits for another one of its round, as in attention, each tile has a ring of its
// own: it is awaited before the first product that reads it and released behind the last one. Loops
// in a row that read the same tensors go on with the same rings. By itself, and with
// `delay_products` beside it, the second product of attention is made a round later
// (roles/delay_pairs.h). Why a kernel stays as it is although the pass was named, is said in
// `compile`'s notes.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

struct SplitRolesOptions {
  int num_warps = 4;
  int num_stages = 3;
  int most_slots = 1024;
  std::int64_t shared_bytes = 0;  // of a block; 0: any number
  bool persists = true;
  bool delays = false;  // the second product of attention, by a round (roles/delay_pairs.h)
  bool asks_model = true;
  bool only_delayed = false;                  // only kernels that `delays` is for
  std::vector<std::string>* notes = nullptr;  // why a kernel stays as it is
};

// Whether the kernel has a product that roles pay for, by the model.
bool may_have_roles(const ir::Kernel& kernel, int num_warps);
// Whether it is the kernel's only product, and of a type that was measured: 16-bit floats, tf32, fp8
// (e4m3).
bool has_measured_roles(const ir::Kernel& kernel, int num_warps);

// Whether it was taken apart.
bool split_roles(ir::Kernel& kernel, const SplitRolesOptions& options);
void split_roles(ir::Kernel& kernel, const Target& target);

}  // namespace tilewright
