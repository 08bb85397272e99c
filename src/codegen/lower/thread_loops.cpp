// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_loops.cpp — the loops of a thread over its elements of a tile: first all
// vectors are loaded, then the elements are worked on, and vectors of results are stored.
#include <algorithm>
#include <functional>

#include "codegen/lower/thread_lowering.h"
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

// ---- Loops and arrays

ThreadLowering::Loop ThreadLowering::make(const Step& step, const TileLayout& layout) {
  Loop loop{.plan = make_loop(step, layout)};
  loop.variables[of_thread] = thread_;
  return loop;
}

void ThreadLowering::open_rounds(Loop& loop, std::size_t variable, const char* over,
                                 std::int64_t unroll, ir::Location location,
                                 std::int64_t first) {
  const SpaceVariable& of = loop.plan.frame.space.variables[variable];
  if (of.bits == 0) return;
  ir::Op* op = out_.make_op(
      OpKind::For, {number(first), number(std::int64_t{1} << of.bits), number(1)}, {}, location);
  op->set("over", std::string(over));
  op->set("unroll", unroll);
  op->regions.resize(1);
  loop.variables[variable] = out_.make_value(Type::scalar(i32), of.name, nullptr);
  op->regions[0].arguments = {loop.variables[variable]};
  insert(op, *list_);
  loop.outside.push_back(list_);
  list_ = &op->regions[0].ops;
  loop.scopes.emplace_back();
}

void ThreadLowering::close(Loop& loop, std::size_t variable) {
  if (loop.plan.frame.space.variables[variable].bits == 0) return;
  statement(OpKind::Yield, {}, *list_);
  list_ = loop.outside.back();
  loop.outside.pop_back();
  loop.scopes.pop_back();
}

ir::Value ThreadLowering::make_array(const std::string& name, const Type& element,
                                     std::int64_t count, ir::Location location) {
  return named(FinalBuilder::make(OpKind::Array, {}, Type::array(element, ir::Space::Stack),
                                  {{"count", count}}, location),
               name, *list_);
}

void ThreadLowering::open_all(Loop& loop, bool unrolls_slices) {
  open(loop, over_slices, "slices", unrolls_slices);
  open(loop, over_vectors, "vectors", true);
  open(loop, within_vector, "elements", true);
}

void ThreadLowering::close_all(Loop& loop) {
  close(loop, within_vector);
  close(loop, over_vectors);
  close(loop, over_slices);
}

ir::Value ThreadLowering::make_shared(const std::string& name, const Type& element,
                                      std::int64_t count, const ir::KernelBuffer& buffer) {
  std::vector<ir::Attribute> attributes = {{"count", count}, {"offset", buffer.offset}};
  if (buffer.align > ir::KernelBuffer::least_align)
    attributes.push_back({"align", std::int64_t{buffer.align}});
  if (buffer.slots > 1 && !kernel_.is_in_ring(buffer))
    attributes.push_back({"slots", std::int64_t{buffer.slots}});
  if (warp_buffers_.contains(kernel_.buffer_named(buffer.name)))
    attributes.push_back({"warps", std::int64_t{1}});
  return named(FinalBuilder::make(OpKind::Array, {}, Type::array(element, ir::Space::Shared),
                                  std::move(attributes)),
               name, shared_);
}

void ThreadLowering::declare(ir::Value value) {
  const ir::Value storage = schedule_.storage(value);
  if (arrays_.contains(storage.id)) return;
  if (is_stowed(value)) return declare_row();
  if (layouts_.is_shared(value)) {
    const Type& type = kernel_.type(storage);
    const ir::KernelBuffer& buffer =
        kernel_.buffers[static_cast<std::size_t>(schedule_.buffer_of(storage))];
    arrays_[storage.id] = make_shared(names_.make(array_base(value, storage) + "_shared"),
                                      type.element(), type.numel(), buffer);
    return;
  }
  arrays_[storage.id] =
      make_array(names_.make(array_base(value, storage) + "_tile"), kernel_.type(storage).element(),
                 layouts_.of_array(value).layout.register_count());
}

// ---- The step

