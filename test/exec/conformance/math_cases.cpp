// SPDX-License-Identifier: Apache-2.0
// conformance/math_cases.cpp — every math function and every operator, a row of the output each.
#include <fmt/format.h>

#include "conformance.h"

namespace tilewright::conformance {
namespace {

// A kernel `table` whose row k of `out` is expression k of x and y.
std::string table_source(const std::vector<std::string>& expressions) {
  std::string text = R"(
@triton.jit
def table(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    y = tl.load(y_ptr + i, mask=mask)
)";
  for (std::size_t k = 0; k < expressions.size(); ++k)
    text += fmt::format("    tl.store(out_ptr + {} * n + i, {}, mask=mask)\n", k, expressions[k]);
  return text;
}

struct Table {
  const char* name;
  std::vector<std::string> expressions;
  std::vector<DType> dtypes;
  Fill x = Fill::Normal;
  Fill y = Fill::Normal;
  double ulps = 2;
  bool exact = false;
};

Family family_of(const Table& table) {
  Family family{table.name, table_source(table.expressions), {}};
  const auto rows = static_cast<std::int64_t>(table.expressions.size());
  for (const DType dtype : table.dtypes)
    for (const std::int64_t n : {200})
      family.cases.push_back({.what = fmt::format("{} n={}", name_of(dtype), n),
                              .kernel = "table",
                              .arguments = {input(dtype, n, table.x), input(dtype, n, table.y),
                                            output(dtype, rows * n), n, constant_of("BLOCK", 128)},
                              .grid = cdiv(n, 128),
                              .ulps = table.ulps,
                              .exact = table.exact});
  return family;
}

std::vector<std::string> calls(const std::string& prefix, const std::vector<std::string>& names,
                               const std::string& arguments) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(prefix + name + "(" + arguments + ")");
  return out;
}

std::vector<Family> math_families() {
  const std::vector<DType> floats{f32, f64};
  const std::vector<DType> integers{i8, i16, i32, i64, u8, u16, u32, u64};
  const std::vector<Table> tables{
      {"math_triton",
       {"tl.exp(x)", "tl.exp2(x)", "tl.sin(x)", "tl.cos(x)", "tl.abs(x)", "tl.floor(x)",
        "tl.ceil(x)", "tl.erf(x)", "tl.sigmoid(x)", "-x", "tl.fma(x, y, x)"},
       floats},
      {"math_positive",
       {"tl.log(x)", "tl.log2(x)", "tl.sqrt(x)", "tl.sqrt_rn(x)", "tl.rsqrt(x)", "x / y",
        "tl.fdiv(x, y)", "x % y"},
       floats,
       Fill::Positive,
       Fill::Positive},
      {"libdevice_any",
       calls("libdevice.",
             {"tanh", "sinh", "cosh", "asinh", "atan", "erf", "erfc", "expm1", "cbrt", "tan",
              "rint", "trunc", "round", "floor", "exp"},
             "x"),
       floats, Fill::Normal, Fill::Normal, 4},
      {"libdevice_unit",
       calls("libdevice.", {"asin", "acos", "atanh", "erfinv", "lgamma"}, "x * 0.9"), floats,
       Fill::Unit, Fill::Unit, 4},
      {"libdevice_positive",
       {"libdevice.log1p(x)", "libdevice.log10(x)", "libdevice.tgamma(x)", "libdevice.acosh(x + 1)",
        "libdevice.pow(x, y)", "libdevice.hypot(x, y)", "libdevice.atan2(x, y)",
        "libdevice.copysign(x, -y)", "libdevice.nextafter(x, y)", "libdevice.fmod(x, y)"},
       floats,
       Fill::Positive,
       Fill::Positive,
       4},
      {"libdevice_bessel",
       {"libdevice.j0(x)", "libdevice.j1(x)", "libdevice.y0(x + 1)", "libdevice.y1(x)",
        "libdevice.cyl_bessel_i0(x * 32)", "libdevice.cyl_bessel_i1(y * -64)"},
       floats,
       Fill::Positive,
       Fill::Positive,
       16},
      {"libdevice_normal",
       {"libdevice.normcdf(x * 2)", "libdevice.erfcx(x)", "libdevice.erfcx(x * 20)",
        "libdevice.fdim(x, y)", "libdevice.fdim(y, x)"},
       floats,
       Fill::Normal,
       Fill::Normal,
       16},
      {"libdevice_words",
       {"libdevice.brev(x)", "libdevice.hadd(x, y)", "libdevice.rhadd(x, y)",
        "libdevice.sad(x, y, 3)"},
       {i32},
       Fill::Edges,
       Fill::Edges},
      {"float_edges",
       {"x + y", "x * y", "tl.minimum(x, y)", "tl.maximum(x, y)", "tl.abs(x)", "-x",
        "tl.where(x < y, x, y)", "(x == y).to(tl.int32) + 2 * (x != y) + 4 * (x >= y)",
        "tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)"},
       {f32, f16, bf16, f64},
       Fill::Edges,
       Fill::Edges},
      // A GPU's exponential rounds its argument times log2(e): 64 ulp at the largest.
      {"sigmoid_edges",
       {"tl.exp(x) + 1", "0.5 + tl.exp(x)", "1 / (tl.exp(-x) + 1)", "x * tl.sigmoid(x)",
        "(1 / (1 + tl.exp(x))) * y"},
       {f32},
       Fill::Edges,
       Fill::Edges,
       66},
      {"softmax_powers",
       // Denormal results are 0 on a GPU, as Triton's are.
       {"tl.exp(x * 40 - tl.max(x * 40, axis=0)) + 1e-30",
        "tl.exp(x - tl.maximum(y, tl.max(x, axis=0)))"},
       {f32},
       Fill::Normal,
       Fill::Normal,
       300},
      {"float_rounding",
       {"tl.floor(x)", "tl.ceil(x)", "libdevice.rint(x)", "libdevice.trunc(x)",
        "tl.sqrt(tl.abs(x))"},
       floats,
       Fill::Edges,
       Fill::Edges},
      {"div_rn", {"tl.div_rn(x, y)", "x / y"}, {f32}, Fill::Normal, Fill::Positive},
      {"integer_operators",
       {"x + y",
        "x - y",
        "x * y",
        "x & y",
        "x | y",
        "x ^ y",
        "~x",
        "-x",
        "tl.minimum(x, y)",
        "tl.maximum(x, y)",
        "x < y",
        "x <= y",
        "x == y",
        "x != y",
        "x > y",
        "x >= y",
        "tl.where(x > y, x, y)",
        "x << 3",
        "x >> 2",
        "x << (y & 7)",
        "x >> (y & 7)"},
       integers,
       Fill::Edges,
       Fill::Edges},
      {"integer_division",
       {"x // y", "x % y", "x // 7", "x % 16", "tl.cdiv(x, y)"},
       integers,
       Fill::Normal,
       Fill::Positive},
      {"integer_high",
       {"tl.umulhi(x, y)", "tl.abs(x.to(tl.int32))"},
       {i32, u32},
       Fill::Edges,
       Fill::Edges},
      {"mixed_types",
       {"x + y.to(tl.float32)", "x * y.to(tl.int64)", "x + 1", "x * 2.5", "1 - x", "3 / y",
        "tl.where(x > 1, 1.5, y)"},
       {i32, i8, f16, bf16, f32},
       Fill::Small,
       Fill::Positive},
  };
  std::vector<Family> out;
  for (const Table& table : tables) out.push_back(family_of(table));
  return out;
}

TW_CONFORMANCE(Math, math_families);

// ---- A function of scalars on each element

constexpr const char* map_source = R"(
@triton.jit
def order(x, y):
    if x < y:
        return -1
    elif x == y:
        return 0
    else:
        return 1


@triton.jit
def parts(x, y):
    if y == 0:
        q, r = 0 * x, x
    else:
        q, r = x // y, x % y
        if r < 0:
            r = -r
    return q, r


@triton.jit
def swapped(a0, a1, a2, a3, b0, b1, b2, b3):
    low = a0 + b3
    if a1 > b1:
        low = a1 * 2
    return low, a1 - b2, a2 + b1, a3 - b0


@triton.jit
def map(x_ptr, y_ptr, order_ptr, q_ptr, r_ptr, swapped_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1)
    y = tl.load(y_ptr + i, mask=i < n, other=1)
    q, r = tl.map_elementwise(parts, x, y)
    tl.store(order_ptr + i, tl.map_elementwise(order, x, y), mask=i < n)
    tl.store(q_ptr + i, q, mask=i < n)
    tl.store(r_ptr + i, r, mask=i < n)
    tl.store(swapped_ptr + i, tl.map_elementwise(swapped, x, y, pack=4)[0], mask=i < n)
)";

