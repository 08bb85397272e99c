// SPDX-License-Identifier: Apache-2.0
// ir/interpret/watch.h — who looks on while the interpreter runs: `check` and `step`.
//
// What a kernel means does not depend on it: the interpreter tells what it does, and asks only
// whether it may go on after the kernel broke a rule. Ops in the regions of reduce and scan are not
// told: the reduce or scan stands for them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ir/kernel.h"

namespace tilewright::ir {

class Program;

class Watch {
 public:
  virtual ~Watch() = default;
  virtual void begins(const Program&, std::int64_t /*number*/) {}
  virtual void ends(const Program&) {}
  // An op with regions is told before and after all that they hold.
  virtual void before(const Program&, const Op&) {}
  virtual void after(const Program&, const Op&) {}
  // True: it looks for interrupts itself, in `before`; else one ends the run.
  virtual bool takes_interrupts() const { return false; }
  // The condition of a `while`, each time that it is there.
  virtual void decides(const Program&, const Op& /*condition*/) {}
  // Control flow gives values other names, all at once; a loop's index comes from nothing.
  virtual void moves(std::span<const Value> /*to*/, std::span<const Value> /*from*/) {}
  // The op breaks a rule: an access outside of its buffer, an assertion, an assumption, an index of
  // a gather. True: it goes on; what cannot be read is 0, what cannot be written is not.
  virtual bool lets_pass(const Program&, const Op&, const std::string& /*problem*/) {
    return false;
  }
};

}  // namespace tilewright::ir
