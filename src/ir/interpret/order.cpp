// SPDX-License-Identifier: Apache-2.0
// ir/interpret/order.cpp — a record per element that was touched.
#include "ir/interpret/order.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilewright::ir {
namespace {

// Programs can learn of each other only by the old value that an atomic op gives.
bool synchronises(const Kernel& kernel) {
  std::vector<bool> is_used(kernel.value_count());
  walk(kernel.body, [&](const Op& op) {
    for (const Value operand : op.operands) is_used[operand.id] = true;
  });
  bool found = false;
  walk(kernel.body, [&](const Op& op) {
    if (op.kind == OpKind::AtomicCas) found = true;
    if (op.kind == OpKind::AtomicRmw) found |= is_used[op.result().id] || op.text("op") == "xchg";
  });
  return found;
}

}  // namespace

OrderWatch::OrderWatch(const Kernel& kernel) : is_synchronised_(synchronises(kernel)) {}

OrderWatch::Record& OrderWatch::record(std::uint64_t address) {
  const std::uint64_t number = address / page_bytes;
  if (number != last_number_) {
    Page& page = pages_[number];
    if (page.empty()) page.resize(page_bytes);
    last_number_ = number;
    last_page_ = &page;
  }
  return (*last_page_)[address % page_bytes];
}

std::string OrderWatch::pair_text(std::uint32_t other, const char* what) const {
  if (other == several) return fmt::format("several programs {}", what);
  return fmt::format("programs {} and {} {}", std::min(other, program_) - 1,
                     std::max(other, program_) - 1, what);
}

std::string OrderWatch::note_read(const Access& access) {
  Record& at = record(access.address);
  add(access.is_atomic ? at.atomic_reader : at.reader);
  if (!finding_.empty() || is_synchronised_) return "";
  const bool is_ordered = at.is_atomic && access.is_atomic;
  if (!is_other(at.writer) || !at.has_changed || is_ordered) return "";
  return pair_text(at.writer, "touch {}, one of them writing");
}

std::string OrderWatch::note_write(const Access& access) {
  Record& at = record(access.address);
  const Record before = at;
  add(at.writer);
  at.is_atomic = access.is_atomic && (before.writer == 0 || before.is_atomic);
  at.has_changed |= access.changes;
  if (access.is_store) at.store = store_;
  if (!finding_.empty() || !access.changes) return "";
  if (access.is_store && before.store == store_)
    return "one store writes {} more than once, with different values";
  if (is_synchronised_) return "";
  if (is_other(before.writer) && !(before.is_atomic && access.is_atomic))
    return pair_text(before.writer, "write {}");
  if (is_other(before.reader)) return pair_text(before.reader, "touch {}, one of them writing");
  if (is_other(before.atomic_reader) && !access.is_atomic)
    return pair_text(before.atomic_reader, "touch {}, one of them writing");
  return "";
}

}  // namespace tilewright::ir
