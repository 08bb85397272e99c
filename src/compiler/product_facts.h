// SPDX-License-Identifier: Apache-2.0
// compiler/product_facts.h — how a kernel's products are made, in sentences: which instructions,
// from which slots, by which warps.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel.h"

namespace tilewright {

// "line 304: f16[128, 64] x f16[64, 256] by wgmma, from 3 slots of 48 KiB"; of a kernel at stage
// Laid, each product once.
std::vector<std::string> product_facts(const ir::Kernel& laid);

// "4 warps copy by tensor maps with 40 registers a thread, 8 multiply with 232"; empty where all
// warps do the same.
std::string role_facts(const ir::Kernel& laid, int num_warps);

}  // namespace tilewright