void ThreadLowering::elements(const Step& step) {
  if (step.ops.size() == 1 && step.ops.front()->kind == OpKind::CopyAsync) return copy_ahead(step);
  for (const ir::Value value : step.kept) declare(value);
  Loop loop = make(step, layouts_.of_step(step));
  const TileReads reads = reads_of(kernel_, schedule_, step);
  refuse_beside_readers(loop, reads);
  const bool meets_inside = meetings_.inside.contains(step.order);
  if (!meets_inside) slice_streamed(loop.plan, reads);
  std::vector<Reduction> reductions;
  for (const ir::Op* op : step.reductions) reductions.push_back(begin_reduction(step, *op));
  open(loop, over_slices, "slices", loop.plan.unrolls_slices);
  std::vector<Preload> preloads = plan_preloads(loop.plan);
  const std::int64_t words = words_held(loop.plan, reads, preloads);
  if (loop_depth_ > 0 && !has_dot_ && !preloads.empty() && !reads.arrays.empty())
    loop_words_ = std::max(loop_words_, words);
  const auto late = std::stable_partition(preloads.begin(), preloads.end(), [&](const Preload& p) {
    return !is_late(loop.plan, p, words > most_words_held);
  });
  std::vector<Preload> late_loads(late, preloads.end());
  preloads.erase(late, preloads.end());
  fill_row(loop, late_loads);
  load_first(loop, preloads, false);
  if (meets_inside) part_accesses(loop, reads, preloads);
  begin_fenced(reads, preloads, step);
  if (late_loads.empty() && reductions.empty() && is_only_loaded(step, preloads))
    return close(loop, over_slices);
  open(loop, over_vectors, "vectors", true);
  load_first(loop, late_loads, true);

  // Stores go in vectors when all of them can, so that their order stays.
  std::map<const ir::Op*, ir::Value> vectors;
  std::vector<VectorAccess> stores;
  bool can_all = loop.plan.log_vector > 0;
  for (const ir::Op* op : step.ops) {
    if (!op->facts().has(ir::Writes)) continue;
    const auto access = op->kind == OpKind::Store || adds_in_vectors(*op)
                            ? vector_access(loop.plan.frame, *op, loop.plan.frame.place)
                            : std::nullopt;
    can_all &= access.has_value();
    if (access) stores.push_back(*access);
  }
  if (can_all)
    for (const VectorAccess& access : stores)
      vectors[access.op] =
          make_array(names_.make(kernel_.name_of(access.op->operands[1]) + "_out", "out"),
                     memory_type(kernel_.type(access.op->operands[1]).element()),
                     std::int64_t{1} << loop.plan.log_vector, access.op->location);
  const std::vector<VectorKeep> keeps = plan_vector_keeps(loop, preloads);
  if (!reductions.empty() || !keeps_all(step, keeps)) {
    open(loop, within_vector, "elements", true);
    element_ops(loop, vectors, keeps);
    for (const Reduction& reduction : reductions) add_to(loop, reduction);
    write_delayed();
    close(loop, within_vector);
  }
  for (const VectorKeep& kept : keeps) keep_vector(loop, kept);
  if (can_all)
    for (const VectorAccess& access : stores) store_vector(loop, access, vectors[access.op]);
  close(loop, over_vectors);
  close(loop, over_slices);
  end_fenced();
  for (const ir::Value value : step.kept) {
    swap_lanes(value);
    note_written(value);
  }
  // Warps meet where they combine their totals.
  if (std::any_of(step.reductions.begin(), step.reductions.end(),
                  [](const ir::Op* reduce) { return !reduce->text("scratch").empty(); }))
    show_written();
  for (const Reduction& reduction : reductions) end_reduction(reduction);
}

void ThreadLowering::write_delayed() {
  for (const Delayed& write : delayed_) {
    std::vector<ir::Value> operands = {write.array, write.index, write.value};
    if (write.condition) operands.push_back(write.condition);
    statement(OpKind::Write, operands, *list_);
  }
  delayed_.clear();
}

// Whether nothing is left to do for a step once its loads are where they are kept.
bool ThreadLowering::is_only_loaded(const Step& step, const std::vector<Preload>& preloads) const {
  return std::all_of(step.ops.begin(), step.ops.end(), [&](const ir::Op* op) {
    return op->kind == OpKind::Load &&
           std::any_of(preloads.begin(), preloads.end(), [&](const Preload& preload) {
             return preload.value == op->result() && schedule_.is_placed(preload.value) &&
                    preload.tile == out_.name_of(array(preload.value));
           });
  });
}

