// SPDX-License-Identifier: Apache-2.0
// passes/pipeline_loops.cpp — the prologue, and the loop with its copies ahead.
#include "passes/pipeline_loops.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/edit_regions.h"
#include "passes/eliminate_dead_code.h"
#include "passes/pipeline_loops/candidates.h"
#include "passes/pipeline_loops/lagging_dots.h"
#include "passes/repeat_ops.h"
#include "passes/start_dots.h"
#include "passes/uses.h"

namespace tilewright {
namespace {

using ir::Builder;
using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

// Tutorial 03 on an H200, 64 x 8192 x 8192 and 16 x 8192 x 8192 with 64 x 128 x 64 and 4 warps, of
// cuBLAS: 5 slots 0.78 and 0.90, 7 slots 0.95 and 1.08, 9 slots 0.96 and 1.10. 64 programs wait for
// what is under way: 3 rounds of 24 KiB each are too little.
constexpr std::int64_t most_rows_with_spare_slots = 64;

// Rounds of a loop whose bounds are constants.
std::optional<std::int64_t> rounds_of(const Kernel& kernel, const Op& loop) {
  const auto from = ir::integer_constant(kernel, loop.operands[0]);
  const auto to = ir::integer_constant(kernel, loop.operands[1]);
  const auto step = ir::integer_constant(kernel, loop.operands[2]);
  if (!from || !to || !step || *step <= 0) return std::nullopt;
  return *from < *to ? (*to - *from + *step - 1) / *step : 0;
}

class Pipeliner {
 public:
  Pipeliner(Kernel& kernel, const PipelineLoopsOptions& options)
      : kernel_(kernel), options_(options), axes_(kernel), build_(kernel) {}

  void run(Region& region) {
    rewrite_ops(region, [&](Op& op, Region& before, Region& behind) {
      for (Region& inner : op.regions) run(inner);
      if (op.kind == OpKind::For) rewrite(op, before, behind);
    });
  }

  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  using Values = IterationValues;

  // A loop while it is rewritten.
  struct Loop {
    Op& op;
    Region& before;
    LoadsAhead ahead;
    std::vector<std::string> buffers;  // by load
    int slots = 0;                     // of each buffer
    int distance = 0;                  // how many rounds ahead copies are
    std::int64_t step = 0;
    bool starts_products = false;  // before the copies of later rounds (start_dots)
    Value limit;                   // its end as i64

    Value index() const { return op.regions[0].arguments[0]; }
    Op& end() const { return *op.regions[0].ops.back(); }
  };

  // Loops of roles have their slots already.
  static bool has_ring(const Op& loop) {
    bool found = false;
    ir::walk(loop.regions[0], [&](const Op& op) {
      found |= op.kind == OpKind::Await || op.kind == OpKind::Acquire;
    });
    return found;
  }

