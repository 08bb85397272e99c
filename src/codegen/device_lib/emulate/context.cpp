// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/context.cpp — stack memory and the switch itself.
#include "codegen/device_lib/emulate/context.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define TW_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TW_ASAN 1
#endif
#endif

#ifdef TW_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t bytes);
void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, std::size_t* bytes);
void __asan_unpoison_memory_region(const volatile void* address, std::size_t bytes);
}
#endif

namespace tilewright {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::uint64_t overflow_mark = 0x7a11e57ac4bad6e5;

// Each guard page splits a mapping in two, and Linux allows 65530 of them in a process by default.
std::atomic<int> guards_left{16384};

void write_mark(std::byte* bottom) { std::memcpy(bottom, &overflow_mark, sizeof overflow_mark); }

}  // namespace

StackPool::StackPool(std::size_t count) : count_(count) {
  void* memory = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(memory);
  for (std::size_t i = 0; i < count; ++i) {
    if (guards_left.fetch_sub(1) <= 0 ||
        mprotect(base_ + i * stack_bytes, page_bytes, PROT_NONE) != 0) {
      guards_left.fetch_add(1);
      break;
    }
    ++guarded_;
  }
  for (std::size_t i = guarded_; i < count; ++i) write_mark(bottom(i));
}

StackPool::~StackPool() {
#ifdef TW_ASAN
  // The frames that fibers are suspended in would poison whatever is mapped here next.
  __asan_unpoison_memory_region(base_, count_ * stack_bytes);
#endif
  guards_left.fetch_add(static_cast<int>(guarded_));
  munmap(base_, count_ * stack_bytes);
}

std::byte* StackPool::bottom(std::size_t index) const {
  return base_ + index * stack_bytes + page_bytes;
}

std::size_t StackPool::usable_bytes() const { return stack_bytes - page_bytes; }

bool StackPool::has_overflowed(std::size_t index) const {
  return index >= guarded_ && std::memcmp(bottom(index), &overflow_mark, sizeof overflow_mark) != 0;
}

// ---- The switch: callee-saved registers go to the old stack, come from the new one.

#if defined(__x86_64__)

extern "C" void tw_switch_stack(void** save, void* load);
asm(R"(
.text
.p2align 4
.hidden tw_switch_stack
.globl tw_switch_stack
.type tw_switch_stack, @function
tw_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tw_switch_stack, .-tw_switch_stack

.p2align 4
.hidden tw_start_stack
.globl tw_start_stack
.type tw_start_stack, @function
tw_start_stack:
  movq %r12, %rdi
  callq *%rbx
  ud2
.size tw_start_stack, .-tw_start_stack
)");
extern "C" void tw_start_stack();

void prepare(Context& context, std::byte* bottom, std::size_t bytes, void (*entry)(void*),
             void* argument) {
  context.bottom = bottom;
  context.bytes = bytes;
  // As tw_switch_stack finds it: r15 r14 r13 r12 rbx rbp, then the address to return to.
  // tw_start_stack must find the stack aligned to 16 bytes.
  auto top = reinterpret_cast<std::uintptr_t>(bottom + bytes) & ~std::uintptr_t{15};
  void** frame = reinterpret_cast<void**>(top) - 9;
  std::memset(frame, 0, 9 * sizeof(void*));
  frame[3] = argument;
  frame[4] = reinterpret_cast<void*>(entry);
  frame[6] = reinterpret_cast<void*>(&tw_start_stack);
  context.stack_pointer = frame;
}

#define TW_SWITCH(from, to) tw_switch_stack(&(from).stack_pointer, (to).stack_pointer)

#else

namespace {

void enter(unsigned high, unsigned low, unsigned argument_high, unsigned argument_low) {
  const auto join = [](unsigned h, unsigned l) {
    return static_cast<std::uintptr_t>(std::uint64_t{h} << 32 | l);
  };
  reinterpret_cast<void (*)(void*)>(join(high, low))(
      reinterpret_cast<void*>(join(argument_high, argument_low)));
}

}  // namespace

void prepare(Context& context, std::byte* bottom, std::size_t bytes, void (*entry)(void*),
             void* argument) {
  context.bottom = bottom;
  context.bytes = bytes;
  ucontext_t* registers = &context.registers;
  getcontext(registers);
  registers->uc_stack.ss_sp = bottom;
  registers->uc_stack.ss_size = bytes;
  registers->uc_link = nullptr;
  const auto f = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(entry));
  const auto a = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(argument));
  makecontext(registers, reinterpret_cast<void (*)()>(&enter), 4, static_cast<unsigned>(f >> 32),
              static_cast<unsigned>(f), static_cast<unsigned>(a >> 32), static_cast<unsigned>(a));
}

#define TW_SWITCH(from, to) swapcontext(&(from).registers, &(to).registers)

#endif

#ifdef TW_ASAN

__attribute__((no_sanitize("address"))) void switch_context(Context& from, Context& to) {
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.bytes);
  TW_SWITCH(from, to);
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
}

__attribute__((no_sanitize("address"))) void begin_context(Context& starter) {
  __sanitizer_finish_switch_fiber(nullptr, &starter.bottom, &starter.bytes);
}

#else

void switch_context(Context& from, Context& to) { TW_SWITCH(from, to); }
void begin_context(Context&) {}

#endif

}  // namespace tilewright
