// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/scheduler.cpp — fibers, who runs next, and barriers.
#include "codegen/device_lib/emulate/scheduler.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "codegen/device_lib/emulate/faults.h"

namespace tilewright {
namespace {

constexpr std::uint32_t stacks_per_pool = 64;

// What a shuffle gives that reads a lane which takes no part: not a number in every floating type.
constexpr std::uint64_t absent_lane = 0x7fff7fffdeadbeef;

// Spinning threads hand over to each other this often before the block counts as stuck.
constexpr std::uint64_t most_idle_yields = 4'000'000;

// Unwinds a thread of a block that has failed.
struct Cancelled {};

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

Scheduler& Scheduler::of_this_thread() {
  static thread_local Scheduler scheduler;
  return scheduler;
}

// ---- A block.

void Scheduler::run(const Job& job) {
  TW_CHECK(!job_, "a block is run inside another block's thread");
  start_block(job);
  while (live_ > 0) {
    if (ready_head_ == ready_.size() && !complete_active())
      cancel(std::make_exception_ptr(KernelFault(stuck_message())));
    switch_from(main_);
  }
  job_ = nullptr;
  if (!failure_) return;
  // Threads that were left may be who the others wait for.
  const bool is_told = has_lost_threads_ && fault_collector() != nullptr;
  std::exception_ptr why = std::exchange(failure_, nullptr);
  if (!is_told) collect(std::move(why));
}

void Scheduler::start_block(const Job& job) {
  const auto* sizes = job.launch->block;
  const std::uint32_t count = sizes[0] * sizes[1] * sizes[2];
  add_fibers(count);
  job_ = &job;
  random_state_ = mix(mix(job.seed) + job.block) | 1;
  idle_yields_ = 0;
  live_ = count;
  warps_.resize((count + job.lanes - 1) / job.lanes);
  ready_.clear();
  ready_head_ = 0;
  at_block_.clear();
  at_consumers_.clear();
  map_copies_.clear();
  has_lost_threads_ = false;
  order_.start_block(count, job.lanes);
  shadow_.start_block(count);
  memory_shadow_.start_block(count, job.launch, source_);
  for (Warp& warp : warps_) warp = {};
  for (std::uint32_t i = 0; i < count; ++i) {
    warp_of(*fibers_[i]).live |= lane_of(*fibers_[i]);
    fibers_[i]->has_ended = false;
    fibers_[i]->copies.clear();
    fibers_[i]->products.clear();
    fibers_[i]->stores.clear();
    make_ready(*fibers_[i]);
  }
}

void Scheduler::add_fibers(std::uint32_t count) {
  while (fibers_.size() < count) {
    const auto index = static_cast<std::uint32_t>(fibers_.size());
    if (index % stacks_per_pool == 0)
      stacks_.push_back(std::make_unique<StackPool>(stacks_per_pool));
    auto fiber = std::make_unique<Fiber>();
    fiber->scheduler = this;
    fiber->index = index;
    prepare_fiber(*fiber);
    fibers_.push_back(std::move(fiber));
  }
}

void Scheduler::prepare_fiber(Fiber& fiber) {
  const StackPool& pool = *stacks_[fiber.index / stacks_per_pool];
  // Stacks that all begin at the same offset of a page would share a few sets of the first-level
  // cache.
  const std::size_t offset = fiber.index * 320 % 4096;
  prepare(fiber.context, pool.bottom(fiber.index % stacks_per_pool), pool.usable_bytes() - offset,
          &Scheduler::fiber_main, &fiber);
}

// A fiber lives as long as its scheduler: it runs one thread of a block after the other and is
// suspended in between.
void Scheduler::fiber_main(void* argument) {
  Fiber& fiber = *static_cast<Fiber*>(argument);
  begin_context(*fiber.scheduler->starter_);
  while (true) {
    fiber.scheduler->run_thread(fiber);
    fiber.scheduler->leave(fiber);
  }
}

void Scheduler::run_thread(Fiber& fiber) {
  std::exception_ptr why;
  try {
    if (!failure_) job_->thread(job_->context, fiber.index);
  } catch (const Cancelled&) {
  } catch (...) {
    why = std::current_exception();
  }
  const StackPool& pool = *stacks_[fiber.index / stacks_per_pool];
  if (!why && pool.has_overflowed(fiber.index % stacks_per_pool))
    why = std::make_exception_ptr(
        KernelFault(fmt::format("{}: the thread needs more than {} KiB of stack in emulation",
                                thread_name(fiber), StackPool::stack_bytes >> 10)));
  if (!why && !failure_) settle_memory();
  if (!why && !failure_) end_map_stores(fiber);
  if (why) cancel(why);
}

// Shared memory may be another block's when the thread has ended.
void Scheduler::end_map_stores(Fiber& fiber) {
  if (!fiber.stores.is_all_read())
    fault(
        fmt::format("{}: the thread ends before what it stores by a tensor map has been read from "
                    "shared memory",
                    thread_name(fiber)));
  fiber.stores.land();
}

void Scheduler::leave(Fiber& fiber) {
  fiber.has_ended = true;
  --live_;
  idle_yields_ = 0;
  Warp& warp = warp_of(fiber);
  warp.live &= ~lane_of(fiber);
  if (!failure_) complete_after_exit(warp);
  switch_from(fiber.context);
}

// No exception may pass through code that the compiler takes for one that cannot throw. Device code
// has nothing to clean up: the fiber's stack is begun anew when it runs its next thread.
void Scheduler::abandon(std::exception_ptr why) {
  cancel(std::move(why));
  abandon_running();
}

void Scheduler::abandon_running() {
  Fiber& self = *running_;
  self.has_ended = true;
  --live_;
  idle_yields_ = 0;
  Warp& warp = warp_of(self);
  warp.live &= ~lane_of(self);
  if (!failure_) complete_after_exit(warp);
  prepare_fiber(self);
  Context nobody;
  switch_from(nobody);
  TW_UNREACHABLE("an abandoned thread was continued");
}

// ---- Choosing who runs.

std::uint64_t Scheduler::random() {
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return random_state_;
}

void Scheduler::make_ready(Fiber& fiber) {
  fiber.request = nullptr;
  ready_.push_back(&fiber);
}

Scheduler::Fiber* Scheduler::take_ready() {
  const std::size_t count = ready_.size() - ready_head_;
  if (count == 0) return nullptr;
  if (job_->seed != 0 && count > 1)
    std::swap(ready_[ready_head_], ready_[ready_head_ + (random() >> 16) % count]);
  Fiber* chosen = ready_[ready_head_++];
  if (ready_head_ == ready_.size() || ready_head_ == 4096) {
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(ready_head_));
    ready_head_ = 0;
  }
  return chosen;
}

// Continues a fiber that can advance, else the loop in run().
void Scheduler::switch_from(Context& from) {
  Fiber* next = take_ready();
  running_ = next;
  Context& to = next ? next->context : main_;
  if (&to == &from) return;
  starter_ = &from;
  switch_context(from, to);
}

void Scheduler::yield() {
  settle_memory();
  Fiber& self = *running_;
  if (++idle_yields_ > most_idle_yields && !failure_)
    cancel(std::make_exception_ptr(KernelFault(
        fmt::format("kernel '{}', block {}: threads spin for ever on a value that nobody changes",
                    job_->kernel, format_place(job_->block, job_->launch->grid)))));
  make_ready(self);
  switch_from(self.context);
  if (failure_) throw Cancelled{};
}

// ---- Barriers.

void Scheduler::wait(TwWait& request) {
  TW_CHECK(running_, "{} is called in a kernel that was taken for one without barriers",
           request.name);
  settle_memory();
  if (failure_) throw Cancelled{};
  Fiber& self = *running_;
  self.request = &request;
  if (request.kind == TwWait::Block) arrive_at_block(self);
  else if (request.kind == TwWait::Consumers) arrive_at_consumers(self);
  else if (request.kind != TwWait::Active) arrive_at_warp(self);
  switch_from(self.context);
  if (failure_) throw Cancelled{};
}

void Scheduler::arrive_at_block(Fiber& fiber) {
  at_block_.push_back(&fiber);
  if (at_block_.size() == live_) complete_block();
}

void Scheduler::arrive_at_consumers(Fiber& fiber) {
  at_consumers_.push_back(&fiber);
  if (at_consumers_.size() < fiber.request->mask) return;
  std::vector<std::uint32_t> threads;
  for (Fiber* waiting : at_consumers_) {
    threads.push_back(waiting->index);
    make_ready(*waiting);
  }
  at_consumers_.clear();
  idle_yields_ = 0;
  order_.named_barrier(threads);
}

// A GPU may let such threads pass, or not: it only counts arrivals.
void Scheduler::check_same_barrier() {
  const Fiber& first = *at_block_.front();
  for (const Fiber* fiber : at_block_) {
    if (fiber->request->line == first.request->line) continue;
    return fault(fmt::format(
        "kernel '{}', block {}, threads {} and {}: they meet at different barriers, {} at {} "
        "and {} at {}",
        job_->kernel, format_place(job_->block, job_->launch->grid),
        format_place(first.index, job_->launch->block),
        format_place(fiber->index, job_->launch->block), first.request->name,
        line_text(source_, first.request->line), fiber->request->name,
        line_text(source_, fiber->request->line)));
  }
}

void Scheduler::complete_block() {
  if (job_->is_checked && !has_lost_threads_) check_same_barrier();
  if (failure_) return;
  std::uint32_t count = 0;
  for (const Fiber* fiber : at_block_) count += fiber->request->value != 0;
  for (Fiber* fiber : at_block_) {
    fiber->request->count = count;
    fiber->request->participants = at_block_.size();
    make_ready(*fiber);
  }
  at_block_.clear();
  idle_yields_ = 0;
  order_.block_barrier();
}

void Scheduler::arrive_at_warp(Fiber& fiber) {
  Warp& warp = warp_of(fiber);
  const TwWait& request = *fiber.request;
  const std::uint64_t lane = lane_of(fiber);
  if (!(request.mask & lane)) {
    fiber.request = nullptr;
    throw KernelFault(fmt::format(
        "{}: {} at line {} has the mask {:#010x}, which leaves out its own lane {}",
        thread_name(fiber), request.name, request.line, request.mask, fiber.index % job_->lanes));
  }
  auto group = std::find_if(warp.groups.begin(), warp.groups.end(), [&](const Group& g) {
    return g.kind == request.kind && g.mask == request.mask;
  });
  if (group == warp.groups.end())
    group = warp.groups.insert(group, {request.kind, request.mask, 0});
  group->arrived |= lane;
  if ((group->mask & warp.live) == group->arrived)
    complete_group(warp, static_cast<std::size_t>(group - warp.groups.begin()));
}

void Scheduler::complete_group(Warp& warp, std::size_t index) {
  const Group group = warp.groups[index];
  warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(index));
  const std::uint32_t first = first_of(warp), lanes = job_->lanes;
  if (group.kind == TwWait::Warp) order_.warp_barrier(first, group.arrived);
  Fiber* fibers[BlockOrder::most_lanes] = {};
  std::uint64_t values[BlockOrder::most_lanes];
  std::uint64_t ballot = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    values[lane] = absent_lane;
    if (!(group.arrived >> lane & 1)) continue;
    fibers[lane] = fibers_[first + lane].get();
    values[lane] = fibers[lane]->request->value;
    if (values[lane]) ballot |= std::uint64_t{1} << lane;
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if (!fibers[lane]) continue;
    TwWait& request = *fibers[lane]->request;
    if (group.kind == TwWait::Shuffle) request.value = values[request.source % lanes];
    if (group.kind == TwWait::Ballot) request.value = ballot;
    if (group.kind == TwWait::Gather) std::copy(values, values + lanes, request.all);
    request.participants = group.arrived;
    make_ready(*fibers[lane]);
  }
  idle_yields_ = 0;
}

