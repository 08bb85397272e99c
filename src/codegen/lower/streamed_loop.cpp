// SPDX-License-Identifier: Apache-2.0
// codegen/lower/streamed_loop.cpp — loops that load more than registers can hold go in slices: the
// vectors of one slice are loaded, worked on and stored before those of the next one are loaded.
#include <algorithm>

#include "codegen/lower/element_plans.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

// Registers of a thread for a slice and the arrays that it reads: they leave room for what is
// computed and for the addresses when a multiprocessor has 512 threads.
constexpr std::int64_t most_words_of_slice = 72;
// Enough to keep memory busy.
constexpr std::int64_t least_words_of_slice = 32;
// Registers of a thread for the arrays that a loop over slices reads: with more of them some lie in
// memory.
constexpr std::int64_t most_words_of_arrays = 192;
// Elements of a thread in a loop whose slices are unrolled: more make NVRTC slow.
constexpr int log_most_unrolled = 8;

}  // namespace

// Registers of a thread for what is loaded before the first vector is worked on.
std::int64_t ElementPlans::words_loaded(const ElementLoop& loop,
                                   const std::vector<Preload>& preloads) const {
  std::int64_t bytes = 0;
  for (const Preload& preload : preloads)
    if (preload.access)
      bytes += static_cast<std::int64_t>(kernel_.type(preload.value).element_bytes())
               << (loop.log_vector + loop.log_vectors);
  return (bytes + 3) / 4;
}

// Registers of a thread for all that the loop reads, when all of it is there before the first
// vector is worked on.
std::int64_t ElementPlans::words_held(const ElementLoop& loop, const TileReads& reads,
                                 const std::vector<Preload>& preloads) const {
  std::int64_t bytes = 4 * words_loaded(loop, preloads);
  for (const TileRead& read : reads.arrays)
    if (!layouts_.is_shared(read.value) && !is_stowed(read.value))
      bytes += static_cast<std::int64_t>(kernel_.type(read.value).element_bytes()) *
               layouts_.of_array(read.value).layout.register_count();
  return bytes / 4;
}

// Whether each vector is done with once it is stored: nothing is summed up or kept. Loads that come
// late save registers without slices.
bool ElementPlans::is_streamed(const ElementLoop& loop, const std::vector<Preload>& preloads) const {
  const Step& step = *loop.frame.step;
  const auto is_load = [&](const Preload& preload) {
    return preload.access.has_value() && !is_late(loop, preload, true);
  };
  return step.reductions.empty() && step.kept.empty() && !preloads.empty() &&
         std::all_of(preloads.begin(), preloads.end(), is_load) &&
         std::all_of(step.ops.begin(), step.ops.end(), [](const ir::Op* op) {
           return !op->facts().has(ir::Writes) || op->kind == OpKind::Store;
         });
}

// Moves bits between the loop over the vectors of a slice and the loop over slices.
void ElementPlans::set_slices(ElementLoop& loop, int log_vectors) {
  loop.log_slices += loop.log_vectors - log_vectors;
  loop.log_vectors = log_vectors;
  loop.frame.space.variables[1].bits = loop.log_vectors;
  loop.frame.space.variables[2].bits = loop.log_slices;
}

// A loop over more than registers hold that only sums up or stores what it loads: its slices are as
// long as keeps memory busy. Arrays of which a slice reads registers of its own, and totals of
// which it has its own, would lie in memory if the loop over slices stayed one.
void ElementPlans::widen_slices(ElementLoop& loop, const TileReads& reads) {
  const std::vector<Preload> preloads = plan_preloads(loop);
  const bool reads_by_slice = has_registers_by_slice(loop, reads);
  const bool is_short = loop.log_vector + loop.log_vectors + loop.log_slices <= log_most_unrolled;
  if (reads_by_slice) is_crowded_ |= words_held(loop, reads, {}) > most_words_of_arrays;
  if (reads_by_slice && !is_short) return;
  loop.unrolls_slices = is_short && (reads_by_slice || has_totals_by_slice(loop));
  if (!reads_by_slice && !reads.arrays.empty()) return;
  if (preloads.empty() || !loop.frame.step->kept.empty()) return;
  while (loop.log_slices > 0 && 2 * words_loaded(loop, preloads) <= least_words_of_slice)
    set_slices(loop, loop.log_vectors + 1);
}

// Whether the number of a slice decides which registers of an array it reads: these must be known
// when the text is compiled.
bool ElementPlans::has_registers_by_slice(const ElementLoop& loop, const TileReads& reads) const {
  const Frame& frame = loop.frame;
  return std::any_of(reads.arrays.begin(), reads.arrays.end(), [&](const TileRead& read) {
    if (layouts_.is_shared(read.value) || is_stowed(read.value)) return false;
    const Place place = compose(read.map, frame.place);
    return image_of(frame.space, register_map(frame, read.value, place), 2, 3) != 0;
  });
}

// Whether the number of a slice decides which totals of a reduction its elements belong to.
bool ElementPlans::has_totals_by_slice(const ElementLoop& loop) const {
  const Step& step = *loop.frame.step;
  const int first = loop.frame.space.first_bit_of(2);
  return std::any_of(step.reductions.begin(), step.reductions.end(), [&](const ir::Op* reduce) {
    const BitMatrix total = compose(total_map(step.shape, *reduce), loop.frame.place).matrix;
    for (int j = 0; j < loop.log_slices; ++j)
      if (total.column(first + j) != 0) return true;
    return false;
  });
}

void ElementPlans::slice_streamed(ElementLoop& loop, const TileReads& reads) {
  if (loop.log_slices > 0) return widen_slices(loop, reads);
  if (loop.log_vectors == 0) return;
  const std::vector<Preload> preloads = plan_preloads(loop);
  if (!is_streamed(loop, preloads) || words_held(loop, reads, preloads) <= most_words_held) return;
  while (loop.log_vectors > 0 && words_held(loop, reads, preloads) > most_words_of_slice &&
         words_loaded(loop, preloads) >= least_words_of_slice) {
    const bool was_rolled = loop.log_slices > 0 && !loop.unrolls_slices;
    set_slices(loop, loop.log_vectors - 1);
    loop.unrolls_slices = has_registers_by_slice(loop, reads);
    if (!was_rolled || !loop.unrolls_slices) continue;
    set_slices(loop, loop.log_vectors + 1);
    loop.unrolls_slices = false;
    break;
  }
  has_rolled_slices_ |= loop.log_slices > 0 && !loop.unrolls_slices;
}

}  // namespace tilewright
