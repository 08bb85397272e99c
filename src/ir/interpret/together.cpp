// SPDX-License-Identifier: Apache-2.0
// ir/interpret/together.cpp — scans and sorts that all threads of a program make together, in the
// order of device_lib/cuda/scan.cuh and with the same accesses to shared memory.
#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/calls.h"
#include "ir/interpret/program.h"
#include "ir/interpret/shapes.h"
#include "machine/sorted_places.h"

namespace tilewright::ir {
namespace {

std::int64_t count_of(std::int64_t mask) {
  return std::int64_t{1} << std::popcount(static_cast<std::uint64_t>(mask));
}

// Number `index` of those with bits of the mask only.
std::int64_t spread(std::int64_t mask, std::int64_t index) {
  std::int64_t out = 0;
  int at = 0;
  for (int bit = 0; mask >> bit != 0; ++bit)
    if ((mask >> bit & 1) != 0) out |= (index >> at++ & 1) << bit;
  return out;
}

using Tiles = std::vector<Tile>;
using Flags = std::vector<bool>;

// What each thread has of another one.
Tiles moved(const Tiles& tiles, const std::function<std::int64_t(std::int64_t)>& from) {
  Tiles out = tiles;
  for (std::size_t k = 0; k < tiles.size(); ++k)
    for (std::size_t t = 0; t < tiles[k].elements.size(); ++t)
      out[k].elements[t] =
          tiles[k].elements[static_cast<std::size_t>(from(static_cast<std::int64_t>(t)))];
  return out;
}

Tiles chosen(const Flags& flags, const Tiles& a, Tiles b) {
  for (std::size_t k = 0; k < b.size(); ++k)
    for (std::size_t t = 0; t < flags.size(); ++t)
      if (flags[t]) b[k].elements[t] = a[k].elements[t];
  return b;
}

}  // namespace

// Where the flag is set; elsewhere what is on the right.
Tiles ThreadScans::combined_where(const Op& op, const Tiles& left, const Tiles& right,
                                  const Flags& flags) {
  return chosen(flags, parts().program.combine(op, chosen(flags, left, right), right), right);
}

void ThreadScans::add_after(const Op& op, Before& before, const Tiles& next, const Flags& flags) {
  const Tiles both = combined_where(op, before.value, next, before.is_some);
  before.value = chosen(flags, both, std::move(before.value));
  for (std::size_t t = 0; t < flags.size(); ++t) before.is_some[t] = before.is_some[t] || flags[t];
}

ThreadScans::ScanNumbers ThreadScans::scan_numbers(const Op& op) const {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const bool is_block = calls(op, LibraryKind::ScanBlock);
  const std::size_t last = numbers.size() - 1;
  ScanNumbers out{.lanes = numbers[0],
                  .warps = is_block ? numbers[1] : 0,
                  .inner = numbers[last - 3],
                  .outer = numbers[last - 2],
                  .count = numbers[last - 1],
                  .is_reverse = numbers[last] != 0,
                  .members = op.operands.size() / (is_block ? 2 : 1)};
  out.lines = (out.count - 1) & ~out.inner & ~out.outer;
  return out;
}

// The register with which a stretch of consecutive elements begins, and an element of it.
std::int64_t ThreadScans::ScanNumbers::first_of(std::int64_t line, std::int64_t chunk) const {
  const std::int64_t last = count_of(outer) - 1;
  return spread(lines, line) | spread(outer, is_reverse ? last - chunk : chunk);
}
std::int64_t ThreadScans::ScanNumbers::within(std::int64_t i) const {
  return spread(inner, is_reverse ? count_of(inner) - 1 - i : i);
}

// Each with the lanes before it.
Tiles ThreadScans::scan_lanes(const Op& op, const ScanNumbers& scan, Tiles value) {
  for (std::int64_t bit = 1; bit < lanes_; bit *= 2) {
    if ((scan.lanes & bit) == 0) continue;
    const std::int64_t lower = scan.lanes & (bit - 1);  // the last lane of the half before
    const Tiles other = moved(value, [&](std::int64_t t) {
      return scan.is_reverse ? (t | bit) & ~lower : (t & ~bit) | lower;
    });
    Flags takes(threads_.size());
    for (std::size_t t = 0; t < takes.size(); ++t)
      takes[t] = ((t & static_cast<std::size_t>(bit)) != 0) != scan.is_reverse;
    value = combined_where(op, other, value, takes);
  }
  return value;
}

std::int64_t ThreadScans::scan_slot(const ScanNumbers& scan, std::int64_t item,
                                    std::int64_t warp) const {
  const std::int64_t lane = thread_ % lanes_;
  const std::int64_t each = scan.lanes == lanes_ - 1 ? 1 : lanes_;
  return (item * (thread_count_ / lanes_) + warp) * each + (lane & ~scan.lanes);
}

// The last lanes of each stretch write what it comes to.
void ThreadScans::write_scan_slots(const Op& op, const ScanNumbers& scan, std::int64_t item,
                                   const Tiles& until) {
  for_each_thread([&] {
    const std::int64_t lane = thread_ % lanes_;
    if (((scan.is_reverse ? ~lane : lane) & scan.lanes) != scan.lanes) return;
    for (std::size_t k = 0; k < scan.members; ++k)
      write_array(op, scan.members + k, scan_slot(scan, item, thread_ / lanes_),
                  until[k].elements[static_cast<std::size_t>(thread_)]);
  });
}

// What the warps before come to is added to `before`, what all do is given.
ThreadScans::Before ThreadScans::scan_warps(const Op& op, const ScanNumbers& scan,
                                            std::int64_t item, Before& before, const Tiles& like) {
  const Flags none(threads_.size(), false), all(threads_.size(), true);
  Before total{like, none}, of_warps{like, none};
  const std::int64_t warps = count_of(scan.warps);
  for (std::int64_t w = 0; w < warps; ++w) {
    const std::int64_t other = spread(scan.warps, scan.is_reverse ? warps - 1 - w : w);
    Tiles values = like;
    Flags is_before = none;
    for_each_thread([&] {
      const std::int64_t warp = thread_ / lanes_, own = warp & scan.warps;
      const auto t = static_cast<std::size_t>(thread_);
      for (std::size_t k = 0; k < scan.members; ++k)
        values[k].elements[t] =
            read_array(op, scan.members + k, scan_slot(scan, item, (warp & ~scan.warps) | other));
      is_before[t] = scan.is_reverse ? other > own : other < own;
    });
    add_after(op, of_warps, values, is_before);
    add_after(op, total, values, all);
  }
  add_after(op, before, of_warps.value, of_warps.is_some);
  return total;
}

void ThreadScans::scan_threads(const Op& op) {
  const ScanNumbers scan = scan_numbers(op);
  std::vector<Tiles> x, until;
  for (std::int64_t i = 0; i < scan.count; ++i) x.push_back(totals_of(op, scan.members, i));
  const auto at = [&](std::int64_t index) -> Tiles& { return x[static_cast<std::size_t>(index)]; };
  const std::int64_t stretch = count_of(scan.inner), chunks = count_of(scan.outer);
  for (std::int64_t item = 0; item < count_of(scan.lines) * chunks; ++item) {
    const std::int64_t first = scan.first_of(item / chunks, item % chunks);
    for (std::int64_t i = 1; i < stretch; ++i)
      at(first | scan.within(i)) =
          parts().program.combine(op, at(first | scan.within(i - 1)), at(first | scan.within(i)));
    until.push_back(scan_lanes(op, scan, at(first | scan.within(stretch - 1))));
    if (scan.warps != 0) write_scan_slots(op, scan, item, until.back());
  }
  if (scan.warps != 0) shared_.meet();
  for (std::int64_t line = 0; line < count_of(scan.lines); ++line) {
    Before carried{x[0], Flags(threads_.size(), false)};
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      end_stretch(op, scan, line, chunk, until, carried, x);
  }
  for_each_thread([&] {
    for (std::int64_t i = 0; i < scan.count; ++i)
      for (std::size_t k = 0; k < scan.members; ++k)
        write_array(op, k, i, at(i)[k].elements[static_cast<std::size_t>(thread_)]);
  });
}

// Adds to the elements of a stretch what comes before it.
void ThreadScans::end_stretch(const Op& op, const ScanNumbers& scan, std::int64_t line,
                              std::int64_t chunk, const std::vector<Tiles>& until, Before& carried,
                              std::vector<Tiles>& x) {
  const std::int64_t stretch = count_of(scan.inner), chunks = count_of(scan.outer);
  const std::int64_t item = line * chunks + chunk;
  const Tiles& own = until[static_cast<std::size_t>(item)];
  const Flags all(threads_.size(), true);
  Before before = carried;
  if (scan.warps != 0) {
    const Before total = scan_warps(op, scan, item, before, own);
    add_after(op, carried, total.value, all);
  } else {
    const Tiles total = moved(
        own, [&](std::int64_t t) { return scan.is_reverse ? t & ~scan.lanes : t | scan.lanes; });
    add_after(op, carried, total, all);
  }
  const std::int64_t first = scan.first_of(line, chunk);
  const auto at = [&](std::int64_t i) -> Tiles& {
    return x[static_cast<std::size_t>(first | scan.within(i))];
  };
  at(stretch - 1) = combined_where(op, before.value, own, before.is_some);
  Flags has_lane(threads_.size(), false);
  for (std::size_t t = 0; t < has_lane.size(); ++t) {
    const auto lane = static_cast<std::int64_t>(t) % lanes_;
    has_lane[t] = ((scan.is_reverse ? ~lane : lane) & scan.lanes) != 0;
  }
  const Tiles previous = moved(own, [&](std::int64_t t) {
    const std::int64_t lane = t % lanes_;
    const std::int64_t step = scan.is_reverse ? (lane | ~scan.lanes) + 1 : (lane & scan.lanes) - 1;
    return t - lane + ((lane & ~scan.lanes) | (step & scan.lanes));
  });
  if (scan.lanes != 0 && stretch > 1) add_after(op, before, previous, has_lane);
  for (std::int64_t i = 0; i < stretch - 1; ++i)
    at(i) = combined_where(op, before.value, at(i), before.is_some);
}

// ---- Scans through shared memory

void ThreadScans::scan_before(const Op& op) {
  const bool is_block = calls(op, LibraryKind::BeforeBlock);
  const std::size_t members = op.operands.size() / (is_block ? 3 : 2);
  const std::int64_t lanes = op.integers("numbers")[0] + 1;
  Tiles until = totals_of(op, members, 0);
  Flags has_lane(threads_.size());
  for (std::int64_t step = 1; step < lanes; step *= 2) {
    for (std::size_t t = 0; t < has_lane.size(); ++t)
      has_lane[t] = static_cast<std::int64_t>(t) % lanes >= step;
    const Tiles other =
        moved(until, [&](std::int64_t t) { return std::max<std::int64_t>(t - step, 0); });
    until = combined_where(op, other, until, has_lane);
  }
  for (std::size_t t = 0; t < has_lane.size(); ++t)
    has_lane[t] = static_cast<std::int64_t>(t) % lanes > 0;
  const Tiles previous =
      moved(until, [](std::int64_t t) { return std::max<std::int64_t>(t - 1, 0); });
  Before before{until, Flags(threads_.size(), false)};
  if (is_block) before = warps_before(op, until);
  add_after(op, before, previous, has_lane);
  for_each_thread([&] {
    const auto t = static_cast<std::size_t>(thread_);
    for (std::size_t k = 0; k < members && before.is_some[t]; ++k)
      write_array(op, members + k, 0, before.value[k].elements[t]);
  });
}

// Through the slots, of which the last lane of each warp writes one.
ThreadScans::Before ThreadScans::warps_before(const Op& op, const Tiles& until) {
  const std::size_t members = op.operands.size() / 3;
  const std::int64_t warps = op.integers("numbers")[1] + 1;
  for_each_thread([&] {
    if (thread_ % lanes_ != lanes_ - 1) return;
    for (std::size_t k = 0; k < members; ++k)
      write_array(op, 2 * members + k, thread_ / lanes_,
                  until[k].elements[static_cast<std::size_t>(thread_)]);
  });
  shared_.meet();
  Before out{until, Flags(threads_.size(), false)};
  for (std::int64_t w = 0; w + 1 < warps; ++w) {
    Tiles values = until;
    Flags is_before(threads_.size(), false);
    for_each_thread([&] {
      const std::int64_t warp = thread_ / lanes_;
      const auto t = static_cast<std::size_t>(thread_);
      is_before[t] = w < warp % warps;
      for (std::size_t k = 0; k < members && is_before[t]; ++k)
        values[k].elements[t] = read_array(op, 2 * members + k, warp - warp % warps + w);
    });
    add_after(op, out, values, is_before);
  }
  return out;
}

// Each thread reads and writes its own elements.
void ThreadScans::sort_threads(const Op& op) {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const int log_count = static_cast<int>(numbers[3]), log_threads = static_cast<int>(numbers[4]);
  const std::int64_t own = std::int64_t{1} << log_sorted(log_count, log_threads);
  const std::int64_t count = std::int64_t{1} << log_count;
  Tile runs{Type::scalar(kernel_.type(op.operands[0]).dtype).with_shape({1, count}),
            std::vector<Element>(static_cast<std::size_t>(count))};
  const auto for_own = [&](const std::function<void(std::int64_t, Element&)>& visit) {
    for_each_thread([&] {
      for (std::int64_t i = thread_ * own; i < std::min(count, (thread_ + 1) * own); ++i)
        visit(sort_place(i, log_count, log_threads), runs.elements[static_cast<std::size_t>(i)]);
    });
  };
  for_own([&](std::int64_t place, Element& element) { element = read_array(op, 0, place); });
  runs = sort_tile(std::move(runs), numbers[0], numbers[1], sort_orders[numbers[2]]);
  for_own([&](std::int64_t place, Element& element) { write_array(op, 0, place, element); });
  shared_.meet();
}

void ThreadScans::count_one(const Op& op) {
  const std::int64_t array = integer(op, 0), index = integer(op, 1);
  const bool is_shared = kernel_.type(op.operands[0]).space == Space::Shared;
  if (const std::string problem = is_shared ? shared_.note_add(array, index, thread_, op)
                                            : std::string("an array that one thread has alone");
      !problem.empty())
    fail(op, fmt::format("count_one adds to {}", problem));
  Element element = shared_.read(array, index);
  ++element.i;
  shared_.write(array, index, element);
}

}  // namespace tilewright::ir
