// SPDX-License-Identifier: Apache-2.0
// ir/interpret/map_ops.h — tiles and boxes that go from a program to a tensor by its map.
#pragma once

#include "ir/interpret/program_view.h"

namespace tilewright::ir {

class MapOps : private ProgramView {
 public:
  explicit MapOps(ProgramState& state) : ProgramView(state) {}

  void store_map(const Op& op);
  void store_box(const Op& op);  // at stage Final
  void wait_stores(bool in_memory);
  void check_stores_done() const;

 private:
  std::vector<std::int64_t> store_coordinates(const Op& op, const KernelMap& map) const;
  void store_element(const Op& op, const KernelMap& map,
                     const std::vector<std::int64_t>& coordinates, const Type& type,
                     Element element, MapStores::Store& store, std::vector<Element>& elements);
};

}  // namespace tilewright::ir
