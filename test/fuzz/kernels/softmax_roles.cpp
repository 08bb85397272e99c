// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/softmax_roles.cpp — attention's softmax from round to round: a largest element, sums
// that shrink as it grows, rows that have no number in their first rounds. Half of the kernels have
// something that makes two rounds another thing than one of twice the width: sums that shrink by
// another factor or not at all, a number of 8 bits that grows. Elements are small integers, so that
// powers of two and their sums are exact in any order.
#include "roles.h"

#include <utility>

#include <fmt/format.h>

#include "draft.h"

namespace tilewright::fuzz {
namespace {

class SoftmaxDraft {
 public:
  explicit SoftmaxDraft(unsigned seed) {
    draft_.random.seed(seed * 2654435761u + 97u);
    program_.seed = seed;
    program_.name = fmt::format("k{}", seed);
    program_.warps = draft_.chance(50) ? 4 : 8;
    rows_ = 64 << draft_.pick(2);
    depth_ = 16 << draft_.pick(3);
    columns_ = 16 << draft_.pick(3);
    rounds_ = 1 + draft_.pick(6);
    keys_ = columns_ * rounds_;
    dtype_ = draft_.chance(70) ? f16 : bf16;
    begins_finite_ = draft_.chance(30);
    begins_later_ = draft_.chance(70);
    Draft twist;
    twist.random.seed(seed * 2654435761u + 1009u);
    twist_ = static_cast<Twist>(twist.chance(50) ? twist.pick(5) : 5);
    if (twist_ == Twist::Columns) depth_ = rows_ = 64;
  }

  Program run() {
    add_arguments();
    begin();
    if (draft_.chance(50)) add_loop("0", "keys");
    else {
      line("split = tl.program_id(0) * STEP");
      add_loop("0", "split");
      add_loop("split", "keys");
    }
    if (twist_ == Twist::Unscaled) line("acc += more");
    // In units of the least power of two; -1 for what is no number.
    line("whole = tl.where(acc == acc, acc * 256, -1.0).to(tl.int32)");
    line("tl.store(out + (first + m)[:, None] * {} + d[None, :], whole)", depth_);
    line("tl.store(sums + first + m, tl.where(sum == sum, sum * 256, -1.0).to(tl.int32))");
    return std::move(program_);
  }

 private:
  enum class Twist { Columns, OtherSoftmax, Unscaled, NarrowIndex, NarrowCount, None };

  template <class... Parts>
  void line(fmt::format_string<Parts...> text, Parts&&... parts) {
    to_->push_back({{fmt::format(text, std::forward<Parts>(parts)...)}});
  }

  void add_arguments() {
    program_.grid = 1 + draft_.pick(2);
    const std::int64_t rows = std::int64_t{program_.grid} * rows_;
    const std::int64_t tensor = std::int64_t{keys_} * depth_;
    program_.memory = {{dtype_, rows * depth_},
                       {dtype_, tensor},
                       {dtype_, tensor},
                       {i32, rows * depth_, Memory::Fill::Zero},
                       {i32, rows, Memory::Fill::Zero}};
    program_.pointers = {{"q", 0, 0}, {"k", 1, 0}, {"v", 2, 0}, {"out", 3, 0}, {"sums", 4, 0}};
    program_.integers = {{"keys", keys_}};
  }

  void begin() {
    line("STEP: tl.constexpr = {}", columns_);
    line("first = tl.program_id(0) * {}", rows_);
    line("m = tl.arange(0, {})", rows_);
    line("d = tl.arange(0, {})", depth_);
    line("left = tl.load(q + (first + m)[:, None] * {} + d[None, :])", depth_);
    line("acc = tl.zeros([{}, {}], tl.float32)", rows_, depth_);
    line("sum = tl.zeros([{}], tl.float32)", rows_);
    line("high = tl.zeros([{}], tl.float32) - {}", rows_,
         begins_finite_ ? "3.0" : "float(\"inf\")");
    if (begins_later_) line("begins = m % {}", columns_ + columns_ / 2);
    if (twist_ == Twist::OtherSoftmax) line("low = tl.zeros([{}], tl.float32) - 6.0", rows_);
    if (twist_ == Twist::Unscaled) line("more = tl.zeros([{}, {}], tl.float32)", rows_, depth_);
    if (twist_ == Twist::NarrowCount) line("count = tl.full((), {}, tl.int8)", 112);
  }

  // Columns where a number of 8 bits, which wraps, is less than 64.
  void mask_narrow() {
    if (twist_ == Twist::NarrowIndex) line("count = (start + {}).to(tl.int8)", 128 - columns_);
    line("by = count.to(tl.int32) + tl.arange(0, {})", columns_);
    line("x = tl.where(by[None, :] < 64, x, -7.0)");
    if (twist_ == Twist::NarrowCount) line("count += tl.full((), {}, tl.int8)", columns_);
  }

  void add_loop(const char* from, const char* to) {
    Statement loop;
    loop.branches.push_back({fmt::format("for start in range({}, {}, STEP):", from, to), {}});
    Block* const outside = std::exchange(to_, &loop.branches[0].body);
    line("n = start + tl.arange(0, {})", columns_);
    for (const char* name : {"k", "v"})
      line("{0}_tile = tl.load({0} + n[:, None] * {1} + d[None, :])", name, depth_);
    line("x = (tl.dot(left, tl.trans(k_tile)).to(tl.int32) % 6).to(tl.float32)");
    if (begins_later_) line("x = tl.where(n[None, :] >= begins[:, None], x, float(\"-inf\"))");
    if (twist_ == Twist::NarrowIndex || twist_ == Twist::NarrowCount) mask_narrow();
    line("next = tl.maximum(high, tl.max(x, 1))");
    line("shrink = tl.exp2(high - next)");
    line("p = tl.exp2(x - next[:, None])");
    line("sum = sum * shrink + tl.sum(p, 1)");
    if (twist_ == Twist::OtherSoftmax) {
      line("lower = tl.maximum(low, tl.max(tl.where(x > -6.0, 0.0 - x, -6.0), 1))");
      line("shrink = tl.exp2(low - lower)");
      line("low = lower");
    }
    line("acc = acc * shrink[{}]", twist_ == Twist::Columns ? "None, :" : ":, None");
    line("narrow = p.to({})", type_text(dtype_));
    line("acc = tl.dot(narrow, v_tile, acc)");
    if (twist_ == Twist::Unscaled) line("more = tl.dot(narrow + narrow, v_tile, more)");
    line("high = next");
    to_ = outside;
    to_->push_back(std::move(loop));
  }

  Draft draft_;
  Program program_;
  Block* to_ = &program_.body;
  int rows_ = 0, depth_ = 0, columns_ = 0, rounds_ = 0, keys_ = 0;
  DType dtype_ = f16;
  bool begins_finite_ = false, begins_later_ = false;
  Twist twist_ = Twist::None;
};

}  // namespace

Program generate_softmax_roles(unsigned seed) { return SoftmaxDraft(seed).run(); }

}  // namespace tilewright::fuzz
