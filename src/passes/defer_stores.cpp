// SPDX-License-Identifier: Apache-2.0
// passes/defer_stores.cpp — the store of a program's tile, in parts, inside the next one's loop.
#include "passes/defer_stores.h"

#include <algorithm>
#include <set>

#include "ir/builder.h"
#include "ir/constant.h"
#include "ir/roles.h"
#include "passes/edit_regions.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

constexpr std::int64_t line_bytes = 128;  // of a row, in a part
constexpr std::int64_t most_words = 64;   // of a thread, beside its sums
constexpr std::int64_t warp_lanes = 32;
constexpr std::int64_t ring_bytes = 1024;  // its words, and where slots are aligned

// In how many parts a tile goes; 0: in none.
std::int64_t parts_of(const Type& type, int num_warps) {
  if (type.rank != 2 || type.is_bool() || type.element_bytes() != 2) return 0;
  const std::int64_t words = type.numel() / 2 / (num_warps * warp_lanes);
  const std::int64_t parts = type.size(1) * 2 / line_bytes;
  return words > 0 && words <= most_words && parts >= 2 ? parts : 0;
}

class Deferrer {
 public:
  Deferrer(Kernel& kernel, const DeferStoresOptions& options)
      : kernel_(kernel), options_(options), build_(kernel) {}

  bool run() {
    if (!find_loops() || !find_store()) return false;
    find_carried();
    if (!find_root()) return false;
    Region start;
    carry(start);
    store_inside();
    finish_program();
    put_before(*consumers_, *programs_, start);
    add_slots();
    return true;
  }

 private:
  // ---- Whether

  // The consumers' loop over programs or tiles, and the one with products directly in it.
  bool find_loops() {
    const Op* role = ir::producer_of(kernel_);
    if (role == nullptr) return false;
    for (Op* op : kernel_.body.ops)
      if (op->kind == OpKind::If && op->operands[0] == role->result()) consumers_ = &op->regions[1];
    if (consumers_ == nullptr) return false;
    for (Op* outer : consumers_->ops) {
      if (outer->kind != OpKind::For) continue;
      for (Op* op : outer->regions[0].ops) {
        if (op->kind != OpKind::For || op->integer("drains", 0) == 0) continue;
        programs_ = outer;
        loop_ = op;
      }
    }
    return loop_ != nullptr && goes_upwards() && find_position();
  }

  // Whether the last round of the outer loop is known by its index.
  bool goes_upwards() const {
    return ir::is_over_programs(kernel_, *programs_) ||
           ir::integer_constant(kernel_, programs_->operands[2]).value_or(0) > 0;
  }

  // What counts the loop's rounds: a carried position of the ring.
  bool find_position() {
    const auto& arguments = loop_->regions[0].arguments;
    for (const Op* op : loop_->regions[0].ops) {
      if (op->kind != OpKind::Await) continue;
      const auto found = std::find(arguments.begin() + 1, arguments.end(), op->operands[0]);
      if (found == arguments.end()) return false;
      position_ = static_cast<std::size_t>(found - arguments.begin()) - 1;
      return true;
    }
    return false;
  }

  // The one store of the consumers, behind the loop and behind all other accesses. Tiles of one
  // program are in order: nothing else may be read that a store of the tile before could change.
  bool find_store() {
    std::size_t stores = 0, accesses = 0;
    ir::walk(*consumers_, [&](Op& op) {
      stores += op.facts().has(ir::Writes) || op.kind == OpKind::StoreMap;
      accesses += is_access(op);
    });
    if (!ir::is_over_programs(kernel_, *programs_) && accesses != 1) return false;
    bool is_behind = false;
    for (Op* op : programs_->regions[0].ops) {
      if (op == loop_) is_behind = true;
      if (store_ != nullptr && (is_access(*op) || !op->regions.empty())) return false;
      if (is_behind && (op->kind == OpKind::Store || op->kind == OpKind::StoreMap)) store_ = op;
    }
    if (store_ == nullptr || stores != 1) return false;
    value_ = store_->operands[is_by_map() ? 0 : 1];
    parts_ = parts_of(kernel_.type(value_), options_.num_warps);
    if (parts_ == 0 || !is_made_inside() || !ends_with_store()) return false;
    return is_by_map() || has_form();
  }

