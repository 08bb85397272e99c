// SPDX-License-Identifier: Apache-2.0
// ir/interpret/rings.cpp — positions in order, and two threads that take turns.
#include "ir/interpret/rings.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace tilewright::ir {

// ---- Turns

void RoleTurns::run(const std::function<void()>& producer, const std::function<void()>& consumer) {
  is_running_ = true;
  std::thread other([&] { work(0, producer); });
  work(1, consumer);
  other.join();
  is_running_ = false;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void RoleTurns::work(int role, const std::function<void()>& body) {
  std::unique_lock lock(mutex_);
  turned_.wait(lock, [&] { return turn_ == role; });
  lock.unlock();
  try {
    if (!failure_) body();
  } catch (const Ended&) {
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
  }
  lock.lock();
  has_ended_[role] = true;
  turn_ = 1 - role;
  turned_.notify_all();
}

void RoleTurns::give_turn(std::unique_lock<std::mutex>& lock) {
  const int role = turn_;
  turn_ = 1 - role;
  turned_.notify_all();
  turned_.wait(lock, [&] { return turn_ == role; });
  lock.unlock();
  if (failure_) throw Ended{};
}

bool RoleTurns::hand_over(bool waits) {
  std::unique_lock lock(mutex_);
  const int role = turn_, other = 1 - role;
  if (has_ended_[other]) return false;
  if (waits && waits_[other]) return false;
  waits_[role] = waits;
  give_turn(lock);
  return true;
}

void RoleTurns::maybe_hand_over() {
  if (is_running_ && chooses_other()) hand_over(false);
}

bool RoleTurns::chooses_other() {
  seed_ ^= seed_ << 13;
  seed_ ^= seed_ >> 7;
  seed_ ^= seed_ << 17;
  return (seed_ >> 20) % 2 == 0;
}

// ---- Rings

Rings::Rings(const Kernel& kernel) : kernel_(kernel) {
  for (const KernelRing& ring : kernel.rings)
    rings_.push_back({&ring, kernel.slots_of(ring), 0, 0, 0, {}});
  if (!rings_.empty()) origins_.resize(kernel.value_count());
}

Rings::Ring& Rings::ring_of(const Op& op) {
  const KernelRing& facts = kernel_.ring_of(op);
  return rings_[static_cast<std::size_t>(&facts - kernel_.rings.data())];
}

bool Rings::must_wait(const Op& op, std::int64_t position) const {
  const Ring& ring = ring_of(op);
  if (op.kind == OpKind::Acquire) return position >= ring.released + ring.slots;
  if (position >= ring.acquired) return true;
  if (position < ring.released) return false;
  const Filling& filling = ring.fillings[static_cast<std::size_t>(position - ring.released)];
  return std::any_of(filling.copies.begin(), filling.copies.end(),
                     [](const Copy& copy) { return copy.op == nullptr; });
}

std::string Rings::acquire(const Op& op, std::int64_t position) {
  Ring& ring = ring_of(op);
  if (position != ring.acquired)
    return fmt::format("ring '{}' is asked for position {}, but {} comes next", ring.facts->name,
                       position, ring.acquired);
  ++ring.acquired;
  ring.fillings.push_back({std::vector<Copy>(ring.facts->buffers.size())});
  return "";
}

std::string Rings::start(const Op& op, std::int64_t position, Copy copy) {
  Ring& ring = ring_of(op);
  if (position < ring.awaited || position >= ring.acquired)
    return fmt::format("position {} of ring '{}' is filled, but was not acquired", position,
                       ring.facts->name);
  const auto& buffers = ring.facts->buffers;
  const auto at = std::find(buffers.begin(), buffers.end(), op.text("buffer")) - buffers.begin();
  Copy& place = ring.fillings[static_cast<std::size_t>(position - ring.released)]
                    .copies[static_cast<std::size_t>(at)];
  if (place.op != nullptr)
    return fmt::format("buffer '{}' at position {} of ring '{}' is filled twice", op.text("buffer"),
                       position, ring.facts->name);
  place = std::move(copy);
  return "";
}

std::string Rings::await(const Op& op, std::int64_t position, std::vector<Copy>& arrived) {
  Ring& ring = ring_of(op);
  if (position != ring.awaited)
    return fmt::format("position {} of ring '{}' is awaited, but {} comes next", position,
                       ring.facts->name, ring.awaited);
  ++ring.awaited;
  arrived = ring.fillings[static_cast<std::size_t>(position - ring.released)].copies;
  return "";
}

std::string Rings::release(const Op& op, std::int64_t position, bool waits) {
  Ring& ring = ring_of(op);
  const std::string& name = ring.facts->name;
  if (position < ring.released)
    return fmt::format("position {} of ring '{}' is released twice", position, name);
  if (position > ring.released)
    return fmt::format("position {} of ring '{}' is released before position {}", position, name,
                       ring.released);
  if (position >= ring.awaited)
    return fmt::format("position {} of ring '{}' is released, but was not awaited", position, name);
  const int number = static_cast<int>(&ring - rings_.data());
  if (waits) wait_for_readers(number, op.operands[0]);
  for (const auto& product : started_)
    for (const Origin& origin : product)
      if (origin.ring == number && origin.position == position)
        return fmt::format("position {} of ring '{}' is released while a product reads it",
                           position, name);
  ++ring.released;
  ring.fillings.pop_front();
  return "";
}

void Rings::wait_for_readers(int ring, Value position) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < started_.size(); ++i)
    for (const Origin& origin : started_[i])
      if (origin.ring == ring && origin.named == position) done = i + 1;
  started_.erase(started_.begin(), started_.begin() + static_cast<std::ptrdiff_t>(done));
}

std::string Rings::read(std::size_t buffer, std::int64_t position, Value result, Tile& content) {
  const std::string& name = kernel_.buffers[buffer].name;
  for (Ring& ring : rings_) {
    const auto& buffers = ring.facts->buffers;
    const auto found = std::find(buffers.begin(), buffers.end(), name);
    if (found == buffers.end()) continue;
    if (position < ring.released || position >= ring.awaited)
      return fmt::format(
          "position {} of buffer '{}' is read {}", position, name,
          position < ring.released ? "after it was released" : "before it was awaited");
    content = ring.fillings[static_cast<std::size_t>(position - ring.released)]
                  .copies[static_cast<std::size_t>(found - buffers.begin())]
                  .content;
    origins_[result.id] = {static_cast<int>(&ring - rings_.data()), position,
                           kernel_.maker(result)->operands[0]};
    return "";
  }
  return fmt::format("buffer '{}' belongs to no ring", name);
}

std::string Rings::use_problem(const Op& op) {
  if (rings_.empty()) return "";
  std::vector<Origin> read;
  for (const Value operand : op.operands) {
    const Origin& origin = origins_[operand.id];
    if (origin.ring < 0) continue;
    const Ring& ring = rings_[static_cast<std::size_t>(origin.ring)];
    if (origin.position < ring.released)
      return fmt::format("a tile of position {} of ring '{}' is used after it was released",
                         origin.position, ring.facts->name);
    read.push_back(origin);
  }
  if (op.facts().maps(Same | Repeated | Reshaped | Permuted | Halved))
    for (const Value result : op.results) origins_[result.id] = origins_[op.operands[0].id];
  // One that nobody may wait for later waits for all before it, too.
  if (op.kind == OpKind::Dot && op.text("unit") == "wgmma") {
    started_.push_back(std::move(read));
    while (static_cast<std::int64_t>(started_.size()) > op.integer("pending")) started_.pop_front();
  }
  return "";
}

void Rings::drain() { started_.clear(); }

}  // namespace tilewright::ir
