// SPDX-License-Identifier: Apache-2.0
// ir/interpret/map_ops.cpp — tiles and boxes that go from a program to a tensor by its map.
#include "ir/interpret/map_ops.h"

#include <utility>

#include "ir/interpret/program.h"
#include "ir/interpret/ring_words.h"
#include "ir/map_dimensions.h"

namespace tilewright::ir {

// One element at these coordinates; outside of the tensor nothing is stored.
void MapOps::store_element(const Op& op, const KernelMap& map,
                           const std::vector<std::int64_t>& coordinates, const Type& type,
                           Element element, MapStores::Store& store,
                           std::vector<Element>& elements) {
  const std::optional<std::int64_t> address = map_address(map, coordinates, type.dtype);
  if (!address) return;
  store.addresses.push_back(*address);
  elements.push_back(element);
  state_.is_adding = store.adds;
  if (store.adds) element = sum_in_memory(op, *address, type, element);
  checked_write(op, *address, type.dtype, element);
  state_.is_adding = false;
}

std::vector<std::int64_t> MapOps::store_coordinates(const Op& op, const KernelMap& map) const {
  std::vector<std::int64_t> at;
  for (std::size_t d = 0; d < map.dimensions.size(); ++d) at.push_back(integer(op, d + 1));
  const auto bytes = static_cast<std::int64_t>(kernel_.type(op.operands[0]).element_bytes());
  if (const std::string problem = coordinates_problem(at, bytes, true); !problem.empty())
    fail(op, "a store by a tensor map " + problem);
  return at;
}

void MapOps::store_map(const Op& op) {
  if (options_.order != nullptr) options_.order->begin_store();
  const KernelMap& map = kernel_.map_of(op);
  const Tile& tile = operand(op, 0);
  MapStores::Store store{.adds = op.integer("adds") != 0};
  std::vector<Element> elements;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t index[Type::max_rank] = {};
    for (int d = tile.type.rank; d-- > 0; rest /= tile.type.size(d))
      index[d] = rest % tile.type.size(d);
    std::vector<std::int64_t> at = store_coordinates(op, map);
    for (std::size_t d = 0; d < map.dimensions.size(); ++d)
      at[d] += is_of_tile(map.dimensions[d]) ? index[map.dimensions[d].of_tile] : 0;
    store_element(op, map, at, tile.type.element(), tile.at(i), store, elements);
  }
  const std::string problem = stores_.start(std::move(store), elements);
  if (!problem.empty()) fail(op, "stores to " + problem);
}

void MapOps::wait_stores(bool in_memory) {
  for (const MapStores::Store& store : stores_.wait(thread_, in_memory))
    if (store.end > store.first) shared_.note_store_done(store.first, store.end, thread_);
}

void MapOps::check_stores_done() const {
  if (const std::string problem = stores_.end_problem(); !problem.empty())
    fail(*kernel_.body.ops.back(), problem);
}

// ---- Stage Final: the first lane of each warp

void MapOps::store_box(const Op& op) {
  if (thread_ % lanes_ != 0) return;
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const KernelMap& map = map_named(op);
  const Type type = kernel_.type(op.operands[0]).element();
  const auto each = static_cast<std::int64_t>(type.element_bytes());
  const std::int64_t first = shared_.address_of(integer(op, 0));
  const std::int64_t bytes = numbers[0] * numbers[1] * each;
  if (first % 128 != 0 || (numbers[2] != 0 && first % (8 * numbers[2]) != 0))
    fail(op, "a store by a tensor map reads a place that is not aligned to its pattern");
  if (op.operands.size() - 1 != map.dimensions.size())
    fail(op, "a store has other coordinates than its tensor map has dimensions");
  MapStores::Store store{.thread = thread_,
                         .first = static_cast<std::size_t>(first),
                         .end = static_cast<std::size_t>(first + bytes),
                         .adds = numbers[3] != 0};
  std::vector<Element> elements;
  for (std::int64_t i = 0; i < numbers[0] * numbers[1]; ++i) {
    Element element;
    const auto from = static_cast<std::size_t>(place_in_box(first, i * each, numbers[2]));
    if (const std::string found = shared_.read_for_store(from, type.dtype, thread_, element);
        !found.empty())
      fail(op, "a store by a tensor map reads " + found);
    std::vector<std::int64_t> at = store_coordinates(op, map);
    at[0] += i % numbers[0];
    at[1] += i / numbers[0];
    store_element(op, map, at, type, element, store, elements);
  }
  const std::string problem = stores_.start(std::move(store), elements);
  if (!problem.empty()) fail(op, "stores to " + problem);
}

}  // namespace tilewright::ir
