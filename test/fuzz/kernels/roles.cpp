// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/roles.cpp — how tiles are addressed, where loops begin and end, what scales sums:
// small integers in all of it, so that every order of sums gives the same.
#include "roles.h"

#include <utility>

#include <fmt/format.h>

#include "draft.h"

namespace tilewright::fuzz {
namespace {

// A row of a warpgroup's product is a row of 16 threads: 8 warps have 128.
constexpr int rows = 128;

class RolesDraft {
 public:
  explicit RolesDraft(unsigned seed) {
    draft_.random.seed(seed * 2654435761u + 777u);
    program_.seed = seed;
    program_.name = fmt::format("k{}", seed);
    program_.warps = 8;
    depth_ = 16 << draft_.pick(3);
    columns_ = 16 << draft_.pick(3);
    heads_ = 1 + draft_.pick(2);
    keys_ = columns_ * (1 + draft_.pick(4)) +
            (draft_.chance(50) ? 8 * (1 + draft_.pick(columns_ / 8)) : 0);
    dtype_ = draft_.chance(70) ? f16 : bf16;
    form_ = static_cast<Form>(draft_.pick(3));
    is_scaled_ = draft_.chance(70);
    loads_late_ = draft_.chance(50);
  }

  Program run() {
    add_arguments();
    begin();
    const int loops = 1 + draft_.pick(3);
    if (loops == 1) add_loop("0", "keys", draft_.chance(70));
    else add_loops_in_a_row(loops);
    line("tl.store(out + (first + tl.arange(0, {}))[:, None] * {} + d[None, :], acc.to(tl.int32))",
         rows, depth_);
    if (is_scaled_) line("tl.store(highs + first + tl.arange(0, {}), high)", rows);
    return std::move(program_);
  }

 private:
  enum class Form { Pointers, Descriptors, BlockPointers };

  template <class... Parts>
  void line(fmt::format_string<Parts...> text, Parts&&... parts) {
    to_->push_back({{fmt::format(text, std::forward<Parts>(parts)...)}});
  }

  void add_arguments() {
    const int blocks = 1 + draft_.pick(2);
    program_.grid = blocks * heads_;
    const std::int64_t tensor = std::int64_t{heads_} * keys_ * depth_;
    const std::int64_t results = std::int64_t{program_.grid} * rows;
    program_.memory = {{dtype_, results * depth_},
                       {dtype_, tensor},
                       {dtype_, tensor},
                       {i32, results * depth_, Memory::Fill::Zero},
                       {i32, results, Memory::Fill::Zero}};
    program_.pointers = {{"q", 0, 0}, {"k", 1, 0}, {"v", 2, 0}, {"out", 3, 0}, {"highs", 4, 0}};
    program_.integers = {{"keys", keys_}, {"heads", heads_}};
  }

  void begin() {
    line("pid = tl.program_id(0)");
    line("head = pid % heads");
    line("block = pid // heads");
    line("first = pid * {}", rows);
    line("d = tl.arange(0, {})", depth_);
    line("left = tl.load(q + (first + tl.arange(0, {}))[:, None] * {} + d[None, :])", rows, depth_);
    line("acc = tl.zeros([{}, {}], tl.float32)", rows, depth_);
    line("high = tl.zeros([{}], tl.int32)", rows);
    for (const char* name : {"k", "v"}) {
      if (form_ == Form::Descriptors)
        line(
            "{0}_tiles = tl.make_tensor_descriptor({0}, [heads * keys, {1}], [{1}, 1], [{2}, {1}])",
            name, depth_, columns_);
      if (form_ == Form::BlockPointers)
        line(
            "{0}_tiles = tl.make_block_ptr({0} + head * keys * {1}, (keys, {1}), ({1}, 1), (0, 0), "
            "({2}, {1}), (1, 0))",
            name, depth_, columns_);
    }
  }

  // Rounds that grow with the block first; then the rest, or some of it.
  void add_loops_in_a_row(int count) {
    line("split = tl.minimum(block * {}, keys // {}) * {}", 1 + draft_.pick(2), columns_, columns_);
    add_loop("0", "split", draft_.chance(70));
    if (count == 2) return add_loop("split", "keys", draft_.chance(50));
    line("later = tl.minimum(split + {}, keys // {} * {})", columns_, columns_, columns_);
    add_loop("split", "later", true);
    add_loop("later", "keys", false);
  }

  std::string load(const char* name) const {
    if (form_ == Form::Descriptors)
      return fmt::format("{}_tiles.load([head * keys + start, 0])", name);
    if (form_ == Form::BlockPointers)
      return fmt::format("tl.load({}_tiles, boundary_check=(0,), padding_option=\"zero\")", name);
    return fmt::format(
        "tl.load({0} + head * keys * {1} + n[:, None] * {1} + d[None, :], mask=n[:, None] < keys, "
        "other=0.0)",
        name, depth_);
  }

  void add_loop(std::string_view from, std::string_view to, bool is_masked) {
    Statement loop;
    loop.branches.push_back(
        {fmt::format("for start in range({}, {}, {}):", from, to, columns_), {}});
    Block* const outside = std::exchange(to_, &loop.branches[0].body);
    line("n = start + tl.arange(0, {})", columns_);
    line("k_tile = {}", load("k"));
    if (!loads_late_) line("v_tile = {}", load("v"));
    line("s = tl.dot(left, tl.trans(k_tile)).to(tl.int32)");
    if (is_masked) line("s = tl.where(n[None, :] < keys, s, 0)");
    if (is_scaled_) {
      line("next = tl.maximum(high, tl.max(s, axis=1) % 5)");
      line("factor = (1 + (next - high) % 2).to(tl.float32)");
      line("high = next");
      line("acc = acc * factor[:, None]");
    }
    line("p = ((s{}) % 7).to({})", is_scaled_ ? " - high[:, None]" : "", type_text(dtype_));
    if (loads_late_) line("v_tile = {}", load("v"));
    line("acc = tl.dot(p, v_tile, acc)");
    if (form_ == Form::BlockPointers)
      for (const char* name : {"k", "v"})
        line("{0}_tiles = tl.advance({0}_tiles, ({1}, 0))", name, columns_);
    to_ = outside;
    to_->push_back(std::move(loop));
  }

  Draft draft_;
  Program program_;
  Block* to_ = &program_.body;
  int depth_ = 0, columns_ = 0, heads_ = 1, keys_ = 0;
  DType dtype_ = f16;
  Form form_ = Form::Pointers;
  bool is_scaled_ = false, loads_late_ = false;
};

}  // namespace

Program generate_attention_roles(unsigned seed) { return RolesDraft(seed).run(); }

Program generate_roles(unsigned seed) {
  switch (seed % 4) {
    case 1:
      return generate_gradient_roles(seed);
    case 2:
      return generate_softmax_roles(seed);
    case 3:
      return generate_product_roles(seed);
  }
  return generate_attention_roles(seed);
}

}  // namespace tilewright::fuzz
