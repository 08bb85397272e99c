// SPDX-License-Identifier: Apache-2.0
// passes/product_kernel.h — a product of matrices whose rows and columns wrap, for tests of what passes make of it.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "passes/passes.h"

namespace tilewright {

// Tiles of 16 x 16, 16 deep; programs in one dimension, column by column. `wrap` makes an index of `%x` and the size `%m`; `mask`
// names the mask of the store, `%inside` being the right one.
inline std::string product_text(std::string_view wrap = "rem %x, %m", std::string_view mask = "%inside") {
  const auto index = [&](std::string name, std::string program, std::string size) {
    std::string made(wrap);
    const auto put = [&](std::string_view what, const std::string& by) {
      for (std::size_t at = 0; (at = made.find(what, at)) != std::string::npos; at += by.size()) made.replace(at, what.size(), by);
    };
    put("%x", "%plain_" + name);
    put("%m", "%all_" + name);
    put("%below", "%below_" + name);
    return fmt::format(R"(
  %first_{0} = mul {1}, %sixteen : i32
  %firsts_{0} = splat %first_{0} : i32[16]
  %plain_{0} = add %firsts_{0}, %range : i32[16]
  %all_{0} = splat {2} : i32[16]
  %below_{0} = compare %plain_{0}, %all_{0} {{is = "lt"}} : b1[16]
  %at_{0} = {3} : i32[16])",
                       name, program, size, made);
  };
  return R"(kernel @product(%a: *f16 {divisible = 16}, %b: *f16 {divisible = 16}, %c: *f16 {divisible = 16}, %M: i32, %N: i32, %K: i32, %sa: i32 {divisible = 16}, %sb: i32 {divisible = 16}, %sc: i32) source {
  %pid = program_id {axis = 0} : i32
  %none = constant {value = 0} : i32
  %one = constant {value = 1} : i32
  %fifteen = constant {value = 15} : i32
  %sixteen = constant {value = 16} : i32
  %zeros = constant {value = 0} : i32[16]
  %up = add %M, %fifteen : i32
  %rows = div %up, %sixteen : i32
  %pid_m = rem %pid, %rows : i32
  %pid_n = div %pid, %rows : i32
  %pa = compare %sa, %none {is = "gt"} : b1
  assume %pa
  %pb = compare %sb, %none {is = "gt"} : b1
  assume %pb
  %range = arange {start = 0} : i32[16])" +
         index("m", "%pid_m", "%M") + index("n", "%pid_n", "%N") + fmt::format(R"(
  %m_tall = reshape %at_m : i32[16, 1]
  %sa_tall = splat %sa : i32[16, 1]
  %m_off = mul %m_tall, %sa_tall : i32[16, 1]
  %k_wide = reshape %range : i32[1, 16]
  %m_all = broadcast %m_off : i32[16, 16]
  %k_all = broadcast %k_wide : i32[16, 16]
  %a_off = add %m_all, %k_all : i32[16, 16]
  %as = splat %a : *f16[16, 16]
  %a_first = offset %as, %a_off : *f16[16, 16]
  %k_tall = reshape %range : i32[16, 1]
  %sb_tall = splat %sb : i32[16, 1]
  %k_off = mul %k_tall, %sb_tall : i32[16, 1]
  %n_wide = reshape %at_n : i32[1, 16]
  %k_down = broadcast %k_off : i32[16, 16]
  %n_all = broadcast %n_wide : i32[16, 16]
  %b_off = add %k_down, %n_all : i32[16, 16]
  %bs = splat %b : *f16[16, 16]
  %b_first = offset %bs, %b_off : *f16[16, 16]
  %nothing = constant {{value = 0.0}} : f32[16, 16]
  %k_up = add %K, %fifteen : i32
  %rounds = div %k_up, %sixteen : i32
  %a_end, %sum, %b_end = for %none, %rounds, %one, %a_first, %nothing, %b_first : *f16[16, 16], f32[16, 16], *f16[16, 16] (%k: i32, %a_now: *f16[16, 16], %acc: f32[16, 16], %b_now: *f16[16, 16]) {{
    %done = mul %k, %sixteen : i32
    %left = sub %K, %done : i32
    %left_wide = splat %left : i32[1, 16]
    %k_in = compare %k_wide, %left_wide {{is = "lt"}} : b1[1, 16]
    %a_mask = broadcast %k_in : b1[16, 16]
    %x = load %a_now, %a_mask : f16[16, 16]
    %left_tall = splat %left : i32[16, 1]
    %k_under = compare %k_tall, %left_tall {{is = "lt"}} : b1[16, 1]
    %b_mask = broadcast %k_under : b1[16, 16]
    %y = load %b_now, %b_mask : f16[16, 16]
    %next = dot %x, %y, %acc {{unit = "wgmma"}} : f32[16, 16]
    %a_step = splat %sixteen : i32[16, 16]
    %a_next = offset %a_now, %a_step : *f16[16, 16]
    %b_by = mul %sixteen, %sb : i32
    %b_step = splat %b_by : i32[16, 16]
    %b_next = offset %b_now, %b_step : *f16[16, 16]
    yield %a_next, %next, %b_next
  }}
  %out = cast %sum : f16[16, 16]
  %row = reshape %plain_m : i32[16, 1]
  %sc_tall = splat %sc : i32[16, 1]
  %row_off = mul %row, %sc_tall : i32[16, 1]
  %column = reshape %plain_n : i32[1, 16]
  %row_all = broadcast %row_off : i32[16, 16]
  %column_all = broadcast %column : i32[16, 16]
  %c_off = add %row_all, %column_all : i32[16, 16]
  %cs = splat %c : *f16[16, 16]
  %to = offset %cs, %c_off : *f16[16, 16]
  %M_tall = splat %M : i32[16, 1]
  %in_rows = compare %row, %M_tall {{is = "lt"}} : b1[16, 1]
  %N_wide = splat %N : i32[1, 16]
  %in_columns = compare %column, %N_wide {{is = "lt"}} : b1[1, 16]
  %rows_all = broadcast %in_rows : b1[16, 16]
  %columns_all = broadcast %in_columns : b1[16, 16]
  %inside = and %rows_all, %columns_all : b1[16, 16]
  store %to, %out, {} 
}}
)",
                                                                           mask);
}

