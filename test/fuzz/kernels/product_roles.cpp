// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/product_roles.cpp — products that have a producer and consumers by themselves: rows
// that wrap or not, both orders of B, ends of the depth, rounds too deep for three slots, loops of
// the kernel's own over tiles, strides that may be 0, rounds whose number is known, results with a
// margin, masked elements that are no zeros, sums of an operand's rows, rounds behind the depth,
// rounds that are stored and loaded, results that begin in front of their tensor, rows that are
// read from any element on.
#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "draft.h"
#include "roles.h"

namespace tilewright::fuzz {
namespace {

constexpr int rows = 128, columns = 256;  // of a tile: the smallest that has roles

class ProductRolesDraft {
 public:
  explicit ProductRolesDraft(unsigned seed) {
    draft_.random.seed(seed * 2654435761u + 4242u);
    program_.seed = seed;
    program_.name = fmt::format("k{}", seed);
    program_.warps = 8;
    dtype_ = draft_.chance(60) ? (draft_.chance(50) ? f16 : bf16) : f32;
    is_turned_ = dtype_ == f32 || draft_.chance(50);
    depth_ = (dtype_ == f32 ? 32 : 64) << draft_.pick(2);
    m_ = rows + 1 + draft_.pick(rows);
    n_ = 16 * (1 + draft_.pick(columns / 16));
    k_ = 16 * draft_.pick(3 * depth_ / 16 + 1);
    wraps_ = draft_.chance(60);
    loops_ = draft_.chance(40);
    has_strides_ = draft_.chance(50);
    is_short_ = draft_.chance(40);
    if (draft_.chance(40)) pad_ = 16 * (1 + draft_.pick(2));
    std::mt19937 own(seed * 40503u + 7u);  // so that the kernels of older seeds stay as they were
    if (own() % 6 == 0) other_ = "1.0";
    adds_rows_ = own() % 6 == 0;
    more_rounds_ = own() % 6 == 0 ? 1 : 0;
    stores_rounds_ = own() % 6 == 0;
    if (own() % 6 == 0) up_ = static_cast<int>(1 + own() % rows);
    if (own() % 6 == 0) first_ = static_cast<int>(own() % 19);
  }

  Program run() {
    program_.grid = loops_ ? 1 : 2;
    const auto left = std::max<std::int64_t>(std::int64_t{m_} * k_, 16);
    const auto right = std::max<std::int64_t>(std::int64_t{n_} * k_, 16);
    program_.memory = {
        {dtype_, left}, {dtype_, right}, {f16, std::int64_t{m_} * (n_ + pad_), Memory::Fill::Zero}};
    program_.pointers = {{"a", 0, 0}, {"b", 1, 0}, {"c", 2, 0}};
    program_.integers = {{"m", m_}, {"n", n_}, {"k", k_}};
    if (stores_rounds_) {
      program_.memory.push_back({i32, 2, Memory::Fill::Zero});
      program_.pointers.push_back({"r", 3, 0});
    }
    if (has_strides_) {
      program_.integers.push_back({"sa", k_});
      program_.integers.push_back({"sb", is_turned_ ? k_ : n_});
    }
    if (pad_ > 0) program_.integers.push_back({"sc", n_ + pad_});
    if (up_ > 0) program_.integers.push_back({"up", up_});
    if (first_ > 0) program_.integers.push_back({"first", first_});
    if (loops_) add_tiles();
    else add_tile("pid");
    return std::move(program_);
  }

 private:
  template <class... Parts>
  void line(fmt::format_string<Parts...> text, Parts&&... parts) {
    to_->push_back({{fmt::format(text, std::forward<Parts>(parts)...)}});
  }

  std::string inside(const char* index, const char* size) const {
    return wraps_ ? fmt::format("{} % {}", index, size)
                  : fmt::format("tl.where({0} < {1}, {0}, 0)", index, size);
  }

  // Strides as arguments of their own, of which nothing says that they are positive: where there is
  // no depth they are 0.
  std::string stride(const char* own, const char* size) const { return has_strides_ ? own : size; }

  // All tiles of rows in a loop, which are counted twice.
  void add_tiles() {
    line("start = tl.program_id(0)");
    line("stored = start - 1");
    Statement loop;
    loop.branches.push_back({fmt::format("for pid in range(start, tl.cdiv(m, {}), 1):", rows), {}});
    Block* const outside = std::exchange(to_, &loop.branches[0].body);
    add_tile("stored");
    to_ = outside;
    to_->push_back(std::move(loop));
  }

