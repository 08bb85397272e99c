// SPDX-License-Identifier: Apache-2.0
// exec/random_graph_integers.cpp — lines of random functions of bools and integers of all sizes,
// whose results are compared exactly, dtypes included.
#include "random_graph_operations.h"

#include <algorithm>

namespace tilewright {
namespace {

// Bools have no difference.
Tensor counted(const Tensor& x) { return x.dtype() == DType::Bool ? x.to(u8) : x; }

// At least 1: nothing is divided by 0.
Tensor divisor(const Tensor& x) { return where(eq(x, 0), 1, counted(x)); }

Tensor whole(const Tensor& x, const Given& g) { return x.broadcast_to(g.full); }

// Places within `size`.
Tensor places(const Tensor& x, std::int64_t size) {
  return remainder(x.to(i64), std::max<std::int64_t>(size, 1));
}

std::int64_t whole_number(const Given& g) { return static_cast<std::int64_t>(4 * g.number); }

const Operation operations[] = {
    {"{a} + {b}", [](const Given& g) { return g.a + g.b; }},
    {"counted({a}) - counted({b}.to({a}.dtype))",
     [](const Given& g) { return counted(g.a) - counted(g.b.to(g.a.dtype())); }},
    {"{a} * {b}", [](const Given& g) { return g.a * g.b; }},
    {"{a} * int(4 * {n}) + 3", [](const Given& g) { return g.a * whole_number(g) + 3; }},
    {"7 - counted({a}) * True", [](const Given& g) { return 7 - counted(g.a) * true; }},
    {"-counted({a})", [](const Given& g) { return -counted(g.a); }},
    {"counted({a}).abs() + {b}.sign()",
     [](const Given& g) { return abs(counted(g.a)) + sign(g.b); }},
    {"counted({a}).square()", [](const Given& g) { return square(counted(g.a)); }},
    {"floored(counted({a}), divisor({b}))",
     [](const Given& g) { return floor_divide(counted(g.a), divisor(g.b)); }},
    {"floored(counted({a}), int(4 * {n}))",
     [](const Given& g) { return floor_divide(counted(g.a), whole_number(g)); }},
    {"torch.remainder(counted({a}), divisor({b}))",
     [](const Given& g) { return remainder(counted(g.a), divisor(g.b)); }},
    {"torch.remainder(counted({a}), int(4 * {n}))",
     [](const Given& g) { return remainder(counted(g.a), whole_number(g)); }},
    {"torch.pow(counted({a}), places({b}, 9).to({a}.dtype))",
     [](const Given& g) { return pow(counted(g.a), places(g.b, 9).to(g.a.dtype())); }},
    {"torch.pow(counted({a}), int(4 * {n}))",
     [](const Given& g) { return pow(counted(g.a), whole_number(g)); }},
    {"torch.minimum({a}, {b})", [](const Given& g) { return minimum(g.a, g.b); }},
    {"torch.maximum({a}, {b})", [](const Given& g) { return maximum(g.a, g.b); }},
    {"counted({a}).clamp(1, int(4 * {n}) + 20)",
     [](const Given& g) { return clamp(counted(g.a), 1, whole_number(g) + 20); }},
    {"({a} > {b}) | ({a} == {b})",
     [](const Given& g) { return logical_or(g.a > g.b, eq(g.a, g.b)); }},
    {"({a} <= int(4 * {n})).logical_and({b})",
     [](const Given& g) { return logical_and(g.a <= whole_number(g), g.b); }},
    {"({a} != {b}).logical_and({a} < {b}).logical_not()",
     [](const Given& g) { return logical_not(logical_and(ne(g.a, g.b), g.a < g.b)); }},
    {"{a}.logical_or(torch.full((Y, 1), {n}))",
     [](const Given& g) {
       return logical_or(g.a, full({g.full[1], 1}, g.number, {f32, Device::cpu()}));
     }},
    {"torch.where({a} >= {b}, {a}, {b})",
     [](const Given& g) { return where(g.a >= g.b, g.a, g.b); }},
    {"torch.where({a}.to(torch.bool), {b}, int(4 * {n}))",
     [](const Given& g) { return where(g.a.to(b1), g.b, whole_number(g)); }},
    {"{a}.to(torch.int8)", [](const Given& g) { return g.a.to(i8); }},
    {"({a} + 1).to(torch.uint8)", [](const Given& g) { return (g.a + 1).to(u8); }},
    {"{a}.to(torch.int32) * {b}.to(torch.int16)",
     [](const Given& g) { return g.a.to(i32) * g.b.to(i16); }},
    {"counted({a}).floor() + counted({b}).round()",
     [](const Given& g) { return floor(counted(g.a)) + round(counted(g.b)); }},
    {"{a}.isnan() | {b}.isinf()",
     [](const Given& g) { return logical_or(isnan(g.a), isinf(g.b)); }},
    {"{a}.sum({axis}, keepdim=True)", [](const Given& g) { return sum(g.a, g.axis, true); }},
    {"{a}.sum((0, 2), keepdim=True) + {b}",
     [](const Given& g) {
       return sum(g.a, {0, 2}, true) + g.b;
     }},
    {"{a}.prod({axis}, keepdim=True)", [](const Given& g) { return prod(g.a, g.axis, true); }},
    {"{a}.amax({axis}, keepdim=True)", [](const Given& g) { return max(g.a, g.axis, true); }},
    {"{a}.amin((1, 2), keepdim=True)",
     [](const Given& g) {
       return min(g.a, {1, 2}, true);
     }},
    {"first({a}, {axis}, True)", [](const Given& g) { return argmax(g.a, g.axis, true); }},
    {"first({a}, {axis}, False)", [](const Given& g) { return argmin(g.a, g.axis, true); }},
    // One element, with and without dimensions: it counts where it is of a higher kind.
    {"{a} + {b}.sum()", [](const Given& g) { return g.a + sum(g.b); }},
    {"{a} * {b}.sum().reshape(1)", [](const Given& g) { return g.a * sum(g.b).view({1}); }},
    {"torch.where({a} > {b}.sum(), {a}, {b}.amax())",
     [](const Given& g) { return where(g.a > sum(g.b), g.a, max(g.b)); }},
    {"{a} + torch.full((), int(4 * {n}) - 3, dtype=torch.int64)",
     [](const Given& g) {
       return g.a + full({}, static_cast<double>(whole_number(g) - 3), {i64, Device::cpu()});
     }},
    {"{a} * torch.full((1,), int(4 * {n}) - 3, dtype=torch.int8)",
     [](const Given& g) {
       return g.a * full({1}, static_cast<double>(whole_number(g) - 3), {i8, Device::cpu()});
     }},
    {"{a} + torch.arange(Z, dtype=torch.int16)",
     [](const Given& g) {
       return g.a + arange(g.full[2], {i16, Device::cpu()});
     }},
    {"torch.cat([{a}.expand(X, Y, Z), {b}.expand(X, Y, Z)], {axis}).narrow({axis}, (X, Y, "
     "Z)[{axis}] // 2, (X, Y, Z)[{axis}])",
     [](const Given& g) {
       const std::int64_t size = g.full[static_cast<std::size_t>(g.axis)];
       return cat({whole(g.a, g), whole(g.b, g)}, g.axis).slice(g.axis, size / 2, size / 2 + size);
     }},
    {"torch.stack([{a}.expand(X, Y, Z), {b}.expand(X, Y, Z)], {axis}).select({axis}, 1)",
     [](const Given& g) {
       return stack({whole(g.a, g), whole(g.b, g)}, g.axis).select(g.axis, 1);
     }},
    {"F.pad({a}.expand(X, Y, Z), (1, 2), value=1)[:, :, 1:Z + 1]",
     [](const Given& g) {
       return pad(whole(g.a, g), {1, 2}, 1).slice(2, 1, g.full[2] + 1);
     }},
    {"{a}.flip({axis})", [](const Given& g) { return g.a.slice(g.axis, -1, -1000, -1); }},
    {"{a}.expand(X, Y, Z).transpose(0, 2).contiguous().transpose(0, 2)",
     [](const Given& g) { return whole(g.a, g).transpose(0, 2).contiguous().transpose(0, 2); }},
    {"torch.gather({a}.expand(X, Y, Z), {axis}, places({b}, (X, Y, Z)[{axis}]).expand(X, Y, Z))",
     [](const Given& g) {
       const Tensor at = places(g.b, g.full[static_cast<std::size_t>(g.axis)]);
       return gather(whole(g.a, g), g.axis, whole(at, g));
     }},
    {"{a}.expand(X, Y, Z).scatter_add({axis}, places({b}, (X, Y, Z)[{axis}]).expand(X, Y, Z), "
     "{a}.expand(X, Y, Z))",
     [](const Given& g) {
       const Tensor at = places(g.b, g.full[static_cast<std::size_t>(g.axis)]);
       return scatter_add(whole(g.a, g), g.axis, whole(at, g), whole(g.a, g));
     }},
    {"counted({a}).expand(X, Y, Z).scatter({axis}, places({b}, (X, Y, Z)[{axis}])"
     ".expand(X, Y, Z), int(4 * {n}))",
     [](const Given& g) {
       const Tensor at = places(g.b, g.full[static_cast<std::size_t>(g.axis)]);
       return scatter(whole(counted(g.a), g), g.axis, whole(at, g), whole_number(g));
     }},
    {"{a}.expand(X, Y, Z).index_select(2, places({b}.sum((0, 1)), Z))",
     [](const Given& g) {
       return index_select(whole(g.a, g), 2, places(sum(g.b, {0, 1}), g.full[2]));
     }},
    {"(counted({a}).expand(X, Y, Z) @ counted({a}).expand(X, Y, Z).mT) @ "
     "counted({a}).expand(X, Y, Z)",
     [](const Given& g) {
       const Tensor a = whole(counted(g.a), g);
       return matmul(matmul(a, a.transpose(1, 2)), a);
     }},
    {"written_integers({a}.expand(X, Y, Z), {b}.expand(X, Y, Z), {axis}, int(4 * {n}))",
     [](const Given& g) {
       const Tensor a = whole(counted(g.a), g), b = whole(g.b, g), y = a.clone(), before = y + 1;
       y.slice(g.axis, 0, 1).copy_from(b.slice(g.axis, 0, 1));
       y.slice(2, 1, 2).fill(static_cast<double>(whole_number(g)));
       y.slice(1, 0, 1000, 2).copy_from(y.slice(1, 0, 1000, 2) * 3);
       return y + before;
     }},
};

}  // namespace

std::span<const Operation> integer_operations() { return operations; }

}  // namespace tilewright
