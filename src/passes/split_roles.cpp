// SPDX-License-Identifier: Apache-2.0
// passes/split_roles.cpp — the loop once as a producer and once as a consumer.
#include "passes/split_roles.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/choose_units.h"
#include "passes/eliminate_dead_code.h"
#include "passes/persist_programs.h"
#include "passes/pipeline_loops/lagging_dots.h"
#include "passes/roles/load_maps.h"
#include "passes/roles/model.h"

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

// ---- Roles

class Splitter {
 public:
  Splitter(Kernel& kernel, const SplitRolesOptions& options)
      : kernel_(kernel), options_(options), build_(kernel) {}

  bool run() {
    if (!is_fit() || !find_loop() || !find_maps()) return false;
    const bool is_outermost = std::find(kernel_.body.ops.begin(), kernel_.body.ops.end(), loop_) !=
                              kernel_.body.ops.end();
    if (is_outermost && options_.persists && has_one_axis(kernel_)) loop_over_programs(kernel_);
    make_tables();
    Region producer = clone(kernel_.body);
    Region consumer = std::move(kernel_.body);
    kernel_.body = {};
    produce(producer);
    consume(consumer);
    join(std::move(producer), std::move(consumer));
    return true;
  }

 private:
  using Renamed = std::map<std::uint32_t, Value>;

  // ---- Whether

  bool is_fit() {
    bool is_good = kernel_.rings.empty() && kernel_.buffers.empty();
    ir::walk(kernel_.body, [&](const Op& op) { is_good = is_good && may_stand_beside_roles(op); });
    return is_good && options_.num_warps >= group_warps && options_.num_warps % group_warps == 0;
  }

  // The one loop with products, all of them asynchronous.
  bool find_loop() {
    std::size_t dots = 0;
    ir::walk(kernel_.body, [&](Op& op) {
      dots += op.kind == OpKind::Dot;
      if (op.kind != OpKind::For) return;
      const auto is_product = [](const Op* inside) {
        return inside->kind == OpKind::Dot && is_asynchronous(*inside);
      };
      if (std::any_of(op.regions[0].ops.begin(), op.regions[0].ops.end(), is_product)) loop_ = &op;
    });
    if (loop_ == nullptr || dots != 1) return false;
    const Op& dot = **std::find_if(loop_->regions[0].ops.begin(), loop_->regions[0].ops.end(),
                                   [](const Op* op) { return op->kind == OpKind::Dot; });
    return !options_.asks_model || pays(kernel_, dot, options_.num_warps);
  }

  bool find_maps() {
    const AxisAnalysis axes(kernel_);
    std::size_t accesses = 0;
    ir::walk(loop_->regions[0],
             [&](const Op& op) { accesses += op.facts().is(ir::Family::Access); });
    for (Op* op : loop_->regions[0].ops)
      if (op->kind == OpKind::Load) loads_.push_back(op);
    lagging_ = find_lagging_dots(kernel_, *loop_, loads_);
    if (loads_.empty() || accesses != loads_.size() || lagging_.empty()) return false;
    for (const Op* load : loads_) {
      const auto map = find_load_map(kernel_, axes, *loop_, *load);
      if (!map || may_be_stored(map->map.argument)) return false;
      maps_.push_back(*map);
      const Type& type = kernel_.type(load->result());
      stage_bytes_ += type.numel() * static_cast<std::int64_t>(type.element_bytes());
    }
    return find_slots();
  }

  bool may_be_stored(int argument) const {
    const ir::KernelArgument& loaded = kernel_.arguments[static_cast<std::size_t>(argument)];
    for (const ir::KernelArgument& other : kernel_.arguments) {
      if (!kernel_.type(other.value).is_pointer || other.is_const) continue;
      const bool is_stored = is_written(other.value);
      if (is_stored &&
          (other.value == loaded.value || (loaded.memory >= 0 && other.memory == loaded.memory)))
        return true;
    }
    return false;
  }