void Scheduler::complete_after_exit(Warp& warp) {
  if (!at_block_.empty() && at_block_.size() == live_) complete_block();
  for (std::size_t i = warp.groups.size(); i-- > 0;)
    if ((warp.groups[i].mask & warp.live) == warp.groups[i].arrived) complete_group(warp, i);
}

// The lanes of a warp that run together are those that have come to the same place once all others
// wait or have ended.
bool Scheduler::complete_active() {
  bool found = false;
  for (Warp& warp : warps_) {
    const std::uint32_t first = first_of(warp);
    std::map<std::uint32_t, std::uint64_t> lanes_at_line;
    const auto each_active = [&](auto visit) {
      for (std::uint32_t lane = 0; lane < job_->lanes; ++lane) {
        if (!(warp.live >> lane & 1)) continue;
        Fiber& fiber = *fibers_[first + lane];
        if (fiber.request && fiber.request->kind == TwWait::Active) visit(fiber, lane);
      }
    };
    each_active([&](Fiber& fiber, std::uint32_t lane) {
      lanes_at_line[fiber.request->line] |= std::uint64_t{1} << lane;
    });
    each_active([&](Fiber& fiber, std::uint32_t) {
      fiber.request->value = lanes_at_line[fiber.request->line];
      make_ready(fiber);
      found = true;
    });
  }
  return found;
}

