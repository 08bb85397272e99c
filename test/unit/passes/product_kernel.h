// SPDX-License-Identifier: Apache-2.0
// passes/product_kernel.h — a product of matrices whose rows and columns wrap, for tests of what
// passes make of it.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "passes/passes.h"

namespace tilewright {

// Tiles of `bm` x `bn`, `bk` deep; programs in one dimension, column by column. `wrap` makes an
// index of `%x` and the size `%m`; `mask` names the mask of the store, `%inside` being the right
// one.
struct ProductShape {
  std::string wrap = "rem %x, %m";
  std::string mask = "%inside";
  int bm = 16, bn = 16, bk = 16;
};

inline std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

inline std::string product_text(const ProductShape& shape = {}) {
  const auto index = [&](const std::string& name, const std::string& program,
                         const std::string& size) {
    std::string made =
        replaced(replaced(shape.wrap, "%below", "%below_" + name), "%zeros", "%zeros_" + name);
    made = replaced(replaced(made, "%x", "%plain_" + name), "%m", "%all_" + name);
    return replaced(replaced(replaced(replaced(R"(
  %range_@ = arange {start = 0} : i32[B]
  %zeros_@ = constant {value = 0} : i32[B]
  %block_@ = constant {value = B} : i32
  %first_@ = mul PROGRAM, %block_@ : i32
  %firsts_@ = splat %first_@ : i32[B]
  %plain_@ = add %firsts_@, %range_@ : i32[B]
  %all_@ = splat SIZE : i32[B]
  %below_@ = compare %plain_@, %all_@ {is = "lt"} : b1[B]
  %at_@ = )" + made + " : i32[B]",
                                               "@", name),
                                      "PROGRAM", program),
                             "SIZE", size),
                    "[B]", name == "m" ? "[BM]" : "[BN]");
  };
  std::string text =
      R"(kernel @product(%a: *f16 {divisible = 16}, %b: *f16 {divisible = 16}, %c: *f16 {divisible = 16}, %M: i32, %N: i32, %K: i32, %sa: i32 {divisible = 16}, %sb: i32 {divisible = 16}, %sc: i32) source {
  %pid = program_id {axis = 0} : i32
  %none = constant {value = 0} : i32
  %one = constant {value = 1} : i32
  %row_rest = constant {value = BM-1} : i32
  %row_count = constant {value = BM} : i32
  %depth_rest = constant {value = BK-1} : i32
  %depth = constant {value = BK} : i32
  %up = add %M, %row_rest : i32
  %rows = div %up, %row_count : i32
  %pid_m = rem %pid, %rows : i32
  %pid_n = div %pid, %rows : i32
  %pa = compare %sa, %none {is = "gt"} : b1
  assume %pa
  %pb = compare %sb, %none {is = "gt"} : b1
  assume %pb
  %range_k = arange {start = 0} : i32[BK])" +
      replaced(index("m", "%pid_m", "%M"), "value = B}", "value = BM}") +
      replaced(index("n", "%pid_n", "%N"), "value = B}", "value = BN}") + R"(
  %m_tall = reshape %at_m : i32[BM, 1]
  %sa_tall = splat %sa : i32[BM, 1]
  %m_off = mul %m_tall, %sa_tall : i32[BM, 1]
  %k_wide = reshape %range_k : i32[1, BK]
  %m_all = broadcast %m_off : i32[BM, BK]
  %k_all = broadcast %k_wide : i32[BM, BK]
  %a_off = add %m_all, %k_all : i32[BM, BK]
  %as = splat %a : *f16[BM, BK]
  %a_first = offset %as, %a_off : *f16[BM, BK]
  %k_tall = reshape %range_k : i32[BK, 1]
  %sb_tall = splat %sb : i32[BK, 1]
  %k_off = mul %k_tall, %sb_tall : i32[BK, 1]
  %n_wide = reshape %at_n : i32[1, BN]
  %k_down = broadcast %k_off : i32[BK, BN]
  %n_all = broadcast %n_wide : i32[BK, BN]
  %b_off = add %k_down, %n_all : i32[BK, BN]
  %bs = splat %b : *f16[BK, BN]
  %b_first = offset %bs, %b_off : *f16[BK, BN]
  %nothing = constant {value = 0.0} : f32[BM, BN]
  %k_up = add %K, %depth_rest : i32
  %rounds = div %k_up, %depth : i32
  %a_end, %sum, %b_end = for %none, %rounds, %one, %a_first, %nothing, %b_first : *f16[BM, BK], f32[BM, BN], *f16[BK, BN] (%k: i32, %a_now: *f16[BM, BK], %acc: f32[BM, BN], %b_now: *f16[BK, BN]) {
    %done = mul %k, %depth : i32
    %left = sub %K, %done : i32
    %left_wide = splat %left : i32[1, BK]
    %k_in = compare %k_wide, %left_wide {is = "lt"} : b1[1, BK]
    %a_mask = broadcast %k_in : b1[BM, BK]
    %x = load %a_now, %a_mask : f16[BM, BK]
    %left_tall = splat %left : i32[BK, 1]
    %k_under = compare %k_tall, %left_tall {is = "lt"} : b1[BK, 1]
    %b_mask = broadcast %k_under : b1[BK, BN]
    %y = load %b_now, %b_mask : f16[BK, BN]
    %next = dot %x, %y, %acc {unit = "wgmma"} : f32[BM, BN]
    %a_step = splat %depth : i32[BM, BK]
    %a_next = offset %a_now, %a_step : *f16[BM, BK]
    %b_by = mul %depth, %sb : i32
    %b_step = splat %b_by : i32[BK, BN]
    %b_next = offset %b_now, %b_step : *f16[BK, BN]
    yield %a_next, %next, %b_next
  }
  %out = cast %sum : f16[BM, BN]
  %row = reshape %plain_m : i32[BM, 1]
  %sc_tall = splat %sc : i32[BM, 1]
  %row_off = mul %row, %sc_tall : i32[BM, 1]
  %column = reshape %plain_n : i32[1, BN]
  %row_all = broadcast %row_off : i32[BM, BN]
  %column_all = broadcast %column : i32[BM, BN]
  %c_off = add %row_all, %column_all : i32[BM, BN]
  %cs = splat %c : *f16[BM, BN]
  %to = offset %cs, %c_off : *f16[BM, BN]
  %M_tall = splat %M : i32[BM, 1]
  %in_rows = compare %row, %M_tall {is = "lt"} : b1[BM, 1]
  %N_wide = splat %N : i32[1, BN]
  %in_columns = compare %column, %N_wide {is = "lt"} : b1[1, BN]
  %rows_all = broadcast %in_rows : b1[BM, BN]
  %columns_all = broadcast %in_columns : b1[BM, BN]
  %inside = and %rows_all, %columns_all : b1[BM, BN]
  store %to, %out, MASK
}
)";
  text = replaced(replaced(text, "BM-1", std::to_string(shape.bm - 1)), "BK-1",
                  std::to_string(shape.bk - 1));
  text = replaced(replaced(text, "BM", std::to_string(shape.bm)), "BN", std::to_string(shape.bn));
  return replaced(replaced(text, "BK", std::to_string(shape.bk)), "MASK", shape.mask);
}