  void rewrite(Op& op, Region& before, Region& behind) {
    if (has_ring(op)) return;
    const auto step = ir::integer_constant(kernel_, op.operands[2]);
    const DType index = kernel_.type(op.regions[0].arguments[0]).dtype;
    const bool has_limit = step && *step > 0 && index != DType::UInt64;
    int stages = static_cast<int>(op.integer("stages", options_.num_stages));
    const bool drains = op.integer("drains", 0) != 0;
    op.erase("drains");  // without slots for it nothing goes on into the next round
    if (!has_limit || std::min(stages, options_.most_slots) < 2) return;
    Loop loop{.op = op, .before = before, .ahead = find_loads_ahead(kernel_, axes_, op)};
    if (loop.ahead.loads.empty()) return;
    if (const auto rounds = rounds_of(kernel_, op))
      stages = static_cast<int>(std::min<std::int64_t>(stages, *rounds));
    const std::vector<Op*> lagging = find_lagging_dots(kernel_, op, loop.ahead.loads);
    // Slots of the round whose products go on, of the rounds ahead, and of the one that is worked
    // on.
    const bool goes_on = drains && have_slots(kernel_, op.regions[0], loop.ahead.loads);
    const bool may_lag =
        (!lagging.empty() && stages >= 2) || goes_on || !loop.ahead.delayed.empty();
    // Of several products a slot is taken from those ahead where there are some.
    loop.slots = may_lag ? fitting(loop, stages, goes_on && stages > 2 ? 0 : 1) : 0;
    const bool lags = loop.slots > 2;
    if (!lags && !loop.ahead.delayed.empty()) return;  // it stays as it is, a tile that is carried
    if (!lags) loop.slots = fitting(loop, stages, 0);
    if (loop.slots < 2) return;
    if (lags && have_few_rows(lagging)) loop.slots = std::max(loop.slots, spare_slots(loop));
    else if (lags && !lagging.empty() && blocks_of(loop) == 1)
      loop.slots += std::clamp(spare_slots(loop) - loop.slots, 0, 1);
    loop.distance = loop.slots - (lags ? 2 : 1);
    loop.step = *step;
    loop.starts_products = lags && goes_on;
    build_.set_location(op.location);
    make_buffers(loop);
    make_prologue(loop);
    make_body(loop);
    read_delayed(loop, behind);
    if (lags && goes_on) op.set("drains", std::int64_t{1});
    if (!lags || lagging.empty()) return;
    for (Op* dot : lagging) dot->set("pending", static_cast<std::int64_t>(lagging.size()));
    op.set("drains", std::int64_t{1});
  }

  // As many slots as shared memory has room for: one for each stage, and more.
  int fitting(const Loop& loop, int stages, int more) {
    const int wanted = std::min(stages + more, options_.most_slots);
    if (options_.shared_bytes <= 0) return wanted;
    const std::int64_t room = options_.shared_bytes - loop.ahead.other_bytes;
    const auto most = static_cast<int>(std::max<std::int64_t>(room / loop.ahead.stage_bytes, 0));
    if (wanted <= most) return wanted;
    if (more > 0 && most >= 2) return most;  // fewer rounds ahead, which is no loss
    const std::string place = loop.op.location.line > 0
                                  ? fmt::format("line {}", loop.op.location.line)
                                  : std::string("an unknown line");
    notes_.push_back(fmt::format(
        "the loop at {} has {} instead of {} stages: each takes {} bytes of shared memory, and a "
        "block has {}",
        place, std::max(most, 1), wanted, loop.ahead.stage_bytes, options_.shared_bytes));
    return most;
  }

  // 64 rows: what is loaded for a product takes longer than the product.
  bool have_few_rows(const std::vector<Op*>& dots) const {
    return !dots.empty() && std::all_of(dots.begin(), dots.end(), [&](const Op* dot) {
      return kernel_.type(dot->result()).size(0) <= most_rows_with_spare_slots;
    });
  }

  // How many the shared memory of a multiprocessor is enough for; 0: it is not known.
  std::int64_t blocks_of(const Loop& loop) const {
    if (options_.processor_bytes <= 0 || options_.shared_bytes <= 0) return 0;
    const std::int64_t block =
        loop.slots * loop.ahead.stage_bytes + loop.ahead.other_bytes + options_.reserved_bytes;
    return std::max<std::int64_t>(options_.processor_bytes / block, 1);
  }

  // As many as fit without another block less on the multiprocessor.
  int spare_slots(const Loop& loop) const {
    const std::int64_t others = loop.ahead.other_bytes, stage = loop.ahead.stage_bytes;
    const std::int64_t blocks = blocks_of(loop);
    if (blocks == 0) return 0;
    const std::int64_t room = std::min(options_.shared_bytes,
                                       options_.processor_bytes / blocks - options_.reserved_bytes);
    const std::int64_t rounds = rounds_of(kernel_, loop.op).value_or(options_.most_slots);
    return static_cast<int>(
        std::min({(room - others) / stage, rounds, std::int64_t{options_.most_slots}}));
  }

