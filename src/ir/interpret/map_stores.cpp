// SPDX-License-Identifier: Apache-2.0
// ir/interpret/map_stores.cpp — tiles and boxes that go from a program to a tensor by its map.
#include "ir/interpret/map_stores.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/interpret/program.h"
#include "ir/map_dimensions.h"

namespace tilewright::ir {

std::string MapStores::start(Store store, const std::vector<Element>& elements) {
  for (std::size_t i = 0; i < store.addresses.size(); ++i) {
    const auto [at, is_new] = written_.try_emplace(store.addresses[i], elements[i], store.adds);
    if (is_new || (at->second.adds && store.adds)) continue;
    if (at->second.adds || store.adds || at->second.element.i != elements[i].i)
      return "memory that another store is under way to, which nobody has waited for";
  }
  under_way_.push_back(std::move(store));
  return "";
}

std::string MapStores::write_problem(std::size_t first, std::size_t end) const {
  for (const Store& store : under_way_)
    if (!store.is_read && first < store.end && store.first < end)
      return fmt::format("what a store of thread {} reads, which it has not waited for",
                         store.thread);
  return "";
}

std::string MapStores::end_problem() const {
  const bool all_read = std::all_of(under_way_.begin(), under_way_.end(),
                                    [](const Store& store) { return store.is_read; });
  return all_read ? "" : "the program ends before what it stores by a tensor map has been read";
}

std::vector<MapStores::Store> MapStores::wait(std::int64_t thread, bool in_memory) {
  std::vector<Store> read;
  for (Store& store : under_way_) {
    if (store.thread != thread) continue;
    if (!std::exchange(store.is_read, true)) read.push_back(store);
    if (in_memory)
      for (const std::int64_t address : store.addresses) written_.erase(address);
  }
  if (in_memory)
    std::erase_if(under_way_, [&](const Store& store) { return store.thread == thread; });
  return read;
}

// ---- What a program stores

// One element at these coordinates; outside of the tensor nothing is stored.
void Program::store_map_element(const Op& op, const KernelMap& map,
                                const std::vector<std::int64_t>& coordinates, const Type& type,
                                Element element, MapStores::Store& store,
                                std::vector<Element>& elements) {
  const std::optional<std::int64_t> address = map_address(map, coordinates, type.dtype);
  if (!address) return;
  store.addresses.push_back(*address);
  elements.push_back(element);
  is_adding_ = store.adds;
  if (store.adds) element = sum_in_memory(op, *address, type, element);
  checked_write(op, *address, type.dtype, element);
  is_adding_ = false;
}

void Program::store_map(const Op& op) {
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
    std::vector<std::int64_t> at;
    for (std::size_t d = 0; d < map.dimensions.size(); ++d)
      at.push_back(integer(op, d + 1) +
                   (is_of_tile(map.dimensions[d]) ? index[map.dimensions[d].of_tile] : 0));
    store_map_element(op, map, at, tile.type.element(), tile.at(i), store, elements);
  }
  const std::string problem = stores_.start(std::move(store), elements);
  if (!problem.empty()) fail(op, "stores to " + problem);
}

void Program::wait_stores(bool in_memory) {
  for (const MapStores::Store& store : stores_.wait(thread_, in_memory))
    if (store.end > store.first) shared_.note_store_done(store.first, store.end, thread_);
}

void Program::check_stores_done() const {
  if (const std::string problem = stores_.end_problem(); !problem.empty())
    fail(*kernel_.body.ops.back(), problem);
}

// ---- Stage Final: the first lane of each warp

void Program::store_box(const Op& op) {
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
    std::vector<std::int64_t> at;
    for (std::size_t d = 0; d < map.dimensions.size(); ++d) at.push_back(integer(op, d + 1));
    at[0] += i % numbers[0];
    at[1] += i / numbers[0];
    store_map_element(op, map, at, type, element, store, elements);
  }
  const std::string problem = stores_.start(std::move(store), elements);
  if (!problem.empty()) fail(op, "stores to " + problem);
}

}  // namespace tilewright::ir
