// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/program_shape.h — how many warps a program gets, whether several programs share a
// block, and whether one is spread over a cluster of blocks.
//
// Triton's num_warps says how many threads work on a tile and changes no result. Where nobody has
// asked for a number, kernels that reduce rows get as many as keep enough bytes on their way from
// memory, few enough for a row to be summed up within a warp or a block, and enough for the
// row to fit into registers:
//
//   rows of up to 512 elements, of up to 2048
//   that are not aligned                           a warp each, four of them in a block
//   up to 32768                                    8 to 64 elements per thread
//   longer, and 32768 of 16 bits                   in shared memory, 64 KiB in each of the blocks
//                                                  of a cluster
//
// Rows that cannot lie in shared memory are spread over a cluster of four to eight blocks.
//
// Programs that wait for each other's locks get eight warps for 1024 elements and more.
//
// A program whose largest tile has fewer elements than it has threads gets only the warps that have
// elements of their own.
//
// A program whose text would be too long for a compiler, or whose threads would have to hold more
// of several tiles than their registers take, gets more warps than were asked for.
#pragma once

#include <vector>

#include "codegen/cuda/emit.h"

namespace tilewright {

// From the best to one that always works. What the options ask for, when they choose none.
std::vector<ProgramShape> choose_shapes(const ir::Kernel& kernel, const CudaEmitOptions& options);

// Whether a thread would have to hold more of a tile than its registers take.
bool has_too_few_warps(const ir::Kernel& kernel, const Target& target, int warps);

// The lowest axis of the grid that the kernel asks its program id of.
int first_program_axis(const ir::Kernel& kernel);

}  // namespace tilewright
