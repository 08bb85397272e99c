// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/products.cpp — sums that are kept aside while products go on.
#include "codegen/device_lib/emulate/products.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"

namespace tilewright {
namespace {

constexpr int poisoned_byte = 0xff;  // NaN as a float, -1 as an integer

constexpr std::size_t most_bytes = 1024;  // of a closure, and of sums

std::vector<std::max_align_t> copy_of(const void* from, std::size_t bytes) {
  TW_CHECK(bytes <= most_bytes, "an emulated product has {} bytes", bytes);
  std::vector<std::max_align_t> out((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  std::memcpy(out.data(), from, bytes);
  return out;
}

}  // namespace

void ProductQueue::clear() {
  open_.clear();
  groups_.clear();
  sums_.clear();
}

// The sums' entry: a new one takes their values away.
std::size_t ProductQueue::hold(void* at, std::size_t bytes) {
  std::size_t free = sums_.size();
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (sums_[i].at == at && sums_[i].under_way > 0) return i;
    if (sums_[i].under_way == 0) free = i;
  }
  if (free == sums_.size()) sums_.emplace_back();
  sums_[free] = {.at = at, .values = copy_of(at, bytes), .bytes = bytes, .under_way = 0};
  std::memset(at, poisoned_byte, bytes);
  return free;
}

void ProductQueue::start(Run run_product, const void* closure, std::size_t closure_bytes, void* sums, std::size_t sums_bytes,
                         bool is_early) {
  Product product{.run = run_product, .closure = copy_of(closure, closure_bytes), .sums = hold(sums, sums_bytes)};
  ++sums_[product.sums].under_way;
  open_.push_back(std::move(product));
  if (!is_early) return;
  for (Group& group : groups_)
    for (Product& one : group) run(one);
  for (Product& one : open_) run(one);
}

void ProductQueue::commit() {
  groups_.push_back(std::move(open_));
  open_.clear();
}

// On the thread's stack, the one memory beside shared that checks let it touch.
void ProductQueue::run(Product& product) {
  if (product.is_done) return;
  Sums& sums = sums_[product.sums];
  std::array<std::max_align_t, most_bytes / sizeof(std::max_align_t)> closure, values;
  std::copy(product.closure.begin(), product.closure.end(), closure.begin());
  std::copy(sums.values.begin(), sums.values.end(), values.begin());
  product.run(closure.data(), values.data());
  std::copy_n(values.begin(), sums.values.size(), sums.values.begin());
  product.is_done = true;
}

void ProductQueue::finish(Product& product) {
  run(product);
  Sums& sums = sums_[product.sums];
  if (--sums.under_way == 0) std::memcpy(sums.at, sums.values.data(), sums.bytes);
}

void ProductQueue::wait(std::size_t pending) {
  while (groups_.size() > pending) {
    for (Product& product : groups_.front()) finish(product);
    groups_.erase(groups_.begin());
  }
}

}  // namespace tilewright
