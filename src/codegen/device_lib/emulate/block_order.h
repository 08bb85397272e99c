// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/block_order.h — which of the things that the threads of an emulated
// block did come before which others, whatever the order in which the fibers run.
//
// __syncthreads orders the whole block, __syncwarp the lanes that take part, a named barrier its
// threads, a word of a ring who arrives at it and who waits for it. A fence and an atomic (or
// volatile) access after it order what lies before the fence for whoever reads that word later;
// here that holds for all threads' accesses before the fence, which is more than a machine
// promises.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tilewright {

class BlockOrder {
 public:
  // When something was done, and by whom: a thread, or the copies that tell a word of a ring.
  struct Moment {
    std::uint32_t step = 0;   // block barriers and fences before it
    std::uint32_t clock = 0;  // of the agent
    std::uint16_t agent = 0;
  };

  static constexpr std::uint32_t most_lanes = 64;

  void start_block(std::uint32_t threads, std::uint32_t lanes);
  Moment now(std::uint32_t thread) const {
    return {step_, threads_[thread].clock, static_cast<std::uint16_t>(thread)};
  }
  // Whether the thread can rely on it that the moment has been.
  bool is_ordered(const Moment& before, std::uint32_t thread) const {
    if (before.agent == thread) return true;
    if (before.agent >= threads_.size()) return is_copied(before, thread);
    const Thread& self = threads_[thread];
    if (before.step < barrier_ || before.step < self.received) return true;
    if (is_same_warp(before.agent, thread) && before.clock <= self.lanes[before.agent % lanes_])
      return true;
    return before.agent < self.agents.size() && before.clock <= self.agents[before.agent];
  }
  bool is_same_warp(std::uint32_t a, std::uint32_t b) const { return a / lanes_ == b / lanes_; }

  void block_barrier() { barrier_ = ++step_; }
  void warp_barrier(std::uint32_t first_thread, std::uint64_t lanes);
  void named_barrier(std::span<const std::uint32_t> threads);

  // Words of rings. What copies do that tell a word is seen by who waits for it after they landed.
  void arrive(const void* word, std::uint32_t thread);
  void pass(const void* word, std::uint32_t thread);
  Moment next_copy(const void* word);  // of the copy that start_copy starts
  void start_copy(const void* word) { ++word_at(word).started; }
  void land_copy(const void* word);

  void fence(std::uint32_t thread);
  void publish(std::uintptr_t address, std::uint32_t thread);
  void receive(std::uintptr_t address, std::uint32_t thread);

 private:
  using Clocks = std::vector<std::uint32_t>;  // by agent; those behind its end are 0
  // What the thread has seen of others: clocks up to which.
  struct Thread {
    std::uint32_t clock = 1;
    std::uint32_t fence = 0;               // its last one, by their number
    std::uint32_t received = 0;            // fences before which it has seen everything
    std::uint32_t lanes[most_lanes] = {};  // of its warp
    Clocks agents;                         // by named barriers and words
  };
  struct Word {
    std::uint32_t started = 0;  // of its copies
    std::uint32_t landed = 0;
    Clocks seen;                           // by who waits for it
    std::vector<std::uint32_t> waited_in;  // by copy: the step when a thread had waited for it
  };
  struct Publisher {
    std::uint32_t thread = 0;
    std::uint32_t fence = 0;
  };
  // The last fence published at an address, and the last one by another thread.
  struct Published {
    Publisher last, other;
  };

  bool is_copied(const Moment& before, std::uint32_t thread) const;
  std::uint16_t agent_of(const void* word);
  Word& word_at(const void* word) { return words_[agent_of(word) - threads_.size()]; }
  void tell(std::uint32_t thread, Clocks& to) const;

  std::vector<Thread> threads_;
  std::vector<Word> words_;  // their agents are numbered behind the threads
  std::unordered_map<const void*, std::uint16_t> agents_;
  std::unordered_map<std::uintptr_t, Published> published_;
  std::uint32_t lanes_ = 1;
  std::uint32_t step_ = 1;
  std::uint32_t barrier_ = 1;  // the step of the last one
};

}  // namespace tilewright
