// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/elements.cpp — the loops of a thread over its elements of a tile.
//
// Few elements per thread are unrolled: first all vectors are loaded, then the elements are worked
// on, and vectors of results are stored. Many elements go in slices of a loop that stays a loop.
#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "codegen/cuda/emitter.h"
#include "layout/convert.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using ir::OpKind;

}  // namespace

// ---- Loops

void Emitter::open_slices(ElementLoop& loop) {
  if (loop.log_slices == 0) return;
  out_.line(loop.unrolls_slices ? "#pragma unroll" : "#pragma unroll 1");
  out_.open(fmt::format("for (int s = 0; s < {}; ++s)", 1 << loop.log_slices));
  loop.frame.scopes.emplace_back();
}

void Emitter::close_slices(ElementLoop& loop) {
  if (loop.log_slices == 0) return;
  out_.close();
  loop.frame.scopes.pop_back();
}

void Emitter::open_vectors(ElementLoop& loop) {
  if (loop.log_vectors == 0) return;
  out_.line("#pragma unroll");
  out_.open(fmt::format("for (int k = 0; k < {}; ++k)", 1 << loop.log_vectors));
  loop.frame.scopes.emplace_back();
}

void Emitter::close_vectors(ElementLoop& loop) {
  if (loop.log_vectors == 0) return;
  out_.close();
  loop.frame.scopes.pop_back();
}

void Emitter::open_elements(ElementLoop& loop) {
  if (loop.log_vector == 0) return;
  out_.line("#pragma unroll");
  out_.open(fmt::format("for (int v = 0; v < {}; ++v)", 1 << loop.log_vector));
  loop.frame.scopes.emplace_back();
}

void Emitter::close_elements(ElementLoop& loop) {
  if (loop.log_vector == 0) return;
  out_.close();
  loop.frame.scopes.pop_back();
}

// ---- Arrays

void Emitter::declare_array(ir::Value value) {
  const ir::Value storage = schedule_.storage(value);
  if (arrays_.contains(storage.id)) return;
  const ir::Type& type = kernel_.type(storage);
  const std::string base = array_base(value, storage);
  if (layouts_.is_shared(value)) {
    const std::string name = names_.make(base + "_shared");
    shared_.add(name, type_of(storage), type.numel(),
                kernel_.buffers[static_cast<std::size_t>(schedule_.buffer_of(storage))],
                loop_depth_ > 0);
    if (warp_buffers_.contains(static_cast<std::size_t>(schedule_.buffer_of(storage))))
      shared_.part_by_warps(name);
    if (layouts_.is_product_operand(storage)) product_operands_.insert(name);
    arrays_[storage.id] = name;
    return;
  }
  const std::string name = names_.make(base + "_tile");
  out_.format("{} {}[{}];", type_of(storage), name,
              layouts_.of_array(value).layout.register_count());
  arrays_[storage.id] = name;
}

Emitter::SharedUse Emitter::shared_use(const Frame& frame, const TileReads& reads,
                                       const std::vector<ir::Value>& written) {
  SharedUse use;
  for (const TileRead& read : reads.arrays) {
    if (!layouts_.is_shared(read.value)) continue;
    // Of copies, one thread writes and the others read.
    const bool is_own =
        frame.layout && !layouts_.is_slot(read.value) &&
        layouts_.of_array(read.value).layout.copy_bits() == 0 &&
        plan_conversion(layouts_.of_array(read.value).layout, *frame.layout, read.map).kind ==
            Conversion::Kind::Registers;
    (is_own ? use.own : use.crossing).insert(array_name(read.value));
  }
  for (ir::Value value : written)
    if (layouts_.is_shared(value)) use.written.insert(array_name(value));
  return use;
}

// Whether a barrier must stand before a step, for what it reads from and writes to shared memory.
bool Emitter::needs_barrier(const SharedUse& use) const {
  return std::any_of(use.crossing.begin(), use.crossing.end(),
                     [&](const std::string& name) { return shared_.read_needs_barrier(name); }) ||
         std::any_of(use.written.begin(), use.written.end(),
                     [&](const std::string& name) { return shared_.write_needs_barrier(name); });
}

void Emitter::meet_for(const SharedUse& use) {
  const auto is_met = [&](const auto& names, auto needs) {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return !needs(name) || shared_.is_of_warps(name);
    });
  };
  const bool is_of_warps =
      is_met(use.crossing, [&](const auto& name) { return shared_.read_needs_barrier(name); }) &&
      is_met(use.written, [&](const auto& name) { return shared_.write_needs_barrier(name); });
  if (!is_of_warps) return barrier();
  out_.line("__syncwarp();");
  shared_.note_warp_barrier();
}

