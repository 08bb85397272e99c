// SPDX-License-Identifier: Apache-2.0
// ir/interpret/ring_ops.cpp — rings, copies by tensor maps, and the roles of threads at stage
// Final.
#include <utility>

#include <fmt/format.h>

#include "ir/analysis/meetings.h"
#include "ir/interpret/program.h"

namespace tilewright::ir {

// ---- Words

RingWords::Word& RingOps::ring_word(const Op& op, std::size_t array, std::int64_t index) {
  const std::int64_t handle = integer(op, array);
  if (const std::string problem = shared_.note_read(handle, index, thread_); !problem.empty())
    fail(op, fmt::format("'{}' uses {}", op.text("function"), problem));
  RingWords::Word* word = words_.find(shared_.address_of(Arrays::view(handle, index)));
  if (word == nullptr)
    fail(op, fmt::format("'{}' uses a word that is not set up", op.text("function")));
  return *word;
}

void RingOps::set_up_ring(const Op& op) {
  if (thread_ != 0) return;
  const std::int64_t slots = op.integers("numbers")[0], warps = op.integers("numbers")[1];
  for (std::int64_t i = 0; i < 2 * slots; ++i) {
    write_array(op, 0, i, Element{.i = 0});
    words_.set_up(shared_.address_of(Arrays::view(integer(op, 0), i)), i < slots ? 1 : warps);
  }
}

// Each role keeps what it has while the other one runs.
bool RingOps::give_turn(bool waits) {
  std::vector<Tile> values = std::move(values_);
  Arrays arrays = std::move(arrays_);
  std::vector<ControlPlace> path = std::move(path_);
  const std::int64_t thread = thread_;
  const bool is_given = turns_.hand_over(waits);
  values_ = std::move(values);
  arrays_ = std::move(arrays);
  path_ = std::move(path);
  thread_ = thread;
  return is_given;
}

// Until a phase of that parity has ended. Copies to the word arrive when somebody has to wait.
void RingOps::wait_phase(const Op& op, RingWords::Word& word, std::int64_t parity) {
  if (turns_.is_running() && turns_.chooses_other()) give_turn(false);
  while (!RingWords::has_ended(word, parity)) {
    if (!word.copies.empty()) {
      land_copies(word);
      continue;
    }
    if (!turns_.is_running() || !give_turn(true))
      fail(op, fmt::format("'{}' waits for ever: thread {} at position {}", op.text("function"),
                           thread_, integer(op, 1)));
  }
}

void RingOps::acquire_slot(const Op& op) {
  const std::int64_t slots = op.integers("numbers")[0], position = integer(op, 1);
  wait_phase(op, ring_word(op, 0, slots + position % slots), (position / slots & 1) ^ 1);
  RingWords::Word& full = ring_word(op, 0, position % slots);
  full.landed.clear();
  full.bytes += op.integers("numbers")[1];
  if (const std::string problem = RingWords::arrive(full); !problem.empty()) fail(op, problem);
  turns_.stop_waiting();
}

void RingOps::await_slot(const Op& op) {
  const std::int64_t slots = op.integers("numbers")[0];
  for_each_thread([&] {
    const std::int64_t position = integer(op, 1);
    wait_phase(op, ring_word(op, 0, position % slots), position / slots & 1);
  });
}

// The first lane of each warp.
void RingOps::release_slot(const Op& op) {
  const std::int64_t slots = op.integers("numbers")[0];
  for_each_thread([&] {
    if (thread_ % lanes_ != 0 || integer(op, 2) == 0) return;
    const std::int64_t position = integer(op, 1);
    const RingWords::Word& full = ring_word(op, 0, position % slots);
    std::string problem = products_.release_problem(thread_ / GroupProducts::threads, full.landed);
    if (!problem.empty())
      fail(op, fmt::format("position {} of a ring is released {}", position, problem));
    problem = RingWords::arrive(ring_word(op, 0, slots + position % slots));
    if (!problem.empty()) fail(op, problem);
    turns_.stop_waiting();
    if (turns_.is_running() && turns_.chooses_other()) give_turn(false);
  });
}

// ---- Copies

// Line by line.
std::vector<Element> RingOps::read_box(const Op& op,
                                       const std::vector<std::int64_t>& coordinates) const {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  std::vector<Element> out;
  for (std::int64_t line = 0; line < numbers[1]; ++line)
    for (std::int64_t i = 0; i < numbers[0]; ++i) {
      std::vector<std::int64_t> at = coordinates;
      at[0] += i;
      at[1] += line;
      out.push_back(read_map_element(op, map_named(op), at, kernel_.type(op.operands[0]).dtype));
    }
  return out;
}

void RingOps::copy_box(const Op& op) {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const auto each = static_cast<std::int64_t>(size_of(kernel_.type(op.operands[0]).dtype));
  RingWords::Copy copy{.op = &op, .to = integer(op, 0)};
  for (std::size_t k = 2; k < op.operands.size(); ++k) copy.coordinates.push_back(integer(op, k));
  if (copy.coordinates.size() != map_named(op).dimensions.size())
    fail(op, "a copy has other coordinates than its tensor map has dimensions");
  check_copy(op, copy.coordinates, map_named(op));
  const std::int64_t first = shared_.address_of(copy.to), bytes = numbers[0] * numbers[1] * each;
  if (first % 128 != 0 || (numbers[2] != 0 && first % (8 * numbers[2]) != 0))
    fail(op, "a copy of a tensor map goes to a place that is not aligned to its pattern");
  if (const std::string problem = products_.write_problem(static_cast<std::size_t>(first),
                                                          static_cast<std::size_t>(first + bytes));
      !problem.empty())
    fail(op, "a copy writes " + problem);
  shared_.take_place(static_cast<std::size_t>(first), static_cast<std::size_t>(first + bytes));
  copy.elements = read_box(op, copy.coordinates);
  ring_word(op, 1, 0).copies.push_back(std::move(copy));
  turns_.stop_waiting();
}

// A copy may read memory until it is awaited.
void RingOps::land_copies(RingWords::Word& word) {
  const std::vector<RingWords::Copy> copies = std::exchange(word.copies, {});
  for (const RingWords::Copy& copy : copies) {
    const Op& op = *copy.op;
    const std::vector<std::int64_t> numbers = op.integers("numbers");
    const std::vector<Element> now = read_box(op, copy.coordinates);
    const auto each = static_cast<std::int64_t>(size_of(kernel_.type(op.operands[0]).dtype));
    const std::int64_t first = shared_.address_of(copy.to);
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i].i != copy.elements[i].i)
        fail(op, "memory was written while the copy of it was under way");
      const std::int64_t at = place_in_box(first, static_cast<std::int64_t>(i) * each, numbers[2]);
      shared_.land(copy.to, (at - first) / each, copy.elements[i]);
      word.landed.insert(static_cast<std::size_t>(at) / GroupProducts::chunk);
    }
    const auto bytes = static_cast<std::int64_t>(now.size()) * each;
    if (const std::string problem = RingWords::receive(word, bytes); !problem.empty())
      fail(op, problem);
  }
}

// ---- Roles

// The producer is one thread behind the consumers, who have what all of them had computed.
void RingOps::run_thread_roles(const Op& op) {
  ThreadState producer = threads_[0];
  const Op& thread = *thread_op(kernel_);
  producer.values[thread.result().id].elements[0].i = thread_count_;
  const std::vector<ControlPlace> outside = path_;
  const std::vector<Tile> together = values_;  // what is computed for all consumers at once
  turns_.run(
      [&] {
        values_ = std::move(producer.values);
        arrays_ = std::move(producer.arrays);
        path_ = outside;
        thread_ = thread_count_;
        parts().program.run_region(op.regions[0]);
      },
      [&] {
        values_ = together;
        arrays_ = {};
        path_ = outside;
        parts().threads.run_together(op.regions[1]);
      });
  values_ = together;
  path_ = outside;
}

}  // namespace tilewright::ir
