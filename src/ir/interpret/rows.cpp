// SPDX-License-Identifier: Apache-2.0
// ir/interpret/rows.cpp — long rows of stage Final: those that are turned round so that vectors are
// aligned, and those that threads copy to their own parts of shared memory. By the seed such copies
// take effect at once, or when the thread waits for them.
#include <fmt/format.h>

#include "ir/interpret/memory.h"
#include "ir/interpret/program.h"

namespace tilewright::ir {

std::optional<std::int64_t> FinalOps::rotated_place(const Op& op, std::size_t pointer,
                                                   std::int64_t i) const {
  const std::int64_t slot = integer(op, 2) + integer(op, 3) + i;
  const std::int64_t element = (slot - integer(op, 4)) & (op.integer("rotates") - 1);
  if (element < integer(op, 5) || element >= integer(op, 6)) return std::nullopt;
  const Type pointee = kernel_.type(op.operands[pointer]).pointee();
  return integer(op, pointer) + element * static_cast<std::int64_t>(pointee.element_bytes());
}

// What is moved by one instruction begins at a multiple of its bytes.
void FinalOps::check_rotated(const Op& op, std::size_t pointer) const {
  if (op.integer("rotates") == 0 || op.integer("shifted") != 0) return;
  const auto bytes = kernel_.type(op.operands[pointer]).pointee().element_bytes();
  const std::uint64_t begin = TaggedPointer::address(integer(op, pointer)) -
                              static_cast<std::uint64_t>(integer(op, 4)) * bytes;
  const std::int64_t slot = integer(op, 2) + integer(op, 3);
  if ((begin + static_cast<std::uint64_t>(slot) * bytes) %
          (static_cast<std::uint64_t>(op.integer("width")) * bytes) != 0)
    fail(op, fmt::format("{} moves vectors of {} elements, but a row that is turned by {} begins "
                         "at byte {}",
                         op.facts().name, op.integer("width"), integer(op, 4),
                         TaggedPointer::address(integer(op, pointer))));
}

void FinalOps::start_copy(const Op& op, std::size_t guards) {
  const bool is_late = (options_.role_seed + static_cast<std::uint64_t>(thread_)) % 2 != 0;
  for (std::int64_t i = 0; i < op.integer("count"); ++i)
    row_copies_[thread_].push_back({.op = &op,
                                    .array = Arrays::view(integer(op, 0), i),
                                    .from = moved_place(op, 1, guards, i),
                                    .other = get(op.operands.back()).elements[0]});
  if (!is_late) finish_copies();
}

void FinalOps::finish_copies() {
  for (const RowCopy& copy : row_copies_[thread_]) {
    if (const std::string problem = arrays_.problem(copy.array, 0, false); !problem.empty())
      fail(*copy.op, fmt::format("{} writes {}", copy.op->facts().name, problem));
    const DType dtype = kernel_.type(copy.op->operands[1]).dtype;
    arrays_.write(copy.array, 0,
                  copy.from ? checked_read(*copy.op, *copy.from, dtype) : copy.other);
  }
  row_copies_.erase(thread_);
}

void FinalOps::check_copies_done() const {
  if (!row_copies_.empty())
    fail(*row_copies_.begin()->second.front().op, "a copy is started that nobody waits for");
}

}  // namespace tilewright::ir
