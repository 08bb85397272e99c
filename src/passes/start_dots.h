// SPDX-License-Identifier: Apache-2.0
// passes/start_dots.h — products of a round that do not wait for each other start together, and
// those that only add up go on into the next round. Takes a kernel at the Tile stage, after
// choose_units and before pipeline_loops.
//
//   for (%dk, %dv)                          for (%dk, %dv) {drains}
//     %s = dot %k, load(..), 0                %s = dot %k, load(..), 0 {pending}
//     %p = .. %s ..                           %dp = dot %v, load(..), 0 {pending}
//     %dv' = dot %p, .., %dv           =>     %p = .. %s ..
//     %dp = dot %v, load(..), 0               %dv' = dot %p, .., %dv {pending}
//     %ds = .. %p, %dp ..                     %ds = .. %p, %dp ..
//     yield dot %ds, .., %dk, %dv'            yield dot %ds, .., %dk {pending}, %dv'
//
// Whoever looks at a product waits for it alone: exponentials are computed beside the products that
// were started behind theirs, and the sums of a round are made while the next round begins, for
// which `pipeline_loops` keeps one slot more. No sum changes.
//
// Triton's attention tutorial on an H200, backward, causal, 16k and 4k rows, without and with it:
// head dim 128 422 and 430, 386 and 392 TFLOP/s; the five products of examples/attention.py, head
// dim 128 420 and 430, 370 and 389.
//
// Loops stay as they are in which fewer than two products can start together (attention's forward:
// `delay_products`), or that write memory before the last of these.
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "tilewright/target.h"

namespace tilewright {

void start_dots(ir::Kernel& kernel, const Target& target);

// Whether nothing of the loop reads the product's sum but the product itself, a round later.
bool only_adds_up(const ir::Region& body, const ir::Op& dot);

// Whether what products read that go on into the next round lies in slots of their own: `loads` get
// them. What is computed in the round is in registers, or the lowering waits.
bool have_slots(const ir::Kernel& kernel, const ir::Region& body,
                const std::vector<ir::Op*>& loads);

// How many ops at the beginning of a body make the products that start together; 0: there are none.
std::size_t ops_of_first_products(const ir::Kernel& kernel, const ir::Region& body);

}  // namespace tilewright