// Of all vectors in a loop of their own, or inside the loop over vectors.
void ThreadLowering::load_first(Loop& loop, std::vector<Preload>& preloads, bool is_inside) {
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
        !reads_storage_of(step, preload.value)) {
      tiles.push_back(array(preload.value));
    } else {
      tiles.push_back(make_array(names_.make(kernel_.name_of(preload.value) + "_tile", "tile"),
                                 preload.access ? memory_type(type) : type,
                                 std::int64_t{1} << bits,
                                 preload.access ? preload.access->op->location : ir::Location{}));
    }
    preload.tile = out_.name_of(tiles.back());
  }
  const IndexMap number_of_element = number_map(loop.plan.frame.space, bits);
  if (!is_inside) open(loop, over_vectors, "vectors", true);
  for (std::size_t k = 0; k < preloads.size(); ++k)
    load_vector(loop, preloads[k], tiles[k], linear(loop, number_of_element, 1, 2));
  if (!is_inside) close(loop, over_vectors);
  for (std::size_t k = 0; k < preloads.size(); ++k)
    loop.firsts.push_back({preloads[k].value, preloads[k].place, tiles[k], number_of_element});
}

void ThreadLowering::load_vector(Loop& loop, const Preload& preload, ir::Value tile,
                                 ir::Value start) {
  if (!preload.access) {
    const std::int64_t count = std::int64_t{1} << loop.plan.log_vector;
    const ir::Value from = is_stowed(preload.value)
                               ? row_vector(loop, preload.place)
                               : shared_vector(loop, preload.value, preload.place);
    statement(OpKind::LoadTo, {view(tile, start), from}, *list_,
              {{"count", count}, {"width", count}});
    return;
  }
  const VectorAccess& access = *preload.access;
  const ir::Op& op = *access.op;
  const Type element = type_of(tile).element();
  if (loop.plan.log_vector == 0) {
    std::vector<ir::Value> operands = {vector_pointer(loop, access)};
    if (const ir::Value condition = vector_condition(loop, access))
      operands.insert(operands.end(),
                      {condition, other_of(op, kernel_.type(op.result()).element())});
    std::vector<ir::Attribute> attributes;
    if (const std::string_view cache = cache_of(op); !cache.empty())
      attributes.push_back({"cache", std::string(cache)});
    const ir::Value read = FinalBuilder::make(
        OpKind::Load, operands, kernel_.type(op.result()).element(), attributes, op.location);
    statement(OpKind::Write, {tile, start, cast(read, element.dtype)}, *list_, {}, op.location);
    return;
  }
  if (access.is_rotated) return load_rotated(loop, access, view(tile, start));
  Frame& frame = loop.plan.frame;
  frame.is_whole_vector = true;
  const ir::Value pointer = vector_pointer(loop, access);
  const Guards guards = vector_guards(loop, access);
  frame.is_whole_vector = false;
  std::vector<ir::Value> operands = {view(tile, start), pointer};
  operands.insert(operands.end(), guards.begin(), guards.end());
  if (!guards.empty()) operands.push_back(other_of(op, element));
  statement(OpKind::LoadTo, operands, *list_, vector_attributes(loop, access, guards), op.location);
}

// ---- The ops of an element

void ThreadLowering::element_ops(Loop& loop, const std::map<const ir::Op*, ir::Value>& vectors,
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
      atomic_element(loop, *op);
    } else if (op->kind == OpKind::Store) {
      store(loop, *op);
    }
    for (const ir::Value value : op->results)
      if (std::count(step.kept.begin(), step.kept.end(), value) != 0) keep(loop, value, keeps);
  }
}

// The array may be one that the element's ops still read.
void ThreadLowering::keep(Loop& loop, ir::Value value, const std::vector<VectorKeep>& keeps) {
  if (is_stowed(value)) return;  // by its copies
  const Place& place = loop.plan.frame.place;
  const auto found = std::find_if(keeps.begin(), keeps.end(),
                                  [&](const VectorKeep& kept) { return kept.value == value; });
  const bool is_vector = found != keeps.end();
  if (is_vector && !found->is_own) return;
  ir::Value made = element(loop, value, place);
  Delayed write{is_vector ? found->from : array(value),
                is_vector ? loop.variables[within_vector] : array_index(loop, value, place), made};
  if (text_.operand(made) == text_.element(write.array, write.index)) return;
  if (layouts_.is_shared(value) && !is_vector) write.condition = owner(*loop.plan.frame.layout);
  if (out_.name_of(made).empty()) write.value = line(loop, value, made, place);
  if (settled_.contains(value.id) && !layouts_.is_shared(value))
    write.value = call(LibraryKind::Settled, {write.value}, type_of(write.value));
  delayed_.push_back(write);
}

// ---- Vectors

