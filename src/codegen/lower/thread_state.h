// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_state.h — what the lowering to threads is given, and what it has made so
// far.
//
// The lowering is a dozen families of ops (copies, reductions, products, ...), each a class with
// its own header and its own state (thread_families.h). What all of them need is here, as plain
// data. They work on it through three layers of building blocks, which have no state of their own,
// so that each family is such a builder at no cost: ThreadBuilder (arrays, conditions),
// ThreadIndices (loops, indices), ThreadElements (an element of a tile).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "codegen/lower/element_plans.h"
#include "codegen/lower/expression_facts.h"
#include "codegen/lower/final_builder.h"
#include "codegen/lower/product_plans.h"
#include "codegen/lower/thread_order.h"

namespace tilewright {

struct ThreadFamilies;

// What one thread looks at, or combines, for all of them.
enum class SharedLooks : std::uint8_t { None, Scalars, Totals };

// What is the same for the whole program, and outlives the lowering.
struct ThreadInput {
  const ir::Kernel& laid;
  const LaidFacts& facts;
  const TileLayouts& layouts;
  const CudaEmitOptions& options;
  const MemoryMeetings& meetings;
  SharedLooks shares_seen = SharedLooks::None;
};

struct ThreadState : ThreadInput, FinalProgram {
  explicit ThreadState(const ThreadInput& input);

  ElementPlans plans;
  const ProductPlans products;
  const ExpressionFacts written;
  const std::set<std::size_t> warp_buffers;  // of tiles that warps exchange among their lanes
  ir::Value thread = {};                     // as it is asked for now
  ir::Value whole_thread = {};               // as it was asked for first
  Statements prologue = {};
  Statements shared = {};                                    // arrays in shared memory
  std::unordered_map<std::uint32_t, ir::Value> arrays = {};  // by the value that owns the array
  std::map<std::uint64_t, ir::Value> owners = {};            // by the bits of copies
  bool is_consuming = false;                                 // in the role of consumers
  ThreadFamilies* families = nullptr;
};

// A loop over elements while its statements are found. An element is a value at a place, which is a
// linear map of the bits of the thread's number and of the loops around it (codegen/lower/space.h).
struct ThreadLoop {
  struct Scope {
    std::map<Frame::Key, ir::Value> elements;
    std::map<std::vector<std::uint64_t>, ir::Value> indices;
  };
  // A tile that was loaded before, and which of the thread's elements is the one of a round.
  struct First {
    ir::Value value;
    IndexMap place;
    ir::Value tile;
    IndexMap number;
  };
  ElementPlans::ElementLoop plan;
  std::vector<ir::Value> variables = {{}, {}, {}, {}};  // v, k, s and the thread
  std::vector<Scope> scopes = {{}};
  std::vector<First> firsts = {};
  std::vector<Statements*> outside = {};  // of the loops that are open
  std::map<std::uint32_t, ir::Value> divisors = {};  // by the scalar that many are divided by
};

}  // namespace tilewright
