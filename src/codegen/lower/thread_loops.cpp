// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_loops.cpp — the loops of a thread over its elements of a tile: first all
// vectors are loaded, then the elements are worked on, and vectors of results are stored.
#include "codegen/lower/thread_loops.h"

#include <algorithm>
#include <functional>

#include "codegen/lower/copy_facts.h"
#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

namespace {

// Bools are bytes in memory.
Type memory_type(const Type& element) {
  return element.is_bool() ? Type::scalar(DType::UInt8) : element;
}

}  // namespace

ThreadLoops::ThreadLoops(ThreadState& state)
    : ThreadElements(state), settled_(settled_indices(kernel_, schedule_)) {}

// ---- The step

void ThreadLoops::elements(const Step& step) {
  if (step.ops.size() == 1 && step.ops.front()->kind == OpKind::CopyAsync)
    return families().copies.copy_ahead(step);
  for (const ir::Value value : step.kept) declare(value);
  Loop loop = make(step, layouts_.of_step(step));
  const TileReads reads = reads_of(kernel_, schedule_, step);
  families().tiles.refuse_beside_readers(loop, reads);
  const bool meets_inside = state_.meetings.inside.contains(step.order);
  if (!meets_inside) plans_.slice_streamed(loop.plan, reads);
  Reductions reductions;
  for (const ir::Op* op : step.reductions)
    reductions.push_back(families().reductions.begin_reduction(step, *op));
  open(loop, over_slices, "slices", loop.plan.unrolls_slices);
  std::vector<Preload> preloads = plans_.plan_preloads(loop.plan);
  std::vector<Preload> late_loads = take_late(loop, reads, preloads);
  families().rows.fill_row(loop, late_loads);
  load_first(loop, preloads, false);
  if (meets_inside) families().tiles.part_accesses(loop, reads, preloads);
  families().atomics.begin_fenced(reads, preloads, step);
  if (late_loads.empty() && reductions.empty() && is_only_loaded(step, preloads))
    return close(loop, over_slices);
  open(loop, over_vectors, "vectors", true);
  load_first(loop, late_loads, true);
  work_on_vector(loop, step, preloads, reductions);
  close(loop, over_vectors);
  close(loop, over_slices);
  families().atomics.end_fenced();
  end_step(step, reductions);
}

// Preloads that wait until their vector's turn, out of the others.
std::vector<ThreadLoops::Preload> ThreadLoops::take_late(const Loop& loop, const TileReads& reads,
                                                         std::vector<Preload>& preloads) {
  const std::int64_t words = plans_.words_held(loop.plan, reads, preloads);
  if (loop_depth_ > 0 && !plans_.has_any_dot() && !preloads.empty() && !reads.arrays.empty())
    loop_words_ = std::max(loop_words_, words);
  const auto late = std::stable_partition(preloads.begin(), preloads.end(), [&](const Preload& p) {
    return !plans_.is_late(loop.plan, p, words > ElementPlans::most_words_held);
  });
  std::vector<Preload> out(late, preloads.end());
  preloads.erase(late, preloads.end());
  return out;
}

// The step's writes, if all of them can go in vectors, so that their order stays.
std::vector<ThreadLoops::VectorAccess> ThreadLoops::vector_stores(const Loop& loop,
                                                                  const Step& step) const {
  std::vector<VectorAccess> stores;
  if (loop.plan.log_vector == 0) return {};
  for (const ir::Op* op : step.ops) {
    if (!op->facts().has(ir::Writes)) continue;
    if (op->kind != OpKind::Store && !plans_.adds_in_vectors(*op)) return {};
    const auto access = plans_.vector_access(loop.plan.frame, *op, loop.plan.frame.place);
    if (!access) return {};
    stores.push_back(*access);
  }
  return stores;
}

// What is loaded is computed with, element by element, and results go in vectors where they can.
void ThreadLoops::work_on_vector(Loop& loop, const Step& step, const std::vector<Preload>& preloads,
                                 const Reductions& reductions) {
  const std::vector<VectorAccess> stores = vector_stores(loop, step);
  std::map<const ir::Op*, ir::Value> vectors;
  for (const VectorAccess& access : stores)
    vectors[access.op] =
        make_array(names_.make(kernel_.name_of(access.op->operands[1]) + "_out", "out"),
                   memory_type(kernel_.type(access.op->operands[1]).element()),
                   std::int64_t{1} << loop.plan.log_vector, access.op->location);
  const std::vector<VectorKeep> keeps = families().tiles.plan_vector_keeps(loop, preloads);
  if (!reductions.empty() || !families().tiles.keeps_all(step, keeps)) {
    open(loop, within_vector, "elements", true);
    element_ops(loop, vectors, keeps);
    for (const ThreadReductions::Reduction& reduction : reductions)
      families().reductions.add_to(loop, reduction);
    write_delayed();
    close(loop, within_vector);
  }
  for (const VectorKeep& kept : keeps) families().tiles.keep_vector(loop, kept);
  for (const VectorAccess& access : stores)
    families().vectors.store_vector(loop, access, vectors[access.op]);
}

void ThreadLoops::end_step(const Step& step, const Reductions& reductions) {
  for (const ir::Value value : step.kept) {
    families().rings.swap_lanes(value);
    families().groups.note_written(value);
  }
  // Warps meet where they combine their totals.
  if (std::any_of(step.reductions.begin(), step.reductions.end(),
                  [](const ir::Op* reduce) { return !reduce->text("scratch").empty(); }))
    families().groups.show_written();
  for (const ThreadReductions::Reduction& reduction : reductions)
    families().reductions.end_reduction(reduction);
}

