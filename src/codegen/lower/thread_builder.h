// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_builder.h — statements of the program of a thread that know nothing of
// elements: conditions, scalars, arrays and barriers. A view of a ThreadState, under the names that
// the families use.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/lower/thread_state.h"

namespace tilewright {

class ThreadBuilder : protected FinalBuilder {
 public:
  explicit ThreadBuilder(ThreadState& state);

 protected:
  using Place = IndexMap;
  using Loop = ThreadLoop;

  // The other families.
  ThreadFamilies& families() const { return *state_.families; }

  // ---- Scalars and conditions
  ir::Value scalar(ir::Value value);
  // Whether what an op was made is written where it is used.
  bool is_inlined(const ir::Op& op, ir::Value made) const;
  void when(ir::Value condition, const std::function<void()>& body);
  void choose(ir::Value condition, const std::function<void()>& body,
              const std::function<void()>& otherwise);

  // ---- Threads
  ir::Value owner(const Layout& layout);  // none where every thread owns its elements
  int log_threads() const;
  void meet(ir::Location location = {});  // of the threads that come here

  // ---- Arrays
  ir::Value make_array(const std::string& name, const ir::Type& element, std::int64_t count,
                       ir::Location location = {});
  ir::Value make_shared(const std::string& name, const ir::Type& element, std::int64_t count,
                        const ir::KernelBuffer& buffer);
  // The array in shared memory through which threads meet in an op.
  ir::Value make_scratch(const ir::Op& op, const ir::Type& element, std::int64_t count,
                         const char* name);
  // The array of a tile, which is made where it is wanted first.
  void declare(ir::Value value);
  ir::Value array(ir::Value value) const { return arrays_.at(schedule_.storage(value).id); }
  // The array from an element on.
  ir::Value view(ir::Value array, ir::Value index);
  // Of an array of the thread, each in a line of its own.
  void for_all_registers(std::int64_t count, const std::function<void(ir::Value)>& body);

  void call_statement(LibraryKind function, std::vector<ir::Value> operands = {},
                      std::vector<std::int64_t> numbers = {}, ir::Location location = {},
                      std::vector<ir::Attribute> more = {});

  ThreadState& state_;
  const ir::Kernel& kernel_;
  const Sweeps& schedule_;
  const TileLayouts& layouts_;
  const CudaEmitOptions& options_;
  ElementPlans& plans_;
  const ProductPlans& products_;
  ir::Value& thread_;
  ir::Value& whole_thread_;
  Statements& prologue_;
  Statements& shared_;
  std::unordered_map<std::uint32_t, ir::Value>& arrays_;
};

}  // namespace tilewright
