// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_tiles.cpp — tiles that threads share: in vectors where elements of one are
// neighbours there, ops that take elements from anywhere in them, and copies of tiles.
#include "codegen/lower/thread_tiles.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "codegen/lower/thread_families.h"
#include "ir/analysis/memory_order.h"
#include "layout/convert.h"
#include "passes/laid/hand_overs.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

// A tile that is made in an array which other threads still read for it needs one of its own.
void ThreadTiles::refuse_beside_readers(const Loop& loop, const TileReads& reads) {
  const Step& step = *loop.plan.frame.step;
  const auto is_own = [&](const TileRead& read) {
    const Layout& layout = layouts_.of_array(read.value).layout;
    return layout.copy_bits() == 0 &&
           plan_conversion(layout, *loop.plan.frame.layout, read.map).kind ==
               Conversion::Kind::Registers;
  };
  for (const ir::Value value : step.kept) {
    const bool is_read =
        layouts_.is_shared(value) &&
        std::any_of(reads.arrays.begin(), reads.arrays.end(), [&](const TileRead& read) {
          return layouts_.is_shared(read.value) &&
                 schedule_.storage(read.value) == schedule_.storage(value) && !is_own(read);
        });
    if (is_read) refusals_.unshared.push_back(value);
  }
}

// The threads meet between the loads and the stores of a sweep. A load that comes only with its
// element, or with its slice of a tile, would come after that, and must have a sweep of its own.
void ThreadTiles::part_accesses(const Loop& loop, const TileReads& reads,
                                const std::vector<Preload>& preloads) {
  statement(OpKind::Barrier, {}, *list_);
  const ir::MemoryOrder order(kernel_);
  for (const TileAccess& access : reads.accesses) {
    if (access.op->kind != OpKind::Load) continue;
    const ir::Value value = access.op->result();
    const bool is_done =
        loop.plan.log_slices == 0 &&
        std::any_of(preloads.begin(), preloads.end(), [&](const Preload& preload) {
          return preload.value == value && preload.access.has_value();
        });
    const bool is_met =
        std::any_of(reads.accesses.begin(), reads.accesses.end(), [&](const TileAccess& other) {
          return order.must_order(*access.op, *other.op);
        });
    if (!is_done && is_met) refusals_.unparted.push_back(value);
  }
}

// ---- Vectors of kept elements

// Those that were loaded as vectors are kept from there.
std::vector<VectorKeep> ThreadTiles::plan_vector_keeps(const Loop& loop,
                                                       const std::vector<Preload>& preloads) {
  std::vector<VectorKeep> out;
  for (const ir::Value value : loop.plan.frame.step->kept) {
    const Place& place = loop.plan.frame.place;
    if (!layouts_.is_shared(value) || !plans_.is_shared_vector(loop.plan, value, place)) continue;
    VectorKeep kept{.value = value};
    for (const Preload& preload : preloads)
      if (preload.value == value && preload.place == place && !preload.is_bool)
        for (const Loop::First& first : loop.firsts)
          if (first.value == value && first.place == place) kept.from = first.tile;
    kept.is_own = !kept.from;
    if (kept.is_own)
      kept.from = make_array(names_.make(kernel_.name_of(value) + "_out", "out"),
                             kernel_.type(value).element(),
                             std::int64_t{1} << loop.plan.log_vector);
    out.push_back(kept);
  }
  return out;
}

// Whether nothing is left to do for the elements of a step.
bool ThreadTiles::keeps_all(const Step& step, const std::vector<VectorKeep>& keeps) {
  const auto is_moved = [&](ir::Value value) {
    return std::any_of(keeps.begin(), keeps.end(), [&](const VectorKeep& kept) {
      return !kept.is_own && kept.value == value;
    });
  };
  return std::all_of(step.kept.begin(), step.kept.end(), is_moved) &&
         std::none_of(step.ops.begin(), step.ops.end(), [](const ir::Op* op) {
           return op->facts().has(ir::Writes) || op->facts().has(ir::Effect);
         });
}

