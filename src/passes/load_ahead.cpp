// SPDX-License-Identifier: Apache-2.0
// passes/load_ahead.cpp — the first row before the loop, the next one at the begin of its body.
#include "passes/load_ahead.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/edit_regions.h"
#include "passes/pipeline_loops/candidates.h"
#include "passes/repeat_ops.h"
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

// Of loops that did not ask. Blocks of more than 256 threads have no registers left for it.
constexpr std::int64_t most_bytes_of_block = std::int64_t{16} * 256 * 4;
// A round of a recurrence takes a small part of the time that memory takes to answer; one with a
// reduction most of it.
constexpr std::int64_t most_rounds = 4;
constexpr std::int64_t few_bytes = 512;
constexpr std::uint64_t many_rounds = 16;

class RowLoader {
 public:
  RowLoader(Kernel& kernel, std::int64_t most_bytes)
      : kernel_(kernel), most_bytes_(most_bytes), axes_(kernel), build_(kernel) {}

  void run(Region& region) {
    rewrite_ops(region, [&](Op& op, Region& before, Region&) {
      for (Region& inner : op.regions) run(inner);
      if (op.kind == OpKind::For && most_bytes_of(op) > 0 && goes_up(op)) rewrite(op, before);
    });
  }

 private:
  // Who asked for it, or why it pays.
  bool asks(const Op& loop) const { return loop.integer("stages") >= 2; }
  bool reduces(const Op& loop) const {
    const std::vector<Op*>& ops = loop.regions[0].ops;
    return std::any_of(ops.begin(), ops.end(), [](const Op* op) {
      return op->kind == OpKind::Reduce && !op->find("parts");
    });
  }
  bool carries_tiles(const Op& loop) const {
    return std::any_of(loop.results.begin(), loop.results.end(),
                       [&](Value value) { return kernel_.type(value).is_tile(); });
  }

  // What a loop may load ahead: nothing where nobody asked for it and no round waits for another.
  std::int64_t most_bytes_of(const Op& loop) const {
    if (asks(loop)) return most_bytes_;
    const bool waits = reduces(loop) || carries_tiles(loop);
    if (loop.find("stages") || !waits || most_bytes_ > most_bytes_of_block) return 0;
    return reduces(loop) ? 2 * most_bytes_ : most_bytes_;
  }

  // Many rounds, each with so little that a multiprocessor full of such programs does not keep
  // memory busy: it waits for memory whatever a round does.
  bool has_short_rounds(const Op& loop, std::int64_t bytes) const {
    const auto from = ir::integer_constant(kernel_, loop.operands[0]);
    const auto to = ir::integer_constant(kernel_, loop.operands[1]);
    const auto step = ir::integer_constant(kernel_, loop.operands[2]);
    if (bytes > few_bytes || !from || !to || !step || *step <= 0 || *to <= *from) return false;
    const auto length = static_cast<std::uint64_t>(*to) - static_cast<std::uint64_t>(*from);
    return length / static_cast<std::uint64_t>(*step) >= many_rounds;
  }

