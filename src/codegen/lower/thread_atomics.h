// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_atomics.h — atomics of elements and of scalars, and loops that wait for one.
#pragma once

#include <string>
#include <vector>

#include "codegen/lower/thread_elements.h"

namespace tilewright {

class ThreadAtomics : private ThreadElements {
 public:
  explicit ThreadAtomics(ThreadState& state) : ThreadElements(state) {}

  // ---- Elements of tiles
  void atomic_element(Loop& loop, const ir::Op& op);
  // One pair of fences around the loop of a step, where that does for all of its elements.
  void begin_fenced(const TileReads& reads, const std::vector<ElementPlans::Preload>& preloads,
                    const Step& step);
  void end_fenced();
  // The attributes of a vector that is added.
  void note_atomic(const ElementPlans::VectorAccess& access, std::vector<ir::Attribute>& out) const;

  // ---- Scalars
  void scalar_atomic(const ir::Op& op);
  // A loop that only waits for an exchange, in which the atomic is like other ops.
  void spin(const Step& step);
  bool is_spinning() const { return !spinning_.empty(); }
  ir::Value spinning_atomic(const ir::Op& op, const std::vector<ir::Value>& operands);

 private:
  ir::Value make_atomic(const ir::Op& op, const std::vector<ir::Value>& operands,
                        const std::string& order, const std::string& name);
  void fence(const ir::Op& atomic);
  void share_old(Loop& loop, const ir::Op& op, std::vector<ir::Value> operands,
                 const std::vector<ir::Value>& conditions);

  const ir::Op* fenced_ = nullptr;  // an atomic whose order is kept by fences around its loop
  std::string spinning_;            // the order of the exchange that a loop waits for
};

}  // namespace tilewright