void Emitter::note(const SharedUse& use) {
  for (const std::string& name : use.own) shared_.note_use(name);
  for (const std::string& name : use.crossing) shared_.note_read(name);
  for (const std::string& name : use.written) shared_.note_write(name);
}

void Emitter::synchronize(const Frame& frame, const TileReads& reads,
                          const std::vector<ir::Value>& written) {
  const SharedUse use = shared_use(frame, reads, written);
  if (needs_barrier(use)) barrier();
  note(use);
}

// ---- The step

void Emitter::elements_step(const Step& step) {
  if (step.ops.size() == 1 && step.ops.front()->kind == OpKind::CopyAsync) return copy_step(step);
  for (ir::Value value : step.kept) declare_array(value);
  ElementLoop loop = make_loop(step, layouts_.of_step(step));
  const TileReads reads = reads_of(kernel_, schedule_, step);
  const SharedUse use = shared_use(loop.frame, reads, step.kept);
  for (const ir::Value value : step.kept)
    if (layouts_.is_shared(value) && use.crossing.contains(array_name(value)))
      refused_.unshared.push_back(value);
  const bool needs_global = needs_barrier(reads, *loop.frame.layout);
  if (needs_global) barrier();
  else if (needs_barrier(use)) meet_for(use);
  const bool needs_barrier_inside = note_accesses(reads, *loop.frame.layout);
  if (!needs_barrier_inside) slice_streamed(loop, reads);
  note(use);
  std::vector<Reduction> reductions;
  for (const ir::Op* op : step.reductions) reductions.push_back(begin_reduction(loop, *op));

  open_slices(loop);
  std::vector<Preload> preloads = plan_preloads(loop);
  const std::int64_t words = words_held(loop, reads, preloads);
  const bool is_crowded = words > most_words_held;
  if (loop_depth_ > 0 && !has_dot_ && !preloads.empty() && !reads.arrays.empty())
    loop_words_ = std::max(loop_words_, words);
  const auto late = std::stable_partition(preloads.begin(), preloads.end(), [&](const Preload& p) {
    return !is_late(loop, p, is_crowded);
  });
  std::vector<Preload> late_loads(late, preloads.end());
  preloads.erase(late, preloads.end());
  emit_preloads(loop, preloads, false);
  if (needs_barrier_inside) part_accesses(reads, preloads);
  begin_fenced(reads, preloads, step);
  if (late_loads.empty() && reductions.empty() && is_only_loaded(step, preloads))
    return close_slices(loop);
  open_vectors(loop);
  emit_preloads(loop, late_loads, true);

  // Stores go in vectors when all of them can, so that their order stays.
  std::map<const ir::Op*, std::string> vectors;
  bool can_all = true;
  std::vector<VectorAccess> stores;
  for (const ir::Op* op : step.ops) {
    if (!op->facts().has(ir::Writes)) continue;
    const auto access = op->kind == OpKind::Store || adds_in_vectors(*op)
                            ? vector_access(loop.frame, *op, loop.frame.place)
                            : std::nullopt;
    can_all &= access.has_value();
    if (access) stores.push_back(*access);
  }
  can_all &= loop.log_vector > 0;
  if (can_all)
    for (const VectorAccess& store : stores) {
      vectors[store.op] = names_.make(kernel_.name_of(store.op->operands[1]) + "_out", "out");
      note_line(store.op->location);
      out_.format("{} {}[{}];", memory_type(store.op->operands[0]), vectors[store.op],
                  1 << loop.log_vector);
    }
  const std::vector<VectorKeep> keeps = plan_vector_keeps(loop, preloads);
  const bool is_moved = reductions.empty() && keeps_all(step, keeps);  // in vectors, by the loads
  if (!is_moved) {
    open_elements(loop);
    element_ops(loop, vectors, keeps);
    for (const Reduction& reduction : reductions) add_to_reduction(loop, reduction);
    flush_delayed();
    close_elements(loop);
  }
  for (const VectorKeep& kept : keeps) keep_vector(loop, kept);
  if (can_all)
    for (const VectorAccess& store : stores) {
      if (store.op->kind == OpKind::Store) vector_store(loop.frame, store, vectors[store.op]);
      else vector_add(loop.frame, store, vectors[store.op]);
    }
  close_vectors(loop);
  close_slices(loop);
  end_fenced();
  for (const ir::Value value : step.kept) swap_lanes(value);
  note(use);  // again: a barrier inside the loop has not seen all of it
  for (const Reduction& reduction : reductions) end_reduction(reduction);
}

