// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/last_statements.cpp — what some kernels do behind all other statements, by dice of
// its own, so that the rest of a kernel is the same with and without it: sums of zeros that have a
// sign, loops that go down with other masks in each round, products of warpgroups whose operands
// are copied ahead, promises in loops without rounds, products below the normal numbers, masks of
// what wraps, elements of tiles as scalars around stores to what they come from, reductions and
// scans by functions with branches and loops.
#include <fmt/format.h>

#include "statement_parts.h"

namespace tilewright::fuzz {
namespace {

Draft dice_of(const Draft& draft, unsigned number) {
  Draft dice;
  dice.random.seed(draft.program.seed * 2654435761u + number);
  return dice;
}

void add_line(Block& body, std::string text) { body.push_back({{std::move(text)}}); }

std::string add_memory(Draft& draft, const std::string& name, DType dtype, std::int64_t count,
                       Memory::Fill fill = Memory::Fill::Values) {
  Program& program = draft.program;
  program.pointers.push_back({name, program.memory.size(), 0});
  program.memory.push_back({dtype, count * program.grid, fill});
  return program.grid > 1 ? fmt::format("({} + pid * {})", name, count) : name;
}

// 1 divided by a zero tells its sign.
void add_signed_zeros(Draft& draft, Block& body) {
  Draft dice = dice_of(draft, 8191u);
  if (!dice.chance(15)) return;
  const std::string kind = dice.one_of({"tl.float32", "tl.float32", "tl.float64"});
  const std::string minus = "(m * 0 - 1) * 0.0";  // no constant is -0
  const std::string plus = dice.one_of({minus, minus, "0.0", "-0.0"});
  add_line(body, fmt::format("zero = -tl.abs(tl.load({} + i).to({})) * 0.0",
                             draft.scope.pointers.front().name, kind));
  add_line(body,
           fmt::format("zero = tl.where(i < m * {}, zero, {})", 1 + dice.pick(draft.size), plus));
  const std::string changed =
      dice.one_of({"zero", "zero", "-zero", "-(-zero)", "zero - -zero", "-zero + -zero",
                   "tl.maximum(zero, 0.0)", "tl.where(-zero < 0, zero, -zero)"});
  if (changed != "zero") add_line(body, fmt::format("zero = {}", changed));
  const std::string sum = dice.one_of(
      {"tl.sum(zero, axis=0)", "tl.cumsum(zero, axis=0)", "tl.cumsum(zero, axis=0, reverse=True)",
       fmt::format("tl.sum(tl.reshape(zero, [{}, {}]), axis=0)", draft.rows, draft.columns),
       fmt::format("tl.sum(tl.reshape(zero, [{}, {}]), axis=1)", draft.rows, draft.columns)});
  add_line(body, fmt::format("zeros = {}", sum));
  add_line(body, fmt::format("tl.store(out + {}, tl.sum((1.0 / zeros < 0).to(tl.int32), axis=0))",
                             draft.slots++ * draft.size));
  if (sum.starts_with("tl.sum(zero"))
    body.back() = {{fmt::format("tl.store(out + {}, (1.0 / zeros < 0).to(tl.int32))",
                                (draft.slots - 1) * draft.size)}};
}

// From the last round to the first, by counters of 8 bits too; each round has a mask of its own.
void add_falling_rounds(Draft& draft, Block& body) {
  Draft dice = dice_of(draft, 131071u);
  const PointerVariable& pointer = draft.scope.pointers.front();
  const int room = pointer.room - draft.size;
  if (!dice.chance(20) || room < 1) return;
  const int rounds = 2 + dice.pick(4);
  const std::string step = dice.one_of({"-1", "-1", "-2", "-s + 3", "-m + 2"});
  const std::string last = dice.one_of({"-1", "-1", "-2", "n * 2"});
  const bool is_narrow = step == "-1" && dice.chance(30);
  // (n * 2 may be -128 in 8 bits: rounds whose places are nowhere)
  const std::string narrow_last = last == "n * 2" ? "-1" : last;
  const std::string range =
      is_narrow ? fmt::format("(m * 0 + {}).to(tl.int8), (m * 0 + {}).to(tl.int8), -1", rounds,
                              narrow_last)
                : fmt::format("{}, {}, {}", rounds, last, step);
  const bool has_stages = !is_narrow && dice.chance(50);
  const std::string stages = has_stages ? fmt::format(", num_stages={}", 2 + dice.pick(3)) : "";
  add_line(body, "fall = i * 0");
  Statement loop;
  loop.branches.push_back(
      {fmt::format("for down in {}({}{}):", has_stages ? "tl.range" : "range", range, stages), {}});
  Block& inside = loop.branches[0].body;
  const std::string mask = dice.one_of({"(i + down) % 4 < down", "i < n - down * 3",
                                        "i >= down * 5", "(i < n - down) & (i % 2 == down % 2)"});
  const std::string other = dice.one_of({"", ", other=7", ", other=-3"});
  add_line(inside, fmt::format("at = (down.to(tl.int32) * {} + {}) % {}", 1 + dice.pick(draft.size),
                               8 * draft.size, room));
  add_line(inside,
           fmt::format("more = tl.load({} + at + i, mask={}{})", pointer.name, mask, other));
  add_line(inside,
           fmt::format("fall = fall * 3 + tl.where({}, more, 1).to(tl.int32) + down", mask));
  body.push_back(std::move(loop));
  add_line(body, fmt::format("tl.store(out + {} + i, fall)", draft.slots++ * draft.size));
}

// Tiles of 64 rows and four or eight warps; the depth is walked up or down, and its last round, or
// every other one, is masked.
class WideProduct {
 public:
  WideProduct(Draft& draft, Block& body)
      : draft_(draft), body_(body), dice_(dice_of(draft, 524287u)) {}