  void make_buffers(Loop& loop) {
    for (const Op* load : loop.ahead.loads) {
      const std::string& name = kernel_.name_of(load->result());
      const std::string base = (name.empty() ? std::string("tile") : name) + "_buffer";
      std::string unique = base;
      const auto is_taken = [&](const ir::KernelBuffer& b) { return b.name == unique; };
      for (int n = 1; std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(), is_taken); ++n)
        unique = fmt::format("{}_{}", base, n);
      kernel_.buffers.push_back({unique, kernel_.type(load->result()), loop.slots});
      loop.buffers.push_back(unique);
    }
  }

  // ---- Parts of a round

  Value number(const Type& type, std::int64_t value) { return build_.constant(type, value); }

  // index + rounds * step is still before the end; computed without overflow.
  Value is_in_range(const Loop& loop, Value index, int rounds) {
    Value wide = build_.cast(index, i64);
    if (rounds > 0)
      wide = build_.binary(OpKind::Add, wide, number(Type::scalar(i64), rounds * loop.step));
    return build_.compare("lt", wide, loop.limit);
  }

  Value moved(const Loop& loop, Value index, int rounds) {
    if (rounds == 0) return index;
    return build_.binary(OpKind::Add, index, number(kernel_.type(index), rounds * loop.step));
  }

  // Repeats ops that addresses depend on for the values given in `values`: those that make scalars,
  // or those that make tiles.
  void repeat_slice(const Loop& loop, Values& values, Value is_wanted, bool tiles) {
    for (const Op* op : loop.ahead.slice) {
      if (kernel_.type(op->result()).is_tile() != tiles) continue;
      build_.set_location(op->location);
      std::vector<Value> operands = mapped(op->operands, values);
      if (op->kind == OpKind::Load) {  // what lies behind the last round is not read
        if (operands.size() < 2) operands.push_back(is_wanted);
        else operands[1] = build_.binary(OpKind::And, operands[1], is_wanted);
      }
      repeat(build_, *op, std::move(operands), values);
    }
    build_.set_location(loop.op.location);
  }

  void make_copies(const Loop& loop, Values& values, Value slot, Region& region) {
    const Builder::Into into(build_, region);
    repeat_slice(loop, values, {}, true);
    for (std::size_t i = 0; i < loop.ahead.loads.size(); ++i) {
      const Op& load = *loop.ahead.loads[i];
      std::vector<Value> operands = mapped(load.operands, values);
      operands.resize(std::min<std::size_t>(operands.size(), 2));  // `other` is 0
      operands.insert(operands.begin() + 1, slot);
      build_.set_location(load.location);
      build_.create(OpKind::CopyAsync, std::move(operands), {}, {{"buffer", loop.buffers[i]}});
    }
  }

  // Starts the copies of one round where it exists, and makes them a group.
  void start_copies(const Loop& loop, Values& values, Value slot, Value is_wanted) {
    repeat_slice(loop, values, is_wanted, false);
    Op* branch = build_.create(OpKind::If, {is_wanted}, {});
    branch->regions.resize(2);
    make_copies(loop, values, slot, branch->regions[0]);
    build_.set_location(loop.op.location);
    for (Region& region : branch->regions) {
      const Builder::Into into(build_, region);
      build_.yield({});
    }
    build_.create(OpKind::CommitCopies, {}, {});
  }

  // The next values of what is carried ahead.
  std::vector<Value> next_ahead(const Loop& loop, const Values& values) const {
    std::vector<Value> next;
    for (const std::size_t slot : loop.ahead.carried) next.push_back(loop.end().operands[slot]);
    return mapped(next, values);
  }

  // ---- The loop

  void make_prologue(Loop& loop) {
    const Builder::Into into(build_, loop.before);
    loop.limit = build_.cast(loop.op.operands[1], i64);
    std::vector<Value> ahead;
    for (const std::size_t slot : loop.ahead.carried) ahead.push_back(loop.op.operands[slot + 3]);
    for (int round = 0; round < loop.distance; ++round) {
      Values values = start_values(loop, moved(loop, loop.op.operands[0], round), ahead);
      const Value is_wanted = is_in_range(loop, loop.op.operands[0], round);
      if (round == 0) clear_slots(loop, values);
      start_copies(loop, values, number(Type::scalar(i32), round), is_wanted);
      ahead = next_ahead(loop, values);
    }
    for (const Value value : ahead) loop.op.operands.push_back(value);
    loop.op.operands.push_back(number(Type::scalar(i32), 0));
    if (!loop.ahead.delayed.empty()) last_slot_ = number(Type::scalar(i32), loop.slots - 1);
  }

