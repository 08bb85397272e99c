// SPDX-License-Identifier: Apache-2.0
// exec/random_graphs.cpp — random functions of tensors, one JSON line each: as PyTorch source, with
// inputs, and with what they give here, eager and compiled, in float32 and float64, gradients
// included. test/differential/random_graphs.py lets PyTorch run the same.
//
//   random_graphs FIRST COUNT [--native]      by the interpreter, unless native code is asked for
//
// Values are broadcast over three dimensions of 0 to 6 elements; inputs have gaps, other orders in
// memory, go backwards, repeat elements or share memory.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/settings.h"
#include "tilewright/compile.h"
#include "tilewright/error.h"
#include "tilewright/grad.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

struct Given {
  Tensor a, b;
  int axis = 0;
  double number = 1;
  Shape full;  // what all values are broadcast to

  Tensor whole_a() const { return a.broadcast_to(full); }
  Tensor whole_b() const { return b.broadcast_to(full); }
  // No two elements of a row are equal: where all are, a norm makes 300 times the rounding of their
  // mean. Captured.
  Tensor uneven_a() const {
    std::vector<double> ramp;
    for (std::int64_t i = 0; i < full[2]; ++i) ramp.push_back(0.25 * static_cast<double>(i * i));
    return whole_a() * 0.1 + tensor<double>(ramp, Device::cpu()).to(a.dtype());
  }
};

struct Operation {
  const char* python;  // of a, b, axis, n and the sizes X, Y, Z
  Tensor (*run)(const Given&);
};

// Results are broadcast over the same three dimensions.
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

struct Line {
  const Operation* operation;
  std::size_t a, b;
  int axis;
  double number;
};

// How an input lies in memory.
enum class Kind { Plain, Strided, Backwards, Transposed, Shifted, Repeated, Shared };

class Program {
 public:
  explicit Program(std::uint64_t seed) : seed_(seed), choose_(seed * 7919 + 13) {
    for (std::int64_t& size : full_) {
      const auto chance = below(12);
      size = chance == 0 ? 0 : chance < 3 ? 1 : static_cast<std::int64_t>(2 + below(5));
    }
    for (std::size_t i = 0; i < inputs; ++i) {
      kinds_.push_back(static_cast<Kind>(below(7)));
      Shape shape = full_;
      for (std::int64_t& size : shape)
        if (i > 0 && below(3) == 0) size = 1;
      shapes_.push_back(shape);
    }
    const std::size_t count = 2 + below(12);
    for (std::size_t i = 0; i < count; ++i)
      lines_.push_back({&operations[below(std::size(operations))], recent(inputs + i),
                        recent(inputs + i), static_cast<int>(below(3)),
                        0.25 * static_cast<double>(1 + below(9))});
    results_ = {inputs + count - 1, inputs + below(count)};
  }

