// SPDX-License-Identifier: Apache-2.0
// ir/verify_laid.h — what must hold of a kernel at the Laid stage beside types and scope.
//
//   L1  An op that computes, loads, stores or reduces a tile stands in a sweep, whose shape is that
//       of the tiles it stores and reduces. Outside stand scalars, control flow, ops that move data
//       across elements, and views of tiles for them; no sweep holds any of these but views. No
//       view gives a number: an element of a tile is a scalar by a reduction.
//   L2  A tile that leaves a sweep lives in a buffer of its type (`into`), which has no slots. One
//       without a buffer is computed by the op behind its sweep, which alone reads it. Layouts and
//       orders reach every element; their threads are those of the shape; rows that are named
//       exist.
//   L3  A tile that an op outside sweeps gives, or a loop carries, lives in a buffer; what a loop
//       carries and gives has one. A tile is read from its buffer only where no other one was
//       written there since.
//   L4  Accesses of a sweep that may meet, one of them a write, are of the same element: elements
//       are walked in any order.
//   L5  A product with `warps` names a unit, and its result's buffer lies as that makes it.
//   L6  Programs that share a block, or are spread over several, have no buffers in shared memory
//       but private ones and scratch of a cluster.
//   L7  Buffers of a block's shared memory that are in use at the same time have no byte in common;
//       once one has an offset, all that are used have. Scratch is named by an op, and no tile
//       lives in it.
//
// That slots are awaited before they are read, and products before they are touched, is held at
// stage Final (F5, F6), where words and threads exist; here the interpreter finds it.
#pragma once

#include "ir/kernel.h"

namespace tilewright::ir {

// Throws InternalError, as verify does.
void verify_laid(const Kernel& kernel);

// L2 and L3, for verify_laid.
void verify_buffers(const Kernel& kernel);
// L3, what buffers hold.
void verify_held(const Kernel& kernel);
// What L2, L5 and L6 say of the tables.
void verify_tables(const Kernel& kernel);
// L7.
void verify_shared(const Kernel& kernel);

}  // namespace tilewright::ir