  // Whether a store goes to memory behind the argument; what has no argument behind it may.
  bool is_written(Value argument) const {
    bool found = false;
    ir::walk(kernel_.body, [&](const Op& op) {
      if (op.kind == OpKind::Store)
        found |= !root(op.operands[0]) || root(op.operands[0]) == argument;
    });
    return found;
  }
  Value root(Value pointer) const {
    const Op* op = kernel_.maker(pointer);
    if (op == nullptr) {
      const bool is_argument =
          std::any_of(kernel_.arguments.begin(), kernel_.arguments.end(),
                      [&](const ir::KernelArgument& a) { return a.value == pointer; });
      return is_argument ? pointer : Value{};
    }
    const bool goes_on = op->kind == OpKind::Offset || op->facts().is(ir::Family::View);
    return goes_on && !op->operands.empty() ? root(op->operands[0]) : Value{};
  }

  // What is stored goes through shared memory beside the ring.
  bool find_slots() {
    std::int64_t stored = 0;
    ir::walk(kernel_.body, [&](const Op& op) {
      if (op.kind != OpKind::Store || !kernel_.type(op.operands[1]).is_tile()) return;
      const Type& type = kernel_.type(op.operands[1]);
      stored = std::max(stored, type.numel() * static_cast<std::int64_t>(type.element_bytes()));
    });
    slots_ =
        std::min(options_.num_stages + 1, options_.most_slots);  // one for the products that go on
    if (options_.shared_bytes > 0)
      slots_ = static_cast<int>(
          std::min<std::int64_t>(slots_, (options_.shared_bytes - stored - 1024) / stage_bytes_));
    return slots_ >= 2;
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

  void make_tables() {
    ir::KernelRing ring{.name = "ring"};
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const std::string& name = kernel_.name_of(loads_[i]->result());
      const std::string base = name.empty() ? std::string("tile") : name;
      maps_[i].map.name = unique(base + "_map", kernel_.maps);
      kernel_.maps.push_back(maps_[i].map);
      kernel_.buffers.push_back(
          {unique(base + "_buffer", kernel_.buffers), kernel_.type(loads_[i]->result()), slots_});
      ring.buffers.push_back(kernel_.buffers.back().name);
    }
    kernel_.rings.push_back(std::move(ring));
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
    if (&op == loop_) producing_ = copy;
    for (const Op* load : loads_)
      if (&op == load) copied_.push_back(copy);
    return copy;
  }