// ---- Asynchronous copies.

void Scheduler::start_copy(const CopyQueue::Copy& copy) {
  const auto is_aligned = [&](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % copy.bytes == 0;
  };
  Fiber& self = *running_;
  if (!is_aligned(copy.to) || !is_aligned(copy.from))
    throw KernelFault(fmt::format(
        "{}: the asynchronous copy of {} bytes at line {} {} an address that is not aligned to {}",
        thread_name(self), copy.bytes, copy.line, is_aligned(copy.to) ? "reads" : "writes",
        copy.bytes));
  if (const Shadow::Finding finding = shadow_.start_copy(self.index, copy)) report(finding);
  self.copies.start(copy, is_early());
}

void Scheduler::commit_copies() {
  running_->copies.commit();
  memory_shadow_.commit_copies(running_->index);
}

void Scheduler::wait_copies(std::uint32_t pending) {
  running_->copies.wait(
      pending, [&](const CopyQueue::Copy& copy) { shadow_.copy_arrives(running_->index, copy); });
  memory_shadow_.wait_copies(running_->index, pending);
}

void Scheduler::start_map_copy(MapCopies::Copy copy, const void* closure,
                               std::size_t closure_bytes) {
  copy.thread = running_->index;
  shadow_.start_map_copy(copy.thread, copy.to, copy.bytes, copy.line);
  void* const word = copy.word;
  order_.start_copy(word);
  map_copies_.start(std::move(copy), closure, closure_bytes);
  if (is_early()) land_copies(word);
}