  void run() {
    if (draft_.program.warps != 4 && draft_.program.warps != 8) return;
    if (!dice_.chance(35)) return;
    constexpr DType types[] = {f16, f16, bf16, f32, i8};
    dtype_ = types[dice_.pick(5)];
    deep_ = dice_.chance(50) ? 32 : 64;
    wide_ = 16 << dice_.pick(3);
    depth_ = deep_ * (1 + dice_.pick(4)) - (dice_.chance(60) ? 8 * dice_.pick(4) : 0);
    is_turned_ = dtype_ == i8 || dtype_ == f32 || dice_.chance(50);
    const std::string left = add_memory(draft_, "wide_a", dtype_, std::int64_t{64} * depth_);
    const std::string right = add_memory(draft_, "wide_b", dtype_, std::int64_t{wide_} * depth_);
    const std::string out = add_memory(draft_, "wide_out", dtype_ == i8 ? i32 : f32,
                                       std::int64_t{64} * wide_, Memory::Fill::Zero);
    add_line(body_, "wr = tl.arange(0, 64)");
    add_line(body_, fmt::format("wc = tl.arange(0, {})", wide_));
    add_line(body_, fmt::format("wk = tl.arange(0, {})", deep_));
    add_line(body_, fmt::format("wide = tl.zeros([64, {}], {})", wide_, type_text(sum_type())));
    add_loop(left, right);
    add_line(body_, fmt::format("tl.store({} + wr[:, None] * {} + wc[None, :], wide)", out, wide_));
  }

 private:
  DType sum_type() const { return dtype_ == i8 ? i32 : f32; }

  void add_loop(const std::string& left, const std::string& right) {
    const int rounds = (depth_ + deep_ - 1) / deep_;
    const std::string order =
        dice_.chance(30) ? fmt::format("{}, -1, -1", rounds - 1) : fmt::format("0, {}", rounds);
    Statement loop;
    loop.branches.push_back(
        {fmt::format("for deep in tl.range({}, num_stages={}):", order, 1 + dice_.pick(4)), {}});
    Block& inside = loop.branches[0].body;
    add_line(inside, fmt::format("ks = deep * {} + wk", deep_));
    const std::string limit =
        dice_.chance(25) ? fmt::format("{} - deep % 2 * 8", depth_) : fmt::format("{}", depth_);
    const bool is_masked = depth_ % deep_ != 0 || dice_.chance(40);
    const auto mask = [&](const char* ks) {
      return is_masked ? fmt::format(", mask={} < {}, other=0", ks, limit) : std::string();
    };
    add_line(inside, fmt::format("wa = tl.load({} + wr[:, None] * {} + ks[None, :]{})", left,
                                 depth_, mask("ks[None, :]")));
    const std::string at = is_turned_ ? fmt::format("ks[:, None] + wc[None, :] * {}", depth_)
                                      : fmt::format("ks[:, None] * {} + wc[None, :]", wide_);
    add_line(inside, fmt::format("wb = tl.load({} + {}{})", right, at, mask("ks[:, None]")));
    if (dtype_ != i8 && dice_.chance(20)) add_line(inside, "wa = wa + wa");
    add_line(inside, fmt::format("wide = tl.dot(wa, wb, wide{})",
                                 dtype_ == i8 ? ", out_dtype=tl.int32" : ""));
    if (dtype_ != i8 && dice_.chance(20))
      add_line(inside, "wide = tl.where(deep % 2 == 0, wide, -wide)");
    body_.push_back(std::move(loop));
  }