void ThreadTiles::keep_vector(Loop& loop, const VectorKeep& kept) {
  const std::int64_t count = std::int64_t{1} << loop.plan.log_vector;
  const ir::Value to = shared_vector(loop, kept.value, loop.plan.frame.place);
  const bool is_one_of_many = !kept.is_own && loop.plan.log_vectors > 0;
  const ir::Value from =
      is_one_of_many ? view(kept.from, sum({{loop.variables[1], count}}, i32)) : kept.from;
  const auto write = [&] {
    statement(OpKind::StoreFrom, {to, from}, *list_, {{"count", count}, {"width", count}});
  };
  if (const ir::Value own = owner(*loop.plan.frame.layout)) when(own, write);
  else write();
}

// ---- Ops that take elements from anywhere

void ThreadTiles::for_each_result(const Step& step,
                                  const std::function<ir::Value(Loop&)>& make_element) {
  const ir::Value result = step.op->result();
  declare(result);
  Loop loop = make(step, layouts_.of_array(result));
  open_all(loop);
  write_element(loop, result, make_element(loop));
  close_all(loop);
}

// The place along the axis comes from the index; it is a variable like those of the loops.
void ThreadTiles::gather(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& source = kernel_.type(op.operands[0]);
  const Type& result = kernel_.type(op.result());
  const auto axis = static_cast<std::size_t>(op.integer("axis"));
  const int bits = source.log_sizes[axis];
  const int low = first_bit(sizes_of(source), static_cast<int>(axis));
  const int result_low = first_bit(sizes_of(result), static_cast<int>(axis));
  const int result_high = result_low + result.log_sizes[axis];
  for_each_result(step, [&](Loop& loop) {
    const Frame& frame = loop.plan.frame;
    const std::string name = names_.make("at");
    const ir::Value at = named(cast(element(loop, op.operands[1], frame.place), i32), name, *list_);
    Loop within = loop;
    within.plan.frame.index_from = 0;
    within.scopes.emplace_back();
    within.plan.frame.space.variables.insert(within.plan.frame.space.variables.begin(),
                                             {name, bits});
    within.variables.insert(within.variables.begin(), at);
    std::vector<std::uint64_t> columns;
    for (int j = 0; j < bits; ++j) columns.push_back(std::uint64_t{1} << (low + j));
    for (const std::uint64_t column : frame.place.matrix.all_columns()) {
      const std::uint64_t below = column & ((std::uint64_t{1} << result_low) - 1);
      const std::uint64_t above = column >> result_high;
      columns.push_back(below | above << (low + bits));
    }
    return element(within, op.operands[0],
                   {BitMatrix(bits_of_type(source), std::move(columns)), 0});
  });
}

void ThreadTiles::concatenate(const Step& step) {
  const ir::Op& op = *step.op;
  const Type& part = kernel_.type(op.operands[0]);
  const Type& result = kernel_.type(op.result());
  const int axis = static_cast<int>(op.integer("axis"));
  const int bit =
      first_bit(sizes_of(result), axis) + part.log_sizes[static_cast<std::size_t>(axis)];
  for_each_result(step, [&](Loop& loop) {
    std::vector<std::uint64_t> which, rest;
    for (const std::uint64_t column : loop.plan.frame.place.matrix.all_columns()) {
      which.push_back(column >> bit & 1);
      rest.push_back((column & ((std::uint64_t{1} << bit) - 1)) | column >> (bit + 1) << bit);
    }
    const ir::Value half = index(loop, {BitMatrix(1, std::move(which)), 0});
    const Place place{BitMatrix(bits_of_type(part), std::move(rest)), 0};
    const ir::Value first = element(loop, op.operands[0], place);
    const ir::Value second = element(loop, op.operands[1], place);
    return FinalBuilder::make(OpKind::Select, {compare("eq", half, number(0)), first, second},
                              result.element());
  });
}

// ---- Tiles that change places in shared memory

void ThreadTiles::begin_control(const ir::Op& control) {
  for (const ir::Value result : control.results)
    if (is_tile(kernel_, result)) declare(result);
  for (const ir::Region& inner : control.regions)
    for (const ir::Value argument : inner.arguments)
      if (is_tile(kernel_, argument)) declare(argument);
  note_scratch(control);
}