  std::string source() const {
    std::string text =
        fmt::format("def f(t):\n    X, Y, Z = {}, {}, {}\n", full_[0], full_[1], full_[2]);
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const Line& line = lines_[i];
      const std::string expression = fmt::format(
          fmt::runtime(line.operation->python), fmt::arg("a", fmt::format("t[{}]", line.a)),
          fmt::arg("b", fmt::format("t[{}]", line.b)), fmt::arg("axis", line.axis),
          fmt::arg("n", line.number));
      text += fmt::format("    t = t + [{}]\n", expression);
    }
    return text + fmt::format("    return [t[{}], t[{}]]\n", results_[0], results_[1]);
  }

  std::vector<Tensor> operator()(std::vector<Tensor> values) const {
    for (const Line& line : lines_)
      values.push_back(
          line.operation->run({values[line.a], values[line.b], line.axis, line.number, full_}));
    return {values[results_[0]], values[results_[1]]};
  }

  std::vector<Tensor> make_inputs(DType dtype) const {
    std::vector<Tensor> made;
    for (std::size_t i = 0; i < inputs; ++i) made.push_back(make_input(i, dtype, made));
    return made;
  }

 private:
  static constexpr std::size_t inputs = 4;
  std::size_t below(std::size_t n) { return choose_() % n; }
  // Late values more often: graphs that are deep.
  std::size_t recent(std::size_t count) {
    return below(2) == 0 ? below(count) : count - 1 - below(std::min<std::size_t>(count, 3));
  }

  Tensor make_input(std::size_t i, DType dtype, const std::vector<Tensor>& before) const {
    Shape shape = shapes_[i];
    const auto filled = [&](const Shape& whole) {
      // Of float32: both dtypes have the same numbers.
      return randn(whole, RandomOptions(f32, Device::cpu()).with_seed(seed_ * 5 + i)).to(dtype);
    };
    switch (kinds_[i]) {
      case Kind::Strided:
        shape[2] *= 2;
        return filled(shape).slice(2, 0, 1000, 2);
      case Kind::Backwards:
        return filled(shape).slice(1, -1, -1000, -1);
      case Kind::Transposed:
        return filled({shape[2], shape[1], shape[0]}).permute({2, 1, 0});
      case Kind::Shifted:
        shape[2] += 3;
        return filled(shape).slice(2, 3, 1000);
      case Kind::Repeated:
        return filled({1, shape[1], 1}).broadcast_to(shape);
      case Kind::Shared:
        if (i > 0 && before[0].shape() == shape) return before[0];
        return filled(shape);
      case Kind::Plain:
        break;
    }
    return filled(shape);
  }

  const std::uint64_t seed_;
  std::mt19937_64 choose_;
  Shape full_ = {1, 1, 1};
  std::vector<Kind> kinds_;
  std::vector<Shape> shapes_;
  std::vector<Line> lines_;
  std::array<std::size_t, 2> results_ = {};
};

// Elements as the bits of doubles: JSON has neither NaN nor infinities.
Json tensor_json(const Tensor& x) {
  Json bits = Json::array();
  for (const double value : x.to(f64).contiguous().to_vector<double>())
    bits.push_back(std::bit_cast<std::int64_t>(value));
  return {{"shape", x.shape()}, {"bits", std::move(bits)}};
}
Json list_json(const std::vector<Tensor>& all) {
  Json list = Json::array();
  for (const Tensor& x : all) list.push_back(tensor_json(x));
  return list;
}

// The results, or what was wrong.
template <class Run>
Json outcome(const Run& run) {
  try {
    return list_json(run());
  } catch (const Error& error) {
    return error.what();
  }
}

Json run_all(const Program& program, DType dtype) {
  const std::vector<Tensor> inputs = program.make_inputs(dtype);
  const auto f = compile([&](std::vector<Tensor> values) { return program(std::move(values)); });
  const auto loss = [&](std::vector<Tensor> values) {
    Tensor total;
    for (const Tensor& result : program(std::move(values))) {
      const Tensor part = sum(sin(result));
      total = total.is_defined() ? total + part : part;
    }
    return total;
  };
  Json all;
  all["eager"] = outcome([&] { return program(inputs); });
  all["compiled"] = outcome([&] { return f(inputs); });
  all["gradients"] = outcome([&] { return value_and_grad(loss)(inputs).second; });
  return all;
}

}  // namespace
}  // namespace tilewright

int main(int count, char** arguments) {
  using namespace tilewright;
  if (count < 3) {
    std::fputs("random_graphs FIRST COUNT [--native]\n", stderr);
    return 2;
  }
  Settings changed = settings();
  changed.interpret = count < 4 || std::strcmp(arguments[3], "--native") != 0;
  const SettingsOverride used(changed);
  const std::uint64_t first = std::strtoull(arguments[1], nullptr, 10);
  const std::uint64_t graphs = std::strtoull(arguments[2], nullptr, 10);
  for (std::uint64_t seed = first; seed < first + graphs; ++seed) {
    const Program program(seed);
    const Json line = {{"seed", seed},
                       {"source", program.source()},
                       {"inputs", list_json(program.make_inputs(f32))},
                       {"float32", run_all(program, f32)},
                       {"float64", run_all(program, f64)}};
    std::puts(line.dump().c_str());
    std::fflush(stdout);
  }
  return 0;
}