  Draft& draft_;
  Block& body_;
  Draft dice_;
  DType dtype_ = f16;
  int deep_ = 32, wide_ = 16, depth_ = 32;
  bool is_turned_ = false;
};

// What is promised where nothing is run says nothing: the index is negative.
void add_unmade_promise(Draft& draft, Block& body) {
  Draft dice = dice_of(draft, 2097143u);
  if (!dice.chance(20)) return;
  add_line(body, fmt::format("low = (s - {}) * 8", 6 + dice.pick(4)));
  const std::string promise = dice.one_of({"low >= 0", "low > -1", "0 <= low"});
  Statement nothing;
  nothing.branches.push_back({dice.one_of({"for never in range(m - 3):", "if m > 4:"}), {}});
  add_line(nothing.branches[0].body, fmt::format("tl.assume({})", promise));
  body.push_back(std::move(nothing));
  add_line(body, "wrapped = (i + low) % 24 + 24");
  add_line(body, fmt::format("wrapped = tl.load({} + wrapped).to(tl.int32)",
                             draft.scope.pointers.front().name));
  add_line(body, fmt::format("tl.store(out + {} + i, wrapped)", draft.slots++ * draft.size));
}

// A product that a power of two magnifies again: what it lost below the normal numbers is gone.
void add_small_product(Draft& draft, Block& body) {
  Draft dice = dice_of(draft, 8388593u);
  if (!dice.chance(10)) return;
  const std::string small = dice.one_of({"1e-30", "1.5e-38", "3.0", "-0.75"});
  const std::string power = dice.one_of({"2.0**100", "2.0**100", "4.0", "-2.0"});
  add_line(body, fmt::format("small = tl.load({} + i).to(tl.float32) * 1e-20",
                             draft.scope.pointers.front().name));
  add_line(body, fmt::format("small = (small * {}) * {}", small, power));
  add_line(body, fmt::format("tl.store(out + {} + i, (small != 0).to(tl.int32))",
                             draft.slots++ * draft.size));
}

// A mask of what wraps, as random numbers that are made of an index do.
void add_wrapping_mask(Draft& draft, Block& body) {
  Draft dice = dice_of(draft, 67108859u);
  if (!dice.chance(15)) return;
  const std::string factor =
      dice.one_of({"1664525", "8388608", "1103515245", "70000", "-5000", "3"});
  const std::string offset = dice.one_of({"1013904223", "2147483000", "n", "0"});
  const std::string mask =
      fmt::format("i * {} + {} {} m", factor, offset, dice.one_of({">", "<="}));
  add_line(body, fmt::format("thin = tl.load({} + i, mask={}, other=5).to(tl.int32)",
                             draft.scope.pointers.front().name, mask));
  add_line(body, fmt::format("tl.store(out + {} + i, thin)", draft.slots++ * draft.size));
}

// A scalar is what its tile was, however often memory is written before it is used.
void add_only_elements(Draft& draft, Block& body) {
  Draft dice = dice_of(draft, 33554393u);
  if (!dice.chance(15)) return;
  const std::string single = add_memory(draft, "single", i32, 16);
  add_line(body, "e = tl.arange(0, 1)");
  add_line(body, "es = tl.arange(0, 16)");
  const std::string more = dice.one_of({"", "", " * 3 + e", " + tl.sum(es * m, axis=0)"});
  add_line(body, fmt::format("one = tl.load({} + {} + e){}", single, dice.pick(16), more));
  const bool has_halves = dice.chance(30), is_early = dice.chance(40);
  if (has_halves)
    add_line(body, fmt::format("low, high = tl.split(tl.load({} + {} + tl.arange(0, 2)))", single,
                               dice.pick(15)));
  if (is_early) add_line(body, "lone = tl.reshape(one, ())");
  add_line(body, fmt::format("tl.store({} + es, es * {})", single, 1 + dice.pick(9)));
  if (!is_early) add_line(body, "lone = tl.reshape(one, ())");
  if (has_halves) add_line(body, "lone += low * 5 - high");
  if (dice.chance(40)) {
    Statement loop;
    loop.branches.push_back({"for lap in range(m):", {}});
    Block& inside = loop.branches[0].body;
    add_line(inside, fmt::format("now = tl.load({} + lap + e) * 2 + one", single));
    add_line(inside, "lone += tl.reshape(now, ()) * (lap + 1)");
    add_line(inside, fmt::format("tl.store({} + lap + {} + e, now)", single, dice.pick(4)));
    if (dice.chance(50)) add_line(inside, "one = one * 2 + lap");
    body.push_back(std::move(loop));
  }
  add_line(body, fmt::format("tl.store(out + {} + i, lone + i)", draft.slots++ * draft.size));
}

constexpr const char* combining_functions[] = {
    R"(@triton.jit
def combine(a, b):
    if a > b:
        if (a & 1) == 0:
            best = a
        else:
            best = a + 0
    else:
        best = b
    return best


)",
    R"(@triton.jit
def combine(a, b):
    x = tl.abs(a)
    y = tl.abs(b)
    while y != 0:
        rest = x % y
        x = y
        y = rest
    return x


)",
    R"(@triton.jit
def combine(a, b):
    low = a * 0
    for bit in range(0, 5 + (a & 0)):
        low = low | ((a | b) & (1 << bit))
    return low


)"};

