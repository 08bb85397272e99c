// SPDX-License-Identifier: Apache-2.0
// codegen/lower/nest_facts.h — what is known of the loops of a sweep on the CPU before any of it is
// written: the mask that splits the innermost loop, what surely becomes vector code, which stores
// go around the caches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/analysis/memory_order.h"
#include "ir/kernel.h"
#include "passes/laid/sweeps.h"

namespace tilewright {

// One loop over consecutive dimensions [first, last) of a shape.
struct Loop {
  int first = 0;
  int last = 0;
  std::int64_t size = 1;
  std::string name;
};

// The loops of one walk over elements.
struct NestShape {
  const Step* step = nullptr;  // whose loops these are: decides what is read from arrays
  ir::Type shape;
  std::vector<Loop> loops;
  bool is_merged = false;  // a loop runs over several dimensions
  ir::Value split;         // the prefix mask that splits the innermost loop

  int depth() const { return static_cast<int>(loops.size()); }
};

// The loops over a shape; `axes` have one of their own.
std::vector<Loop> loops_over(const ir::Type& shape, const std::vector<int>& axes);

// By value of a Tile kernel: what is not used exactly once, in its own region, is written in a line
// of its own.
std::vector<bool> values_with_own_lines(const ir::Kernel& kernel);

// Whether addresses may be computed from such integers.
bool is_index_type(const ir::Type& type);
// A view that shows elements where they are, again, or in another shape.
bool hands_elements_on(const ir::Op& op);

std::vector<std::int64_t> row_major(const ir::Type& type);

// A tile in an array, or a view of one, whose elements lie at fixed distances.
struct StridedTile {
  ir::Value placed;                   // whose array it is
  std::vector<std::int64_t> strides;  // by dimension, in elements
};

// Of what must hold so that all elements of a load may be read where they are.
struct WholenessTest {
  enum class Kind : std::uint8_t { Multiple, AtMost, AtLeast };
  Kind kind;
  ir::Value value;
  std::int64_t number;
  friend bool operator==(const WholenessTest&, const WholenessTest&) = default;
};

// An operand of a product whose rows lie in memory.
struct OperandInMemory {
  ir::Value loaded;  // the tile, which has an array for where it is not whole
  ir::Value base, stride;
  bool is_transposed;
};

class NestFacts {
 public:
  NestFacts(const ir::Kernel& kernel, const Sweeps& schedule);

  const ir::AttributeValue* constant_value(ir::Value value) const;
  std::optional<std::int64_t> constant(ir::Value value) const;
  std::optional<double> float_constant(ir::Value value) const;
  // Whether the value may be a term of a sum, which compilers fuse with a product that it is.
  bool may_be_term(ir::Value value) const { return terms_.contains(value.id); }
  // The one argument that an access goes through; none when it may be several.
  ir::Value argument_of(const ir::Op& access) const {
    return order_of_memory_.argument_of(access.operands[0]);
  }

  // Whether two accesses may be of the same memory, and one writes.
  bool must_order(const ir::Op& a, const ir::Op& b) const {
    return order_of_memory_.must_order(a, b);
  }

  void find_split(const Step& step, NestShape& nest) const;
  bool needs_rest(const Step& step, const NestShape& nest) const;
  bool is_split(const NestShape& nest, ir::Value condition) const;

  bool is_simd(const Step& step) const;
  bool surely_vectorises(const NestShape& nest) const;

  bool is_streamed(const NestShape& nest, const ir::Op& store) const;
  ir::Value stored_f32(const NestShape& nest) const;
  ir::Value mapped_value(const NestShape& nest) const;
  const ir::Op* only_for_this(const NestShape& nest, ir::Value value, ir::OpKind kind) const;

  // Whether the tile of indices may be consecutive numbers.
  bool may_be_run(ir::Value result) const { return may_be_runs_.contains(result.id); }

  // ---- Operands of products (operand_facts.cpp)
  std::optional<StridedTile> strided(ir::Value value) const;
  // Whether a step does nothing but fill the arrays of loads that products read in memory.
  bool stays_in_place(const Step& step) const;
  std::vector<WholenessTest> tests_of_wholeness(const Step& step) const;
  std::optional<OperandInMemory> operand_in_memory(ir::Value value) const;

 protected:
  void find_in_place(const ir::Region& region);
  const ir::Op* met_first(const NestShape& nest, ir::Value value,
                          std::set<std::uint32_t>& seen) const;

  const ir::Kernel& kernel_;
  const ir::MemoryOrder order_of_memory_;
  const Sweeps& schedule_;
  // How often a value is used by ops of its own region; any other use counts as many.
  std::vector<int> uses_;
  std::set<std::uint32_t> streamed_arguments_;

 private:
  void find_runs();  // (run_facts.cpp)
  void find_runs(ir::Value value);
  void find_streams();  // (stream_facts.cpp)
  void find_terms();
  bool can_stay_in_place(ir::Value value, const ir::Region& region) const;
  void count_bounds(const Step& step, const ir::Op& op, std::set<const ir::Op*>& seen,
                    std::map<std::uint32_t, int>& counts) const;
  bool is_vector_access(const NestShape& nest, const ir::Op& op) const;
  bool is_vector_value(const NestShape& nest, ir::Value value, std::set<std::uint32_t>& seen) const;
  bool has_math(const NestShape& nest, ir::Value value, std::set<std::uint32_t>& seen) const;

  std::set<std::uint32_t> in_place_;     // loads that one product alone reads, in memory
  std::set<std::uint32_t> may_be_runs_;  // tiles of indices that may be consecutive numbers
  std::set<std::uint32_t> terms_;
};

}  // namespace tilewright
