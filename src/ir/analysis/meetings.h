// SPDX-License-Identifier: Apache-2.0
// ir/analysis/meetings.h — where the threads of a program of stage Final meet: which ops they come
// to together, whether all of them come there, and which accesses to shared memory no meeting
// parts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ir/analysis/shared_places.h"
#include "ir/calls.h"
#include "ir/kernel.h"

namespace tilewright::ir {

// Whether threads wait for each other at the op: a barrier, or a call that exchanges.
bool meets(const Op& op);
// The same of it or of an op in its regions.
bool holds_meeting(const Op& op);
// Whether the op is the branch between threads with roles: region 0 is the producer's, who is one
// thread, region 1 that of the consumers.
bool parts_roles(const Kernel& kernel, const Op& op);
// The op that says how many threads a program has; null where one thread runs it.
const Op* thread_op(const Kernel& kernel);

// An op at which threads meet in control flow that depends on the thread (rule F4); null: none.
// A value depends on the thread when it is computed from its number, from its arrays, or from an
// access that other threads may see otherwise; what all threads have combined does not.
const Op* find_divergent(const Kernel& kernel);

// An access to shared memory, and an earlier one of the same bytes that another thread may still be
// at; one of them writes. `before` comes after `op` in the text where a loop goes round.
struct Unordered {
  const Op* op = nullptr;  // null: the program ends
  const Op* before = nullptr;
  bool is_of_warps = false;   // it is enough that the lanes of each warp meet
  bool is_under_way = false;  // `before` is a copy that nobody has waited for: no barrier helps
};
// Products of warpgroups read what their descriptors say, from where they start to where they are
// waited for; what a thread wrote and has shown them needs a meeting too, whoever wrote it.
// Forward over the accesses that are pending since the last barrier, the copies that are under way
// and the products that go on, by how many groups of them are newer; loops until nothing is new.
std::vector<Unordered> find_unordered(const Kernel& kernel);

// Products that are started, and writes to what they read which the threads have not shown them.
std::vector<Unordered> find_unshown(const Kernel& kernel);
// Both, again and again of a kernel to which nothing but barriers is added meanwhile: what its
// accesses touch is found once.
struct SharedFindings {
  std::vector<Unordered> unordered, unshown;
};
std::function<SharedFindings()> shared_finder(const Kernel& kernel);

}  // namespace tilewright::ir