void add_branching_sums(Draft& draft, Block& body) {
  Draft dice = dice_of(draft, 33554393u);
  if (!dice.chance(40)) return;
  draft.program.functions += combining_functions[dice.pick(3)];
  add_line(body, fmt::format("some = tl.load({} + i).to(tl.int32) % 97",
                             draft.scope.pointers.front().name));
  add_line(body, fmt::format("some = tl.where(i < m * {}, some, 12)", 1 + dice.pick(draft.size)));
  const std::string matrix = fmt::format("tl.reshape(some, [{}, {}])", draft.rows, draft.columns);
  const std::string place = fmt::format("out + {}", draft.slots++ * draft.size);
  switch (dice.pick(4)) {
    case 0:
      return add_line(body, fmt::format("tl.store({}, tl.reduce(some, 0, combine))", place));
    case 1: {
      const int axis = dice.pick(2);
      return add_line(
          body, fmt::format("tl.store({} + tl.arange(0, {}), tl.reduce({}, {}, combine))", place,
                            axis == 0 ? draft.columns : draft.rows, matrix, axis));
    }
    case 2:
      return add_line(body, fmt::format("tl.store({} + i, tl.associative_scan(some, 0, combine{}))",
                                        place, dice.chance(40) ? ", reverse=True" : ""));
    default:
      return add_line(
          body, fmt::format("tl.store({} + i, tl.reshape(tl.associative_scan({}, {}, combine), "
                            "[{}]))",
                            place, matrix, dice.pick(2), draft.size));
  }
}

}  // namespace

void add_last_statements(Draft& draft, Block& body) {
  add_signed_zeros(draft, body);
  if (draft.has(Kind::Loops)) add_falling_rounds(draft, body);
  if (draft.has(Kind::Products)) WideProduct(draft, body).run();
  add_unmade_promise(draft, body);
  add_small_product(draft, body);
  add_wrapping_mask(draft, body);
  add_only_elements(draft, body);
  if (draft.has(Kind::Reductions) && draft.has(Kind::Scans)) add_branching_sums(draft, body);
}

}  // namespace tilewright::fuzz
