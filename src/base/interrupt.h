// SPDX-License-Identifier: Apache-2.0
// base/interrupt.h — ending a command from the keyboard: what it has started ends with it, and it
// says what it was doing.
//
// Only the command installs the handlers; in other people's processes signals are theirs, and
// nothing here does anything.
#pragma once

#include <string>

#include "tilewright/error.h"

namespace tilewright {

inline constexpr int interrupted_exit_code = 130;

// Thrown by code that has seen is_interrupted(): where it was.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// From now on SIGINT ends this process with exit code 130 and SIGTERM with 143, with one sentence
// on stderr, after every process group that is noted has been ended.
void handle_interrupts();
// The same in a child that was forked off: it has no groups yet, and says nothing.
void handle_interrupts_in_child();

// While one lives, this process group ends with us.
class NotedGroup {
 public:
  explicit NotedGroup(int group);
  ~NotedGroup();
  NotedGroup(const NotedGroup&) = delete;
  NotedGroup& operator=(const NotedGroup&) = delete;

 private:
  int slot_ = -1;
};

// While one lives, the sentence ends in this: "interrupted while kernel 'k' ran on cpu". One at a
// time.
class InterruptPlace {
 public:
  explicit InterruptPlace(const std::string& text);
  ~InterruptPlace();
  InterruptPlace(const InterruptPlace&) = delete;
  InterruptPlace& operator=(const InterruptPlace&) = delete;
};

// While one lives, the first SIGINT only sets a flag: code that looks at it can say where it is. If
// it does not end within two seconds, or with a second SIGINT, the process ends as ever.
class PollsInterrupts {
 public:
  PollsInterrupts();
  ~PollsInterrupts();
  PollsInterrupts(const PollsInterrupts&) = delete;
  PollsInterrupts& operator=(const PollsInterrupts&) = delete;
};
bool is_interrupted();

// For verbs that handle SIGINT themselves, to keep what they have: called in their handler. A
// second call, or ten seconds after the first without forget_interrupt(), the process ends as ever:
// what runs may be a loop that does not end.
void end_unless_soon();
// Also for those who poll: what they were interrupted in goes on.
void forget_interrupt();

}  // namespace tilewright