  static Values start_values(const Loop& loop, Value index, const std::vector<Value>& ahead) {
    Values values = {{loop.index().id, index}};
    const Region& body = loop.op.regions[0];
    for (std::size_t i = 0; i < ahead.size(); ++i)
      values[body.arguments[loop.ahead.carried[i] + 1].id] = ahead[i];
    return values;
  }

  void make_body(Loop& loop) {
    Region& body = loop.op.regions[0];
    std::vector<Value> ahead;
    for (const std::size_t slot : loop.ahead.carried)
      ahead.push_back(carry(loop, kernel_.name_of(body.arguments[slot + 1]),
                            kernel_.type(body.arguments[slot + 1])));
    const Type number_type = Type::scalar(i32);
    const Value slot = carry(loop, "slot", number_type);

    Region top, copies, bottom;
    const int distance = loop.distance;
    {
      const Builder::Into into(build_, top);
      build_.create(OpKind::WaitCopies, {}, {}, {{"pending", std::int64_t{distance - 1}}});
    }
    {
      const Builder::Into into(build_, copies);
      Values values = start_values(loop, moved(loop, loop.index(), distance), ahead);
      const Value is_wanted = is_in_range(loop, loop.index(), distance);
      start_copies(loop, values, free_slot(loop, slot), is_wanted);
      for (const Value next : next_ahead(loop, values)) loop.end().operands.push_back(next);
    }
    {
      const Builder::Into into(build_, bottom);
      const Value above = build_.binary(OpKind::Add, slot, number(number_type, 1));
      const Value is_last = build_.compare("eq", above, number(number_type, loop.slots));
      loop.end().operands.push_back(build_.select(is_last, number(number_type, 0), above));
    }
    read_slots(loop, slot);
    // Products that start together do so before the copies of later rounds, which run beside them.
    const auto first = static_cast<std::ptrdiff_t>(
        loop.starts_products ? ops_of_first_products(kernel_, body) : 0);
    body.ops.insert(body.ops.begin() + first, copies.ops.begin(), copies.ops.end());
    put_first(body, top);
    put_last(body, bottom);
  }

  // The slot that the last round has read whose products are done.
  Value free_slot(const Loop& loop, Value slot) {
    const Type type = Type::scalar(i32);
    const int back = loop.slots - loop.distance;
    const Value is_first = back == 1 ? build_.compare("eq", slot, number(type, 0))
                                     : build_.compare("lt", slot, number(type, back));
    const Value below = build_.binary(OpKind::Subtract, slot, number(type, back));
    const Value around = back == 1 ? number(type, loop.distance)
                                   : build_.binary(OpKind::Add, slot, number(type, loop.distance));
    const Value free = build_.select(is_first, around, below);
    kernel_.set_name(free, "free_slot");
    return free;
  }

  // One more carried value, whose initial value is an operand already.
  Value carry(Loop& loop, const std::string& name, const Type& type) {
    const Value inside = kernel_.make_value(type, name, nullptr);
    loop.op.regions[0].arguments.push_back(inside);
    loop.op.results.push_back(kernel_.make_value(type, "", &loop.op));
    return inside;
  }

  // The slot that the first round reads for the round before it: copies of nothing are zeros.
  void clear_slots(const Loop& loop, Values values) {
    if (loop.ahead.delayed.empty()) return;
    const Value nobody = number(Type::scalar(b1), 0);
    repeat_slice(loop, values, nobody, false);
    repeat_slice(loop, values, nobody, true);
    for (std::size_t i = 0; i < loop.ahead.loads.size(); ++i) {
      const Op& load = *loop.ahead.loads[i];
      if (!loop.ahead.delayed.contains(&load)) continue;
      const Value mask = build_.splat(nobody, kernel_.type(load.result()));
      build_.set_location(load.location);
      build_.create(
          OpKind::CopyAsync,
          {mapped(load.operands, values)[0], number(Type::scalar(i32), loop.slots - 1), mask}, {},
          {{"buffer", loop.buffers[i]}});
    }
    build_.set_location(loop.op.location);
  }