  std::size_t rounds_ahead(const Op& loop, std::int64_t bytes) const {
    const bool is_one = asks(loop) || (reduces(loop) && !has_short_rounds(loop, bytes));
    const std::int64_t most = is_one ? 1 : most_rounds;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(most_bytes_of(loop) / bytes, 1, most));
  }

  bool goes_up(const Op& loop) const {
    const Op* step = kernel_.maker(loop.operands[2]);
    const auto known = ir::integer_constant(kernel_, loop.operands[2]);
    const bool is_count = step && step->kind == OpKind::NumPrograms;
    return (is_count || (known && *known > 0)) &&
           kernel_.type(loop.operands[0]).dtype != DType::UInt64;
  }

  // Whether rounds take pieces of one row: the index counts from a constant on, and addresses add
  // it as it is or times a constant. Such loops have one round in most launches, and as many
  // programs as there are rows.
  bool goes_along_row(const Op& loop, const LoadsAhead& ahead) const {
    const auto is_constant = [&](Value value) {
      return ir::integer_constant(kernel_, value).has_value();
    };
    return ahead.carried.empty() && is_constant(loop.operands[0]) &&
           std::none_of(ahead.slice.begin(), ahead.slice.end(), [&](const Op* op) {
             return op->kind == OpKind::Multiply &&
                    std::none_of(op->operands.begin(), op->operands.end(), is_constant);
           });
  }

  // A mask of bounds can be closed; so can a load without one.
  bool can_close(const Op& load) const {
    if (load.operands.size() < 2) return true;
    const Op* mask = kernel_.maker(load.operands[1]);
    return mask && mask->kind == OpKind::Bounds;
  }

  void rewrite(Op& loop, Region& before) {
    const LoadsAhead ahead = find_rows_ahead(kernel_, axes_, loop);
    const bool fits = ahead.stage_bytes <= most_bytes_of(loop) &&
                      std::none_of(ahead.slice.begin(), ahead.slice.end(),
                                   [](const Op* op) { return op->kind == OpKind::Load; }) &&
                      std::all_of(ahead.loads.begin(), ahead.loads.end(),
                                  [&](const Op* load) { return can_close(*load); });
    if (ahead.loads.empty() || !fits) return;
    const bool waits = asks(loop) || has_short_rounds(loop, ahead.stage_bytes);
    if (!waits && goes_along_row(loop, ahead)) return;
    const std::size_t rounds = rounds_ahead(loop, ahead.stage_bytes);
    std::vector<std::vector<Value>> first;  // by round
    {
      const Builder::Into into(build_, before);
      Round round = first_round(loop, ahead);
      for (std::size_t k = 0; k < rounds; ++k) {
        if (k > 0) round = next_round(loop, ahead, round);
        first.push_back(rows(loop, ahead, round));
      }
    }
    Region top;
    std::vector<Value> next;
    {
      const Builder::Into into(build_, top);
      Round round = this_round(loop);
      for (std::size_t k = 0; k < rounds; ++k) round = next_round(loop, ahead, round);
      next = rows(loop, ahead, round);
    }
    for (std::size_t i = 0; i < ahead.loads.size(); ++i) {
      std::vector<Value> begin;
      for (const std::vector<Value>& loaded : first) begin.push_back(loaded[i]);
      carry(loop, *ahead.loads[i], begin, next[i]);
    }
    std::erase_if(loop.attributes,
                  [](const ir::Attribute& a) { return a.name == "stages"; });  // done
    // A row that was asked for last would else be waited for where the rows move up.
    if (rounds > 1 && loop.integer("unroll") == 0)
      loop.set("unroll", static_cast<std::int64_t>(rounds));
    put_first(loop.regions[0], top);
  }

  // What the arguments of the body are in a round, and the index in 64 bits: behind the last round
  // it would overflow.
  struct Round {
    IterationValues values;
    Value index;
    Value wide;
  };

  Round first_round(const Op& loop, const LoadsAhead& ahead) {
    build_.set_location(loop.location);
    const Region& body = loop.regions[0];
    Round out{{}, loop.operands[0], build_.cast(loop.operands[0], i64)};
    out.values[body.arguments[0].id] = out.index;
    for (const std::size_t slot : ahead.carried)
      out.values[body.arguments[slot + 1].id] = loop.operands[slot + 3];
    return out;
  }

  Round this_round(const Op& loop) {
    build_.set_location(loop.location);
    const Value index = loop.regions[0].arguments[0];
    return {{}, index, build_.cast(index, i64)};
  }

  Round next_round(const Op& loop, const LoadsAhead& ahead, const Round& round) {
    const Region& body = loop.regions[0];
    IterationValues now = round.values;
    if (!ahead.carried.empty())
      for (const Op* op : ahead.slice) repeat(build_, *op, mapped(op->operands, now), now);
    build_.set_location(loop.location);
    Round out{{},
              build_.binary(OpKind::Add, round.index, loop.operands[2]),
              build_.binary(OpKind::Add, round.wide, build_.cast(loop.operands[2], i64))};
    out.values[body.arguments[0].id] = out.index;
    for (const std::size_t slot : ahead.carried)
      out.values[body.arguments[slot + 1].id] =
          mapped({body.ops.back()->operands[slot]}, now).front();
    return out;
  }

  // The loads of a round, which may lie behind the end.
  std::vector<Value> rows(const Op& loop, const LoadsAhead& ahead, const Round& round) {
    build_.set_location(loop.location);
    const Value is_there = build_.compare("lt", round.wide, build_.cast(loop.operands[1], i64));
    IterationValues values = round.values;
    for (const Op* op : ahead.slice) repeat(build_, *op, mapped(op->operands, values), values);
    std::vector<Value> out;
    for (const Op* load : ahead.loads) {
      std::vector<Value> operands = mapped(load->operands, values);
      const Value mask = closed(*load, operands, is_there);
      if (operands.size() < 2) operands.push_back(mask);
      operands[1] = mask;
      out.push_back(repeat(build_, *load, std::move(operands), values)->result());
    }
    return out;
  }

  Value closed(const Op& load, const std::vector<Value>& operands, Value is_there) {
    const Type& type = kernel_.type(load.result());
    build_.set_location(load.location);
    std::vector<Value> bounds;
    if (operands.size() > 1) bounds = kernel_.maker(operands[1])->operands;
    for (int d = 0; bounds.size() < 2 * static_cast<std::size_t>(type.rank); ++d) {
      bounds.push_back(build_.constant(Type::scalar(i64), std::int64_t{0}));
      bounds.push_back(build_.constant(Type::scalar(i64), type.size(d)));
    }
    // A number of 32 bits is compared as such.
    Value high = bounds[1];
    const Op* cast = kernel_.maker(high);
    if (cast && cast->kind == OpKind::Cast && kernel_.type(cast->operands[0]).dtype == i32)
      high = cast->operands[0];
    const Value none = build_.constant(kernel_.type(high), std::int64_t{0});
    bounds[1] = build_.cast(build_.select(is_there, high, none), i64);
    return build_.create_one(OpKind::Bounds, std::move(bounds), type.with_element(b1));
  }

  // The loop carries the rows of the rounds to come; the load is gone.
  void carry(Op& loop, const Op& load, const std::vector<Value>& first, Value next) {
    Region& body = loop.regions[0];
    const Value old = load.result();
    const std::string name = kernel_.name_of(old).empty() ? "row" : kernel_.name_of(old);
    std::vector<Value> rows;
    for (std::size_t k = 0; k < first.size(); ++k) {
      rows.push_back(
          kernel_.make_value(kernel_.type(old), k == 0 ? kernel_.name_of(old) : "", nullptr));
      loop.operands.push_back(first[k]);
      loop.results.push_back(kernel_.make_value(kernel_.type(old), "", &loop));
    }
    kernel_.set_name(next, "next_" + name);
    body.arguments.insert(body.arguments.end(), rows.begin(), rows.end());
    body.ops.erase(std::find(body.ops.begin(), body.ops.end(), &load));
    replace_uses(body, old, rows[0]);
    std::vector<Value>& yielded = body.ops.back()->operands;
    yielded.insert(yielded.end(), rows.begin() + 1, rows.end());
    yielded.push_back(next);
  }

  Kernel& kernel_;
  const std::int64_t most_bytes_;
  const AxisAnalysis axes_;
  Builder build_;
};

}  // namespace

void load_ahead(Kernel& kernel, std::int64_t most_bytes) {
  if (kernel.stage == ir::Stage::Tile) RowLoader(kernel, most_bytes).run(kernel.body);
}

void load_ahead(Kernel& kernel, const Target&) { load_ahead(kernel, 128 * 16 * 4); }

}  // namespace tilewright
