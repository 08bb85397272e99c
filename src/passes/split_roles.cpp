// SPDX-License-Identifier: Apache-2.0
// passes/split_roles.cpp — the loop once as a producer and once as a consumer.
#include "passes/split_roles.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/map_dimensions.h"
#include "passes/count_divisors.h"
#include "passes/eliminate_dead_code.h"
#include "passes/persist_programs.h"
#include "passes/roles/delay_pairs.h"
#include "passes/roles/empty_maps.h"
#include "passes/roles/model.h"
#include "passes/roles/producer_needs.h"
#include "passes/roles/ring_loops.h"
#include "passes/roles/split_rounds.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

constexpr int group_warps = 4;

bool pays(const Kernel& kernel, const Op& dot, int num_warps) {
  return num_warps >= least_warps_with_roles &&
         kernel.type(dot.result()).numel() >= least_sums_with_roles;
}

bool pays(const Kernel& kernel, const RingLoops& found, int num_warps) {
  const std::vector<Op*>& dots = found.loops.front().dots;
  if (found.is_lagging) return dots.size() == 1 && pays(kernel, *dots.front(), num_warps);
  return num_warps >= least_warps_with_roles;
}

bool pays(const Kernel& kernel, const std::vector<DelayedPair>& pairs, int num_warps, int slots) {
  const auto is_wide = [&](const Op* dot) {
    return kernel.type(dot->result()).numel() >= least_sums_with_delayed_roles;
  };
  return !pairs.empty() && num_warps == warps_with_delayed_roles &&
         slots >= least_slots_with_delayed_roles && is_wide(pairs[0].first) &&
         is_wide(pairs[0].second);
}

// ---- Roles

class Splitter {
 public:
  Splitter(Kernel& kernel, const SplitRolesOptions& options)
      : kernel_(kernel), options_(options), build_(kernel) {}

  // Why not; "" where it was taken apart.
  std::string run() {
    const std::string problem = find_loops();
    if (!problem.empty()) return problem;
    const bool is_outermost = std::find(kernel_.body.ops.begin(), kernel_.body.ops.end(),
                                        found_.loops[0].loop) != kernel_.body.ops.end();
    if (is_outermost && pairs_.empty() && options_.persists && has_one_axis(kernel_)) {
      loop_over_programs(kernel_);
      found_ = find_ring_loops(kernel_);  // their coordinates are of the loop's program now
    }
    if (parts_ > 1) split_rounds(kernel_, found_, parts_);
    make_tables();
    Region producer = clone(kernel_.body);
    Region consumer = std::move(kernel_.body);
    kernel_.body = {};
    produce(producer);
    consume(consumer);
    join(std::move(producer), std::move(consumer));
    return "";
  }

 private:
  using Renamed = std::map<std::uint32_t, Value>;

  // ---- Whether

  std::string find_loops() {
    const Op* other = nullptr;
    int dots = 0;
    ir::walk(kernel_.body, [&](const Op& op) {
      if (!may_stand_beside_roles(op)) other = &op;
      dots += op.kind == OpKind::Dot;
    });
    if (options_.only_delayed && dots < 2) return "it has no two products";
    if (!kernel_.rings.empty() || !kernel_.buffers.empty()) return "it has buffers already";
    if (options_.num_warps < group_warps || options_.num_warps % group_warps != 0)
      return "its warps are no whole warpgroups";
    if (other)
      return fmt::format("'{}' in line {} cannot stand beside a producer", other->facts().name,
                         other->location.line);
    found_ = find_ring_loops(kernel_);
    if (!found_.problem.empty()) return found_.problem;
    if (std::string needs = problem_of_producer(kernel_, found_); !needs.empty()) return needs;
    if (options_.asks_model && !pays(kernel_, found_, options_.num_warps))
      return "its products are too small for it";
    if (options_.delays && !found_.is_lagging) pairs_ = find_delayed_pairs(kernel_, found_);
    if (!find_slots()) return "two slots do not fit in shared memory";
    if (options_.only_delayed && !pays(kernel_, pairs_, options_.num_warps, slots_))
      return "roles of it were not measured faster";
    return "";
  }

