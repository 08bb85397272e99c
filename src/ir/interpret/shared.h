// SPDX-License-Identifier: Apache-2.0
// ir/interpret/shared.h — memory that the threads of a program use between two of their meetings:
// arrays in shared memory, with a shadow of its bytes, and a shadow of the launch's memory.
//
// An access whose result depends on which of two threads comes first is a finding, in whichever
// order they have run.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/interpret/arrays.h"
#include "ir/kernel.h"

namespace tilewright::ir {

// How often all threads have met, and how often the lanes of each warp.
struct Meetings {
  std::int64_t all = 0, of_warps = 0;
};

// What happened to a byte or an element since all threads met last.
struct ThreadUse {
  static constexpr std::int64_t several = -2;
  Meetings written = {-1, -1}, read = {-1, -1};
  std::int64_t writer = -1, reader = -1;
  std::int64_t reader_warp = -1;
  const Op* op = nullptr;  // that has written it

  // By a thread with which this one has not met since.
  bool is_written_by_other(const Meetings& now, std::int64_t thread, std::int64_t lanes) const {
    const bool have_met = writer / lanes == thread / lanes && written.of_warps < now.of_warps;
    return written.all == now.all && writer != thread && !have_met;
  }
  bool is_read_by_other(const Meetings& now, std::int64_t thread, std::int64_t lanes) const {
    const bool have_met = reader_warp == thread / lanes && read.of_warps < now.of_warps;
    return read.all == now.all && reader != thread && !have_met;
  }
  void note_read(const Meetings& now, std::int64_t thread, std::int64_t lanes) {
    const bool is_first = read.all != now.all;
    reader = is_first || reader == thread ? thread : several;
    reader_warp = is_first || reader_warp == thread / lanes ? thread / lanes : several;
    read = now;
  }
  void note_write(const Meetings& now, std::int64_t thread, const Op& by) {
    written = now;
    writer = thread;
    op = &by;
  }
};

class SharedArrays {
 public:
  // Of an `array` or a member of a `group`, with elements of so many bytes; one for all threads.
  std::int64_t make(const Op& op, std::size_t member, std::int64_t bytes, DType dtype);
  // All threads have met, or the lanes of each warp: what comes now sees what was before.
  void meet() { ++now_.all; }
  void meet_in_warps() { ++now_.of_warps; }
  void set_up(std::int64_t lanes, bool has_products) {
    lanes_ = lanes;
    has_products_ = has_products;
  }

  // What is wrong with the access of a thread; empty: nothing, and it is noted.
  std::string note_read(std::int64_t handle, std::int64_t index, std::int64_t thread);
  std::string note_write(std::int64_t handle, std::int64_t index, std::int64_t thread,
                         const Op& op);
  // Of one that adds to the element, which others may do by the same op.
  std::string note_add(std::int64_t handle, std::int64_t index, std::int64_t thread, const Op& op);
  // A copy into the element starts, and is done: nobody touches it between.
  std::string note_copy(std::int64_t handle, std::int64_t index, std::int64_t thread, const Op& op);
  void note_copied(std::int64_t handle, std::int64_t index, std::int64_t thread, const Op& op);
  Element read(std::int64_t handle, std::int64_t index) const {
    return arrays_.read(handle, index);
  }
  void write(std::int64_t handle, std::int64_t index, Element element) {
    arrays_.write(handle, index, element);
  }
  // ---- Products of warpgroups and copies, which read and write bytes by themselves
  std::int64_t address_of(std::int64_t handle) const;  // of the first element
  // What the thread wrote is seen by products once the threads have met.
  void show(std::int64_t thread);
  // An element of the array that lies there. What is wrong with reading it; empty: nothing.
  std::string read_for_product(std::size_t address, DType dtype, Element& out) const;
  // The same for what a thread stores by a tensor map: it is enough that the lanes of a warp have
  // met where one of them wrote it.
  std::string read_for_store(std::size_t address, DType dtype, std::int64_t thread,
                             Element& out) const;
  // Whoever writes there next has to come after the thread that waited for the store.
  void note_store_done(std::size_t first, std::size_t end, std::int64_t thread);
  // Whoever writes there next has to come after the threads that waited for the product.
  void note_product_done(std::size_t first, std::size_t count);
  // A copy goes there: nobody finds anything until it has landed.
  void take_place(std::size_t first, std::size_t end);
  void land(std::int64_t handle, std::int64_t index, Element element);
  std::pair<std::size_t, std::size_t> bytes_of(std::int64_t handle, std::int64_t index) const;

  // The same of an element of memory; several may write it by one op, whose last one is open.
  std::string note_memory_read(std::uint64_t address, std::int64_t thread);
  std::string note_memory_write(std::uint64_t address, std::int64_t thread, const Op& op);

 private:
  struct Byte : ThreadUse {
    static constexpr std::int64_t never = INT64_MAX;
    std::uint32_t owner = Value::none;  // the array that was written there
    bool is_under_way = false;          // a copy
    std::int64_t shown = -1;            // when products were shown it; `never`: they were not
    std::int64_t shown_in_warps = -1;   // alike, by how often lanes have met
  };
  struct Place {
    std::int64_t first = 0, step = 0, bytes = 0;
  };
  struct Range {
    std::uint32_t owner;
    std::size_t first, end;
  };
  std::string problem(std::int64_t handle, std::int64_t index, bool reads) const;
  std::string read_shown(std::size_t address, DType dtype, Element& out) const;
  Range range(std::int64_t handle, std::int64_t index) const;  // the bytes of an element

  Arrays arrays_;
  std::unordered_map<std::uint32_t, Place> places_;
  std::vector<Byte> bytes_;
  std::unordered_map<std::uint64_t, ThreadUse> memory_;
  std::unordered_map<std::int64_t, std::vector<std::size_t>> unshown_;  // bytes by thread
  std::unordered_map<std::uint32_t, DType> dtypes_;
  Meetings now_;
  std::int64_t lanes_ = 1;
  bool has_products_ = false;
};

}  // namespace tilewright::ir
