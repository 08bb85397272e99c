// SPDX-License-Identifier: Apache-2.0
// cli/occupancy.cpp — `tilewright info --occupancy`: resident blocks, their limit, waves, and what
// to change.
#include "runtime/occupancy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/table.h"
#include "base/units.h"
#include "bench/json.h"
#include "cli/verbs.h"
#include "tilewright/device.h"

namespace tilewright::cli {
namespace {

struct Question {
  Target target;
  BlockResources block;
  std::optional<std::int64_t> grid;
};

struct Answer {
  Occupancy occupancy;
  int suggested_threads = 0;
  NextStep next;
  std::optional<Waves> waves;
};

Question question_of(const OccupancyOptions& options) {
  Question q;
  const bool use_device = !options.target && cuda_device_count() > 0;
  q.target =
      use_device ? Device::cuda().target() : Target::parse(options.target.value_or("sm_90a"));
  q.block.registers = options.registers;
  q.block.shared_bytes = options.shared_bytes;
  q.grid = options.grid;
  // The check of the other numbers must come first: a suggestion for an impossible block is none.
  q.block.threads = options.threads.value_or(q.target.warp_size);
  if (q.grid && *q.grid < 1)
    throw UsageError{fmt::format("--grid must be 1 or more, got {}", *q.grid)};
  static_cast<void>(occupancy(q.target, q.block));
  if (!options.threads)
    q.block.threads = suggest_threads(q.target, q.block.registers, q.block.shared_bytes);
  return q;
}

Answer answer_of(const Question& q) {
  Answer a;
  a.occupancy = occupancy(q.target, q.block);
  a.suggested_threads = suggest_threads(q.target, q.block.registers, q.block.shared_bytes);
  a.next = next_step(q.target, q.block);
  if (q.grid) a.waves = waves_of(q.target, a.occupancy, *q.grid);
  return a;
}

std::vector<std::string> limit_names(const Occupancy& o) {
  std::vector<std::string> names;
  for (OccupancyLimit limit : o.limits) names.push_back(name_of(limit));
  return names;
}

std::string percent(double fraction) { return fmt::format("{:.1f}%", 100 * fraction); }

std::string limits_text(const Occupancy& o) {
  return fmt::format("{} (blocks {}, threads {}, registers {}, shared memory {})",
                     fmt::join(limit_names(o), " and "), o.blocks_by_count, o.blocks_by_threads,
                     o.blocks_by_registers, o.blocks_by_shared_memory);
}

std::string waves_text(const Waves& w, std::int64_t grid) {
  if (w.blocks_per_wave == 0) return "none: the block does not fit";
  const std::string tail =
      w.tail_blocks == 0 ? "no tail" : fmt::format("a tail of {} blocks", w.tail_blocks);
  return fmt::format(
      "{:.2f} for {} blocks, {} at a time: {} full, {}; processors busy {} of the time", w.waves,
      grid, w.blocks_per_wave, w.full_waves, tail, percent(w.efficiency));
}

std::string suggestion_text(const Question& q, const Answer& a) {
  if (a.suggested_threads == 0) return "no block size fits";
  const double best =
      occupancy(q.target, {a.suggested_threads, q.block.registers, q.block.shared_bytes}).fraction;
  if (best <= a.occupancy.fraction)
    return fmt::format("no block size has more than {}", percent(best));
  return fmt::format("{} threads have {}", a.suggested_threads, percent(best));
}

std::string next_text(const Answer& a) {
  std::vector<std::string> ways;
  if (a.next.registers >= 0)
    ways.push_back(fmt::format("at most {} registers per thread", a.next.registers));
  if (a.next.shared_bytes >= 0)
    ways.push_back(fmt::format("at most {} bytes of shared memory", a.next.shared_bytes));
  return ways.empty() ? "nothing saved in one resource alone"
                      : fmt::format("{}", fmt::join(ways, ", or "));
}

// The same kernel at the usual block sizes.
std::string sizes_text(const Question& q) {
  using enum Align;
  Table table({{"threads", Right}, {"blocks", Right}, {"occupancy", Right}, {"limited by", Left}},
              2);
  for (int threads : {32, 64, 128, 256, 512, 1024}) {
    if (threads > q.target.max_threads_per_block) continue;
    const Occupancy o = occupancy(q.target, {threads, q.block.registers, q.block.shared_bytes});
    table.add({std::to_string(threads), std::to_string(o.blocks_per_processor), percent(o.fraction),
               fmt::format("{}", fmt::join(limit_names(o), ", "))});
  }
  return table.to_string();
}

void print_text(const Question& q, const Answer& a) {
  const Occupancy& o = a.occupancy;
  fmt::print("{}: {} threads per block, {} registers per thread, {} of shared memory per block\n",
             q.target.name, q.block.threads, q.block.registers,
             format_bytes(static_cast<std::size_t>(q.block.shared_bytes)));
  Table table({{}, {}}, 2);
  table.add({"occupancy", fmt::format("{}: {} of {} warps", percent(o.fraction),
                                      o.warps_per_processor, o.max_warps_per_processor)});
  table.add({"resident blocks", fmt::format("{} per multiprocessor", o.blocks_per_processor)});
  table.add({"limited by", limits_text(o)});
  if (a.waves) table.add({"waves", waves_text(*a.waves, *q.grid)});
  table.add({"block size", suggestion_text(q, a)});
  table.add({"one block more", next_text(a)});
  fmt::print("{}\n{}", table.to_string(), sizes_text(q));
}

void print_json(const Question& q, const Answer& a) {
  const Occupancy& o = a.occupancy;
  Json out = {
      {"target", q.target.name},
      {"threads", q.block.threads},
      {"registers", q.block.registers},
      {"shared_bytes", q.block.shared_bytes},
      {"blocks_per_processor", o.blocks_per_processor},
      {"warps_per_processor", o.warps_per_processor},
      {"max_warps_per_processor", o.max_warps_per_processor},
      {"occupancy", o.fraction},
      {"limited_by", limit_names(o)},
      {"blocks_by",
       {{"blocks", o.blocks_by_count},
        {"threads", o.blocks_by_threads},
        {"registers", o.blocks_by_registers},
        {"shared_memory", o.blocks_by_shared_memory}}},
      {"suggested_threads", a.suggested_threads},
  };
  if (a.next.registers >= 0) out["registers_for_one_block_more"] = a.next.registers;
  if (a.next.shared_bytes >= 0) out["shared_bytes_for_one_block_more"] = a.next.shared_bytes;
  if (a.waves)
    out["grid"] = {{"blocks", *q.grid},
                   {"blocks_per_wave", a.waves->blocks_per_wave},
                   {"waves", a.waves->waves},
                   {"full_waves", a.waves->full_waves},
                   {"tail_blocks", a.waves->tail_blocks},
                   {"efficiency", a.waves->efficiency}};
  fmt::print("{}\n", text_of(out));
}

}  // namespace

void run_occupancy(const OccupancyOptions& options) {
  const Question question = question_of(options);
  const Answer answer = answer_of(question);
  options.json ? print_json(question, answer) : print_text(question, answer);
}

}  // namespace tilewright::cli
