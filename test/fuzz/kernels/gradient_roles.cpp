// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/gradient_roles.cpp — loops of attention's gradients: two products that start
// together, two sums that go on, tiles that lie behind each other from round to round, in an even
// or odd number of rounds. Small integers, so that every order of sums gives the same.
#include "roles.h"

#include <utility>

#include <fmt/format.h>

#include "draft.h"

namespace tilewright::fuzz {
namespace {

class GradientDraft {
 public:
  explicit GradientDraft(unsigned seed) {
    draft_.random.seed(seed * 2654435761u + 4321u);
    program_.seed = seed;
    program_.name = fmt::format("k{}", seed);
    program_.warps = draft_.chance(50) ? 4 : 8;
    rows_ = 64 << draft_.pick(2);
    depth_ = 16 << draft_.pick(3);
    columns_ = 16 << draft_.pick(2);
    rounds_ = 1 + draft_.pick(7);
    queries_ = columns_ * rounds_ + (draft_.chance(30) ? 1 + draft_.pick(columns_ - 1) : 0);
    is_turned_ = draft_.chance(50);
    has_row_ = draft_.chance(70);
    dtype_ = draft_.chance(70) ? f16 : bf16;
  }

  Program run() {
    add_arguments();
    begin();
    add_loop("0", draft_.chance(50) ? fmt::format("{} * {}", rounds_, columns_)
                                    : "queries // STEP * STEP");
    if (draft_.chance(50)) add_loop("queries // STEP * STEP", "queries");
    for (const char* name : {"d_k", "d_v"})
      line("tl.store({0}_out + (first + n)[:, None] * {1} + d[None, :], {0}.to(tl.int32))", name,
           depth_);
    return std::move(program_);
  }

 private:
  template <class... Parts>
  void line(fmt::format_string<Parts...> text, Parts&&... parts) {
    to_->push_back({{fmt::format(text, std::forward<Parts>(parts)...)}});
  }

  void add_arguments() {
    program_.grid = 1 + draft_.pick(2);
    const std::int64_t keys = std::int64_t{program_.grid} * rows_;
    program_.memory = {{dtype_, keys * depth_},
                       {dtype_, keys * depth_},
                       {dtype_, std::int64_t{queries_} * depth_},
                       {dtype_, std::int64_t{queries_} * depth_},
                       {i32, queries_},
                       {i32, keys * depth_, Memory::Fill::Zero},
                       {i32, keys * depth_, Memory::Fill::Zero}};
    program_.pointers = {{"k", 0, 0},    {"v", 1, 0},       {"q", 2, 0},      {"grad", 3, 0},
                         {"high", 4, 0}, {"d_k_out", 5, 0}, {"d_v_out", 6, 0}};
    program_.integers = {{"queries", queries_}};
  }

  void begin() {
    line("STEP: tl.constexpr = {}", columns_);
    line("first = tl.program_id(0) * {}", rows_);
    line("n = tl.arange(0, {})", rows_);
    line("d = tl.arange(0, {})", depth_);
    for (const char* name : {"k", "v"})
      line("{0}_tile = tl.load({0} + (first + n)[:, None] * {1} + d[None, :])", name, depth_);
    for (const char* name : {"d_k", "d_v"})
      line("{} = tl.zeros([{}, {}], tl.float32)", name, rows_, depth_);
  }

  // As rows of the tensor, or turned while it is loaded.
  void load(const char* name, const char* tensor) {
    line("{0} = tl.load({1} + m[:, None] * {2} + d[None, :], mask=m[:, None] < queries, other=0.0)",
         name, tensor, depth_);
  }
  void load_turned(const char* name, const char* tensor) {
    line("{0} = tl.load({1} + m[None, :] * {2} + d[:, None], mask=m[None, :] < queries, other=0.0)",
         name, tensor, depth_);
  }

  void add_loop(const std::string& from, const std::string& to) {
    Statement loop;
    loop.branches.push_back({fmt::format("for start in range({}, {}, STEP):", from, to), {}});
    Block* const outside = std::exchange(to_, &loop.branches[0].body);
    line("m = start + tl.arange(0, {})", columns_);
    if (is_turned_) load_turned("q_turned", "q");
    else load("q_tile", "q");
    line("s = tl.dot(k_tile, {}).to(tl.int32)", is_turned_ ? "q_turned" : "tl.trans(q_tile)");
    if (has_row_) line("s = s - tl.load(high + m, mask=m < queries, other=0)[None, :]");
    line("p = s % 5");
    if (draft_.chance(50)) line("p = tl.where((first + n)[:, None] <= m[None, :], p, 0)");
    load("grad_tile", "grad");
    line("d_v = tl.dot(p.to({}), grad_tile, d_v)", type_text(dtype_));
    line("d_p = tl.dot(v_tile, tl.trans(grad_tile)).to(tl.int32)");
    line("d_s = ((p * (d_p % 7)) % 5).to({})", type_text(dtype_));
    line("d_k {}= tl.dot(d_s, {})", "+", is_turned_ ? "tl.trans(q_turned)" : "q_tile");
    to_ = outside;
    to_->push_back(std::move(loop));
  }

  Draft draft_;
  Program program_;
  Block* to_ = &program_.body;
  int rows_ = 0, depth_ = 0, columns_ = 0, rounds_ = 0, queries_ = 0;
  bool is_turned_ = false, has_row_ = false;
  DType dtype_ = f16;
};

}  // namespace

Program generate_gradient_roles(unsigned seed) { return GradientDraft(seed).run(); }

}  // namespace tilewright::fuzz
