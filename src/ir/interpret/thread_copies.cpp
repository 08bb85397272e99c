// SPDX-License-Identifier: Apache-2.0
// ir/interpret/thread_copies.cpp — copies that run ahead of a thread: when they read memory, and
// when what they bring may be relied on.
#include "ir/interpret/thread_copies.h"

#include <fmt/format.h>

#include "ir/interpret/program.h"

namespace tilewright::ir {

void FinalOps::read_copied(ThreadCopies::Copy& copy) const {
  const Type pointee = kernel_.type(copy.op->operands[1]).pointee();
  const auto bytes = static_cast<std::int64_t>(pointee.element_bytes());
  for (std::int64_t i = 0; i < copy.op->integer("count"); ++i)
    copy.elements.push_back(copy.is_wanted
                                ? checked_read(*copy.op, copy.pointer + i * bytes, pointee.dtype)
                                : Element{.i = 0});
}

void FinalOps::start_copy(const Op& op) {
  if (op.operands.size() > 3 && integer(op, 3) == 0) return;
  ThreadCopies::Copy copy{.op = &op,
                          .array = integer(op, 0),
                          .pointer = integer(op, 1),
                          .is_wanted = op.operands.size() < 3 || integer(op, 2) != 0};
  for (std::int64_t i = 0; i < op.integer("count"); ++i) {
    std::string problem = shared_.note_copy(copy.array, i, thread_, op);
    if (problem.empty() && products_.is_used()) {
      const auto [first, end] = shared_.bytes_of(copy.array, i);
      problem = products_.write_problem(first, end);
    }
    if (!problem.empty()) fail(op, fmt::format("{} writes {}", op.facts().name, problem));
  }
  const bool is_early = options_.role_seed % 2 == 0;
  if (is_early) read_copied(copy);
  own_copies_.start(std::move(copy));
}

void FinalOps::wait_own_copies(const Op& op) {
  for (ThreadCopies::Copy& copy : own_copies_.finish(op.integer("pending"))) {
    if (copy.elements.empty()) read_copied(copy);
    for (std::size_t i = 0; i < copy.elements.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      shared_.note_copied(copy.array, index, thread_, *copy.op);
      shared_.write(copy.array, index, copy.elements[i]);
    }
  }
}

void FinalOps::end_copies() const {
  if (const ThreadCopies::Copy* copy = own_copies_.first())
    fail(*copy->op, fmt::format("thread {} ends while the copy is under way", thread_));
}

}  // namespace tilewright::ir
