// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/long_rows.cpp — a row of floats at the end of a kernel, as softmax and norms have
// one: the largest of it, what is left without that, its sum, and the result in memory.
//
// It is made by dice of its own, so that the rest of a kernel is the same with and without it.
#include <fmt/format.h>

#include "statement_parts.h"

namespace tilewright::fuzz {
namespace {

class RowWriter {
 public:
  RowWriter(Draft& draft, std::mt19937& random) : draft_(draft), random_(random) {
    constexpr int lengths[] = {256, 512, 1024, 2048};
    constexpr DType dtypes[] = {f32, f32, f16, bf16};
    length_ = lengths[pick(4)];
    width_ = pick(2) == 0 ? length_ : length_ - 1 - pick(length_ / 2);
    dtype_ = dtypes[pick(4)];
  }

  void run(Block& body) {
    add_memory("rows", dtype_, Memory::Fill::Values);
    add_memory("row_out", pick(3) == 0 ? f16 : f32, Memory::Fill::Zero);
    const bool has_weights = pick(3) == 0;
    if (has_weights) add_memory("weights", f32, Memory::Fill::Values);
    const std::string first = draft_.program.grid > 1 ? fmt::format("pid * {} + rc", width_) : "rc";
    const bool is_masked = width_ < length_, is_low = is_masked && pick(2) == 0;
    const std::string mask = is_masked ? ", mask=inside" : "";
    const auto add = [&](const std::string& line) { body.push_back({{line}}); };
    add(fmt::format("rc = tl.arange(0, {})", length_));
    add(fmt::format("inside = rc < {}", width_));
    const char* other = !is_masked ? "" : is_low ? ", other=-float('inf')" : ", other=0";
    add(fmt::format("row = tl.load(rows + {}{}{}).to(tl.float32)", first, mask, other));
    const bool has_high = is_low || pick(3) > 0;
    if (has_high) add("high = tl.max(row, axis=0)");
    add(fmt::format("left = {}", has_high ? "row - high" : "row * 2 + 1"));
    if (is_masked) add("left = tl.where(inside, left, 0.0)");
    add(fmt::format("total = tl.sum({}, axis=0)", pick(2) == 0 ? "left" : "left * 3 - 1"));
    if (pick(4) == 0) add("total += tl.sum(tl.maximum(left, -7.0), axis=0)");
    if (has_weights) add(fmt::format("weight = tl.load(weights + {}{})", first, mask));
    // An f16 holds integers up to 2048.
    add(fmt::format("result = (left{} + total) % 1024", has_weights ? " * weight" : ""));
    add(fmt::format("tl.store(row_out + {}, result{})", first, mask));
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  void add_memory(const std::string& name, DType dtype, Memory::Fill fill) {
    Program& program = draft_.program;
    program.pointers.push_back({name, program.memory.size(), 0});
    program.memory.push_back({dtype, std::int64_t{width_} * program.grid, fill});
  }

  Draft& draft_;
  std::mt19937& random_;
  int length_ = 0, width_ = 0;
  DType dtype_ = f32;
};

}  // namespace

void add_long_row(Draft& draft, Block& body) {
  std::mt19937 random(draft.program.seed * 40503u + 977u);
  if (random() % 100 < 30) RowWriter(draft, random).run(body);
}

}  // namespace tilewright::fuzz
