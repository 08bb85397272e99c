// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_vectors.h — vectors between memory and the arrays of a thread: their
// addresses, what they are guarded by, and what they ask of the caches.
#pragma once

#include <vector>

#include "codegen/lower/thread_elements.h"

namespace tilewright {

class ThreadVectors : private ThreadElements {
 public:
  using VectorAccess = ElementPlans::VectorAccess;
  using Preload = ElementPlans::Preload;
  // What a vector access is guarded by: nothing, a condition, or the first and the end.
  using Guards = std::vector<ir::Value>;

  explicit ThreadVectors(ThreadState& state) : ThreadElements(state) {}

  void load_vector(Loop& loop, const Preload& preload, ir::Value tile, ir::Value start);
  void store_vector(Loop& loop, const VectorAccess& access, ir::Value from);
  // The address of the vector's first element.
  ir::Value vector_pointer(Loop& loop, const VectorAccess& access);
  Guards vector_guards(Loop& loop, const VectorAccess& access);
  // What masked-off elements of a load are.
  ir::Value other_of(const ir::Op& load, const ir::Type& element);

 private:
  ir::Value vector_condition(Loop& loop, const VectorAccess& access);
  std::vector<ir::Attribute> vector_attributes(const Loop& loop, const VectorAccess& access,
                                               const Guards& guards) const;
};

}  // namespace tilewright