// What was kept goes to the lanes that read it.
void Emitter::swap_lanes(ir::Value value) {
  for (const LaneSwap& swap : layouts_.swaps_of(value)) {
    parts_.insert("warp");
    out_.format("tw::swap_lanes<{}, {}, {}>({}, thread);",
                layouts_.of_array(value).layout.register_count(), swap.lane, swap.register_bit,
                array_name(value));
  }
}

// Whether nothing is left to do for a step once its loads are in the registers where they are kept.
bool Emitter::is_only_loaded(const Step& step, const std::vector<Preload>& preloads) {
  return std::all_of(step.ops.begin(), step.ops.end(), [&](const ir::Op* op) {
    return op->kind == OpKind::Load &&
           std::any_of(preloads.begin(), preloads.end(), [&](const Preload& preload) {
             return preload.value == op->result() && schedule_.is_placed(preload.value) &&
                    preload.tile == array_name(preload.value);
           });
  });
}

void Emitter::emit_preloads(ElementLoop& loop, std::vector<Preload>& preloads, bool is_inside) {
  if (preloads.empty()) return;
  const Step& step = *loop.frame.step;
  const int bits = loop.log_vector + (is_inside ? 0 : loop.log_vectors);
  const int count = 1 << bits;
  for (Preload& preload : preloads) {
    const ir::Type& type = kernel_.type(preload.value);
    // A load that is kept in registers goes there at once, unless the step still reads what was
    // there before.
    const bool is_kept = std::count(step.kept.begin(), step.kept.end(), preload.value) != 0;
    if (is_kept && !layouts_.is_shared(preload.value) && preload.place == loop.frame.place &&
        !type.is_bool() && preload.access && !reads_storage_of(step, preload.value)) {
      preload.tile = array_name(preload.value);
      continue;
    }
    preload.tile = names_.make(kernel_.name_of(preload.value) + "_tile", "tile");
    const std::string element =
        preload.access ? memory_type(preload.access->op->operands[0]) : type_of(preload.value);
    if (preload.access) note_line(preload.access->op->location);
    out_.format("{} {}[{}];", element, preload.tile, count);
  }
  std::vector<std::uint64_t> columns;
  for (int j = 0; j < loop.frame.space.bits(); ++j) columns.push_back(j < bits ? 1ull << j : 0);
  const IndexMap index{BitMatrix(bits, std::move(columns)), 0};
  if (!is_inside) open_vectors(loop);
  for (const Preload& preload : preloads) {
    const std::string start = linear_text(loop.frame.space, index, 1, 2);
    const std::string into =
        start == "0" ? preload.tile : fmt::format("{} + {}", preload.tile, start);
    if (preload.access && loop.log_vector == 0) {
      single_load(loop.frame, *preload.access, fmt::format("{}[{}]", preload.tile, start));
    } else if (preload.access) {
      vector_load(loop.frame, *preload.access, into);
    } else {
      parts_.insert("memory");
      loop.frame.is_whole_vector = true;
      const std::string source = shared_index(loop.frame, preload.value, preload.place);
      loop.frame.is_whole_vector = false;
      out_.format("tw::load<{}>({}, {});", 1 << loop.log_vector, into,
                  sum_text(array_name(preload.value), source));
    }
  }
  if (!is_inside) close_vectors(loop);
  for (const Preload& preload : preloads) {
    std::string text = fmt::format("{}[{}]", preload.tile, linear_text(loop.frame.space, index));
    if (kernel_.type(preload.value).is_bool() && preload.access) text = "(" + text + " != 0)";
    loop.frame.remember(Frame::key(preload.value, preload.place), text);
  }
}

// ---- Vectors of kept elements

// Those that were loaded as vectors are kept from there.
std::vector<Emitter::VectorKeep> Emitter::plan_vector_keeps(ElementLoop& loop,
                                                            const std::vector<Preload>& preloads) {
  std::vector<VectorKeep> out;
  for (ir::Value value : loop.frame.step->kept) {
    if (!layouts_.is_shared(value) || !is_shared_vector(loop, value, loop.frame.place)) continue;
    VectorKeep kept{.value = value};
    for (const Preload& preload : preloads)
      if (preload.value == value && preload.place == loop.frame.place && !preload.is_bool)
        kept.from = preload.tile;
    if (kept.from.empty()) {
      kept.is_own = true;
      kept.from = names_.make(kernel_.name_of(value) + "_out", "out");
      out_.format("{} {}[{}];", type_of(value), kept.from, 1 << loop.log_vector);
    }
    out.push_back(std::move(kept));
  }
  return out;
}

bool Emitter::keeps_all(const Step& step, const std::vector<VectorKeep>& keeps) {
  const auto is_moved = [&](ir::Value value) {
    return std::any_of(keeps.begin(), keeps.end(),
                       [&](const VectorKeep& kept) { return !kept.is_own && kept.value == value; });
  };
  return std::all_of(step.kept.begin(), step.kept.end(), is_moved) &&
         std::none_of(step.ops.begin(), step.ops.end(), [](const ir::Op* op) {
           return op->facts().has(ir::Writes) || op->facts().has(ir::Effect);
         });
}

