// SPDX-License-Identifier: Apache-2.0
// passes/laid/warp_exchange.cpp — layouts of writers and readers compared.
#include "passes/laid/warp_exchange.h"

#include "passes/laid/op_facts.h"
#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

using Kind = Step::Kind;

class Finder {
 public:
  Finder(const ir::Kernel& kernel, const Sweeps& schedule, const TileLayouts& layouts)
      : kernel_(kernel), schedule_(schedule), layouts_(layouts) {}

  std::set<std::size_t> run() {
    visit(schedule_.steps());
    for (const std::size_t number : others_) found_.erase(number);
    std::set<std::size_t> out;
    for (const std::size_t number : found_)
      if (has_place_alone(number)) out.insert(number);
    return out;
  }

 private:
  void visit(const Steps& steps) {
    for (const Step& step : steps) {
      if (step.kind == Kind::Elements) visit_elements(step);
      if (step.kind == Kind::Across) exclude(reads_of(kernel_, schedule_, step, step.op->operands));
      if (step.kind == Kind::Control) {
        for (const TileCopy& copy : copies_of(kernel_, *step.op)) {
          note(copy.to, others_);
          exclude(reads_of(kernel_, schedule_, step, {copy.from}));
        }
        for (const Steps& region : step.regions) visit(region);
      }
    }
  }

  void exclude(const TileReads& reads) {
    for (const TileRead& read : reads.arrays) note(read.value, others_);
  }
  void note(ir::Value value, std::set<std::size_t>& in) const {
    const int buffer = schedule_.buffer_of(schedule_.storage(value));
    if (buffer >= 0) in.insert(static_cast<std::size_t>(buffer));
  }

  void visit_elements(const Step& step) {
    const Layout& walk = layouts_.of_step(step).layout;
    for (const TileRead& read : reads_of(kernel_, schedule_, step).arrays) {
      const bool is_within = layouts_.is_shared(read.value) && !layouts_.is_slot(read.value) &&
                             read.map.is_identity() && has_same_warps(read.value, walk);
      note(read.value, is_within ? found_ : others_);
    }
  }

  // But for others of the same kind, whose warps have the same parts.
  bool has_place_alone(std::size_t number) const {
    const ir::KernelBuffer& own = kernel_.buffers[number];
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const ir::KernelBuffer& other = kernel_.buffers[i];
      const bool meets = i != number && other.offset >= 0 &&
                         other.offset < own.offset + own.bytes() &&
                         own.offset < other.offset + other.bytes();
      const bool is_alike = found_.contains(i) && other.offset == own.offset &&
                            other.type == own.type && other.layout == own.layout &&
                            other.order == own.order;
      if (meets && !is_alike) return false;
    }
    return own.offset >= 0;
  }

  bool has_same_warps(ir::Value array, const Layout& walk) const {
    const auto own = layouts_.of_array(array).layout.rows_within_warps(0);
    return own && own == walk.rows_within_warps(0);
  }

  const ir::Kernel& kernel_;
  const Sweeps& schedule_;
  const TileLayouts& layouts_;
  std::set<std::size_t> found_, others_;  // buffers
};

}  // namespace

std::set<std::size_t> exchanged_within_warps(const ir::Kernel& kernel, const Sweeps& schedule,
                                             const TileLayouts& layouts) {
  return Finder(kernel, schedule, layouts).run();
}

}  // namespace tilewright
