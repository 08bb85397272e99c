// SPDX-License-Identifier: Apache-2.0
// exec/random_graphs.cpp — random functions of tensors, one JSON line each: as PyTorch source, with
// inputs, and with what they give here, eager and compiled, in float32 and float64, gradients
// included. test/differential/random_graphs.py lets PyTorch run the same.
//
//   random_graphs FIRST COUNT [--native]      by the interpreter, unless native code is asked for
//
// Values are broadcast over three dimensions of 0 to 6 elements, some of one long one; inputs have
// gaps, other orders in memory, go backwards, repeat elements or share memory. Some functions are
// also replayed, compiled without fusion, tuned (native code), or run in float16 and bfloat16;
// every third seed has a function of bools and integers besides.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/settings.h"
#include "random_graph_operations.h"
#include "tilewright/compile.h"
#include "tilewright/error.h"
#include "tilewright/grad.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

struct Line {
  const Operation* operation;
  std::size_t a, b;
  int axis;
  double number;
};

// How an input lies in memory.
enum class Kind { Plain, Strided, Backwards, Transposed, Shifted, Repeated, Shared };

enum class Of { Floats, Integers };

class Program {
 public:
  // What came later is drawn with dice of its own: older draws of a seed stay as they were.
  Program(std::uint64_t seed, Of of)
      : of_(of),
        seed_(seed),
        choose_(seed * 7919 + (of == Of::Floats ? 13 : 14)),
        later_(seed * 104729 + 7) {
    for (std::int64_t& size : full_) {
      const auto chance = below(12);
      size = chance == 0 ? 0 : chance < 3 ? 1 : static_cast<std::int64_t>(2 + below(5));
    }
    if (later_() % 6 == 0) full_[later_() % 3] = static_cast<std::int64_t>(17 + later_() % 60);
    for (std::size_t i = 0; i < inputs; ++i) {
      kinds_.push_back(static_cast<Kind>(below(7)));
      Shape shape = full_;
      for (std::int64_t& size : shape)
        if (i > 0 && below(3) == 0) size = 1;
      shapes_.push_back(shape);
    }
    const std::size_t count = 2 + below(12);
    for (std::size_t i = 0; i < count; ++i)
      lines_.push_back({operation(), recent(inputs + i), recent(inputs + i),
                        static_cast<int>(below(3)), 0.25 * static_cast<double>(1 + below(9))});
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

  // `other`: of the same kinds and shapes, with other numbers.
  std::vector<Tensor> make_inputs(DType dtype, std::uint64_t other = 0) const {
    std::vector<Tensor> made;
    for (std::size_t i = 0; i < inputs; ++i)
      made.push_back(make_input(i, dtype, made, seed_ * 5 + i + (other << 48)));
    return made;
  }

 private:
  static constexpr std::size_t inputs = 4;
  std::size_t below(std::size_t n) { return choose_() % n; }
  const Operation* operation() {
    const auto known = of_ == Of::Floats ? float_operations() : integer_operations();
    const Operation* const drawn = &known[below(known.size())];
    const auto more = more_float_operations();
    return of_ == Of::Floats && later_() % 3 == 0 ? &more[later_() % more.size()] : drawn;
  }
  // Late values more often: graphs that are deep.
  std::size_t recent(std::size_t count) {
    return below(2) == 0 ? below(count) : count - 1 - below(std::min<std::size_t>(count, 3));
  }

  Tensor make_input(std::size_t i, DType dtype, const std::vector<Tensor>& before,
                    std::uint64_t numbers) const {
    Shape shape = shapes_[i];
    const auto filled = [&](const Shape& whole) {
      // Of float32: all dtypes have the same numbers.
      const Tensor drawn = randn(whole, RandomOptions(f32, Device::cpu()).with_seed(numbers));
      if (of_ == Of::Floats) return drawn.to(dtype);
      constexpr DType dtypes[] = {b1, u8, i8, i16, i32, i64};
      constexpr double scales[] = {2, 40, 3e9};  // the last one beyond most of them: integers wrap
      const DType chosen = dtypes[(seed_ + i * i) % std::size(dtypes)];
      return chosen == b1 ? drawn > 0.0 : (drawn * scales[(seed_ / 3 + i) % 3]).to(i64).to(chosen);
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

  const Of of_;
  const std::uint64_t seed_;
  std::mt19937_64 choose_, later_;
  Shape full_ = {1, 1, 1};
  std::vector<Kind> kinds_;
  std::vector<Shape> shapes_;
  std::vector<Line> lines_;
  std::array<std::size_t, 2> results_ = {};
};

// Elements of floats as the bits of doubles: JSON has neither NaN nor infinities.
Json tensor_json(const Tensor& x) {
  Json bits = Json::array();
  if (is_floating(x.dtype())) {
    for (const double value : x.to(f64).contiguous().to_vector<double>())
      bits.push_back(std::bit_cast<std::int64_t>(value));
  } else {
    bits = x.to(i64).contiguous().to_vector<std::int64_t>();
  }
  return {{"dtype", name_of(x.dtype())}, {"shape", x.shape()}, {"bits", std::move(bits)}};
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

// Which ways besides eager and compiled calls, and which dtypes besides float32 and float64.
struct Extras {
  bool is_replayed, is_unfused, is_tuned, is_small;
};

Json run_all(const Program& program, DType dtype, const Extras& extras) {
  const std::vector<Tensor> inputs = program.make_inputs(dtype);
  const auto call = [&](std::vector<Tensor> values) { return program(std::move(values)); };
  // The last of two calls, the first with other numbers in other memory.
  const auto twice = [&](Mode mode) {
    const auto f = compile(call, {.mode = mode});
    f(program.make_inputs(dtype, 1));
    return f(inputs);
  };
  Json all;
  all["eager"] = outcome([&] { return program(inputs); });
  all["compiled"] = outcome([&] { return twice(Mode::Default); });
  if (extras.is_unfused)
    all["unfused"] = outcome([&] { return compile(call, {.fuses = false})(inputs); });
  if (extras.is_replayed) all["replayed"] = outcome([&] { return twice(Mode::ReduceOverhead); });
  if (extras.is_tuned) all["tuned"] = outcome([&] { return twice(Mode::MaxAutotune); });
  return all;
}

Json run_floats(const Program& program, DType dtype, const Extras& extras) {
  Json all = run_all(program, dtype, extras);
  const auto loss = [&](std::vector<Tensor> values) {
    Tensor total;
    for (const Tensor& result : program(std::move(values))) {
      const Tensor part = sum(sin(result));
      total = total.is_defined() ? total + part : part;
    }
    return total;
  };
  all["gradients"] =
      outcome([&] { return value_and_grad(loss)(program.make_inputs(dtype)).second; });
  return all;
}

void print_line(const Json& line) {
  std::puts(line.dump().c_str());
  std::fflush(stdout);
}

void run_seed(std::uint64_t seed, bool is_native) {
  std::mt19937_64 dice(seed * 15485863 + 1);
  const Extras extras{.is_replayed = dice() % 3 == 0,
                      .is_unfused = dice() % 3 == 0,
                      .is_tuned = dice() % 8 == 0 && is_native,
                      .is_small = dice() % 4 == 0};
  const Program program(seed, Of::Floats);
  Json line = {{"seed", seed},
               {"kind", "floats"},
               {"source", program.source()},
               {"inputs", list_json(program.make_inputs(f32))},
               {"float32", run_floats(program, f32, extras)},
               {"float64", run_floats(program, f64, extras)}};
  if (extras.is_small) {
    line["float16"] = run_floats(program, f16, extras);
    line["bfloat16"] = run_floats(program, bf16, extras);
  }
  print_line(line);
  if (seed % 3 != 0) return;
  const Program whole(seed, Of::Integers);
  print_line({{"seed", seed},
              {"kind", "integers"},
              {"source", whole.source()},
              {"inputs", list_json(whole.make_inputs(i64))},
              {"results", run_all(whole, i64, extras)}});
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
  for (std::uint64_t seed = first; seed < first + graphs; ++seed)
    run_seed(seed, !changed.interpret);
  return 0;
}
