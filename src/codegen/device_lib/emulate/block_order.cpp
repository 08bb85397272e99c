// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/block_order.cpp — clocks that threads tell each other.
#include "codegen/device_lib/emulate/block_order.h"

#include <algorithm>

namespace tilewright {
namespace {

void raise(std::vector<std::uint32_t>& clocks, std::size_t agent, std::uint32_t clock) {
  if (clocks.size() <= agent) clocks.resize(agent + 1);
  clocks[agent] = std::max(clocks[agent], clock);
}

void merge(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

}  // namespace

void BlockOrder::start_block(std::uint32_t threads, std::uint32_t lanes) {
  lanes_ = lanes;
  threads_.assign(threads, {});
  words_.clear();
  agents_.clear();
  published_.clear();
  step_ = 1;
  barrier_ = 1;
}

void BlockOrder::warp_barrier(std::uint32_t first_thread, std::uint64_t lanes) {
  std::uint32_t seen[most_lanes] = {};
  std::uint32_t received = 0;
  Clocks agents;
  const auto each = [&](auto visit) {
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
      if (lanes >> lane & 1) visit(threads_[first_thread + lane], lane);
  };
  each([&](const Thread& thread, std::uint32_t lane) {
    for (std::uint32_t i = 0; i < lanes_; ++i) seen[i] = std::max(seen[i], thread.lanes[i]);
    seen[lane] = std::max(seen[lane], thread.clock);
    received = std::max(received, thread.received);
    merge(agents, thread.agents);
  });
  each([&](Thread& thread, std::uint32_t) {
    std::copy(seen, seen + lanes_, thread.lanes);
    thread.received = received;
    thread.agents = agents;
    ++thread.clock;
  });
}

// What the thread did and has seen.
void BlockOrder::tell(std::uint32_t thread, Clocks& to) const {
  const Thread& self = threads_[thread];
  merge(to, self.agents);
  const std::uint32_t first = thread / lanes_ * lanes_;
  for (std::uint32_t lane = 0; lane < lanes_; ++lane)
    if (self.lanes[lane] > 0) raise(to, first + lane, self.lanes[lane]);
  raise(to, thread, self.clock);
}

void BlockOrder::named_barrier(std::span<const std::uint32_t> threads) {
  Clocks all;
  std::uint32_t received = 0;
  for (const std::uint32_t thread : threads) {
    tell(thread, all);
    received = std::max(received, threads_[thread].received);
  }
  for (const std::uint32_t thread : threads) {
    threads_[thread].agents = all;
    threads_[thread].received = received;
    ++threads_[thread].clock;
  }
}

// ---- Words of rings.

std::uint16_t BlockOrder::agent_of(const void* word) {
  const auto next = static_cast<std::uint16_t>(threads_.size() + words_.size());
  const auto [found, is_new] = agents_.try_emplace(word, next);
  if (is_new) words_.emplace_back();
  return found->second;
}

void BlockOrder::arrive(const void* word, std::uint32_t thread) {
  tell(thread, word_at(word).seen);
  ++threads_[thread].clock;
}

void BlockOrder::pass(const void* word, std::uint32_t thread) {
  Word& told = word_at(word);
  merge(threads_[thread].agents, told.seen);
  told.waited_in.resize(told.landed, step_);
}

BlockOrder::Moment BlockOrder::next_copy(const void* word) {
  const std::uint16_t agent = agent_of(word);
  return {step_, word_at(word).started + 1, agent};
}

void BlockOrder::land_copy(const void* word) {
  Word& told = word_at(word);
  raise(told.seen, agent_of(word), ++told.landed);
}

// The thread has waited for it, or another one has and they met.
bool BlockOrder::is_copied(const Moment& before, std::uint32_t thread) const {
  const Clocks& seen = threads_[thread].agents;
  if (before.agent < seen.size() && before.clock <= seen[before.agent]) return true;
  const Word& word = words_[before.agent - threads_.size()];
  return before.clock <= word.waited_in.size() && word.waited_in[before.clock - 1] < barrier_;
}

// ---- Fences.

void BlockOrder::fence(std::uint32_t thread) { threads_[thread].fence = ++step_; }

void BlockOrder::publish(std::uintptr_t address, std::uint32_t thread) {
  const std::uint32_t fence = threads_[thread].fence;
  if (fence == 0) return;
  Published& published = published_[address];
  if (published.last.thread != thread) published.other = published.last;
  published.last = {thread, fence};
}

void BlockOrder::receive(std::uintptr_t address, std::uint32_t thread) {
  if (published_.empty()) return;
  const auto found = published_.find(address);
  if (found == published_.end()) return;
  const Published& published = found->second;
  const std::uint32_t fence =
      published.last.thread != thread ? published.last.fence : published.other.fence;
  threads_[thread].received = std::max(threads_[thread].received, fence);
}

}  // namespace tilewright
