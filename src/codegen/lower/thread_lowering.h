// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_lowering.h — how lower_to_threads thinks: an element of a tile is a value at
// a place, which is a linear map of the bits of the thread's number and of the loops around it
// (codegen/cuda/space.h). What does not change within a vector gets a name.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/cuda/element_plans.h"
#include "codegen/lower/lower_to_threads.h"
#include "codegen/lower/program_lowering.h"
#include "codegen/print/cuda_expressions.h"

namespace tilewright {

class ThreadLowering : private ElementPlans, private ProgramLowering {
 public:
  ThreadLowering(const ir::Kernel& laid, const LaidFacts& facts, const TileLayouts& layouts,
                 const CudaEmitOptions& options);
  ThreadProgram run();

 private:
  using ElementPlans::constant_of;
  using FinalBuilder::constant_of;

  // A loop over elements while its statements are found.
  struct Loop {
    struct Scope {
      std::map<Frame::Key, ir::Value> elements;
      std::map<std::vector<std::uint64_t>, ir::Value> indices;
    };
    // A tile that was loaded before, and which of the thread's elements is the one of a round.
    struct First {
      ir::Value value;
      Place place;
      ir::Value tile;
      IndexMap number;
    };
    ElementLoop plan;
    std::array<ir::Value, 4> variables = {};  // v, k, s and the thread
    std::vector<Scope> scopes = {{}};
    std::vector<First> firsts = {};
    std::vector<Statements*> outside = {};  // of the loops that are open
  };
  // Written when the element's ops are done.
  struct Delayed {
    ir::Value array, index, value;
  };
  // What a vector access is guarded by: nothing, a condition, or the first and the end.
  using Guards = std::vector<ir::Value>;

  // ---- The program (thread_lowering.cpp)
  void enter();
  int resident_blocks() const;
  void steps(const Steps& steps) override;
  bool is_inlined(const ir::Op& op, ir::Value made) const override;
  void mark_loop(ir::Op& loop, const ir::Op& op) override;
  void copy(const Step& step, const std::vector<std::pair<ir::Value, ir::Value>>& copies) override;
  void scalar_op(const ir::Op& op);
  void scalar_load(const ir::Op& op);
  void scalar_store(const ir::Op& op);
  ir::Value zero_of(const ir::Type& type);
  ir::Value owner(const Layout& layout);  // none where every thread owns its elements
  ir::Value all(const std::vector<ir::Value>& conditions);
  void when(ir::Value condition, const std::function<void()>& body);

  // ---- Indices (thread_indices.cpp)
  ir::Value linear(const Loop& loop, const IndexMap& map, std::size_t first, std::size_t last);
  ir::Value linear(const Loop& loop, const IndexMap& map) {
    return linear(loop, map, 0, loop.plan.frame.space.variables.size());
  }
  ir::Value index(Loop& loop, const IndexMap& map);
  ir::Value coordinate(Loop& loop, const Place& place, const ir::Type& type, int dimension);
  // An index as what the thread adds and what the loops add; none where bits of both meet.
  struct SplitIndex {
    ir::Value thread, loops;
  };
  std::optional<SplitIndex> split_index(const Loop& loop, const ir::Type& type, const Place& map);
  void add_parts(ir::Value index, std::vector<ir::Value>& out);
  std::vector<ir::Value> affine_terms(Loop& loop, const ir::Op& affine, const Place& place);
  ir::Value affine(Loop& loop, const ir::Op& op, const Place& place);
  ir::Value bound(ir::Value value);
  // Without the dimension `without`; none where nothing is left to ask.
  std::vector<ir::Value> bounds(Loop& loop, const ir::Op& op, const Place& place, int without = -1);
  DType wider(ir::Value a, ir::Value b) const;

  // ---- Elements of tiles (thread_elements.cpp)
  ir::Value element(Loop& loop, ir::Value value, const Place& place);
  ir::Value viewed(Loop& loop, const ir::Op& op, ir::Value value, const Place& place);
  ir::Value indexed(Loop& loop, const ir::Op& op, const Place& place);
  ir::Value joined(Loop& loop, const ir::Op& op, const Place& place);
  ir::Value computed(Loop& loop, const ir::Op& op, ir::Value value, const Place& place);
  ir::Value arm(Loop& loop, ir::Value value, const Place& place);
  ir::Value line(Loop& loop, ir::Value value, ir::Value made, const Place& place);
  ir::Value array(ir::Value value) const { return arrays_.at(schedule_.storage(value).id); }
  ir::Value register_index(const Loop& loop, ir::Value value, const Place& place);
  ir::Value loaded(Loop& loop, const ir::Op& op, const Place& place);
  void store(Loop& loop, const ir::Op& op);

  // ---- Loops (thread_loops.cpp)
  Loop make(const Step& step, const TileLayout& layout);
  void open(Loop& loop, std::size_t variable, const char* over, bool unrolls);
  void close(Loop& loop, std::size_t variable);
  ir::Value make_array(const std::string& name, const ir::Type& element, std::int64_t count,
                       ir::Location location = {});
  void declare(ir::Value value);
  void elements(const Step& step);
  void load_first(Loop& loop, std::vector<Preload>& preloads, bool is_inside);
  void load_vector(Loop& loop, const Preload& preload, ir::Value tile, ir::Value start);
  bool is_only_loaded(const Step& step, const std::vector<Preload>& preloads) const;
  void element_ops(Loop& loop, const std::map<const ir::Op*, ir::Value>& vectors);
  void keep(Loop& loop, ir::Value value);
  ir::Value vector_pointer(Loop& loop, const VectorAccess& access);
  ir::Value vector_condition(Loop& loop, const VectorAccess& access);
  Guards vector_guards(Loop& loop, const VectorAccess& access);
  std::vector<ir::Attribute> vector_attributes(const Loop& loop, const VectorAccess& access,
                                               const Guards& guards) const;
  ir::Value other_of(const ir::Op& load, const ir::Type& element);
  void store_vector(Loop& loop, const VectorAccess& access, ir::Value from);

  const CudaExpressions text_;
  ir::Value thread_;
  Statements prologue_;
  std::unordered_map<std::uint32_t, ir::Value> arrays_;  // by the value that owns the array
  std::map<std::uint64_t, ir::Value> owners_;            // by the bits of copies
  std::vector<Delayed> delayed_;
  int loop_depth_ = 0;
  std::int64_t loop_words_ = 0;  // the most registers that a step of a loop loads and adds to
};

}  // namespace tilewright
