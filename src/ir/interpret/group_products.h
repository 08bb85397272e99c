// SPDX-License-Identifier: Apache-2.0
// ir/interpret/group_products.h — products of warpgroups that go on beside the threads which have
// started them, and what nobody may touch until they are waited for.
//
// A product may read its operands and write its sums at any moment between its start and the wait
// for its group. So who touches its sums or changes its words or operands in between is reported, in
// whichever order things have run.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

class GroupProducts {
 public:
  static constexpr std::int64_t threads = 128;  // of a warpgroup
  static constexpr std::size_t chunk = 16;      // bytes that are told apart

  struct Product {
    std::uint32_t sums = Value::none;   // the arrays of each thread, by value
    std::uint32_t words = Value::none;  // none: the left operand is in shared memory
    std::unordered_set<std::size_t> chunks = {};  // of shared memory that it reads
  };

  explicit GroupProducts(const Kernel& kernel);
  bool is_used() const { return is_used_; }

  // These give what is wrong, or nothing. Of a warpgroup by its number.
  void begin(std::int64_t group);
  std::string start(std::int64_t group, Product product);
  void commit(std::int64_t group);
  std::vector<Product> wait(std::int64_t group, std::int64_t pending);  // those that are done now
  // Of an array of one of its threads.
  std::string touch(std::int64_t group, std::uint32_t array, bool writes);
  // Of bytes of shared memory that anybody writes, or that a warpgroup gives back.
  std::string write_problem(std::size_t first, std::size_t end) const;
  std::string release_problem(std::int64_t group,
                              const std::unordered_set<std::size_t>& chunks) const;
  std::string end_problem() const;

 private:
  using Products = std::vector<Product>;
  struct Group {
    Products open;                    // not committed yet
    std::deque<Products> committed;
    bool has_begun = false;
    std::set<std::uint32_t> written;  // arrays, since the group has begun
  };
  static bool reads(const Products& products, std::size_t chunk_number);

  bool is_used_;
  std::map<std::int64_t, Group> groups_;
};

}  // namespace tilewright::ir
