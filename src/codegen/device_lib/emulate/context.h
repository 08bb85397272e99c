// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/context.h — fibers: stacks, and switching between them on one
// operating-system thread.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace tilewright {

// Memory for stacks, one mapping; pages are touched only when used. Below each stack lies a page
// that faults when it is reached; a process has a limited number of mappings, so after many stacks
// new ones go without (a mark at the end of the stack is then what shows an overflow).
class StackPool {
 public:
  static constexpr std::size_t stack_bytes = 256 << 10;

  explicit StackPool(std::size_t count);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  std::byte* bottom(std::size_t index) const;  // lowest usable address
  std::size_t usable_bytes() const;
  bool has_overflowed(std::size_t index) const;

 private:
  std::byte* base_ = nullptr;
  std::size_t count_;
  std::size_t guarded_ = 0;
};

// A suspended flow of control: a fiber, or the thread that runs fibers.
struct Context {
#if defined(__x86_64__)
  void* stack_pointer = nullptr;
#else
  ucontext_t registers;
#endif
  // What the address sanitizer wants to know of a stack.
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* fake_stack = nullptr;
};

// Makes `context` call entry(argument) on the stack when it is first switched to; entry must never
// return.
void prepare(Context& context, std::byte* bottom, std::size_t bytes, void (*entry)(void*),
             void* argument);

// Suspends `from` (the caller) and continues `to`; returns when something switches back to `from`.
void switch_context(Context& from, Context& to);

// The first thing an entry does; `starter` is the context that switched to it.
void begin_context(Context& starter);

}  // namespace tilewright
