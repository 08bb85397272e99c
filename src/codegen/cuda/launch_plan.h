// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/launch_plan.h — how a kernel is launched, by the tables of its Laid stage: blocks of
// threads, programs that share one or are spread over several, tensor maps, what must hold of
// arguments.
#pragma once

#include <cstdint>
#include <span>

#include "codegen/cuda/emit.h"
#include "layout/map_box.h"

namespace tilewright {

// `dynamic_bytes`: of shared memory that the launch gives; `boxes`: what each of the kernel's maps
// copies at once, in their order.
KernelSource::Kernel launch_of(const ir::Kernel& laid, const Target& target,
                               std::int64_t dynamic_bytes, std::span<const MapBox> boxes);

}  // namespace tilewright