void ThreadTiles::note_scratch(const ir::Op& control) {
  const std::vector<std::string> scratch = control.texts("scratch");
  if (scratch.empty()) return;
  for (const auto& [from, to, first] : hand_overs_of(control))
    for (std::size_t i = 0; i < to.size(); ++i)
      if (const std::string& name = scratch.at(first + i); !name.empty())
        aside_[{to[i].id, from[i].id}] = name;
}

// Where an element of a tile stands that is on its way to another one.
ir::Value ThreadTiles::aside_index(Loop& loop, ir::Value to) {
  const Place& place = loop.plan.frame.place;
  return index(loop, layouts_.is_shared(to) ? layouts_.swizzle_of(to)(place) : place);
}

// A copy in which elements stand as they will in the array of `to`.
ir::Value ThreadTiles::put_aside(const Step& step, ir::Value to, ir::Value from,
                                 const std::string& scratch) {
  const Type& type = kernel_.type(from);
  const ir::KernelBuffer& buffer = kernel_.buffers[kernel_.buffer_named(scratch)];
  const ir::Value aside =
      named(FinalBuilder::make(OpKind::Array, {}, Type::array(type.element(), ir::Space::Shared),
                               {{"count", type.numel()}, {"offset", buffer.offset}}),
            names_.make("next_shared"), shared_);
  Loop loop = make(step, layouts_.of_array(to));
  open_all(loop);
  const ir::Value read =
      FinalBuilder::make(OpKind::Read, {array(from), array_index(loop, from, loop.plan.frame.place)},
                         type.element());
  std::vector<ir::Value> operands = {aside, aside_index(loop, to), read};
  if (const ir::Value own = owner(*loop.plan.frame.layout)) operands.push_back(own);
  statement(OpKind::Write, operands, *list_);
  close_all(loop);
  return aside;
}

// By the threads that hold the elements of `to`.
void ThreadTiles::assign_aside(const Step& step, ir::Value to, ir::Value aside) {
  Loop loop = make(step, layouts_.of_array(to));
  open_all(loop);
  write_element(loop, to,
                FinalBuilder::make(OpKind::Read, {aside, aside_index(loop, to)},
                                   kernel_.type(to).element()));
  close_all(loop);
}

// ---- Copies

// All tiles take their new elements at once: what lies where another one's go is put aside first.
void ThreadTiles::copy(const Step& step,
                       const std::vector<std::pair<ir::Value, ir::Value>>& copies) {
  std::map<std::uint32_t, ir::Value> aside;  // by the value
  std::map<std::uint32_t, ir::Value> moved;  // in shared memory, by what the value becomes
  for (const auto& [to, from] : copies) {
    if (const auto scratch = aside_.find({to.id, from.id}); scratch != aside_.end()) {
      moved[to.id] = put_aside(step, to, from, scratch->second);
      continue;
    }
    const bool is_overwritten =
        schedule_.is_placed(from) &&
        std::any_of(copies.begin(), copies.end(), [&](const auto& other) {
          return other.first != to && schedule_.storage(other.first) == schedule_.storage(from);
        });
    if (!is_overwritten || aside.contains(from.id)) continue;
    const std::int64_t count = layouts_.of_array(from).layout.register_count();
    const Type element = kernel_.type(from).element();
    aside[from.id] = make_array(names_.make("next_tile"), element, count);
    for_all_registers(count, [&](ir::Value k) {
      statement(OpKind::Write,
                {aside[from.id], k, FinalBuilder::make(OpKind::Read, {array(from), k}, element)},
                *list_);
    });
  }
  for (const auto& [to, from] : copies) {
    if (const auto shared = moved.find(to.id); shared != moved.end())
      assign_aside(step, to, shared->second);
    else if (const auto found = aside.find(from.id); found != aside.end())
      for_all_registers(layouts_.of_array(to).layout.register_count(), [&](ir::Value k) {
        const ir::Value read =
            FinalBuilder::make(OpKind::Read, {found->second, k}, kernel_.type(from).element());
        statement(OpKind::Write, {array(to), k, read}, *list_);
      });
    else copy(step, to, from);
  }
  families().groups.show_written();
}

void ThreadTiles::copy(const Step& step, ir::Value to, ir::Value from) {
  Loop loop = make(step, layouts_.of_array(to));
  open_all(loop);
  write_element(loop, to, element(loop, from, loop.plan.frame.place));
  close_all(loop);
}

}  // namespace tilewright