// The address of the vector's first element.
ir::Value ThreadLowering::vector_pointer(Loop& loop, const VectorAccess& access) {
  if (access.affine) return affine(loop, *access.affine, access.place);
  return element(loop, access.op->operands[0],
                 first_of_vector(access.place, loop.plan.frame.space.variables[0].bits));
}

// Of one element, or of a vector that is inside whole or not at all; none where all are.
ir::Value ThreadLowering::vector_condition(Loop& loop, const VectorAccess& access) {
  if (access.mask)
    return element(loop, access.mask,
                   first_of_vector(access.place, loop.plan.frame.space.variables[0].bits));
  if (!access.bounds) return {};
  const std::vector<ir::Value> conditions = bounds(loop, *access.bounds, access.place);
  return conditions.empty() ? ir::Value{} : all(conditions);
}

ThreadLowering::Guards ThreadLowering::vector_guards(Loop& loop, const VectorAccess& access) {
  if (is_all_or_nothing(loop.plan.frame, access)) {
    const ir::Value inside = vector_condition(loop, access);
    return inside ? Guards{inside} : Guards{};
  }
  const ir::Op& op = *access.bounds;
  const int d = access.contiguous;
  const std::vector<ir::Value> outer = bounds(loop, op, access.place, d);
  const ir::Value low = op.operands[2 * static_cast<std::size_t>(d)];
  const ir::Value high = scalar(op.operands[2 * static_cast<std::size_t>(d) + 1]);
  const auto least = constant_of(low);
  const ir::Value at = coordinate(loop, access.place, kernel_.type(op.result()), d);
  const auto from_there = [&](ir::Value bound) {
    return sum({{bound}, {at, -1}}, type_of(bound).dtype);
  };
  const ir::Value first = least && *least <= 0 ? number(0) : from_there(scalar(low));
  ir::Value end = from_there(high);
  if (!outer.empty())
    end = FinalBuilder::make(OpKind::Select, {all(outer), end, number(0, type_of(end).dtype)},
                             type_of(end));
  return {first, end};
}

std::vector<ir::Attribute> ThreadLowering::vector_attributes(const Loop& loop,
                                                             const VectorAccess& access,
                                                             const Guards& guards) const {
  // One by one the elements of parts that are inside or outside whole take twice the instructions.
  const int part = guards.size() == 2 && !access.op->facts().is_atomic()
                       ? part_of_vector(loop.plan.frame, access)
                       : 1;
  std::vector<ir::Attribute> out = {{"count", std::int64_t{1} << loop.plan.log_vector},
                                    {"width", std::int64_t{part > 1 ? part : access.width}}};
  if (const std::string_view cache = vector_cache(access, guards.size() == 2 && part == 1);
      !cache.empty())
    out.push_back({"cache", std::string(cache)});
  if (part > 1) out.push_back({"parts", std::int64_t{1}});
  return out;
}

// What masked-off elements of a load are.
ir::Value ThreadLowering::other_of(const ir::Op& load, const Type& element) {
  const Type& type = kernel_.type(load.result());
  if (load.operands.size() < 3) return zero_of(element);
  const ir::Op* maker = kernel_.maker(load.operands[2]);
  while (is_mapped_view(*maker)) maker = kernel_.maker(maker->operands[0]);
  const ir::Value other = maker->kind == OpKind::Splat ? scalar(maker->operands[0])
                                                       : constant_of(type, *maker->find("value"));
  return element.dtype == type.dtype ? other : FinalBuilder::make(OpKind::Cast, {other}, element);
}

void ThreadLowering::store_vector(Loop& loop, const VectorAccess& access, ir::Value from) {
  Frame& frame = loop.plan.frame;
  const auto write = [&] {
    if (access.is_rotated) return store_rotated(loop, access, from);
    frame.is_whole_vector = true;
    std::vector<ir::Value> operands = {vector_pointer(loop, access), from};
    const Guards guards = vector_guards(loop, access);
    frame.is_whole_vector = false;
    operands.insert(operands.end(), guards.begin(), guards.end());
    std::vector<ir::Attribute> attributes = vector_attributes(loop, access, guards);
    if (access.op->facts().is_atomic()) note_atomic(access, attributes);
    statement(OpKind::StoreFrom, operands, *list_, attributes, access.op->location);
  };
  if (const ir::Value own = owner(*frame.layout)) {
    loop.scopes.emplace_back();
    when(own, write);
    loop.scopes.pop_back();
  } else {
    write();
  }
}

}  // namespace tilewright
