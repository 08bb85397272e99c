// SPDX-License-Identifier: Apache-2.0
// ir/check/checker.cpp — what is looked at before and after each op.
#include "ir/check/checker.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace tilewright::ir {
namespace {

bool is_memory_op(const Op& op) {
  return op.facts().is(Family::Access) && op.kind != OpKind::CopyAsync;
}

// Are these the bytes there already?
bool is_same_in_memory(std::int64_t pointer, DType dtype, Element element) {
  unsigned char bytes[8] = {};
  write_element(dtype, element, bytes);
  return std::memcmp(bytes, reinterpret_cast<const void*>(TaggedPointer::address(pointer)),
                     size_of(dtype)) == 0;
}

}  // namespace

Checker::Checker(const Kernel& kernel, std::span<const InterpretBuffer> buffers,
                 std::span<const UnwrittenRange> unwritten, const std::int64_t (&grid)[3])
    : kernel_(kernel),
      shadow_(kernel, buffers, unwritten, grid[0] * grid[1] * grid[2]),
      taint_(kernel),
      grid_{grid[0], grid[1], grid[2]},
      is_used_(kernel.value_count()) {
  walk(kernel.body, [&](const Op& op) {
    for (const Value operand : op.operands) is_used_[operand.id] = true;
    if (!is_memory_op(op) || memory_ops_.size() >= 0xfffe) return;
    memory_ops_.push_back(&op);
    memory_numbers_[&op] = static_cast<std::uint16_t>(memory_ops_.size());
  });
  for (Finding& finding : check_types(kernel)) findings_.add(std::move(finding));
}

void Checker::begins(const Program&, std::int64_t number) {
  program_ = number;
  shadow_.begin_program(number);
  taint_.begin_program();
}

void Checker::moves(std::span<const Value> to, std::span<const Value> from) {
  taint_.moves(to, from);
}

void Checker::before(const Program& program, const Op& op) {
  if (is_memory_op(op)) return check_access(access_of(program, op));
  if (op.kind == OpKind::If) return check_branch(program, op, op.operands[0], "a branch");
  if (op.kind == OpKind::For)
    for (std::size_t k = 0; k < 3; ++k)
      check_branch(program, op, op.operands[k], "the bounds of a loop");
}

void Checker::decides(const Program& program, const Op& condition) {
  check_branch(program, condition, condition.operands[0], "the condition of a loop");
}

void Checker::after(const Program& program, const Op& op) {
  if (op.facts().is(Family::Control)) return;
  if (op.kind == OpKind::Store) return check_duplicates(access_of(program, op));
  if (is_memory_op(op)) return mark_load(program, op);
  if (op.kind == OpKind::Hint) check_promises(program, op);
  taint_.follow(program, op);
}

// ---- Memory

Checker::Access Checker::access_of(const Program& program, const Op& op) const {
  const std::size_t mask = op.kind == OpKind::Load ? 1 : 2;
  Access access{program, op, program.value(op.operands[0])};
  access.reads = op.kind != OpKind::Store;
  access.writes = op.kind != OpKind::Load;
  access.value_operand = op.kind == OpKind::AtomicCas ? 2 : 1;
  if (access.writes) access.value = &program.value(op.operands[access.value_operand]);
  if (op.kind != OpKind::AtomicCas && op.operands.size() > mask)
    access.mask = &program.value(op.operands[mask]);
  const bool is_volatile = op.kind == OpKind::Load && op.integer("volatile") != 0;
  access.is_atomic = is_volatile || (access.reads && access.writes && op.text("scope") != "cta");
  access.bytes = size_of(access.pointers.type.dtype);
  const auto number = memory_numbers_.find(&op);
  if (number != memory_numbers_.end()) access.number = number->second;
  return access;
}

void Checker::check_access(const Access& access) {
  const Op& op = access.op;
  if (access.writes) ++store_;
  has_duplicates_ = false;
  const bool is_marked = !taint_.is_clean(op.operands[0]) ||
                         (access.mask != nullptr && !taint_.is_clean(op.operands.back()));
  const bool has_marked_value =
      access.writes && !taint_.is_clean(op.operands[access.value_operand]);
  for (std::size_t i = 0; i < access.pointers.size(); ++i) {
    const bool is_off = access.mask != nullptr && !access.mask->at(i).i;
    if (is_marked && check_address(access, i) && !is_off &&
        !shadow_.is_inside(access.pointers.elements[i].i, access.bytes))
      continue;
    if (is_off) continue;
    if (!shadow_.is_inside(access.pointers.elements[i].i, access.bytes)) {
      report_outside(access, i);
      continue;
    }
    if (has_marked_value) check_value(access, i);
    check_cells(access, i);
  }
}

