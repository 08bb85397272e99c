// SPDX-License-Identifier: Apache-2.0
// graph/group/recompute.h — values that a group computes again instead of reading them from memory.
//
//   forward   u = x * 2;  t = tanh(u);  y = t + x        writes y, t and u for the derivative
//   backward  g * (1 - t * t) * u                        reads g, t and u
//
// becomes, since x is in memory anyway,
//
//   forward   ...                                        writes y
//   backward  u = x * 2;  t = tanh(u);  ...              reads g and x
//
// A value between two groups costs its bytes once when it is written and once for each group that
// reads it. Computing it again costs what its operations read that is not read yet, and the
// operations: one of exp's kind is counted as 2 bytes of an element on a GPU (20 to 40 instructions
// of 30e12 a second, against 4.3e12 bytes a second of an H200) and as 4 on a CPU, others as a
// quarter. What is one element a row counts nothing. Sizes do not count: plans are kept for all of
// them (plan/keep.h).
//
// A row's reduction is never computed twice, and a reduction that fusion left in a kernel of its
// own (fuse.cpp, reads_from_memory) keeps reading memory.
#pragma once

#include "graph/group/fuse.h"

namespace tilewright::graph {

// Fills `recomputed` of the groups.
void recompute_values(const Graph& graph, Fusion& fusion);

// Nodes whose memory is written: results, and what a kernel reads that it does not compute.
std::vector<bool> written_nodes(const Graph& graph, const Fusion& fusion);

}  // namespace tilewright::graph