  // Products that go on while the next round begins need one more. Rounds are taken apart where too
  // few of them fit.
  bool find_slots() {
    const int wanted =
        std::min(options_.num_stages + (found_.is_lagging ? 1 : 0), options_.most_slots);
    const std::int64_t most_parts = most_parts_of_rounds(kernel_, found_);
    for (parts_ = 1;; parts_ *= 2) {
      slots_ = fitting_slots(wanted, found_.stage_bytes / parts_);
      if (slots_ >= std::min(wanted, least_slots_of_products) || parts_ * 2 > most_parts) break;
    }
    return slots_ >= 2;
  }
  int fitting_slots(int wanted, std::int64_t stage_bytes) const {
    if (options_.shared_bytes == 0) return wanted;
    return static_cast<int>(std::min<std::int64_t>(
        wanted, (options_.shared_bytes - found_.other_bytes - 1024) / stage_bytes));
  }

  // ---- Tables

  std::string unique(const std::string& base, const auto& table) const {
    std::string name = base;
    for (int n = 1;
         std::any_of(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
         ++n)
      name = fmt::format("{}_{}", base, n);
    return name;
  }

  // Float32 of which products take 19 bits: they cut off the rest, copies round to the nearest. An
  // H200's error against float64 at 4096^3 is 3.6e-4 then instead of 8.1e-4, at the same speed.
  bool feeds_tf32(const RingLoop& loop, Value tile) const {
    return kernel_.type(tile).dtype == DType::Float32 &&
           std::all_of(loop.dots.begin(), loop.dots.end(),
                       [](const Op* dot) { return dot->text("precision", "tf32") == "tf32"; });
  }

  // Tiles that products read together come and go together; where a product waits for another one,
  // each tile is awaited and released by itself.
  void make_tables() {
    RingLoop& first = found_.loops.front();
    for (std::size_t i = 0; i < first.loads.size(); ++i) {
      const Value tile = first.loads[i]->result();
      const std::string& name = kernel_.name_of(tile);
      const std::string base = name.empty() ? std::string("tile") : name;
      const std::string map = unique(base + "_map", kernel_.maps);
      for (RingLoop& loop : found_.loops) {
        loop.maps[i].map.name = map;
        loop.maps[i].map.rounds_to_tf32 = feeds_tf32(loop, tile);
      }
      kernel_.maps.push_back(first.maps[i].map);
      kernel_.buffers.push_back(
          {unique(base + "_buffer", kernel_.buffers), kernel_.type(tile), slots_});
      buffers_.push_back(kernel_.buffers.back().name);
      if (i == 0 || !found_.is_lagging)
        kernel_.rings.push_back(
            {.name = unique(found_.is_lagging ? "ring" : base + "_ring", kernel_.rings),
             .buffers = {}});
      kernel_.rings.back().buffers.push_back(buffers_.back());
      rings_.push_back(kernel_.rings.back().name);
    }
  }

  // ---- The producer: a copy of all without stores, whose loop starts copies instead of products

  Region clone(const Region& from) {
    Region to;
    for (const Value value : from.arguments) to.arguments.push_back(rename(value, nullptr));
    for (const Op* op : from.ops) to.ops.push_back(clone(*op));
    return to;
  }
  Value rename(Value value, Op* maker) {
    return renamed_[value.id] =
               kernel_.make_value(kernel_.type(value), kernel_.name_of(value), maker);
  }
  Op* clone(const Op& op) {
    std::vector<Value> operands;
    for (const Value operand : op.operands) {
      const auto found = renamed_.find(operand.id);
      operands.push_back(found == renamed_.end() ? operand : found->second);
    }
    Op* copy = kernel_.make_op(op.kind, std::move(operands), {}, op.location);
    copy->attributes = op.attributes;
    for (const Value result : op.results) copy->results.push_back(rename(result, copy));
    for (const Region& region : op.regions) copy->regions.push_back(clone(region));
    clones_[&op] = copy;
    return copy;
  }

  void produce(Region& region) {
    std::vector<Op*> loops;
    for (const RingLoop& from : found_.loops) loops.push_back(clones_.at(from.loop));
    const std::map<const Op*, Value> positions = carry_position(region, loops);
    if (!pairs_.empty()) copy_zeros(region, *loops.front());
    find_elements(region);
    for (std::size_t i = 0; i < loops.size(); ++i) {
      Region copies;
      copy_tiles(found_.loops[i], positions.at(loops[i]), copies);
      auto& ops = loops[i]->regions[0].ops;
      ops.insert(ops.end() - 1, copies.ops.begin(), copies.ops.end());
      for (const char* name : {"stages", "unroll"}) loops[i]->erase(name);
    }
    silence(region);
  }

  void find_elements(Region& region) {
    Region start;
    {
      const ir::Builder::Into into(build_, start);
      for (const LoadMap& map : found_.loops.front().maps)
        have_elements_.push_back(have_elements(build_, kernel_, map.map));
    }
    region.ops.insert(region.ops.begin(), start.ops.begin(), start.ops.end());
  }

  void copy_tiles(const RingLoop& from, Value round, Region& copies) {
    const ir::Builder::Into into(build_, copies);
    for (std::size_t i = 0; i < from.maps.size(); ++i) {
      build_.set_location(from.loads[i]->location);
      const bool is_later = !pairs_.empty() && i == pairs_[0].load;
      const Value position =
          is_later ? build_.binary(OpKind::Add, round,
                                   build_.constant(Type::scalar(i32), std::int64_t{1}))
                   : round;
      if (i == 0 || rings_[i] != rings_[i - 1])
        build_.create(OpKind::Acquire, {position}, {}, {{"ring", rings_[i]}});
      std::vector<Value> operands = {position};
      const LoadMap& map = from.maps[i];
      const Type& tile = kernel_.type(from.loads[i]->result());
      for (std::size_t d = 0; d < map.coordinates.size(); ++d)
        operands.push_back(coordinate_of(build_, have_elements_[i][d],
                                         map.coordinates[d].build(build_, renamed_),
                                         ir::elements_of(map.map.dimensions[d], tile)));
      build_.create(OpKind::CopyMap, std::move(operands), {},
                    {{"map", map.map.name}, {"ring", rings_[i]}, {"buffer", buffers_[i]}});
    }
  }

  // The tile of the round before the first one: a tile outside of the tensor is zeros.
  void copy_zeros(Region& region, const Op& first) {
    const std::size_t i = pairs_[0].load;
    const ir::KernelMap& map = found_.loops[0].maps[i].map;
    const Type& tile = kernel_.buffers[kernel_.buffer_named(buffers_[i])].type;
    const Type number = Type::scalar(i32);
    Region before;
    {
      const ir::Builder::Into into(build_, before);
      build_.set_location(found_.loops[0].loads[i]->location);
      const Value none = build_.constant(number, std::int64_t{0});
      build_.create(OpKind::Acquire, {none}, {}, {{"ring", rings_[i]}});
      std::vector<Value> operands = {none, none};
      for (std::size_t d = 1; d < map.dimensions.size(); ++d) {
        const ir::KernelMap::Dimension& along = map.dimensions[d];
        const std::int64_t outside = ir::is_of_tile(along) ? -tile.size(along.of_tile) : 0;
        operands.push_back(build_.constant(number, outside));
      }
      build_.create(OpKind::CopyMap, std::move(operands), {},
                    {{"map", map.name}, {"ring", rings_[i]}, {"buffer", buffers_[i]}});
    }
    region.ops.insert(std::find(region.ops.begin(), region.ops.end(), &first), before.ops.begin(),
                      before.ops.end());
  }

  // Without stores, and without the tiles that nobody computes any more: zeros stand for what loops
  // still carry.
  void silence(Region& region) {
    std::erase_if(region.ops, [](const Op* op) {
      return op->kind == OpKind::Store || op->kind == OpKind::Assume;
    });
    for (Op* op : region.ops) {
      for (Region& inner : op->regions) silence(inner);
      if (op->kind == OpKind::Dot) {  // nobody adds anything up: the sum stays what it was
        forwarded_[op->result().id] = op->operands[2];
      }
    }
    for (Op* op : region.ops)
      for (Value& operand : op->operands)
        if (const auto found = forwarded_.find(operand.id); found != forwarded_.end())
          operand = found->second;
  }

  // One more value that goes through the loops and all around them, and is one more in each of
  // their rounds; what it is in each of them.
  std::map<const Op*, Value> carry_position(Region& region, const std::vector<Op*>& loops) {
    std::map<const Op*, Value> inside;
    Region start;
    {
      const ir::Builder::Into into(build_, start);
      const Value first = build_.constant(Type::scalar(i32), std::int64_t{0});
      carry_position(region, loops, first, inside);
    }
    region.ops.insert(region.ops.begin(), start.ops.begin(), start.ops.end());
    return inside;
  }

  // What it is behind the region.
  Value carry_position(Region& region, const std::vector<Op*>& loops, Value position,
                       std::map<const Op*, Value>& inside) {
    const Type number = Type::scalar(i32);
    for (Op* op : region.ops) {
      const auto is_or_has = [&](const Op* loop) { return op == loop || contains(*op, *loop); };
      if (std::none_of(loops.begin(), loops.end(), is_or_has)) continue;
      Region& body = op->regions[0];
      op->operands.push_back(position);
      const Value now = kernel_.make_value(number, "position", nullptr);
      body.arguments.push_back(now);
      Value next;
      if (std::find(loops.begin(), loops.end(), op) != loops.end()) {
        inside[op] = now;
        Region end;
        {
          const ir::Builder::Into into(build_, end);
          next = build_.binary(OpKind::Add, now, build_.constant(number, std::int64_t{1}));
        }
        body.ops.insert(body.ops.end() - 1, end.ops.begin(), end.ops.end());
      } else {
        next = carry_position(body, loops, now, inside);
      }
      body.ops.back()->operands.push_back(next);
      position = kernel_.make_value(number, "", op);
      op->results.push_back(position);
    }
    return position;
  }

  static bool contains(const Op& op, const Op& wanted) {
    bool found = false;
    for (const Region& region : op.regions)
      ir::walk(region, [&](const Op& inside) { found |= &inside == &wanted; });
    return found;
  }

  // ---- The consumers

  void consume(Region& region) {
    std::vector<Op*> loops;
    for (const RingLoop& from : found_.loops) loops.push_back(from.loop);
    const std::map<const Op*, Value> positions = carry_position(region, loops);
    for (const RingLoop& from : found_.loops) {
      const Value position = positions.at(from.loop);
      build_.set_location(from.loop->location);
      for (std::size_t i = 0; i < from.loads.size(); ++i) {
        from.loads[i]->kind = OpKind::ReadBuffer;
        from.loads[i]->operands = {position};
        from.loads[i]->attributes = {{"buffer", buffers_[i]}};
      }
      if (found_.is_lagging) await_rounds(region, from, position);
      else if (pairs_.empty()) await_tiles(from, position);
      from.loop->erase("stages");  // done
    }
    if (!pairs_.empty())
      delay_pairs(kernel_, region, {found_, pairs_, positions, buffers_, rings_});
  }

  // All tiles at the top; those of the round before are released at the bottom, whose products are
  // done.
  void await_rounds(Region& region, const RingLoop& from, Value position) {
    Region top, bottom, behind;
    const Type number = Type::scalar(i32);
    Op& loop = *from.loop;
    {
      const ir::Builder::Into into(build_, top);
      build_.create(OpKind::Await, {position}, {}, {{"ring", rings_[0]}});
    }
    {
      const ir::Builder::Into into(build_, bottom);
      const Value before =
          build_.binary(OpKind::Subtract, position, build_.constant(number, std::int64_t{1}));
      const Value has_before = build_.compare("ne", loop.regions[0].arguments[0], loop.operands[0]);
      build_.create(OpKind::Release, {before, has_before}, {}, {{"ring", rings_[0]}});
    }
    {
      for (Op* dot : from.dots) dot->set("pending", static_cast<std::int64_t>(from.dots.size()));
      loop.set("drains", std::int64_t{1});
      const ir::Builder::Into into(build_, behind);
      const Value end = loop.results.back();
      const Value last =
          build_.binary(OpKind::Subtract, end, build_.constant(number, std::int64_t{1}));
      const Value has_rounds = build_.compare("ne", end, loop.operands.back());
      build_.create(OpKind::Release, {last, has_rounds}, {}, {{"ring", rings_[0]}});
    }
    auto& ops = loop.regions[0].ops;
    ops.insert(ops.begin(), top.ops.begin(), top.ops.end());
    ops.insert(ops.end() - 1, bottom.ops.begin(), bottom.ops.end());
    insert_behind(region, loop, behind);
  }

  void insert_behind(Region& region, const Op& loop, const Region& behind) {
    const auto at = std::find(region.ops.begin(), region.ops.end(), &loop);
    if (at != region.ops.end()) {
      region.ops.insert(at + 1, behind.ops.begin(), behind.ops.end());
      return;
    }
    for (Op* op : region.ops)
      for (Region& inner : op->regions) insert_behind(inner, loop, behind);
  }

  // Each tile just before the first product that reads it, and released behind the last one.
  void await_tiles(const RingLoop& from, Value position) {
    auto& ops = from.loop->regions[0].ops;
    for (std::size_t i = 0; i < from.loads.size(); ++i) {
      std::vector<Op*> chain = {from.loads[i]};  // and what is seen of it otherwise
      std::vector<Op*> readers;
      for (Op* op : ops) {
        const bool reads = std::any_of(op->operands.begin(), op->operands.end(), [&](Value value) {
          return std::find(chain.begin(), chain.end(), kernel_.maker(value)) != chain.end();
        });
        if (reads) (op->kind == OpKind::Dot ? readers : chain).push_back(op);
      }
      std::erase_if(
          ops, [&](Op* op) { return std::find(chain.begin(), chain.end(), op) != chain.end(); });
      Region top, bottom;
      {
        const ir::Builder::Into into(build_, top);
        build_.create(OpKind::Await, {position}, {}, {{"ring", rings_[i]}});
      }
      {
        const ir::Builder::Into into(build_, bottom);
        build_.create(OpKind::Release, {position}, {}, {{"ring", rings_[i]}});
      }
      top.ops.insert(top.ops.end(), chain.begin(), chain.end());
      ops.insert(std::find(ops.begin(), ops.end(), readers.back()) + 1, bottom.ops.begin(),
                 bottom.ops.end());
      ops.insert(std::find(ops.begin(), ops.end(), readers.front()), top.ops.begin(),
                 top.ops.end());
    }
  }

  void join(Region producer, Region consumer) {
    const ir::Builder::Into into(build_, kernel_.body);
    std::vector<ir::Attribute> attributes = {{"warps", std::int64_t{group_warps}}};
    if (options_.num_warps == 2 * group_warps)
      attributes.push_back(
          {"registers", std::vector<std::int64_t>{producer_registers, consumer_registers}});
    const Value is_producer =
        build_.create_one(OpKind::IsProducer, {}, Type::scalar(b1), std::move(attributes));
    Op* branch = build_.create(OpKind::If, {is_producer}, {});
    branch->regions.push_back(std::move(producer));
    branch->regions.push_back(std::move(consumer));
    for (Region& region : branch->regions) {
      const ir::Builder::Into inside(build_, region);
      build_.yield({});
    }
  }

  Kernel& kernel_;
  const SplitRolesOptions& options_;
  ir::Builder build_;
  RingLoops found_;
  std::vector<DelayedPair> pairs_;  // none: products stay in their rounds
  int slots_ = 0;
  std::int64_t parts_ = 1;                         // that each round is taken into
  std::vector<std::string> buffers_, rings_;       // of each tile of a round
  std::vector<std::vector<Value>> have_elements_;  // their tensors (roles/empty_maps.h)
  std::map<const Op*, Op*> clones_;
  Renamed renamed_;
  Renamed forwarded_;
};

}  // namespace