std::vector<Family> maps() {
  Family family{"elementwise", map_source, {}};
  for (const int warps : {1, 4})
    family.cases.push_back(
        {.what = fmt::format("{} warps", warps),
         .kernel = "map",
         .arguments = {input(i32, 300, Fill::Small), input(i32, 300, Fill::Small), output(i32, 300),
                       output(i32, 300), output(i32, 300), output(i32, 300), 300,
                       constant_of("BLOCK", 128)},
         .grid = cdiv(300, 128),
         .num_warps = warps});
  return {family};
}

TW_CONFORMANCE(Map, maps);

// ---- Casts: from one type to every other.

constexpr DType all_types[] = {f64, f32, f16, bf16, f8e4m3, f8e5m2, i8, i16,
                               i32, i64, u8,  u16,  u32,    u64,    b1};

// Triton converts float8 from and to floats only.
bool can_cast(DType from, DType to) {
  const auto is_float8 = [](DType dtype) { return dtype == f8e4m3 || dtype == f8e5m2; };
  if (is_float8(from)) return is_floating(to);
  return !is_float8(to) || is_floating(from);
}

Family casts_from(DType from, Fill fill) {
  std::string text = "@triton.jit\ndef cast(x_ptr";
  std::string body;
  std::vector<CaseArgument> arguments{input(from, 300, fill)};
  for (const DType to : all_types) {
    if (!can_cast(from, to)) continue;
    text += fmt::format(", {}_ptr", name_of(to));
    body += fmt::format("    tl.store({0}_ptr + i, x.to({0}_ptr.dtype.element_ty), mask=mask)\n",
                        name_of(to));
    arguments.push_back(output(to, 300));
  }
  arguments.push_back(whole(299));
  text += ", n):\n    i = tl.arange(0, 512)\n    mask = i < n\n    x = tl.load(x_ptr + i, mask)\n";
  return {fmt::format("{}_{}", name_of(from), fill == Fill::Edges ? "edges" : "small"),
          text + body,
          {{.what = "to all",
            .kernel = "cast",
            .arguments = arguments,
            .exact = true,
            .may_spill = true}}};  // 15 outputs at once
}

std::vector<Family> casts() {
  std::vector<Family> out;
  for (const DType from : all_types)
    for (const Fill fill : {Fill::Small, Fill::Edges}) out.push_back(casts_from(from, fill));
  return out;
}

TW_CONFORMANCE(Cast, casts);

}  // namespace
}  // namespace tilewright::conformance
