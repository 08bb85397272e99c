// SPDX-License-Identifier: Apache-2.0
// ir/interpret/threads.h — the threads of a program of stage Final: how they run and meet, and what
// they combine when they do (threads.cpp); scans and sorts that they make together (together.cpp).
#pragma once

#include "ir/interpret/program_view.h"
#include "machine/library.h"

namespace tilewright::ir {

class Threads : private ProgramView {
 public:
  explicit Threads(ProgramState& state) : ProgramView(state) {}

  void run();
  // A region in which threads meet.
  const Op* run_together(const Region& region);

 private:
  void meet(const Op& op);
  void call_together(const Op& op, TogetherCall function);
  Element agreed(const Op& op, Value value) const;
  void hand_on(std::span<const Value> to, std::span<const Value> from);
  void for_together(const Op& op);
  void while_together(const Op& op);
  void branch_together(const Op& op);
  std::vector<Tile> combined_over(const Op& op, const std::vector<Tile>& tiles, std::int64_t bit,
                                  bool in_order);
  void combine_threads(const Op& op);
  void combine_warps(const Op& op, std::vector<std::vector<Tile>>& all);
};

class ThreadScans : private ProgramView {
 public:
  explicit ThreadScans(ProgramState& state) : ProgramView(state) {}

  void scan_threads(const Op& op);
  void scan_before(const Op& op);
  void sort_threads(const Op& op);
  void count_one(const Op& op);

 private:
  struct ScanNumbers {
    std::int64_t lanes = 0, warps = 0, inner = 0, outer = 0, count = 0;
    bool is_reverse = false;
    std::size_t members = 1;  // arrays of one element each
    std::int64_t lines = 0;   // bits of a register's number that tell lines apart
    std::int64_t first_of(std::int64_t line, std::int64_t chunk) const;
    std::int64_t within(std::int64_t i) const;
  };
  // Something that may be there; what is added comes after it. An element for each thread.
  struct Before {
    std::vector<Tile> value;
    std::vector<bool> is_some;
  };
  std::vector<Tile> combined_where(const Op& op, const std::vector<Tile>& left,
                                   const std::vector<Tile>& right, const std::vector<bool>& flags);
  void add_after(const Op& op, Before& before, const std::vector<Tile>& next,
                 const std::vector<bool>& flags);
  ScanNumbers scan_numbers(const Op& op) const;
  std::vector<Tile> scan_lanes(const Op& op, const ScanNumbers& scan, std::vector<Tile> value);
  std::int64_t scan_slot(const ScanNumbers& scan, std::int64_t item, std::int64_t warp) const;
  void write_scan_slots(const Op& op, const ScanNumbers& scan, std::int64_t item,
                        const std::vector<Tile>& until);
  Before scan_warps(const Op& op, const ScanNumbers& scan, std::int64_t item, Before& before,
                    const std::vector<Tile>& like);
  void end_stretch(const Op& op, const ScanNumbers& scan, std::int64_t line, std::int64_t chunk,
                   const std::vector<std::vector<Tile>>& until, Before& carried,
                   std::vector<std::vector<Tile>>& x);
  Before warps_before(const Op& op, const std::vector<Tile>& until);
};

}  // namespace tilewright::ir