void Emitter::keep_vector(ElementLoop& loop, const VectorKeep& kept) {
  parts_.insert("memory");
  loop.frame.is_whole_vector = true;
  const std::string index = shared_index(loop.frame, kept.value, loop.frame.place);
  loop.frame.is_whole_vector = false;
  const std::string owner = owner_text(*loop.frame.layout);
  std::string from = kept.from;
  if (!kept.is_own && loop.log_vectors > 0)
    from = fmt::format("{} + k * {}", kept.from, 1 << loop.log_vector);
  out_.format("{}tw::store_shared<{}>({}, {});", owner.empty() ? "" : "if (" + owner + ") ",
              1 << loop.log_vector, sum_text(array_name(kept.value), index), from);
}

void Emitter::element_ops(ElementLoop& loop, const std::map<const ir::Op*, std::string>& vectors,
                          const std::vector<VectorKeep>& keeps) {
  Frame& frame = loop.frame;
  const Step& step = *frame.step;
  for (const ir::Op* op : step.ops) {
    const ir::OpFacts& facts = op->facts();
    if (op->kind == OpKind::Load) element(frame, op->result(), frame.place);
    if (facts.is(ir::Family::Check)) assert_element(frame, *op);
    if (const auto found = vectors.find(op); found != vectors.end() && facts.has(ir::Writes)) {
      std::string value = element(frame, op->operands[1], frame.place);
      statement(*op, fmt::format("{}[{}] = {};", found->second, loop.log_vector > 0 ? "v" : "0",
                                 bare(value)));
    } else if (facts.is_atomic()) {
      atomic_element(frame, *op);
    } else if (op->kind == OpKind::Store) {
      store_element(frame, *op);
    }
    for (ir::Value value : op->results)
      if (std::count(step.kept.begin(), step.kept.end(), value) != 0) keep(loop, value, keeps);
  }
}

// Written when the element's ops are done: the array may be one that they still read.
void Emitter::keep(ElementLoop& loop, ir::Value value, const std::vector<VectorKeep>& keeps) {
  Frame& frame = loop.frame;
  const auto found = std::find_if(keeps.begin(), keeps.end(),
                                  [&](const VectorKeep& kept) { return kept.value == value; });
  if (found != keeps.end() && !found->is_own) return;
  std::string text = element(frame, value, frame.place);
  std::string target = found != keeps.end() ? fmt::format("{}[v]", found->from)
                                            : fmt::format("{}[{}]", array_name(value),
                                                          array_index(frame, value, frame.place));
  if (layouts_.is_shared(value) && found == keeps.end()) {
    const std::string owner = owner_text(*frame.layout);
    if (!owner.empty()) target = fmt::format("if ({}) {}", owner, target);
  }
  if (target == text) return;
  const bool is_name = text.find_first_of("[(+-*/ ") == std::string::npos;
  if (!is_name) {
    const std::string name = new_name(value);
    out_.line(constant_text(value, name, text));
    frame.remember(Frame::key(value, frame.place), name);
    text = name;
  }
  if (copy_indices_.contains(value.id) && !layouts_.is_shared(value)) {
    parts_.insert("async_copy");
    text = fmt::format("tw::settled({})", text);
  }
  delayed_.push_back(fmt::format("{} = {};", target, text));
}

void Emitter::flush_delayed() {
  for (const std::string& text : delayed_) out_.line(text);
  delayed_.clear();
}

// Every element of one tile into the array of another.
void Emitter::assign_tile(ir::Value to, ir::Value from, const Step& at) {
  declare_array(to);
  const bool is_same = schedule_.is_placed(from) && schedule_.is_in_array(from, at) &&
                       schedule_.storage(from) == schedule_.storage(to);
  if (is_same) return;
  ElementLoop loop = make_loop(at, layouts_.of_array(to));
  synchronize(loop.frame, reads_of(kernel_, schedule_, at, {from}), {to});
  open_slices(loop);
  open_vectors(loop);
  open_elements(loop);
  Frame& frame = loop.frame;
  const std::string value = element(frame, from, frame.place);
  const std::string index = array_index(frame, to, frame.place);
  const std::string owner = layouts_.is_shared(to) ? owner_text(*frame.layout) : "";
  out_.format("{}{}[{}] = {};", owner.empty() ? "" : "if (" + owner + ") ", array_name(to), index,
              value);
  close_elements(loop);
  close_vectors(loop);
  close_slices(loop);
}

}  // namespace tilewright