  static bool is_access(const Op& op) {
    return op.facts().is(ir::Family::Access) || op.kind == OpKind::StoreMap;
  }
  bool is_by_map() const { return store_->kind == OpKind::StoreMap; }

  // Of its pointers and its mask.
  bool has_form() {
    affine_ = kernel_.maker(store_->operands[0]);
    mask_ = store_->operands.size() > 2 ? kernel_.maker(store_->operands[2]) : nullptr;
    const bool has_mask = store_->operands.size() > 2;
    return affine_ != nullptr && affine_->kind == OpKind::Affine &&
           ir::integer_constant(kernel_, affine_->operands[2]) == 1 &&
           (!has_mask || (mask_ != nullptr && mask_->kind == OpKind::Bounds));
  }

  // Whether what is computed behind the loop is for the store alone.
  bool ends_with_store() const {
    auto& ops = programs_->regions[0].ops;
    const std::vector<Value>& yielded = ops.back()->operands;
    return std::all_of(behind_loop(), ops.end() - 1, [&](const Op* op) {
      return op->regions.empty() &&
             std::none_of(op->results.begin(), op->results.end(), [&](Value value) {
               return std::find(yielded.begin(), yielded.end(), value) != yielded.end();
             });
    });
  }

  // Elementwise from the loop's sums: the tile has their layout.
  bool is_made_inside() const {
    const Op* maker = kernel_.maker(value_);
    while (maker != nullptr && maker != loop_ && maker->facts().has(ir::Elementwise)) {
      const Op* next = nullptr;
      for (const Value operand : maker->operands)
        if (kernel_.type(operand).is_tile() && next == nullptr) next = kernel_.maker(operand);
      maker = next;
    }
    return maker == loop_;
  }

  // Scalars of the store that are another program's in the next round.
  void find_carried() {
    std::set<std::uint32_t> inside;
    for (const Value value : programs_->regions[0].arguments) inside.insert(value.id);
    ir::walk(programs_->regions[0], [&](const Op& op) {
      for (const Value value : op.results) inside.insert(value.id);
    });
    const Op* by_map = is_by_map() ? store_ : nullptr;
    for (const Op* op : {affine_, mask_, by_map}) {
      if (op == nullptr) continue;
      for (const Value value : op->operands)
        if (value != value_ && inside.contains(value.id) && !ir::integer_constant(kernel_, value) &&
            std::find(scalars_.begin(), scalars_.end(), value) == scalars_.end())
          scalars_.push_back(value);
    }
  }

  // The argument behind the stored pointer: where it points before there is a program.
  bool find_root() {
    if (is_by_map()) return true;
    Value at = affine_->operands[0];
    while (const Op* op = kernel_.maker(at)) {
      if (op->kind != OpKind::Offset && op->kind != OpKind::Hint) return false;
      at = op->operands[0];
    }
    root_ = at;
    return std::any_of(kernel_.arguments.begin(), kernel_.arguments.end(),
                       [&](const ir::KernelArgument& argument) { return argument.value == at; });
  }

  // ---- The outer loop

  Value number(std::int64_t value) { return build_.constant(Type::scalar(i32), value); }

  // What is held has no type but its width: only the parts that are stored are made of it.
  static Type bits_of(const Type& type) { return Type::tile(DType::Int16, type.shape()); }