  void produce(Region& region) {
    Region& body = producing_->regions[0];
    const Value position = carry_position(region, *producing_);
    Region copies;
    {
      const ir::Builder::Into into(build_, copies);
      build_.set_location(producing_->location);
      build_.create(OpKind::Acquire, {position}, {}, {{"ring", std::string("ring")}});
      for (std::size_t i = 0; i < maps_.size(); ++i) {
        build_.set_location(loads_[i]->location);
        std::vector<Value> operands = {position};
        for (const Polynomial& at : maps_[i].coordinates)
          operands.push_back(at.build(build_, renamed_));
        build_.create(OpKind::CopyMap, std::move(operands), {},
                      {{"map", maps_[i].map.name},
                       {"ring", std::string("ring")},
                       {"buffer", kernel_.rings[0].buffers[i]}});
      }
    }
    body.ops.insert(body.ops.end() - 1, copies.ops.begin(), copies.ops.end());
    for (const char* name : {"stages", "unroll"})
      std::erase_if(producing_->attributes, [&](const ir::Attribute& a) { return a.name == name; });
    silence(region);
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

  // One more value that goes through all loops around `loop` and is one more in each of its rounds;
  // what it is in the loop.
  Value carry_position(Region& region, Op& loop) {
    const Type number = Type::scalar(i32);
    Value outside;
    Region start;
    {
      const ir::Builder::Into into(build_, start);
      outside = build_.constant(number, std::int64_t{0});
    }
    Region* at = &region;
    Value inside = outside;
    std::vector<Op*> path;
    while (path.empty() || path.back() != &loop) {
      Op* next = nullptr;
      for (Op* op : at->ops)
        if (op == &loop || contains(*op, loop)) next = op;
      next->operands.push_back(inside);
      inside = kernel_.make_value(number, "position", nullptr);
      next->regions[0].arguments.push_back(inside);
      next->results.push_back(kernel_.make_value(number, "", next));
      at = &next->regions[0];
      path.push_back(next);
    }
    Region end;
    Value after;
    {
      const ir::Builder::Into into(build_, end);
      after = build_.binary(OpKind::Add, inside, build_.constant(number, std::int64_t{1}));
    }
    auto& ops = loop.regions[0].ops;
    ops.insert(ops.end() - 1, end.ops.begin(), end.ops.end());
    for (std::size_t i = path.size(); i-- > 0;)
      path[i]->regions[0].ops.back()->operands.push_back(
          i + 1 == path.size() ? after : path[i + 1]->results.back());
    region.ops.insert(region.ops.begin(), start.ops.begin(), start.ops.end());
    return inside;
  }
  static bool contains(const Op& op, const Op& wanted) {
    bool found = false;
    for (const Region& region : op.regions)
      ir::walk(region, [&](const Op& inside) { found |= &inside == &wanted; });
    return found;
  }

  // ---- The consumers

  void consume(Region& region) {
    const Value position = carry_position(region, *loop_);
    Region top, bottom, behind;
    const Type number = Type::scalar(i32);
    build_.set_location(loop_->location);
    {
      const ir::Builder::Into into(build_, top);
      build_.create(OpKind::Await, {position}, {}, {{"ring", std::string("ring")}});
    }
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      loads_[i]->kind = OpKind::ReadBuffer;
      loads_[i]->operands = {position};
      loads_[i]->attributes = {{"buffer", kernel_.rings[0].buffers[i]}};
    }
    const Value index = loop_->regions[0].arguments[0];
    {
      const ir::Builder::Into into(build_, bottom);
      // The round before: its products are done.
      const Value before =
          build_.binary(OpKind::Subtract, position, build_.constant(number, std::int64_t{1}));
      const Value has_before = build_.compare("ne", index, loop_->operands[0]);
      build_.create(OpKind::Release, {before, has_before}, {}, {{"ring", std::string("ring")}});
    }
    {
      for (Op* dot : lagging_) dot->set("pending", static_cast<std::int64_t>(lagging_.size()));
      loop_->set("drains", std::int64_t{1});
      const ir::Builder::Into into(build_, behind);
      const Value end = loop_->results.back();
      const Value last =
          build_.binary(OpKind::Subtract, end, build_.constant(number, std::int64_t{1}));
      const Value has_rounds = build_.compare("ne", end, loop_->operands.back());
      build_.create(OpKind::Release, {last, has_rounds}, {}, {{"ring", std::string("ring")}});
    }
    auto& ops = loop_->regions[0].ops;
    ops.insert(ops.begin(), top.ops.begin(), top.ops.end());
    ops.insert(ops.end() - 1, bottom.ops.begin(), bottom.ops.end());
    insert_behind(region, behind);
    std::erase_if(loop_->attributes,
                  [](const ir::Attribute& a) { return a.name == "stages"; });  // done
  }
  void insert_behind(Region& region, const Region& behind) {
    const auto at = std::find(region.ops.begin(), region.ops.end(), loop_);
    if (at != region.ops.end()) {
      region.ops.insert(at + 1, behind.ops.begin(), behind.ops.end());
      return;
    }
    for (Op* op : region.ops)
      for (Region& inner : op->regions) insert_behind(inner, behind);
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
  Op* loop_ = nullptr;
  Op* producing_ = nullptr;
  std::vector<Op*> loads_;
  std::vector<Op*> copied_;
  std::vector<LoadMap> maps_;
  std::vector<Op*> lagging_;
  std::int64_t stage_bytes_ = 0;
  int slots_ = 0;
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

bool split_roles(Kernel& kernel, const SplitRolesOptions& options) {
  if (kernel.stage != ir::Stage::Tile) return false;
  if (!Splitter(kernel, options).run()) return false;
  eliminate_dead_code(kernel, Target{});  // what the producer does not need
  return true;
}

void split_roles(Kernel& kernel, const Target& target) {
  if (!target.has(Feature::TensorMaps)) return;
  split_roles(kernel, SplitRolesOptions{.shared_bytes = target.shared_bytes_per_block_optin,
                                        .asks_model = false});
}

}  // namespace tilewright
