// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/head_maps_test.cpp — attention whose heads and batches are dimensions of a tensor
// map that a tile has one of: lengths that are no multiple of a tile must not see the next head's
// rows.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "tile_program.h"

namespace tilewright {
namespace {

// START: where a head's rows begin; ROW: how far they are apart.
std::string head_attention(std::string_view start, std::string_view row) {
  return fmt::format(R"(
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, heads, keys, by_batch, by_head, by_row, D: tl.constexpr,
              BM: tl.constexpr, BN: tl.constexpr):
    tl.assume(by_batch > 0)
    tl.assume(by_head > 0)
    tl.assume(by_row > 0)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    start = {0}
    q = tl.load(q_ptr + start + rows[:, None] * {1} + d[None, :], mask=rows[:, None] < keys, other=0.0)
    top = tl.full((BM,), float("-inf"), dtype=tl.float32)
    sums = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for first in range(0, keys, BN):
        n = first + tl.arange(0, BN)
        k = tl.load(k_ptr + start + n[:, None] * {1} + d[None, :], mask=n[:, None] < keys, other=0.0)
        s = tl.where(n[None, :] < keys, tl.dot(q, tl.trans(k)), float("-inf"))
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.math.exp2(s - higher[:, None])
        shrink = tl.math.exp2(top - higher)
        v = tl.load(v_ptr + start + n[:, None] * {1} + d[None, :], mask=n[:, None] < keys, other=0.0)
        acc = tl.dot(p.to(tl.float16), v, acc * shrink[:, None])
        sums = sums * shrink + tl.sum(p, 1)
        top = higher
    tl.store(out_ptr + start + rows[:, None] * {1} + d[None, :], (acc / sums[:, None]).to(tl.float16),
             mask=rows[:, None] < keys)
)",
                     start, row);
}

TileProgram heads_with_roles(const std::string& source) {
  Settings changed = settings();
  changed.extra_passes = "split_roles,delay_products";
  const SettingsOverride with_passes(changed);
  return TileProgram(
      source, "attention",
      "*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32, i32, i32:16, i32:16, i32:16, 64, "
      "128, 64",
      8);
}

// Heads that are not a number: a tile that reads one of their rows too many has it in its sums.
void expect_right(const TileProgram& program, std::int64_t batches, std::int64_t heads,
                  std::int64_t keys) {
  const std::int64_t by_row = 64, by_head = keys * by_row, by_batch = heads * by_head;
  const auto all = static_cast<std::size_t>(batches * by_batch);
  std::vector<Memory> memory;
  for (const unsigned seed : {1u, 2u, 3u}) memory.push_back(numbers(DType::Float16, all, seed));
  memory.push_back(zeros(DType::Float16, all));
  for (std::int64_t i = 0; i < by_head; ++i)
    for (Memory* of : {&memory[1], &memory[2]})
      of->set(static_cast<std::size_t>(by_head + i), std::nan(""));
  program.expect_same({.grid = {(keys + 127) / 128, batches * heads, 1},
                       .arguments = {&memory[0], &memory[1], &memory[2], &memory[3], heads, keys,
                                     by_batch, by_head, by_row},
                       .tolerance = 1e-2});
  EXPECT_FALSE(std::isnan(memory[3].at(0)));
  EXPECT_TRUE(std::isnan(memory[3].at(static_cast<std::size_t>(by_head))));
}

TEST(CudaHeadMaps, RowsOfAHeadEndWithIt) {
  const TileProgram program =
      heads_with_roles(head_attention("tl.program_id(1).to(tl.int64) * keys * D", "D"));
  EXPECT_NE(program.text().find("tw::copy_map("), std::string::npos) << program.text();
  expect_right(program, 1, 2, 72);
}

TEST(CudaHeadMaps, HeadsAndBatchesAreDimensions) {
  const TileProgram program = heads_with_roles(head_attention(
      "tl.program_id(1) // heads * by_batch + tl.program_id(1) % heads * by_head", "by_row"));
  const std::size_t copy = program.text().rfind("tw::copy_map(");
  ASSERT_NE(copy, std::string::npos) << program.text();
  const std::string call = program.text().substr(copy, program.text().find(';', copy) - copy);
  EXPECT_EQ(std::count(call.begin(), call.end(), ','), 2 + 4) << call;
  expect_right(program, 2, 2, 72);
}

// A stride that may be negative has no map.
TEST(CudaHeadMaps, UnknownStridesHaveNone) {
  std::string source = head_attention("tl.program_id(1) * by_head", "by_row");
  const std::string promise = "    tl.assume(by_head > 0)\n";
  source.erase(source.find(promise), promise.size());
  EXPECT_EQ(heads_with_roles(source).text().find("tw::copy_map("), std::string::npos);
}

}  // namespace
}  // namespace tilewright