  // What is held of the program before, in how many parts it waits, and where it goes.
  void carry(Region& start) {
    build_.set_location(store_->location);
    const ir::Builder::Into into(build_, start);
    const auto add = [&](Value initial, const char* name) {
      return tilewright::carry(kernel_, *programs_, initial, name);
    };
    held_ = add(build_.constant(bits_of(kernel_.type(value_)), std::int64_t{0}), "held");
    waiting_ = add(number(0), "parts");
    for (const Value value : scalars_) {
      const Type& type = kernel_.type(value);
      before_.push_back(
          add(type.is_pointer ? root_ : build_.constant(type, std::int64_t{0}), "held_at"));
    }
  }

  // ---- Stores

  Value before(Value value) {
    if (const auto constant = ir::integer_constant(kernel_, value))
      return build_.constant(kernel_.type(value), *constant);
    const auto found = std::find(scalars_.begin(), scalars_.end(), value);
    return found == scalars_.end() ? value
                                   : before_[static_cast<std::size_t>(found - scalars_.begin())];
  }

  // Part number `part` of the tile that is held: columns side by side, halved again and again.
  Value part_of_held(std::int64_t part) {
    Value tile = held_;
    for (std::int64_t count = parts_; count > 1; count /= 2) {
      const Type& type = kernel_.type(tile);
      const std::int64_t rows = type.size(0), half = type.size(1) / 2;
      tile = build_.permute(build_.reshape(tile, {rows, 2, half}), {0, 2, 1});
      const Type halves = Type::tile(kernel_.type(tile).dtype, {rows, half});
      const Op* split = build_.create(OpKind::Split, {tile}, {halves, halves});
      tile = split->results[(part & (count / 2)) != 0 ? 1 : 0];
    }
    return build_.bitcast(tile, kernel_.type(value_).dtype);
  }

  // At other coordinates.
  void store_part_by_map(std::int64_t part, Value tile) {
    const std::int64_t column = part * kernel_.type(tile).size(1);
    std::vector<Value> operands = {tile};
    for (std::size_t k = 1; k < store_->operands.size(); ++k)
      operands.push_back(before(store_->operands[k]));
    if (column > 0) operands[1] = build_.binary(OpKind::Add, operands[1], number(column));
    build_.create(OpKind::StoreMap, std::move(operands), {}, store_->attributes);
  }

  void store_part(std::int64_t part) {
    const Value tile = part_of_held(part);
    if (is_by_map()) return store_part_by_map(part, tile);
    const Type shape = kernel_.type(tile);
    const Type wide = Type::scalar(i64);
    const std::int64_t column = part * shape.size(1);
    const auto moved = [&](OpKind kind, Value value) {
      return column == 0 ? value
                         : build_.create_one(kind, {value, build_.constant(wide, column)},
                                             kernel_.type(value));
    };
    const Value at = moved(OpKind::Offset, before(affine_->operands[0]));
    const Value to =
        build_.affine(at, {before(affine_->operands[1]), before(affine_->operands[2])}, shape);
    Value mask;
    if (mask_ != nullptr) {
      std::vector<Value> bounds;
      for (const Value bound : mask_->operands) bounds.push_back(before(bound));
      const bool begins_before = ir::integer_constant(kernel_, bounds[2]).value_or(1) <= 0;
      if (!begins_before) bounds[2] = moved(OpKind::Subtract, bounds[2]);
      bounds[3] = moved(OpKind::Subtract, bounds[3]);
      mask = build_.bounds(std::move(bounds), shape);
    }
    build_.store(to, tile, mask);
  }

  // What is true of `condition` runs `body`.
  template <class Body>
  void when(Value condition, const Body& body) {
    Op* branch = build_.create(OpKind::If, {condition}, {});
    branch->regions.resize(2);
    {
      const ir::Builder::Into into(build_, branch->regions[0]);
      body();
      build_.yield({});
    }
    const ir::Builder::Into into(build_, branch->regions[1]);
    build_.yield({});
  }

