// SPDX-License-Identifier: Apache-2.0
// passes/laid/allocate_shared.cpp — a walk over steps in the order in which they need buffers, and
// the lowest free place for each.
#include "passes/laid/allocate_shared.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "ir/analysis/buffer_lives.h"
#include "passes/laid/hand_overs.h"

namespace tilewright {
namespace {

using ir::BufferLife;
using ir::KernelBuffer;
using ir::OpKind;
using Kind = Step::Kind;

constexpr std::int64_t least_to_share = 2048;
constexpr std::int64_t granule = 16;

std::int64_t round_up(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

class Allocator {
 public:
  Allocator(ir::Kernel& kernel, const Sweeps& sweeps)
      : kernel_(kernel), sweeps_(sweeps), lives_(ir::buffer_lives(kernel)) {
    for (KernelBuffer& buffer : kernel.buffers) buffer.offset = -1;
    // Small buffers save no space worth the barriers.
    for (std::size_t i = 0; i < lives_.size(); ++i)
      if (round_up(kernel.buffers[i].bytes(), granule) < least_to_share) lives_[i] = {};
  }

  void run() { visit(sweeps_.steps()); }

 private:
  // ---- Places

  void place(std::string_view name) {
    if (!name.empty()) place(kernel_.buffer_named(name));
  }

  void place(ir::Value value) {
    if (const int number = sweeps_.buffer_of(value); number >= 0)
      place(static_cast<std::size_t>(number));
  }

  void place(std::size_t number) {
    KernelBuffer& buffer = kernel_.buffers[number];
    if (!buffer.has_place() || buffer.offset >= 0) return;
    buffer.offset = lowest_free(number);
    placed_.push_back(number);
  }

  std::int64_t end_of(const KernelBuffer& buffer) const {
    return buffer.offset + round_up(buffer.bytes(), granule);
  }

  std::int64_t lowest_free(std::size_t number) const {
    KernelBuffer trial = kernel_.buffers[number];
    std::vector<std::int64_t> candidates = {0};
    for (const std::size_t other : placed_)
      candidates.push_back(round_up(end_of(kernel_.buffers[other]), trial.align));
    std::sort(candidates.begin(), candidates.end());
    const auto is_taken_by = [&](std::size_t other) {
      const KernelBuffer& buffer = kernel_.buffers[other];
      return lives_[other].meets(lives_[number]) && trial.offset < end_of(buffer) &&
             buffer.offset < end_of(trial);
    };
    for (const std::int64_t candidate : candidates) {
      trial.offset = candidate;
      if (std::none_of(placed_.begin(), placed_.end(), is_taken_by)) return candidate;
    }
    TW_UNREACHABLE("behind all buffers there is a free place");
  }

  // ---- Steps

  void visit(const Steps& steps) {
    for (const Step& step : steps) {
      if (step.kind == Kind::Scalar) place(step.op->text("scratch"));
      if (step.kind == Kind::Elements) visit_elements(step);
      if (step.kind == Kind::Across) visit_across(*step.op);
      if (step.kind == Kind::Control) visit_control(step);
    }
  }

  void visit_elements(const Step& step) {
    for (const ir::Op* op : step.ops)
      if (op->kind == OpKind::CopyAsync) place(op->text("buffer"));
    for (const ir::Value value : step.kept) place(value);
    for (const ir::Op* op : step.ops) place(op->text("scratch"));
    for (const ir::Op* reduce : step.reductions) {
      place(reduce->text("scratch"));
      for (const ir::Value result : reduce->results) place(result);
    }
  }

  // A scan has its results before warps meet; sorted and counted elements come out of scratch.
  void visit_across(const ir::Op& op) {
    if (op.kind == OpKind::Scan)
      for (const ir::Value result : op.results) place(result);
    place(op.text("scratch"));
    for (const ir::Value result : op.results) place(result);
  }

  void visit_control(const Step& step) {
    const ir::Op& op = *step.op;
    const bool is_loop = op.facts().has(ir::Loops);
    if (is_roles(op)) place_rings();
    if (is_loop)
      for (const ir::Region& region : op.regions)
        for (const ir::Value argument : region.arguments) place(argument);
    for (const ir::Value result : op.results) place(result);
    const std::vector<std::string> scratch = op.texts("scratch");
    const std::vector<HandOver> hand_overs = hand_overs_of(op);
    for (std::size_t r = 0; r < step.regions.size(); ++r) {
      visit(step.regions[r]);
      for (std::size_t i = 0; i < hand_overs[r].to.size() && !scratch.empty(); ++i)
        place(scratch[hand_overs[r].first + i]);
    }
  }

  bool is_roles(const ir::Op& op) const {
    const ir::Op* maker = op.kind == OpKind::If ? kernel_.maker(op.operands[0]) : nullptr;
    return maker && maker->kind == OpKind::IsProducer;
  }

  void place_rings() {
    for (const ir::KernelRing& ring : kernel_.rings) {
      place(ring.words);
      for (const std::string& buffer : ring.buffers) place(buffer);
    }
  }

  ir::Kernel& kernel_;
  const Sweeps& sweeps_;
  std::vector<BufferLife> lives_;    // by buffer
  std::vector<std::size_t> placed_;  // in the order of their places
};

}  // namespace

void allocate_shared(ir::Kernel& kernel, const LaidFacts& facts) {
  Allocator(kernel, facts.sweeps).run();
}

std::int64_t shared_bytes_of(const ir::Kernel& kernel) {
  std::int64_t bytes = 0;
  for (const KernelBuffer& buffer : kernel.buffers)
    if (buffer.offset >= 0)
      bytes = std::max(bytes, buffer.offset + round_up(buffer.bytes(), granule));
  return bytes;
}

}  // namespace tilewright
