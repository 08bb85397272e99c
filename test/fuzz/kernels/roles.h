// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/roles.h — random kernels that can have a producer and consumers (split_roles): loops
// in a row whose second product waits for the first one, over tiles of tensors with heads.
#pragma once

#include "program.h"

namespace tilewright::fuzz {

// A kernel named k<seed>, the same for the same seed. It has roles where TILEWRIGHT_EXTRA_PASSES
// names split_roles, and products a round later with delay_products beside it.
Program generate_roles(unsigned seed);
// One of attention's forward among them: keys in one loop, or in loops one behind the other.
Program generate_attention_roles(unsigned seed);
// One of the products among them.
Program generate_product_roles(unsigned seed);
// One of attention's gradients: products that start together, and sums that go on (start_dots), two
// rounds as one (widen_loops), more warps than were asked for (add_warps).
Program generate_gradient_roles(unsigned seed);
// One of the softmax's sums that shrink from round to round (widen_loops).
Program generate_softmax_roles(unsigned seed);

}  // namespace tilewright::fuzz