  void store_number(Value round) {
    for (std::int64_t part = 0; part < parts_; ++part)
      when(build_.compare("eq", round, number(part)), [&] { store_part(part); });
  }

  // In the loop, behind the release.
  void store_inside() {
    Region bottom;
    {
      const ir::Builder::Into into(build_, bottom);
      const Value position = loop_->regions[0].arguments[position_ + 1];
      const Value round = build_.binary(OpKind::Subtract, position, loop_->operands[position_ + 3]);
      when(build_.compare("lt", round, waiting_), [&] { store_number(round); });
    }
    put_last(loop_->regions[0], bottom);
  }

  // What the loop had no round for is stored behind it; then this program's tile is held. Behind
  // the block's last program all of that is done a second time, which stores what is held.
  void finish_program() {
    auto& ops = programs_->regions[0].ops;
    const auto first = behind_loop();
    std::vector<Op*> moved(first, ops.end() - 1);
    std::erase(moved, store_);
    ops.erase(first, ops.end() - 1);
    Region end;
    {
      const ir::Builder::Into into(build_, end);
      const auto& programs = programs_->operands;
      const Value next =
          build_.binary(OpKind::Add, programs_->regions[0].arguments[0], programs[2]);
      const Value turns =
          build_.select(build_.compare("lt", next, programs[1]), number(1), number(2));
      const Value done = build_.binary(OpKind::Subtract, loop_->results[position_],
                                       loop_->operands[position_ + 3]);
      Op* turn = begin_loop({number(0), turns, number(1)}, carried_by_turns(done));
      {
        const ir::Builder::Into inside(build_, turn->regions[0]);
        take_turn(turn->regions[0].arguments, moved);
      }
      auto& yielded = ops.back()->operands;
      yielded.insert(yielded.end(), turn->results.begin() + static_cast<long>(sums_ + 1),
                     turn->results.end());
    }
    put_last(programs_->regions[0], end);
  }

  // The loop's tiles go through all of this: what is held next is made of them when parts of what
  // is held now are stored.
  std::vector<Value> carried_by_turns(Value done) {
    std::vector<Value> carried;
    for (const Value result : loop_->results)
      if (kernel_.type(result).is_tile()) carried.push_back(result);
    sums_ = carried.size();
    carried.insert(carried.end(), {done, held_, waiting_});
    carried.insert(carried.end(), before_.begin(), before_.end());
    return carried;
  }

  void take_turn(const std::vector<Value>& arguments, const std::vector<Op*>& moved) {
    const auto at = [&](std::size_t i) { return arguments[i + 1]; };
    const Value done = at(sums_);
    held_ = at(sums_ + 1);
    waiting_ = at(sums_ + 2);
    for (std::size_t i = 0; i < before_.size(); ++i) before_[i] = at(sums_ + 3 + i);
    Op* left =
        begin_loop({done, waiting_, number(1)},
                   {arguments.begin() + 1, arguments.begin() + 1 + static_cast<long>(sums_)});
    {
      const ir::Builder::Into into(build_, left->regions[0]);
      const std::vector<Value>& inside = left->regions[0].arguments;
      store_number(inside[0]);
      build_.yield({inside.begin() + 1, inside.end()});
    }
    for (Op* op : moved) {
      std::size_t i = 0;
      for (const Value result : loop_->results) {
        if (!kernel_.type(result).is_tile()) continue;
        for (Value& operand : op->operands)
          if (operand == result) operand = left->results[i];
        ++i;
      }
      build_.insert(op);
    }
    // Two tiles of one program may overlap, and different threads have the elements. What maps
    // store is waited for by now.
    if (!ir::is_over_programs(kernel_, *programs_) && !is_by_map())
      build_.create(OpKind::Barrier, {}, {});
    std::vector<Value> next = left->results;
    next.insert(next.end(), {number(0), build_.bitcast(value_, DType::Int16), number(parts_)});
    next.insert(next.end(), scalars_.begin(), scalars_.end());
    build_.yield(std::move(next));
  }