void Scheduler::land_copies(void* word) {
  while (true) {
    const MapCopies::Copy copy = map_copies_.take(word);
    if (copy.run == nullptr) return;
    idle_yields_ = 0;
    order_.land_copy(word);
    shadow_.map_copy_arrives(copy.to, copy.bytes);
    MapCopies::land(copy);
  }
}

// As a product does: what other threads wrote is shown, and a barrier lies between.
void Scheduler::read_for_store(const MapStoreQueue::Store& store) {
  shadow_.set_product(true);
  touch({.address = reinterpret_cast<std::uintptr_t>(store.from),
         .bytes = store.bytes,
         .kind = Shadow::Kind::Read,
         .line = store.line});
  shadow_.set_product(false);
}

void Scheduler::start_map_store(MapStoreQueue::Store store, const void* closure,
                                std::size_t closure_bytes) {
  store.is_read = is_early();
  if (job_->is_checked) read_for_store(store);
  running_->stores.start(std::move(store), closure, closure_bytes);
  if (is_early()) running_->stores.land();
}

void Scheduler::wait_map_stores(bool in_memory) {
  settle_memory();
  if (in_memory) memory_shadow_.wait_map_stores(running_->index);
  for (MapStoreQueue::Store& store : running_->stores.under_way()) {
    if (std::exchange(store.is_read, true)) continue;
    if (std::memcmp(store.at_start.data(), store.from, store.bytes) != 0)
      fault(fmt::format(
          "{}: shared memory was written while the store of it by a tensor map at {} was under way",
          thread_name(*running_), line_text(source_, store.line)));
    if (job_->is_checked) read_for_store(store);
  }
  if (in_memory || is_early()) running_->stores.land();
}

