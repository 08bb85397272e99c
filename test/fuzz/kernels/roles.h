// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/roles.h — random kernels that can have a producer and consumers (split_roles): loops
// in a row whose second product waits for the first one, over tiles of tensors with heads.
#pragma once

#include "program.h"

namespace tilewright::fuzz {

// A kernel named k<seed>, the same for the same seed. It has roles where TILEWRIGHT_EXTRA_PASSES
// names split_roles, and products a round later with delay_products beside it.
Program generate_roles(unsigned seed);
// One of the products among them.
Program generate_product_roles(unsigned seed);

}  // namespace tilewright::fuzz
