// SPDX-License-Identifier: Apache-2.0
// cli/step_trace.cpp — accesses as runs of elements of tensors.
#include "cli/step_trace.h"

#include <algorithm>

#include "cli/step_print.h"

namespace tilewright::cli {
namespace {

bool is_access(const ir::Op& op) {
  return op.facts().is(ir::Family::Access) && op.kind != ir::OpKind::CopyAsync;
}

TracedAccess::Kind kind_of(const ir::Op& op) {
  if (op.kind == ir::OpKind::Load) return TracedAccess::Kind::Load;
  return op.kind == ir::OpKind::Store ? TracedAccess::Kind::Store : TracedAccess::Kind::Atomic;
}

const ir::Tile* mask_of(const ir::Program& program, const ir::Op& op) {
  const std::size_t at = op.kind == ir::OpKind::Load ? 1 : 2;
  if (op.kind == ir::OpKind::AtomicCas || op.operands.size() <= at) return nullptr;
  return &program.value(op.operands[at]);
}

std::string summary(const ir::Tile& tile) {
  const std::string text = tile_text(tile);
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::vector<TracedRun> joined(const std::vector<TracedRun>& runs) {
  std::vector<TracedRun> all;
  for (const TracedRun& run : runs) {
    if (!all.empty()) {
      TracedRun& last = all.back();
      const std::int64_t distance = run.first - (last.first + (last.rows - 1) * last.stride);
      const bool fits = last.count == run.count && (last.rows == 1 || last.stride == distance);
      if (fits) {
        last.stride = distance;
        ++last.rows;
        continue;
      }
    }
    all.push_back(run);
  }
  return all;
}

void StepTrace::run(const ir::Kernel& kernel, std::span<const ir::InterpretBuffer> buffers,
                    std::span<const ir::InterpretArgument> arguments,
                    ir::InterpretOptions options) {
  trace_.kernel = kernel.name;
  trace_.files = kernel.files;
  std::copy(options.grid, options.grid + 3, trace_.grid.begin());
  for (const TracedTensor& tensor : trace_.tensors) {
    std::size_t size = 1;
    for (const std::int64_t length : tensor.shape) size *= static_cast<std::size_t>(length);
    sizes_.push_back(size);
  }
  options.watch = this;
  try {
    ir::interpret(kernel, buffers, arguments, options);
  } catch (const Full&) {
    trace_.is_whole = false;
  }
}

// Elements of one access are of one tensor, but for what goes wrong.
void StepTrace::add_element(TracedAccess& access, std::int64_t pointer) const {
  const std::uint64_t address = ir::TaggedPointer::address(pointer);
  for (std::size_t t = 0; t < trace_.tensors.size(); ++t) {
    const TracedTensor& tensor = trace_.tensors[t];
    const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(tensor.data);
    if (address < begin || address - begin >= sizes_[t] * size_of(tensor.dtype)) continue;
    if (access.tensor < 0) access.tensor = static_cast<int>(t);
    if (access.tensor != static_cast<int>(t)) continue;
    const auto element = static_cast<std::int64_t>((address - begin) / size_of(tensor.dtype));
    TracedRun* const last = access.runs.empty() ? nullptr : &access.runs.back();
    if (last != nullptr && element == last->first + last->count) ++last->count;
    else access.runs.push_back({.first = element});
    return;
  }
  ++access.outside;
}

void StepTrace::before(const ir::Program& program, const ir::Op& op) {
  if (!is_access(op)) return;
  if (trace_.accesses.size() >= limits_.accesses || runs_ >= limits_.runs) throw Full{};
  TracedAccess access;
  access.program = program_;
  access.file = op.location.file;
  access.line = op.location.line;
  access.kind = kind_of(op);
  const ir::Tile& pointers = program.value(op.operands[0]);
  const ir::Tile* const mask = mask_of(program, op);
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (mask != nullptr && !mask->at(i).i) ++access.masked_off;
    else add_element(access, pointers.elements[i].i);
  }
  access.runs = joined(access.runs);
  if (access.kind != TracedAccess::Kind::Load)
    access.value = summary(program.value(op.operands[1]));
  runs_ += access.runs.size();
  trace_.accesses.push_back(std::move(access));
}

void StepTrace::after(const ir::Program& program, const ir::Op& op) {
  if (op.kind == ir::OpKind::Load)
    trace_.accesses.back().value = summary(program.value(op.result()));
}

}  // namespace tilewright::cli
