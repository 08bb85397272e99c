// SPDX-License-Identifier: Apache-2.0
// exec/random_graph_operations.cpp — lines of random functions of floats.
#include "random_graph_operations.h"

#include <algorithm>
#include <limits>

#include "tilewright/grad.h"
#include "tilewright/nn.h"

namespace tilewright {
namespace {

const Operation operations[] = {
    {"{a} + {b}", [](const Given& g) { return g.a + g.b; }},
    {"{a} - {b} * {n}", [](const Given& g) { return g.a - g.b * g.number; }},
    {"{a} * {b}", [](const Given& g) { return g.a * g.b; }},
    {"{a} / ({b}.abs() + 0.5)", [](const Given& g) { return g.a / (abs(g.b) + 0.5); }},
    {"torch.tanh({a}) + {n}", [](const Given& g) { return tanh(g.a) + g.number; }},
    {"torch.sigmoid({a}) * {b}", [](const Given& g) { return sigmoid(g.a) * g.b; }},
    {"torch.exp(-{a}.abs())", [](const Given& g) { return exp(-abs(g.a)); }},
    {"torch.log({a}.abs() + 0.25)", [](const Given& g) { return log(abs(g.a) + 0.25); }},
    {"torch.log1p({a} * {a})", [](const Given& g) { return log1p(g.a * g.a); }},
    {"torch.sqrt({a}.square() + 0.1)", [](const Given& g) { return sqrt(square(g.a) + 0.1); }},
    {"torch.rsqrt({a}.square() + {n} * {n} + 0.1)",
     [](const Given& g) { return rsqrt(square(g.a) + g.number * g.number + 0.1); }},
    {"torch.sin({a}) - torch.cos({b})", [](const Given& g) { return sin(g.a) - cos(g.b); }},
    {"torch.erf({a})", [](const Given& g) { return erf(g.a); }},
    {"torch.expm1({a}.clamp(-2, 2))", [](const Given& g) { return expm1(clamp(g.a, -2, 2)); }},
    {"F.gelu({a})", [](const Given& g) { return gelu(g.a); }},
    {"F.gelu({a}, approximate='tanh')", [](const Given& g) { return gelu(g.a, Gelu::Tanh); }},
    {"F.silu({a})", [](const Given& g) { return silu(g.a); }},
    {"F.relu({a}) - 0.25 * {b}", [](const Given& g) { return relu(g.a) - 0.25 * g.b; }},
    {"torch.maximum({a}, {b})", [](const Given& g) { return maximum(g.a, g.b); }},
    {"torch.minimum({a}, {b} * {n})", [](const Given& g) { return minimum(g.a, g.b * g.number); }},
    {"torch.where({a} > {b}, {a}, {b} * 0.5)",
     [](const Given& g) { return where(g.a > g.b, g.a, g.b * 0.5); }},
    {"torch.where(torch.isnan({a}) | ({b} <= {n}), {b}, -{a})",
     [](const Given& g) { return where(logical_or(isnan(g.a), g.b <= g.number), g.b, -g.a); }},
    {"torch.pow({a}.abs() + 0.5, {n})",
     [](const Given& g) { return pow(abs(g.a) + 0.5, g.number); }},
    {"torch.pow({a}.abs() + 0.5, {b}.clamp(-2, 2))",
     [](const Given& g) { return pow(abs(g.a) + 0.5, clamp(g.b, -2, 2)); }},
    {"torch.remainder({a}, 1.5) + {b}.floor()",
     [](const Given& g) { return remainder(g.a, 1.5) + floor(g.b); }},
    {"torch.remainder({a}, {b}.abs() + 0.5)",
     [](const Given& g) { return remainder(g.a, abs(g.b) + 0.5); }},
    {"{a} * ({b} > 0).to({a}.dtype)",
     [](const Given& g) { return g.a * to(g.b > 0.0, g.a.dtype()); }},
    {"torch.pow(F.relu({a}), {b}.abs().floor())",
     [](const Given& g) { return pow(relu(g.a), floor(abs(g.b))); }},
    {"torch.where({b} > 1.5, torch.log({a}), {a})",
     [](const Given& g) { return where(g.b > 1.5, log(g.a), g.a); }},
    {"torch.tan({a}.clamp(-1, 1)) + torch.reciprocal({b}.abs() + 1)",
     [](const Given& g) { return tan(clamp(g.a, -1, 1)) + reciprocal(abs(g.b) + 1); }},
    {"torch.log2({a}.abs() + 0.5) * torch.round({b})",
     [](const Given& g) { return log2(abs(g.a) + 0.5) * round(g.b); }},
    {"{a}.sign() * {b}", [](const Given& g) { return sign(g.a) * g.b; }},
    {"{a}.sum({axis}, keepdim=True) * 0.3",
     [](const Given& g) { return sum(g.a, g.axis, true) * 0.3; }},
    {"{a}.mean((0, 2), keepdim=True)",
     [](const Given& g) {
       return mean(g.a, {0, 2}, true);
     }},
    {"{a}.mean({axis}).unsqueeze({axis})",
     [](const Given& g) { return mean(g.a, g.axis).unsqueeze(g.axis); }},
    {"{a}.amax({axis}, keepdim=True)", [](const Given& g) { return max(g.a, g.axis, true); }},
    {"{a}.amin({axis}, keepdim=True) + {b}",
     [](const Given& g) { return min(g.a, g.axis, true) + g.b; }},
    {"{a}.clamp(-1.5, 1.5).prod({axis}, keepdim=True)",
     [](const Given& g) { return prod(clamp(g.a, -1.5, 1.5), g.axis, true); }},
    {"{a}.var({axis}, correction=0, keepdim=True)",
     [](const Given& g) { return var(g.a, g.axis, 0, true); }},
    {"torch.logsumexp({a}, (1, 2), keepdim=True)",
     [](const Given& g) {
       return logsumexp(g.a, {1, 2}, true);
     }},
    {"{a}.argmax({axis}, keepdim=True).to({a}.dtype)",
     [](const Given& g) { return argmax(g.a, g.axis, true).to(g.a.dtype()); }},
    {"torch.softmax({a}, {axis})", [](const Given& g) { return softmax(g.a, g.axis); }},
    {"torch.log_softmax({a}, {axis})", [](const Given& g) { return log_softmax(g.a, g.axis); }},
    {"F.layer_norm({a}.expand(X, Y, Z) * 0.1 + torch.arange(Z, dtype={a}.dtype) ** 2 * 0.25, (Z,))",
     [](const Given& g) { return layer_norm(g.uneven_a()); }},
    {"F.layer_norm({a}.expand(X, Y, Z) * 0.1 + torch.arange(Z, dtype={a}.dtype) ** 2 * 0.25, (Z,), "
     "{b}.expand(X, Y, Z).sum((0, 1)))",
     [](const Given& g) {
       return layer_norm(g.uneven_a(), sum(g.whole_b(), {0, 1}));
     }},
    {"F.rms_norm({a}.expand(X, Y, Z), (Z,), eps=1e-6)",
     [](const Given& g) { return rms_norm(g.whole_a()); }},
    {"{a} * 0.25 * torch.arange(Z) + {b} * torch.full((Y, 1), {n}, dtype={a}.dtype)",
     [](const Given& g) {
       return g.a * 0.25 * arange(g.full[2], {DType::Int64, Device::cpu()}) +
              g.b * full({g.full[1], 1}, g.number, {g.a.dtype(), Device::cpu()});
     }},
    {"torch.where(torch.arange(Y, dtype={a}.dtype).unsqueeze(1) <= {b}.abs(), {a}, "
     "torch.zeros(X, 1, 1, dtype={a}.dtype))",
     [](const Given& g) {
       const Tensor row = arange(g.full[1], {g.a.dtype(), Device::cpu()}).unsqueeze(1);
       return where(row <= abs(g.b), g.a, zeros({g.full[0], 1, 1}, {g.a.dtype(), Device::cpu()}));
     }},
    {"({a}.expand(X, Y, Z) * 2).narrow({axis}, 0, min(1, (X, Y, Z)[{axis}])) * ({b} * 0.5)",
     [](const Given& g) { return (g.whole_a() * 2).slice(g.axis, 0, 1) * (g.b * 0.5); }},
    {"({a} * -4) * ({b} * -0.25) + ({a} * 0.5).flip({axis}) * 8",
     [](const Given& g) {
       return (g.a * -4) * (g.b * -0.25) + (g.a * 0.5).slice(g.axis, -1, -1000, -1) * 8;
     }},
    {"1 + torch.tanh(({a}.expand(X, Y, Z) * 0.5).transpose(0, 1)).transpose(0, 1)",
     [](const Given& g) { return 1 + tanh((g.whole_a() * 0.5).transpose(0, 1)).transpose(0, 1); }},
    // Writes: a row, a column and every second one of a copy; what was read before stays.
    {"written({a}.expand(X, Y, Z), {b}.expand(X, Y, Z), {axis}, {n})",
     [](const Given& g) {
       const Tensor a = g.whole_a(), b = g.whole_b(), y = a.clone(), before = y * 0.5;
       y.slice(g.axis, 0, 1).copy_from(b.slice(g.axis, 0, 1) * g.number);
       y.slice(2, 1, 2).fill(g.number);
       y.slice(1, 0, 1000, 2).copy_from(tanh(y.slice(1, 0, 1000, 2)));
       return y + before;
     }},
    // An assignment of every row, in another dtype.
    {"torch.stack([({a}.expand(X, Y, Z)[i] * {n}).double() for i in range(X)] or "
     "[{a}.expand(X, Y, Z).sum(0).double()])[:X].to({a}.dtype)",
     [](const Given& g) {
       const Tensor y = empty(g.full, {f64, Device::cpu()}), a = g.whole_a();
       for (std::int64_t i = 0; i < g.full[0]; ++i) y[i].copy_from(a[i] * g.number);
       return y.to(g.a.dtype());
     }},
    // Places and constants of other dtypes.
    {"torch.where(torch.arange(Y, dtype=torch.int32).unsqueeze(1) >= torch.arange(Z, "
     "dtype=torch.int64), {a}, {b} * torch.full((1,), 3, dtype=torch.uint8))",
     [](const Given& g) {
       const Tensor row = arange(g.full[1], {DType::Int32, Device::cpu()}).unsqueeze(1);
       const Tensor column = arange(g.full[2], {DType::Int64, Device::cpu()});
       const Tensor three = full({1}, 3, {DType::UInt8, Device::cpu()});
       return where(row >= column, g.a, g.b * three);
     }},
    {"{a} * torch.arange(Z, dtype=torch.int8).flip(0) + torch.full((X, 1, 1), True)",
     [](const Given& g) {
       const Tensor back = arange(g.full[2], {DType::Int8, Device::cpu()}).slice(0, -1, -1000, -1);
       return g.a * back + full({g.full[0], 1, 1}, 1, {DType::Bool, Device::cpu()});
     }},
    {"{a}.flip({axis}) - {b}",
     [](const Given& g) { return g.a.slice(g.axis, -1, -1000, -1) - g.b; }},
    {"{a}.transpose(0, 1).contiguous().transpose(0, 1) + {b}",
     [](const Given& g) { return g.a.transpose(0, 1).contiguous().transpose(0, 1) + g.b; }},
    {"{a}.expand(X, Y, Z).reshape(X * Y, Z).t().reshape(Z, X, Y).permute(1, 2, 0)",
     [](const Given& g) {
       const Shape& f = g.full;
       return g.whole_a()
           .reshape({f[0] * f[1], f[2]})
           .t()
           .reshape({f[2], f[0], f[1]})
           .permute({1, 2, 0});
     }},
    {"torch.cat([{a}.expand(X, Y, Z), {b}.expand(X, Y, Z)], {axis}).narrow({axis}, (X, Y, "
     "Z)[{axis}] "
     "// 2, (X, Y, Z)[{axis}])",
     [](const Given& g) {
       const std::int64_t size = g.full[static_cast<std::size_t>(g.axis)];
       return cat({g.whole_a(), g.whole_b()}, g.axis).slice(g.axis, size / 2, size / 2 + size);
     }},
    {"torch.stack([{a}.expand(X, Y, Z), {b}.expand(X, Y, Z)], {axis}).sum({axis})",
     [](const Given& g) {
       return sum(stack({g.whole_a(), g.whole_b()}, g.axis), g.axis);
     }},
    {"F.pad({a}.expand(X, Y, Z), (1, 2), value={n})[:, :, 1:Z + 1]",
     [](const Given& g) {
       return pad(g.whole_a(), {1, 2}, g.number).slice(2, 1, g.full[2] + 1);
     }},
    {"({a}.expand(X, Y, Z) @ {b}.expand(X, Y, Z).transpose(1, 2)).mean(2, keepdim=True)",
     [](const Given& g) {
       return mean(matmul(g.whole_a(), g.whole_b().transpose(1, 2)), 2, true);
     }},
    {"F.linear({a}.expand(X, Y, Z), {b}.expand(X, Y, Z).sum(0)).sum(2, keepdim=True) * 0.2",
     [](const Given& g) { return sum(linear(g.whole_a(), sum(g.whole_b(), 0)), 2, true) * 0.2; }},
    {"torch.gather({a}.expand(X, Y, Z), 2, {b}.expand(X, Y, Z).argsort(2).argsort(2) * 0) + {b}",
     [](const Given& g) {
       const Tensor none = to(g.whole_b() * 0.0 > 1.0, i64);
       return gather(g.whole_a(), 2, none) + g.b;
     }},
    {"{a}.double().to({a}.dtype) * {n}",
     [](const Given& g) { return g.a.to(f64).to(g.a.dtype()) * g.number; }},
};

// Indices 0 and 1, where there are two places. Means that are 0 but for their rounding would be
// either.
Tensor bits_of(const Tensor& x, std::int64_t size) {
  return to(x > 0.0137, i64) * std::min<std::int64_t>(1, size - 1);
}

Tensor kernel_of(const Tensor& b, std::int64_t count) {
  const Tensor ramp = arange(9, {b.dtype(), Device::cpu()}).view({1, 1, 3, 3}) - 4;
  return (ramp * mean(b)).broadcast_to({count, 1, 3, 3});
}

const Operation more_operations[] = {
    {"torch.floor_divide({a}.detach(), {b}.detach().abs() + 0.5) + {a}",
     [](const Given& g) { return floor_divide(g.a, abs(g.b) + 0.5) + g.a; }},
    {"torch.where(torch.logical_and({a} >= {b}, torch.isinf({a}).logical_not()), {a}, {b} * {n})",
     [](const Given& g) {
       return where(logical_and(g.a >= g.b, logical_not(isinf(g.a))), g.a, g.b * g.number);
     }},
    {"torch.where({a}.sign() == {b}.sign(), {a}, -{b})",
     [](const Given& g) { return where(eq(sign(g.a), sign(g.b)), g.a, -g.b); }},
    {"torch.where(({a}.sign() != {b}.sign()).logical_and(torch.tensor({n})), {b} - 1, {a})",
     [](const Given& g) {
       return where(logical_and(ne(sign(g.a), sign(g.b)), g.number), g.b - 1, g.a);
     }},
    {"torch.where(({a} < {b}).logical_or(torch.full((Y, 1), 0.0)), {n} - {a}, {b})",
     [](const Given& g) {
       const Tensor no = full({g.full[1], 1}, 0, {g.a.dtype(), Device::cpu()});
       return where(logical_or(g.a < g.b, no), g.number - g.a, g.b);
     }},
    {"{a}.ceil() * {b} + {b}.trunc()", [](const Given& g) { return ceil(g.a) * g.b + trunc(g.b); }},
    {"{a}.clamp(min=-{n}) + {b}.clamp(max={n})",
     [](const Given& g) { return clamp(g.a, -g.number, {}) + clamp(g.b, {}, g.number); }},
    {"{a}.amax((0, 2), keepdim=True) - {b}",
     [](const Given& g) {
       return max(g.a, {0, 2}, true) - g.b;
     }},
    {"{a}.sum((0, 1), keepdim=True) * 0.2 + {b}.amin((1, 2), keepdim=True)",
     [](const Given& g) {
       return sum(g.a, {0, 1}, true) * 0.2 + min(g.b, {1, 2}, true);
     }},
    {"{a}.argmin({axis}, keepdim=True) * {b}",
     [](const Given& g) { return argmin(g.a, g.axis, true) * g.b; }},
    {"{a} * {b}.mean()", [](const Given& g) { return g.a * mean(g.b); }},
    {"{a}.expand(X, Y, Z).var((0, 1, 2), correction=1, keepdim=True)",
     [](const Given& g) {
       return var(g.whole_a(), {0, 1, 2}, 1, true);
     }},
    {"{a} / ({a}.square().sum({axis}, keepdim=True).sqrt() + 0.25)",
     [](const Given& g) { return g.a / (sqrt(sum(square(g.a), g.axis, true)) + 0.25); }},
    {"{a} ** 3 - {n} / ({b} ** 2 + 1)",
     [](const Given& g) { return pow(g.a, 3) - g.number / (pow(g.b, 2) + 1); }},
    {"torch.pow({n}, {a}.clamp(-2, 2))",
     [](const Given& g) { return pow(g.number, clamp(g.a, -2, 2)); }},
    {"normed({a}.expand(X, Y, Z) * 0.1 + torch.arange(Y * Z, dtype={a}.dtype).sqrt().reshape(Y, "
     "Z), "
     "{b}.expand(X, Y, Z).mean((0, 2)))",
     [](const Given& g) {  // of which no element is the mean
       const Tensor ramp = sqrt(arange(g.full[1] * g.full[2], {g.a.dtype(), Device::cpu()}));
       const Tensor uneven = g.whole_a() * 0.1 + ramp.view({g.full[1], g.full[2]});
       return group_norm(uneven, 1, mean(g.whole_b(), {0, 2}), {}, 0.1);
     }},
    {"F.cross_entropy({a}.expand(X, Y, Z).reshape(X * Y, Z), {b}.expand(X, Y, Z).argmax(2)"
     ".reshape(X * Y), reduction='none', ignore_index=1).reshape(X, Y, 1)",
     [](const Given& g) {
       const std::int64_t rows = g.full[0] * g.full[1];
       const Tensor target = argmax(g.whole_b(), 2).reshape({rows});
       return cross_entropy(g.whole_a().reshape({rows, g.full[2]}), target, Reduction::None, 1)
           .view({g.full[0], g.full[1], 1});
     }},
    {"F.cross_entropy({a}.expand(X, Y, Z).reshape(X * Y, Z) * 9, {b}.expand(X, Y, Z).argmax(2)"
     ".reshape(X * Y)).reshape(1, 1, 1)",
     [](const Given& g) {
       const std::int64_t rows = g.full[0] * g.full[1];
       const Tensor target = argmax(g.whole_b(), 2).reshape({rows});
       return cross_entropy(g.whole_a().reshape({rows, g.full[2]}) * 9, target).view({1, 1, 1});
     }},
    {"F.conv2d({a}.expand(X, Y, Z).unsqueeze(1), kernel({b}, 1), padding=1).squeeze(1) * 0.2",
     [](const Given& g) {
       const Tensor x = g.whole_a().unsqueeze(1);
       return conv2d(x, kernel_of(g.b, 1), {}, {.padding = 1}).squeeze(1) * 0.2;
     }},
    {"F.conv2d({a}.expand(X, Y, Z).unsqueeze(0), kernel({b}, X), padding=2, dilation=2, groups=X)"
     ".squeeze(0) * 0.2",
     [](const Given& g) {
       ConvOptions options{.padding = 2, .dilation = 2};
       options.groups = g.full[0];
       const Tensor x = g.whole_a().unsqueeze(0);
       return conv2d(x, kernel_of(g.b, g.full[0]), {}, options).squeeze(0) * 0.2;
     }},
    {"F.max_pool2d({a}.expand(X, Y, Z).unsqueeze(1), 3, 1, 1).squeeze(1)",
     [](const Given& g) {
       return max_pool2d(g.whole_a().unsqueeze(1), 3, {.stride = 1, .padding = 1}).squeeze(1);
     }},
    {"F.avg_pool2d({a}.expand(X, Y, Z).unsqueeze(1), 3, 1, 1, count_include_pad=False).squeeze(1)",
     [](const Given& g) {
       const PoolOptions options{.stride = 1, .padding = 1, .count_include_pad = false};
       return avg_pool2d(g.whole_a().unsqueeze(1), 3, options).squeeze(1);
     }},
    {"{a}.expand(X, Y, Z).index_select(2, bits({b}.expand(X, Y, Z).mean((0, 1)), Z))",
     [](const Given& g) {
       const Tensor picks = bits_of(mean(g.whole_b(), {0, 1}), g.full[2]);
       return index_select(g.whole_a(), 2, picks);
     }},
    {"torch.gather({a}.expand(X, Y, Z), 2, bits({b}.expand(X, Y, Z), Z))",
     [](const Given& g) { return gather(g.whole_a(), 2, bits_of(g.whole_b(), g.full[2])); }},
    {"{a}.expand(X, Y, Z).scatter_add(1, bits({b}.expand(X, Y, Z), Y), {b}.expand(X, Y, Z) * {n})",
     [](const Given& g) {
       const Tensor places = bits_of(g.whole_b(), g.full[1]);
       return scatter_add(g.whole_a(), 1, places, g.whole_b() * g.number);
     }},
    {"{a}.expand(X, Y, Z).scatter(2, bits({b}.expand(X, Y, Z), Z), {n})",
     [](const Given& g) {
       return scatter(g.whole_a(), 2, bits_of(g.whole_b(), g.full[2]), g.number);
     }},
    {"{a}.expand(X, Y, Z).index_add(0, bits({b}.expand(X, Y, Z).mean((1, 2)), X), "
     "{b}.expand(X, Y, Z))",
     [](const Given& g) {
       const Tensor places = bits_of(mean(g.whole_b(), {1, 2}), g.full[0]);
       return index_add(g.whole_a(), 0, places, g.whole_b());
     }},
    {"F.embedding(bits({b}.expand(X, Y, Z).mean((1, 2)), X * Y), {a}.expand(X, Y, Z)"
     ".reshape(X * Y, Z)).unsqueeze(1)",
     [](const Given& g) {
       const std::int64_t rows = g.full[0] * g.full[1];
       const Tensor ids = bits_of(mean(g.whole_b(), {1, 2}), rows);
       return embedding(g.whole_a().reshape({rows, g.full[2]}), ids).unsqueeze(1);
     }},
    {"F.scaled_dot_product_attention({a}.expand(X, Y, Z), {b}.expand(X, Y, Z), {a}.expand(X, Y, "
     "Z), is_causal=True, scale=0.5)",
     [](const Given& g) {
       const Tensor a = g.whole_a();
       return scaled_dot_product_attention(a, g.whole_b(), a, {},
                                           {.is_causal = true, .scale = 0.5});
     }},
    {"F.scaled_dot_product_attention({a}.expand(X, Y, Z), {b}.expand(X, Y, Z), {b}.expand(X, Y, "
     "Z), attn_mask={a}.expand(X, Y, Z).sum(2, keepdim=True), scale=0.5)",
     [](const Given& g) {
       const Tensor b = g.whole_b(), mask = sum(g.whole_a(), 2, true);
       return scaled_dot_product_attention(g.whole_a(), b, b, mask, {.scale = 0.5});
     }},
    {"torch.bmm(torch.bmm({a}.expand(X, Y, Z), {b}.expand(X, Y, Z).mT), {a}.expand(X, Y, Z)) * "
     "0.05",
     [](const Given& g) {
       return bmm(bmm(g.whole_a(), g.whole_b().transpose(1, 2)), g.whole_a()) * 0.05;
     }},
    {"({a}.expand(X, Y, Z) @ {b}.expand(X, Y, Z).sum((0, 1))).unsqueeze(2) * 0.2",
     [](const Given& g) {
       return matmul(g.whole_a(), sum(g.whole_b(), {0, 1})).unsqueeze(2) * 0.2;
     }},
    {"torch.softmax({a}.expand(X, Y, Z).masked_fill(torch.arange(Y).unsqueeze(1) < "
     "torch.arange(Z), float('-inf')), 2) * {b}",
     [](const Given& g) {
       const Tensor row = arange(g.full[1], {DType::Int64, Device::cpu()}).unsqueeze(1);
       const Tensor column = arange(g.full[2], {DType::Int64, Device::cpu()});
       const double low = -std::numeric_limits<double>::infinity();
       return softmax(where(row < column, low, g.whole_a()), 2) * g.b;
     }},
    // A recurrence over rows, which an assignment makes of each.
    {"recurrence({a}.expand(X, Y, Z), {b}.expand(X, Y, Z))",
     [](const Given& g) {
       const Tensor y = empty(g.full, {g.a.dtype(), Device::cpu()});
       Tensor last = sum(g.whole_a(), 1) * 0.0;
       for (std::int64_t i = 0; i < g.full[1]; ++i) {
         last = tanh(last * g.whole_b().select(1, i)) + g.whole_a().select(1, i);
         y.select(1, i).copy_from(last);
       }
       return y;
     }},
    {"F.pad({a}.expand(X, Y, Z), (0, 0, -min(Y, 1), min(Y, 1)), value={n}) + {b}",
     [](const Given& g) {
       const std::int64_t one = std::min<std::int64_t>(g.full[1], 1);
       return pad(g.whole_a(), {0, 0, -one, one}, g.number) + g.b;
     }},
    // A derivative of the first order, of which the second one is taken.
    {"slope({a}, {b}, {n})",
     [](const Given& g) {
       return grad([&](const Tensor& x) { return sum(tanh(x * g.number) * g.b); })(g.a);
     }},
    // Over two dimensions, where what is read may have only one of them.
    {"({a} * {b}).sum((0, 1), keepdim=True) * 0.2",
     [](const Given& g) {
       return sum(g.a * g.b, {0, 1}, true) * 0.2;
     }},
    {"({a} - {b}).square().mean((0, 2), keepdim=True)",
     [](const Given& g) {
       return mean(square(g.a - g.b), {0, 2}, true);
     }},
    {"(torch.tanh({a} + {b}) * {a}).amax((0, 1), keepdim=True)",
     [](const Given& g) {
       return max(tanh(g.a + g.b) * g.a, {0, 1}, true);
     }},
    {"({a} + {n} * {b}).logsumexp((0, 1, 2), keepdim=True)",
     [](const Given& g) {
       return logsumexp(g.a + g.number * g.b, {0, 1, 2}, true);
     }},
    {"torch.tanh({a}.expand(X, Y, Z) @ {b}.expand(X, Y, Z).sum((0, 1)).unsqueeze(1) * 0.2 + "
     "{b}.expand(X, Y, Z).sum((1, 2)).unsqueeze(1).unsqueeze(1)).square().mean((0, 1, 2), "
     "keepdim=True)",
     [](const Given& g) {
       const Tensor product = matmul(g.whole_a(), sum(g.whole_b(), {0, 1}).unsqueeze(1)) * 0.2;
       const Tensor bias = sum(g.whole_b(), {1, 2}).unsqueeze(1).unsqueeze(1);
       return mean(square(tanh(product + bias)), {0, 1, 2}, true);
     }},
    {"torch.softmax(({a}.expand(X, Y, Z) * {b}).flatten(1), 1).reshape(X, Y, Z) * {n}",
     [](const Given& g) {
       const Shape rows = {g.full[0], g.full[1] * g.full[2]};
       return softmax((g.whole_a() * g.b).reshape(rows), 1).view(g.full) * g.number;
     }},
    {"F.conv2d({a}.expand(X, Y, Z).unsqueeze(1), kernel({b}, 1), stride=(2, 1), padding=1)"
     ".sum((1, 2, 3)).reshape(X, 1, 1) * 0.1",
     [](const Given& g) {
       const ConvOptions options{.stride = {2, 1}, .padding = 1};
       const Tensor made = conv2d(g.whole_a().unsqueeze(1), kernel_of(g.b, 1), {}, options);
       return sum(made, {1, 2, 3}).view({g.full[0], 1, 1}) * 0.1;
     }},
    {"F.avg_pool2d({a}.expand(X, Y, Z).unsqueeze(1), (3, 2), (1, 2), 1).sum((1, 2, 3))"
     ".reshape(X, 1, 1) * {b}",
     [](const Given& g) {
       const PoolOptions options{.stride = {1, 2}, .padding = 1};
       const Tensor made = avg_pool2d(g.whole_a().unsqueeze(1), {3, 2}, options);
       return sum(made, {1, 2, 3}).view({g.full[0], 1, 1}) * g.b;
     }},
    {"({a} + {b}) * ({n} / ({a}.square().sum() + {b}.square().sum()).sqrt().add(1e-6))"
     ".clamp(max=1.0)",
     [](const Given& g) {
       std::vector<Tensor> both = {g.a, g.b};
       const Tensor length = nn::total_norm(nn::tensors_of(both));
       return (g.a + g.b) * clamp(g.number / (length + 1e-6), {}, 1.0);
     }},
    // Whose squares and sums are beyond float16.
    {"F.rms_norm(torch.tanh({a}.expand(X, Y, Z)) * 400, (Z,), eps=1e-6) * {b}",
     [](const Given& g) { return rms_norm(tanh(g.whole_a()) * 400) * g.b; }},
    {"(torch.tanh({a}) * 30000).mean({axis}, keepdim=True) * 1e-4 + {b}",
     [](const Given& g) { return mean(tanh(g.a) * 30000, g.axis, true) * 1e-4 + g.b; }},
    {"{a}.expand(X, Y, Z).unflatten(2, (Z, 1)).squeeze(3)[:, :, ::2].repeat_interleave(2, "
     "2)[:, :, :Z]",
     [](const Given& g) {
       const Tensor half = g.whole_a().slice(2, 0, g.full[2], 2);
       const Tensor both = stack({half, half}, 3).reshape({g.full[0], g.full[1], half.size(2) * 2});
       return both.slice(2, 0, g.full[2]);
     }},
};

}  // namespace

std::span<const Operation> float_operations() { return operations; }
std::span<const Operation> more_float_operations() { return more_operations; }

}  // namespace tilewright