bool may_have_roles(const Kernel& kernel, int num_warps) {
  bool found = false;
  ir::walk(kernel.body,
           [&](const Op& op) { found |= op.kind == OpKind::Dot && pays(kernel, op, num_warps); });
  return found;
}

bool has_measured_roles(const Kernel& kernel, int num_warps) {
  int dots = 0, measured = 0;
  ir::walk(kernel.body, [&](const Op& op) {
    if (op.kind != OpKind::Dot) return;
    const DType left = kernel.type(op.operands[0]).dtype, right = kernel.type(op.operands[1]).dtype;
    const bool is_measured = left == DType::Float16 || left == DType::BFloat16 ||
                             (left == DType::Float8E4M3 && op.integer("imprecise", 0) == 0) ||
                             (left == DType::Float32 && op.text("precision", "tf32") == "tf32");
    ++dots;
    measured += left == right && is_measured && pays(kernel, op, num_warps);
  });
  return dots == 1 && measured == 1;
}

bool split_roles(Kernel& kernel, const SplitRolesOptions& options) {
  if (kernel.stage != ir::Stage::Tile) return false;
  std::string problem = Splitter(kernel, options).run();
  const std::vector<Op*> divisions = problem.empty() ? std::vector<Op*>() : open_divisions(kernel);
  if (!divisions.empty()) {  // coordinates want to be none below 0
    count_divisors_of(divisions, true);
    problem = Splitter(kernel, options).run();
    if (!problem.empty()) count_divisors_of(divisions, false);
  }
  if (!problem.empty()) {
    if (options.notes) options.notes->push_back("no roles: " + problem);
    return false;
  }
  eliminate_dead_code(kernel, Target{});  // what the producer does not need
  return true;
}

void split_roles(Kernel& kernel, const Target& target) {
  if (!target.has(Feature::TensorMaps)) return;
  split_roles(kernel, SplitRolesOptions{.shared_bytes = target.shared_bytes_per_block_optin,
                                        .asks_model = false});
}

}  // namespace tilewright