  // Tiles that the loop carried to its next round stay in their slots: the slot's number is carried
  // instead.
  void read_delayed(Loop& loop, Region& behind) {
    if (loop.ahead.delayed.empty()) return;
    Region& body = loop.op.regions[0];
    const Value slot = body.arguments.back();  // of this round
    loop.op.operands.push_back(last_slot_);
    const Value before = carry(loop, "slot_before", Type::scalar(i32));
    loop.end().operands.push_back(slot);
    const Value last = loop.op.results.back();
    const Builder::Into into(build_, behind);
    build_.create(OpKind::WaitCopies, {}, {},
                  {{"pending", std::int64_t{0}}});  // of a loop without rounds
    for (std::size_t i = 0; i < loop.ahead.loads.size(); ++i) {
      const auto found = loop.ahead.delayed.find(loop.ahead.loads[i]);
      if (found == loop.ahead.delayed.end()) continue;
      read_instead(loop, body, i, before, body.arguments[found->second + 1]);
      const Value result = loop.op.results[found->second];
      results_[result.id] = build_.create_one(OpKind::ReadBuffer, {last}, kernel_.type(result),
                                              {{"buffer", loop.buffers[i]}});
    }
  }

  // Whoever reads the carried tile reads the slot of the round before.
  void read_instead(const Loop& loop, Region& body, std::size_t load, Value slot, Value carried) {
    Region read;
    const Builder::Into into(build_, read);
    const Value tile = build_.create_one(OpKind::ReadBuffer, {slot}, kernel_.type(carried),
                                         {{"buffer", loop.buffers[load]}});
    kernel_.set_name(tile, kernel_.name_of(carried));
    replace_uses(body, carried, tile);
    const auto commit = std::find_if(body.ops.begin(), body.ops.end(),
                                     [](const Op* op) { return op->kind == OpKind::CommitCopies; });
    body.ops.insert(commit + 1, read.ops.begin(), read.ops.end());
  }

 public:
  // Results of loops that are read from slots.
  void replace_results() {
    ir::walk(kernel_.body, [&](Op& op) {
      for (Value& operand : op.operands)
        if (const auto found = results_.find(operand.id); found != results_.end())
          operand = found->second;
    });
  }

 private:
  // The loads become reads of their buffers; their results stay the same values.
  void read_slots(Loop& loop, Value slot) {
    for (std::size_t i = 0; i < loop.ahead.loads.size(); ++i) {
      Op& load = *loop.ahead.loads[i];
      load.kind = OpKind::ReadBuffer;
      load.operands = {slot};
      load.attributes = {{"buffer", loop.buffers[i]}};
    }
  }

  Kernel& kernel_;
  const PipelineLoopsOptions& options_;
  const AxisAnalysis axes_;
  Builder build_;
  std::vector<std::string> notes_;
  Value last_slot_;                         // the constant, of the loop that is rewritten
  std::map<std::uint32_t, Value> results_;  // tiles behind loops that are read from slots
};

}  // namespace

std::vector<std::string> pipeline_loops(Kernel& kernel, const PipelineLoopsOptions& options) {
  if (kernel.stage != ir::Stage::Tile) return {};
  Pipeliner pipeliner(kernel, options);
  pipeliner.run(kernel.body);
  pipeliner.replace_results();
  eliminate_dead_code(kernel, Target{});  // carried values that are needed only ahead
  return pipeliner.take_notes();
}

void pipeline_loops(Kernel& kernel, const Target& target) {
  pipeline_loops(kernel, PipelineLoopsOptions{.shared_bytes = target.shared_bytes_per_block_optin});
}

}  // namespace tilewright
