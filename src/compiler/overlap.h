// SPDX-License-Identifier: Apache-2.0
// compiler/overlap.h — which arguments of a launch lie in the same memory: part of what code is
// compiled for, since accesses through pointers that may meet keep their order.
//
// Tensors overlap when their buffers do. Of a bare pointer only the address is known, so two of
// them are told apart unless they are equal.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/triton.h"

namespace tilewright {

// 0 when no two arguments overlap, else a number that tells which do and how. `slots` has the
// arguments by parameter, null where there is none. Part of every launch.
std::uint64_t overlap_word(std::span<const TritonArgument* const> slots);

// What is known of a pointer's memory; for all arguments that have one, in the order of the
// parameters and, inside of a tuple, of its items.
struct PointerMemory {
  const Argument* argument = nullptr;
  int memory = -1;   // those with the same number may overlap; -1: with no other
  int address = -1;  // those with the same number have the same address and type
};
std::vector<PointerMemory> find_overlaps(std::span<const TritonArgument* const> slots);

}  // namespace tilewright