bool Checker::check_address(const Access& access, std::size_t i) {
  const Op& op = access.op;
  const std::string verb = op.kind == OpKind::Load    ? "load"
                           : op.kind == OpKind::Store ? "store"
                                                      : "atomic";
  bool is_any = false;
  if (access.mask != nullptr) {
    const Marks mask = taint_.at(op.operands[op.kind == OpKind::Load ? 1 : 2], i);
    for (const Mark mark : {Mark::MaskedOff, Mark::ZeroDivision})
      if (const std::uint16_t origin = origin_of(mask, mark)) {
        report_mark(access.program, mark, origin, op, i, fmt::format("the mask of the {}", verb));
        is_any = true;
      }
    if (!access.mask->at(i).i) return is_any;
  }
  const Marks address = taint_.at(op.operands[0], i);
  for (const Mark mark : {Mark::MaskedOff, Mark::Wrapped, Mark::ZeroDivision})
    if (const std::uint16_t origin = origin_of(address, mark)) {
      report_mark(access.program, mark, origin, op, i, fmt::format("the address of the {}", verb));
      is_any = true;
    }
  return is_any;
}

void Checker::check_value(const Access& access, std::size_t i) {
  const Marks marks = taint_.at(access.op.operands[access.value_operand], i);
  if (marks == 0) return;
  const std::string reached = fmt::format(
      "the {} of {}", access.op.kind == OpKind::Store ? "store" : "atomic", lane_name(access, i));
  for (const Mark mark : {Mark::MaskedOff, Mark::ZeroDivision, Mark::NotFinite})
    if (const std::uint16_t origin = origin_of(marks, mark))
      report_mark(access.program, mark, origin, access.op, i, reached);
}

void Checker::check_cells(const Access& access, std::size_t i) {
  const std::int64_t pointer = access.pointers.elements[i].i;
  const DType dtype = access.pointers.type.dtype;
  // Two NaN are no agreement: they hide what would have been written.
  const bool is_plain =
      access.op.kind == OpKind::Store && !(is_floating(dtype) && std::isnan(access.value->at(i).f));
  const bool changes =
      access.writes && !(is_plain && is_same_in_memory(pointer, dtype, access.value->at(i)));
  if (access.is_atomic) synchronise(access, i);
  for (ShadowCell& cell : shadow_.cells(pointer, access.bytes)) {
    if (access.reads) check_read(access, i, cell);
    if (access.writes) check_write(access, i, cell, changes);
  }
}

// Triton's atomics are acquire and release unless they say otherwise.
void Checker::synchronise(const Access& access, std::size_t i) {
  if (access.pointers.size() > 64) return;
  const std::uint64_t address = TaggedPointer::address(access.pointers.elements[i].i);
  const std::string_view order = access.op.text("order", "acq_rel");
  const bool learns = access.op.results.empty() || is_used_[access.op.result().id];
  if (learns && (order == "acq_rel" || order == "acquire")) shadow_.acquire(address);
  if (access.writes && (order == "acq_rel" || order == "release")) shadow_.release(address);
}

void Checker::check_read(const Access& access, std::size_t i, ShadowCell& cell) {
  const std::uint32_t me = shadow_.program();
  if (cell.has(ShadowCell::Unwritten)) {
    if (auto finding = begin(FindingKind::Unwritten, access.op, nullptr, access.program,
                             &access.op.operands[0], i)) {
      finding->message = fmt::format("{} is read, which nobody has written", lane_name(access, i));
      finding->remedy =
          "write it before, mask the elements off, or give a tensor with values "
          "(zeros: instead of empty:)";
      findings_.add(std::move(*finding));
    }
  }
  const bool is_ordered = cell.has(ShadowCell::WrittenAtomically) && access.is_atomic;
  if (cell.writer != 0 && !is_ordered && !shadow_.comes_before(cell.writer, cell.writer_clock))
    report_race(access, i, cell.has(ShadowCell::Changed), cell.writer, cell.writer_op, true);
  if (cell.reader != 0 && cell.reader != me) cell.set(ShadowCell::SeveralReaders, true);
  cell.set(ShadowCell::ReadAtomically,
           access.is_atomic && (cell.reader == 0 || cell.has(ShadowCell::ReadAtomically)));
  cell.reader = me;
  cell.reader_clock = shadow_.clock();
  cell.reader_op = access.number;
}

