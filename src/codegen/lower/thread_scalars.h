// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_scalars.h — scalars in the program of a thread, and where its threads meet.
// Every thread computes scalars; thread 0 alone stores them.
#pragma once

#include <functional>
#include <string>

#include "codegen/lower/thread_elements.h"

namespace tilewright {

class ThreadScalars : private ThreadElements {
 public:
  explicit ThreadScalars(ThreadState& state);

  void scalar_op(const ir::Op& op);
  // The scalar that a view of a tile with one element gives, which has no step of its own.
  ir::Value only_element(const ir::Op& view, ir::Value value);
  // One thread finds it; the others get it through shared memory.
  ir::Value from_one_thread(const ir::Type& type, const std::string& name, ir::Location location,
                            const std::function<ir::Value()>& find);
  using ThreadBuilder::meet;

 private:
  void synchronize(const ir::Op& op);
  void scalar_load(const ir::Op& op);
  ir::Value load_scalar(const ir::Op& op, const std::string& name);
  ir::Value share_seen(const ir::Op& op, const std::string& name);
  void scalar_store(const ir::Op& op);

  std::int64_t shared_end_;  // behind all buffers
};

}  // namespace tilewright