// The same kernel with a loop of its own over programs: each one takes every second tile from its
// own on.
inline std::string looping(std::string text) {
  text = replaced(std::move(text), "  %pid = program_id {axis = 0} : i32\n",
                  "  %start = program_id {axis = 0} : i32\n"
                  "  %count = num_programs {axis = 0} : i32\n"
                  "  %two = constant {value = 2} : i32\n"
                  "  for %start, %count, %two (%pid: i32) {\n");
  const std::size_t end = text.rfind("}\n");
  return text.replace(end, 2, "  yield\n  }\n}\n");
}

// Matrices of small whole numbers in rows of 320 elements; what lies behind a row is no number.
struct ProductMemory {
  static constexpr std::int64_t stride = 320;
  std::vector<std::uint16_t> a, b, c;
  std::int64_t m, n, k;

  ProductMemory(std::int64_t rows, std::int64_t columns, std::int64_t depth)
      : m(rows), n(columns), k(depth) {
    a = numbers(rows, depth, 1);
    b = numbers(depth, columns, 2);
    c.assign(static_cast<std::size_t>(rows * stride), 0x1234);
  }
  static std::vector<std::uint16_t> numbers(std::int64_t rows, std::int64_t columns,
                                            unsigned seed) {
    static constexpr std::uint16_t some[] = {0, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4200, 0x4400};
    std::mt19937 random(seed);
    std::vector<std::uint16_t> out(
        static_cast<std::size_t>(std::max<std::int64_t>(rows, 1) * stride), 0x7e00);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        out[static_cast<std::size_t>(i * stride + j)] = some[random() % 7];
    return out;
  }
  void run(const ir::Kernel& kernel, std::uint64_t seed = 0, std::int64_t bm = 16,
           std::int64_t bn = 16) {
    const auto buffer = [](const char* name, auto& data) {
      return ir::InterpretBuffer{
          .name = name, .data = data.data(), .bytes = data.size() * sizeof(data[0])};
    };
    const ir::InterpretBuffer buffers[] = {buffer("a", a), buffer("b", b), buffer("c", c)};
    const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0},
                                               ir::InterpretPointer{1},
                                               ir::InterpretPointer{2},
                                               m,
                                               n,
                                               k,
                                               stride,
                                               stride,
                                               stride};
    ir::InterpretOptions options;
    options.grid[0] = (m + bm - 1) / bm * ((n + bn - 1) / bn);
    options.role_seed = seed;
    ir::interpret(kernel, buffers, arguments, options);
  }
};

// Source to stage Tile by these passes, and no others.
inline ir::Kernel at_tile(const std::string& text, bool unwraps = true) {
  ir::Kernel kernel = ir::parse(text, "product.tir");
  const Target target = Target::parse("sm_90a");
  for (const char* name :
       {"canonicalize", "eliminate_common_subexpressions", "count_divisors",
        "hoist_loop_invariants", "eliminate_dead_code", "unwrap_rows", "find_access_forms",
        "canonicalize", "hoist_loop_invariants", "eliminate_common_subexpressions",
        "eliminate_dead_code"})
    if (unwraps || std::string_view(name) != "unwrap_rows") pass_named(name).run(kernel, target);
  kernel.stage = ir::Stage::Tile;
  return kernel;
}

}  // namespace tilewright