  Op* begin_loop(std::vector<Value> operands, const std::vector<Value>& carried) {
    std::vector<Type> types;
    for (const Value value : carried) types.push_back(kernel_.type(value));
    operands.insert(operands.end(), carried.begin(), carried.end());
    Op* loop = build_.create(OpKind::For, std::move(operands), types);
    loop->regions.resize(1);
    auto& arguments = loop->regions[0].arguments;
    arguments = {kernel_.make_value(Type::scalar(i32), "part", nullptr)};
    for (const Value value : carried)
      arguments.push_back(kernel_.make_value(kernel_.type(value), kernel_.name_of(value), nullptr));
    return loop;
  }

  // Behind the loop and what gives its last slot back.
  std::vector<Op*>::iterator behind_loop() const {
    auto& ops = programs_->regions[0].ops;
    auto at = std::find(ops.begin(), ops.end(), loop_) + 1;
    for (auto next = at; next != ops.end() && !is_access(**next); ++next)
      if ((*next)->kind == OpKind::Release) at = next + 1;
    return at;
  }

  // Positions are running numbers: how many slots there are is the table's alone.
  void add_slots() {
    if (options_.shared_bytes == 0) return;
    const Type& type = kernel_.type(value_);
    const std::int64_t part = type.numel() * 2 / parts_;
    std::int64_t slot = 0;
    for (const ir::KernelBuffer& buffer : kernel_.buffers)
      slot += buffer.type.numel() * static_cast<std::int64_t>(buffer.type.element_bytes());
    const std::int64_t fit = (options_.shared_bytes - part - ring_bytes) / slot;
    for (ir::KernelBuffer& buffer : kernel_.buffers)
      buffer.slots = std::max(buffer.slots,
                              static_cast<int>(std::min<std::int64_t>(fit, options_.most_slots)));
  }

  Kernel& kernel_;
  const DeferStoresOptions& options_;
  ir::Builder build_;
  Region* consumers_ = nullptr;
  Op* programs_ = nullptr;  // the loop over them
  Op* loop_ = nullptr;      // the one with products
  std::size_t position_ = 0;
  Op* store_ = nullptr;
  const Op* affine_ = nullptr;
  const Op* mask_ = nullptr;
  Value value_, root_, held_, waiting_;
  std::int64_t parts_ = 0;
  std::size_t sums_ = 0;                 // tiles that the loop leaves
  std::vector<Value> scalars_, before_;  // in a program, and of the one before
};

}  // namespace

bool is_deferred_store(const Kernel& kernel, const Op& op) {
  if (op.kind != OpKind::Store || !kernel.type(op.operands[1]).is_tile()) return false;
  const Op* maker = kernel.maker(op.operands[1]);
  if (maker != nullptr && maker->kind == OpKind::Sweep) {  // at stage Laid
    const auto& results = maker->results;
    const auto k = std::find(results.begin(), results.end(), op.operands[1]) - results.begin();
    maker = kernel.maker(maker->regions[0].ops.back()->operands[static_cast<std::size_t>(k)]);
  }
  if (maker == nullptr || maker->kind != OpKind::Bitcast) return false;
  maker = kernel.maker(maker->operands[0]);
  if (maker == nullptr || maker->kind != OpKind::Split) return false;
  while (maker != nullptr && maker->facts().is(ir::Family::View))
    maker = kernel.maker(maker->operands[0]);
  return maker == nullptr && ir::producer_of(kernel) != nullptr;
}

bool defer_stores(Kernel& kernel, const DeferStoresOptions& options) {
  return kernel.stage == ir::Stage::Tile && Deferrer(kernel, options).run();
}

void defer_stores(Kernel& kernel, const Target& target) {
  if (target.has(Feature::TensorMaps)) defer_stores(kernel, DeferStoresOptions{.num_warps = 8});
}

}  // namespace tilewright
