// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_stores.h — tiles that tensor maps store, from a copy in shared memory.
#pragma once

#include <map>
#include <string>

#include "codegen/lower/thread_elements.h"
#include "layout/map_box.h"

namespace tilewright {

class ThreadStores : private ThreadElements {
 public:
  explicit ThreadStores(ThreadState& state) : ThreadElements(state) {}

  void store_map(const Step& step);

 private:
  ir::Value slab_of(const ir::Op& op);
  void fill_slab(const Step& step, ir::Value slab, const Swizzle& swizzle);
  void store_boxes(const Step& step, ir::Value slab, MapBox box);

  std::map<std::string, ir::Value> slabs_;  // what maps store from, by its scratch
};

}  // namespace tilewright