void Scheduler::touch(Shadow::Access access) {
  if (failure_ || !running_) return;
  access.thread = running_->index;
  if (access.kind >= Shadow::Kind::AtomicRead) receive(access);
  if (const Shadow::Finding finding = shadow_.touch(access)) report(finding);
  if (access.kind >= Shadow::Kind::AtomicRead) publish(access);
}

void Scheduler::touch_memory(Shadow::Access access, MemoryShadow::When when, const void* word) {
  if (failure_ || !running_ || !job_->is_checked) return;
  settle_memory();
  access.thread = running_->index;
  if (access.kind >= Shadow::Kind::AtomicRead) receive(access);
  const BlockOrder::Moment moment =
      when == MemoryShadow::When::MapCopy ? order_.next_copy(word) : order_.now(access.thread);
  if (const Shadow::Finding finding = memory_shadow_.touch(access, when, moment)) report(finding);
  if (access.kind >= Shadow::Kind::AtomicRead) publish(access);
}

void Scheduler::settle_memory() {
  if (const Shadow::Finding finding = memory_shadow_.settle()) report(finding);
}

void Scheduler::receive(const Shadow::Access& access) {
  const bool is_read =
      access.kind == Shadow::Kind::AtomicRead || access.kind == Shadow::Kind::AtomicUpdate;
  if (is_read) order_.receive(access.address, access.thread);
}

void Scheduler::publish(const Shadow::Access& access) {
  const bool is_write =
      access.kind == Shadow::Kind::AtomicWrite || access.kind == Shadow::Kind::AtomicUpdate;
  if (is_write) order_.publish(access.address, access.thread);
}

void Scheduler::meet_at_word(const void* word, bool is_arrival) {
  if (!job_->is_checked) return;
  if (is_arrival) order_.arrive(word, running_->index);
  else order_.pass(word, running_->index);
}

namespace {

// "16 bytes behind the end of 'x', which has 400 bytes": the memory that is nearest.
std::string nearest_memory(const TwCpuLaunch& launch, std::uint64_t address) {
  const TwMemory* nearest = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  const auto distance = [&](const TwMemory& memory) {
    const std::uint64_t end = memory.address + memory.bytes;
    if (address < memory.address) return memory.address - address;
    return address < end ? 0 : address - end;  // within: its last bytes are outside
  };
  for (std::uint64_t i = 0; i < launch.memory_count; ++i)
    if (distance(launch.memory[i]) < least) {
      nearest = &launch.memory[i];
      least = distance(*nearest);
    }
  if (nearest == nullptr) return "the launch has no memory";
  const bool is_before = address < nearest->address;
  return fmt::format("{} bytes {} of '{}', which has {} bytes", least,
                     is_before ? "before the begin" : "behind the end", nearest->name,
                     nearest->bytes);
}

}  // namespace

void Scheduler::touch_outside(const Shadow::Access& access, bool is_misaligned) {
  const bool is_null = access.address < 65536;
  const char* const where = is_misaligned ? "at an address that is not a multiple of their number"
                            : is_null     ? "through a null pointer"
                                          : "outside of every tensor";
  const bool is_read = access.kind == Shadow::Kind::Read || access.kind == Shadow::Kind::AtomicRead;
  // Nothing that must be freed may be alive when the thread is left.
  std::exception_ptr why = std::make_exception_ptr(KernelFault(fmt::format(
      "{}: {} {} bytes {} at {}{}", thread_name(*running_), is_read ? "reads" : "writes",
      access.bytes, where, line_text(source_, access.line),
      is_null || is_misaligned ? "" : ": " + nearest_memory(*job_->launch, access.address))));
  end_thread(std::move(why));
}

void Scheduler::divide_by_zero(std::uint32_t line) {
  std::exception_ptr why = std::make_exception_ptr(KernelFault(fmt::format(
      "{}: divides an integer by zero at {}", thread_name(*running_), line_text(source_, line))));
  end_thread(std::move(why));
}

