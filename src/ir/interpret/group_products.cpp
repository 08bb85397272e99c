// SPDX-License-Identifier: Apache-2.0
// ir/interpret/group_products.cpp — products under way.
#include "ir/interpret/group_products.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/calls.h"

namespace tilewright::ir {

GroupProducts::GroupProducts(const Kernel& kernel)
    : is_used_(calls(kernel, LibraryKind::StartProduct)) {}

void GroupProducts::begin(std::int64_t group) {
  groups_[group].has_begun = true;
  groups_[group].written.clear();
}

std::string GroupProducts::start(std::int64_t group, Product product) {
  Group& own = groups_[group];
  for (const std::uint32_t array : {product.sums, product.words})
    if (!own.has_begun || own.written.contains(array))
      return "begins without begin_products behind the last write to its registers";
  own.open.push_back(std::move(product));
  return "";
}

void GroupProducts::commit(std::int64_t group) {
  Group& own = groups_[group];
  own.committed.push_back(std::exchange(own.open, {}));
}

std::vector<GroupProducts::Product> GroupProducts::wait(std::int64_t group, std::int64_t pending) {
  Products out;
  auto& committed = groups_[group].committed;
  for (; static_cast<std::int64_t>(committed.size()) > pending; committed.pop_front())
    out.insert(out.end(), committed.front().begin(), committed.front().end());
  return out;
}

std::string GroupProducts::touch(std::int64_t group, std::uint32_t array, bool writes) {
  const auto found = groups_.find(group);
  if (writes) groups_[group].written.insert(array);
  if (found == groups_.end()) return "";
  const auto is_touched = [&](const Products& products) {
    return std::any_of(products.begin(), products.end(), [&](const Product& product) {
      return product.sums == array || (writes && product.words == array);
    });
  };
  const Group& own = found->second;
  if (is_touched(own.open) || std::any_of(own.committed.begin(), own.committed.end(), is_touched))
    return "registers of a product that was not waited for";
  return "";
}

bool GroupProducts::reads(const Products& products, std::size_t number) {
  return std::any_of(products.begin(), products.end(),
                     [&](const Product& product) { return product.chunks.contains(number); });
}

std::string GroupProducts::write_problem(std::size_t first, std::size_t end) const {
  for (const auto& [number, group] : groups_)
    for (std::size_t at = first / chunk; at * chunk < end; ++at)
      if (reads(group.open, at) ||
          std::any_of(group.committed.begin(), group.committed.end(),
                      [&](const Products& products) { return reads(products, at); }))
        return "what a product reads that was not waited for";
  return "";
}

std::string GroupProducts::release_problem(std::int64_t group,
                                           const std::unordered_set<std::size_t>& chunks) const {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return "";
  const auto is_read = [&](const Products& products) {
    return std::any_of(chunks.begin(), chunks.end(),
                       [&](std::size_t number) { return reads(products, number); });
  };
  const Group& own = found->second;
  if (is_read(own.open) || std::any_of(own.committed.begin(), own.committed.end(), is_read))
    return "while a product that was not waited for reads it";
  return "";
}

std::string GroupProducts::end_problem() const {
  for (const auto& [number, group] : groups_)
    if (!group.open.empty() || !group.committed.empty())
      return fmt::format("products of warpgroup {} are not waited for at the end", number);
  return "";
}

}  // namespace tilewright::ir