void ThreadLoops::write_delayed() {
  for (const Delayed& write : delayed_) {
    std::vector<ir::Value> operands = {write.array, write.index, write.value};
    if (write.condition) operands.push_back(write.condition);
    statement(OpKind::Write, operands, *list_);
  }
  delayed_.clear();
}

// Whether nothing is left to do for a step once its loads are where they are kept.
bool ThreadLoops::is_only_loaded(const Step& step, const std::vector<Preload>& preloads) const {
  return std::all_of(step.ops.begin(), step.ops.end(), [&](const ir::Op* op) {
    return op->kind == OpKind::Load &&
           std::any_of(preloads.begin(), preloads.end(), [&](const Preload& preload) {
             return preload.value == op->result() && schedule_.is_placed(preload.value) &&
                    preload.tile == out_.name_of(array(preload.value));
           });
  });
}

// Of all vectors in a loop of their own, or inside the loop over vectors.
void ThreadLoops::load_first(Loop& loop, std::vector<Preload>& preloads, bool is_inside) {
  if (preloads.empty()) return;
  const Step& step = *loop.plan.frame.step;
  const int bits = loop.plan.log_vector + (is_inside ? 0 : loop.plan.log_vectors);
  std::vector<ir::Value> tiles;
  for (Preload& preload : preloads) {
    const Type type = kernel_.type(preload.value).element();
    // A load that is kept goes to its array at once, unless the step still reads what was there.
    const bool is_kept = std::count(step.kept.begin(), step.kept.end(), preload.value) != 0;
    if (is_kept && preload.access && !layouts_.is_shared(preload.value) &&
        preload.place == loop.plan.frame.place && !type.is_bool() &&
        !plans_.reads_storage_of(step, preload.value)) {
      tiles.push_back(array(preload.value));
    } else {
      tiles.push_back(make_array(names_.make(kernel_.name_of(preload.value) + "_tile", "tile"),
                                 preload.access ? memory_type(type) : type, std::int64_t{1} << bits,
                                 preload.access ? preload.access->op->location : ir::Location{}));
    }
    preload.tile = out_.name_of(tiles.back());
  }
  const IndexMap number_of_element = number_map(loop.plan.frame.space, bits);
  if (!is_inside) open(loop, over_vectors, "vectors", true);
  for (std::size_t k = 0; k < preloads.size(); ++k)
    families().vectors.load_vector(loop, preloads[k], tiles[k],
                                   linear(loop, number_of_element, 1, 2));
  if (!is_inside) close(loop, over_vectors);
  for (std::size_t k = 0; k < preloads.size(); ++k)
    loop.firsts.push_back({preloads[k].value, preloads[k].place, tiles[k], number_of_element});
}

// ---- The ops of an element

void ThreadLoops::element_ops(Loop& loop, const std::map<const ir::Op*, ir::Value>& vectors,
                              const std::vector<VectorKeep>& keeps) {
  const Frame& frame = loop.plan.frame;
  const Step& step = *frame.step;
  for (const ir::Op* op : step.ops) {
    if (op->kind == OpKind::Load) element(loop, op->result(), frame.place);
    if (op->facts().is(ir::Family::Check)) {
      std::vector<ir::Value> operands;
      for (const ir::Value value : op->operands)
        operands.push_back(element(loop, value, frame.place));
      statement(op->kind, operands, *list_, op->attributes, op->location);
    }
    if (const auto found = vectors.find(op); found != vectors.end()) {
      const ir::Value value = element(loop, op->operands[1], frame.place);
      statement(
          OpKind::Write,
          {found->second, loop.plan.log_vector > 0 ? loop.variables[within_vector] : number(0),
           cast(value, type_of(found->second).dtype)},
          *list_, {}, op->location);
    } else if (op->facts().is_atomic()) {
      families().atomics.atomic_element(loop, *op);
    } else if (op->kind == OpKind::Store) {
      store(loop, *op);
    }
    for (const ir::Value value : op->results)
      if (std::count(step.kept.begin(), step.kept.end(), value) != 0) keep(loop, value, keeps);
  }
}

// The array may be one that the element's ops still read.
void ThreadLoops::keep(Loop& loop, ir::Value value, const std::vector<VectorKeep>& keeps) {
  if (plans_.is_stowed(value)) return;  // by its copies
  const Place& place = loop.plan.frame.place;
  const auto found = std::find_if(keeps.begin(), keeps.end(),
                                  [&](const VectorKeep& kept) { return kept.value == value; });
  const bool is_vector = found != keeps.end();
  if (is_vector && !found->is_own) return;
  ir::Value made = element(loop, value, place);
  Delayed write{is_vector ? found->from : array(value),
                is_vector ? loop.variables[within_vector] : array_index(loop, value, place), made};
  if (state_.written.is_element(made, write.array, write.index)) return;
  if (layouts_.is_shared(value) && !is_vector) write.condition = owner(*loop.plan.frame.layout);
  if (out_.name_of(made).empty()) write.value = line(loop, value, made, place);
  if (settled_.contains(value.id) && !layouts_.is_shared(value))
    write.value = call(LibraryKind::Settled, {write.value}, type_of(write.value));
  delayed_.push_back(write);
}

}  // namespace tilewright