// What the running thread cannot do: with a collector the others go on without it.
void Scheduler::end_thread(std::exception_ptr why) {
  if (fault_collector() == nullptr) abandon(std::move(why));
  collect(std::exchange(why, nullptr));
  has_lost_threads_ = true;
  abandon_running();
}

void Scheduler::interrupt(std::uint32_t line) {
  abandon(std::make_exception_ptr(
      Interrupted(fmt::format("{} is at {}", thread_name(*running_), line_text(source_, line)))));
}

// ---- Failure.

std::string Scheduler::thread_name(const Fiber& fiber) const {
  return fmt::format("kernel '{}', block {}, thread {}", job_->kernel,
                     format_place(job_->block, job_->launch->grid),
                     format_place(fiber.index, job_->launch->block));
}

// Every thread that waits is made ready and unwinds; threads that have not begun end at once.
void Scheduler::cancel(std::exception_ptr why) {
  if (failure_) return;
  failure_ = std::move(why);
  for (const auto& fiber : fibers_)
    if (!fiber->has_ended && fiber->request) make_ready(*fiber);
}

void Scheduler::fault(const std::string& sentence) {
  if (FaultCollector* const collector = fault_collector()) collector->add(sentence);
  else cancel(std::make_exception_ptr(KernelFault(sentence)));
}

void Scheduler::collect(std::exception_ptr why) {
  try {
    std::rethrow_exception(std::move(why));
  } catch (const KernelFault& fault) {
    if (fault_collector() == nullptr) throw;
    fault_collector()->add(fault.what());
  }
}

void Scheduler::report(const Shadow::Finding& finding) {
  if (finding.is_unwritten && has_lost_threads_) return;
  const auto place = [&](std::uint32_t thread) {
    return format_place(thread, job_->launch->block);
  };
  fault(fmt::format(
      "kernel '{}', block {}, {}: {}", job_->kernel, format_place(job_->block, job_->launch->grid),
      finding.has_two_threads
          ? fmt::format("threads {} and {}", place(finding.first), place(finding.second))
          : fmt::format("thread {}", place(finding.second)),
      finding.message));
}

namespace {

// "3" or "0-31": runs of numbers.
std::string format_ranges(const std::vector<std::uint32_t>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    out += out.empty() ? "" : ", ";
    out += end - i == 1 ? fmt::format("{}", numbers[i])
                        : fmt::format("{}-{}", numbers[i], numbers[end - 1]);
    i = end;
  }
  return out;
}

}  // namespace

std::string Scheduler::stuck_message() const {
  std::map<std::string, std::vector<std::uint32_t>> threads_at;  // "": ended
  const auto* sizes = job_->launch->block;
  for (std::uint32_t i = 0; i < sizes[0] * sizes[1] * sizes[2]; ++i) {
    const TwWait* request = fibers_[i]->request;
    std::string place;
    if (request) place = fmt::format("{} ({})", request->name, line_text(source_, request->line));
    if (request && request->kind != TwWait::Block)
      place += fmt::format(" with mask {:#010x}", request->mask);
    threads_at[place].push_back(i);
  }
  std::string out;
  for (const auto& [place, threads] : threads_at) {
    const bool one = threads.size() == 1;
    out += fmt::format("{}{} {} ", out.empty() ? "" : "; ", one ? "thread" : "threads",
                       format_ranges(threads));
    if (place.empty()) out += one ? "has ended" : "have ended";
    else out += (one ? "waits at " : "wait at ") + place;
  }
  return fmt::format(
      "kernel '{}', block {}: no thread can advance: {}; all threads that have not ended must "
      "reach the same barrier",
      job_->kernel, format_place(job_->block, job_->launch->grid), out);
}

std::string format_place(std::uint64_t index, const std::uint32_t sizes[3]) {
  const std::uint64_t row = index / sizes[0];
  return fmt::format("({}, {}, {})", index % sizes[0], row % sizes[1], row / sizes[1]);
}

}  // namespace tilewright
