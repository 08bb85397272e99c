// SPDX-License-Identifier: Apache-2.0
// passes/roles/delay_pairs.h — the consumers' side of attention whose second product is made a
// round later, beside the first one of the next round.
//
//   for (%sum)                              for (%sum, %p = -0)
//     %s = dot %q, read K[%i], 0              %s = dot %q, read K[%i], 0 {pending = 1}
//     %p, %scale = .. %s ..           =>      %t = dot %p, read V[%i], %sum {pending = 1}
//     %t = mul %sum, %scale                   %p', %scale = .. %s ..
//     yield dot %p, read V[%i], %t            yield mul %t, %scale, %p'
//                                           dot %p, read V[end], %sum
//
// The ring of V is a tile ahead: its position 0 is zeros, which the producer copies from outside of
// the tensor, so that the first round adds -0 * 0 and all sums stay the same, bit for bit. A loop
// in a row goes on with the product that the one before it left. A slot of V is given back in the
// round that reads it, before anybody looks at the sum: `release` waits for the product.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "passes/roles/delayed_pairs.h"

namespace tilewright {

struct DelayedLoops {
  const RingLoops& found;  // loads are reads of their buffers already
  const std::vector<DelayedPair>& pairs;
  const std::map<const ir::Op*, ir::Value>& positions;  // of a round of each loop
  const std::vector<std::string>&buffers, &rings;       // of each load
};

// `region` holds the loops.
void delay_pairs(ir::Kernel& kernel, ir::Region& region, const DelayedLoops& loops);

}  // namespace tilewright
