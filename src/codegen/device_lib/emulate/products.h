// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/products.h — the asynchronous products that one emulated thread has under way.
//
// From the start of a product until all products with the same sums have been waited for, the sums hold a poison; what they
// really are is kept here. A product reads its operands at its start or when it is waited for, whichever the seed says: both are
// legal moments, so a kernel whose result depends on it is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright {

class ProductQueue {
 public:
  using Run = void (*)(const void* closure, void* sums);

  void clear();
  // Copies the closure. `is_early`: this and all before it are computed now.
  void start(Run run, const void* closure, std::size_t closure_bytes, void* sums, std::size_t sums_bytes, bool is_early);
  void commit();
  void wait(std::size_t pending);
  bool is_empty() const { return groups_.empty() && open_.empty(); }

 private:
  struct Product {
    Run run = nullptr;
    std::vector<std::max_align_t> closure;
    std::size_t sums = 0;  // number in sums_
    bool is_done = false;
  };
  struct Sums {
    void* at = nullptr;
    std::vector<std::max_align_t> values;  // what they really are
    std::size_t bytes = 0;
    int under_way = 0;
  };
  using Group = std::vector<Product>;

  std::size_t hold(void* at, std::size_t bytes);
  void run(Product& product);
  void finish(Product& product);

  Group open_;  // of no group yet
  std::vector<Group> groups_;
  std::vector<Sums> sums_;
};

}  // namespace tilewright