  void add_tile(const char* stored) {
    add_pointers();
    add_loop();
    if (adds_rows_) line("acc += sums[:, None]");
    if (loops_) line("stored += 1");
    line("at = {0} * {1} + tl.arange(0, {1}){2}", stored, rows, up_ > 0 ? " - up" : "");
    line(
        "tl.store(c + at[:, None] * {} + columns[None, :], (acc.to(tl.int32) % "
        "977).to(tl.float16), "
        "mask={}(at[:, None] < m) & (columns[None, :] < n))",
        pad_ > 0 ? "sc" : "n", up_ > 0 ? "(at[:, None] >= 0) & " : "");
  }

  void add_pointers() {
    if (!loops_) {
      line("pid = tl.program_id(0)");
      line("tl.assume(pid >= 0)");
    }
    line("rows = pid * {0} + tl.arange(0, {0})", rows);
    line("columns = tl.arange(0, {})", columns);
    line("d = tl.arange(0, {})", depth_);
    // What wraps is read where results are stored; with others in its place rows are masked.
    line("at_rows = {}", up_ > 0 ? "rows" : inside("rows", "m"));
    line("at_columns = {}", inside("columns", "n"));
    line("a_tiles = a + at_rows[:, None] * {} + d[None, :]{}", stride("sa", "k"),
         first_ > 0 ? " + first" : "");
    if (is_turned_) line("b_tiles = b + d[:, None] + at_columns[None, :] * {}", stride("sb", "k"));
    else line("b_tiles = b + d[:, None] * {} + at_columns[None, :]", stride("sb", "n"));
    line("acc = tl.zeros([{}, {}], tl.float32)", rows, columns);
    if (adds_rows_) line("sums = tl.zeros([{}], tl.float32)", rows);
  }

  void add_loop() {
    Statement loop;
    // A number of rounds that is known: lanes exchange what they store.
    std::string rounds = is_short_ ? fmt::format("{}", (k_ + depth_ - 1) / depth_ + more_rounds_)
                                   : fmt::format("tl.cdiv(k, {})", depth_);
    if (!is_short_ && more_rounds_ > 0) rounds += fmt::format(" + {}", more_rounds_);
    if (stores_rounds_) {
      line("tl.store(r + pid, {})", rounds);
      rounds = "tl.load(r + pid)";
    }
    loop.branches.push_back({fmt::format("for i in range(0, {}):", rounds), {}});
    Block* const outside = std::exchange(to_, &loop.branches[0].body);
    const std::string there = up_ > 0 ? "(rows[:, None] < m) & " : "";
    if (first_ > 0)
      line(
          "left = tl.load(a_tiles, mask={2}(d[None, :] + first >= -i * {0}) & "
          "(d[None, :] + first < k - i * {0}), other={1})",
          depth_, other_, there);
    else
      line("left = tl.load(a_tiles, mask={2}(d[None, :] < k - i * {0}), other={1})", depth_, other_,
           there);
    line("right = tl.load(b_tiles, mask=d[:, None] < k - i * {}, other={})", depth_, other_);
    line("acc = tl.dot(left, right, acc)");
    if (adds_rows_) line("sums += tl.sum(left.to(tl.float32), 1)");
    line("a_tiles += {}", depth_);
    line("b_tiles += {}{}", depth_, is_turned_ ? "" : " * " + stride("sb", "n"));
    to_ = outside;
    to_->push_back(std::move(loop));
  }

  Draft draft_;
  Program program_;
  Block* to_ = &program_.body;
  DType dtype_ = f16;
  int depth_ = 0, m_ = 0, n_ = 0, k_ = 0;
  int pad_ = 0;  // behind each line of the result, which is not stored
  bool is_turned_ = false, wraps_ = false;
  bool loops_ = false, has_strides_ = false, is_short_ = false;
  bool adds_rows_ = false;      // of the left operand, beside the product
  int more_rounds_ = 0;         // than the depth has
  bool stores_rounds_ = false;  // how many there are
  int up_ = 0;                  // lines that results go before their rows
  int first_ = 0;               // element of a row of A that is read first
  const char* other_ = "0.0";   // what loads have where their mask is off
};

}  // namespace

Program generate_product_roles(unsigned seed) { return ProductRolesDraft(seed).run(); }

}  // namespace tilewright::fuzz