// Matrices of small whole numbers in rows of 64 elements; what lies behind a row is no number.
struct ProductMemory {
  static constexpr std::int64_t stride = 64;
  std::vector<std::uint16_t> a, b, c;
  std::int64_t m, n, k;

  ProductMemory(std::int64_t rows, std::int64_t columns, std::int64_t depth) : m(rows), n(columns), k(depth) {
    a = numbers(rows, depth, 1);
    b = numbers(depth, columns, 2);
    c.assign(static_cast<std::size_t>(rows * stride), 0x1234);
  }
  static std::vector<std::uint16_t> numbers(std::int64_t rows, std::int64_t columns, unsigned seed) {
    static constexpr std::uint16_t some[] = {0, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4200, 0x4400};
    std::mt19937 random(seed);
    std::vector<std::uint16_t> out(static_cast<std::size_t>(std::max<std::int64_t>(rows, 1) * stride), 0x7e00);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) out[static_cast<std::size_t>(i * stride + j)] = some[random() % 7];
    return out;
  }
  void run(const ir::Kernel& kernel, std::uint64_t seed = 0) {
    const auto buffer = [](const char* name, auto& data) {
      return ir::InterpretBuffer{.name = name, .data = data.data(), .bytes = data.size() * sizeof(data[0])};
    };
    const ir::InterpretBuffer buffers[] = {buffer("a", a), buffer("b", b), buffer("c", c)};
    const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0}, ir::InterpretPointer{1}, ir::InterpretPointer{2}, m, n, k, stride, stride, stride};
    ir::InterpretOptions options;
    options.grid[0] = (m + 15) / 16 * ((n + 15) / 16);
    options.role_seed = seed;
    ir::interpret(kernel, buffers, arguments, options);
  }
};

// Source to stage Tile by these passes, and no others.
inline ir::Kernel at_tile(const std::string& text, bool unwraps = true) {
  ir::Kernel kernel = ir::parse(text, "product.tir");
  const Target target = Target::parse("sm_90a");
  for (const char* name : {"canonicalize", "eliminate_common_subexpressions", "hoist_loop_invariants", "eliminate_dead_code", "unwrap_rows",
                           "find_access_forms", "canonicalize", "hoist_loop_invariants", "eliminate_common_subexpressions",
                           "eliminate_dead_code"})
    if (unwraps || std::string_view(name) != "unwrap_rows") pass_named(name).run(kernel, target);
  kernel.stage = ir::Stage::Tile;
  return kernel;
}

}  // namespace tilewright