void Checker::check_write(const Access& access, std::size_t i, ShadowCell& cell, bool changes) {
  const std::uint32_t me = shadow_.program();
  const bool writes_in_order = cell.has(ShadowCell::WrittenAtomically) && access.is_atomic;
  const bool reads_in_order = cell.has(ShadowCell::ReadAtomically) && access.is_atomic;
  const bool has_other_reader = !shadow_.comes_before(cell.reader, cell.reader_clock) ||
                                (cell.has(ShadowCell::SeveralReaders) && !shadow_.uses_clocks());
  if (cell.writer != 0 && !writes_in_order && !shadow_.comes_before(cell.writer, cell.writer_clock))
    report_race(access, i, changes, cell.writer, cell.writer_op, true);
  else if (cell.reader != 0 && !reads_in_order && has_other_reader)
    report_race(access, i, changes, cell.reader == me ? 0 : cell.reader,
                cell.reader == me ? std::uint16_t{0} : cell.reader_op, false);
  if (access.op.kind == OpKind::Store) {
    has_duplicates_ |= cell.store == store_;
    cell.store = store_;
  }
  cell.set(ShadowCell::WrittenAtomically,
           access.is_atomic && (cell.writer == 0 || cell.has(ShadowCell::WrittenAtomically)));
  cell.set(ShadowCell::Unwritten, false);
  if (changes) cell.set(ShadowCell::Changed, true);
  cell.writer = me;
  cell.writer_clock = shadow_.clock();
  cell.writer_op = access.number;
}

// All lanes have written: one whose value is not there has lost.
void Checker::check_duplicates(const Access& access) {
  if (!has_duplicates_) return;
  has_duplicates_ = false;
  const DType dtype = access.pointers.type.dtype;
  for (std::size_t i = 0; i < access.pointers.size(); ++i) {
    const std::int64_t pointer = access.pointers.elements[i].i;
    if (access.mask != nullptr && !access.mask->at(i).i) continue;
    if (!shadow_.is_inside(pointer, access.bytes)) continue;
    if (is_same_in_memory(pointer, dtype, access.value->at(i))) continue;
    auto finding = begin(FindingKind::DuplicateStore, access.op, nullptr, access.program,
                         &access.op.operands[0], i);
    if (!finding) continue;
    finding->message = fmt::format("one store writes {} more than once, with different values",
                                   lane_name(access, i));
    const Element there = access.program.memory().read(pointer, dtype);
    finding->values.push_back(fmt::format("this element writes {}, another one {}",
                                          value_text(access.value->type, access.value->at(i)),
                                          value_text(access.value->type, there)));
    finding->remedy = "make the offsets of the tile differ, mask all but one off, or use an atomic";
    findings_.add(std::move(*finding));
  }
}

void Checker::mark_load(const Program& program, const Op& op) {
  const std::size_t mask_operand = op.kind == OpKind::Load ? 1 : 2;
  const bool has_mask = op.kind != OpKind::AtomicCas && op.operands.size() > mask_operand;
  MarkTile marks;
  if (has_mask) {
    const Tile& mask = program.value(op.operands[mask_operand]);
    const bool has_other = op.kind == OpKind::Load && op.operands.size() > 2;
    const std::size_t size = program.value(op.result()).size();
    const bool is_clean = has_other && taint_.is_clean(op.operands[2]);
    for (std::size_t i = 0; !is_clean && i < size; ++i) {
      if (mask.at(i).i) continue;
      const Marks mark = has_other ? taint_.at(op.operands[2], i)
                                   : marks_of(Mark::MaskedOff, taint_.number_of(op));
      if (mark == 0) continue;
      if (marks.empty()) marks.assign(size, 0);
      marks[i] = mark;
    }
  }
  taint_.set(op.result(), std::move(marks));
}

// ---- Control and promises

void Checker::check_branch(const Program& program, const Op& op, Value value,
                           std::string_view what) {
  const Marks marks = taint_.at(value, 0);
  for (const Mark mark : {Mark::MaskedOff, Mark::ZeroDivision})
    if (const std::uint16_t origin = origin_of(marks, mark))
      report_mark(program, mark, origin, op, 0, std::string(what));
}

bool Checker::lets_pass(const Program& program, const Op& op, const std::string& problem) {
  if (is_memory_op(op)) return true;  // reported with its element before
  const FindingKind kind = op.kind == OpKind::Assume   ? FindingKind::Promise
                           : op.kind == OpKind::Assert ? FindingKind::Assertion
                                                       : FindingKind::OutOfBounds;
  auto finding = begin(kind, op, nullptr, program, nullptr, 0);
  if (!finding) return true;
  finding->message = problem;
  finding->remedy = kind == FindingKind::Promise
                        ? "remove the promise, or launch with values that keep it"
                    : kind == FindingKind::Assertion
                        ? "mend what the assertion says, or launch with values that keep it"
                        : "keep the indices below the size of the tile's axis";
  findings_.add(std::move(*finding));
  return true;
}

void Checker::stopped(const std::string& why) {
  Finding finding;
  finding.kind = FindingKind::Stopped;
  finding.kernel = kernel_.name;
  finding.place.file = kernel_.files.empty() ? kernel_.name : kernel_.files.front();
  finding.message = why;
  finding.has_program = false;
  findings_.add(std::move(finding));
}

}  // namespace tilewright::ir
