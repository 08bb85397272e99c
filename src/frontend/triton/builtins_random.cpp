// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_random.cpp — Philox random numbers, the same bits as Triton's.
#include <array>

#include <fmt/format.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;
using python::BinaryOperator;
using Words = std::array<ir::Value, 4>;

struct PhiloxConstants {
  std::uint64_t key_a, key_b, round_a, round_b;
};
constexpr PhiloxConstants philox_32 = {0x9E3779B9, 0xBB67AE85, 0xD2511F53, 0xCD9E8D57};
constexpr PhiloxConstants philox_64 = {0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B, 0xD2E7470EE14C6C93,
                                       0xCA5A826395121157};

ir::Value apply(Semantic& s, OpKind kind, ir::Value a, ir::Value b) {
  const auto [x, y] = s.broadcast(a, b);
  return s.builder().binary(kind, x, y);
}

Words philox_rounds(Semantic& s, Words c, ir::Value k0, ir::Value k1, std::int64_t rounds) {
  const ir::Type word = s.type(c[0]).element();
  const PhiloxConstants& constants = word.dtype == u32 ? philox_32 : philox_64;
  const auto constant = [&](std::uint64_t value) {
    return s.builder().constant(word, static_cast<std::int64_t>(value));
  };
  const ir::Value a = constant(constants.round_a), b = constant(constants.round_b);
  const ir::Value step_0 = constant(constants.key_a), step_1 = constant(constants.key_b);
  for (std::int64_t round = 0; round < rounds; ++round) {
    const ir::Value high_b = apply(s, OpKind::MultiplyHigh, b, c[2]);
    const ir::Value high_a = apply(s, OpKind::MultiplyHigh, a, c[0]);
    const ir::Value low_b = apply(s, OpKind::Multiply, b, c[2]);
    const ir::Value low_a = apply(s, OpKind::Multiply, a, c[0]);
    c = {apply(s, OpKind::Xor, apply(s, OpKind::Xor, high_b, c[1]), k0), low_b,
         apply(s, OpKind::Xor, apply(s, OpKind::Xor, high_a, c[3]), k1), low_a};
    k0 = apply(s, OpKind::Add, k0, step_0);
    k1 = apply(s, OpKind::Add, k1, step_1);
  }
  return c;
}

Words philox_words(Call& call, Words counters) {
  Semantic& s = call.semantic;
  ir::Builder& builder = call.builder();
  ir::Value seed = call.tensor("seed");
  if (!is_integral(call.type(seed)))
    call.fail(fmt::format("needs an integer seed, not {}", text_of(call.type(seed))));
  seed = s.cast(seed, ir::Type::scalar(u64));
  const int width = bits_of(call.type(counters[0]));
  if (!call.type(counters[0]).is_int() || width < 32)
    call.fail(
        fmt::format("needs counters of 32 or 64 bits, not {}", text_of(call.type(counters[0]))));
  const ir::Type word = ir::Type::scalar(width == 32 ? u32 : u64);
  for (ir::Value& counter : counters) counter = s.cast(counter, word, true);
  ir::Value k0 = seed;
  ir::Value k1 = builder.constant(ir::Type::scalar(u64), std::int64_t{0});
  if (width == 32) {
    const ir::Value shift = builder.constant(ir::Type::scalar(u64), std::int64_t{32});
    k0 = builder.cast(seed, u32);
    k1 = builder.cast(apply(s, OpKind::ShiftRight, seed, shift), u32);
  }
  return philox_rounds(s, counters, k0, k1, call.integer("n_rounds"));
}

// Counters from one offset: its low and high half, and zeros.
Words random_words(Call& call) {
  Semantic& s = call.semantic;
  ir::Builder& builder = call.builder();
  const ir::Value offset = call.tensor("offset");
  const ir::Type type = call.type(offset);
  if (!is_integral(type)) call.fail(fmt::format("needs integer offsets, not {}", text_of(type)));
  const ir::Value low = s.cast(offset, ir::Type::scalar(u32));
  const ir::Value zero = s.like(builder.constant(ir::Type::scalar(u32), std::int64_t{0}), type);
  ir::Value high = zero;
  if (bits_of(type) > 32) {
    const ir::Value shift = s.like(builder.constant(type.element(), std::int64_t{32}), type);
    high = builder.cast(builder.binary(OpKind::ShiftRight, offset, shift), u32);
  }
  return philox_words(call, {low, high, zero, zero});
}

Value tuple_of(const Words& words) { return Value::tuple({words.begin(), words.end()}); }

ir::Value uniform(Call& call, ir::Value bits) {
  Semantic& s = call.semantic;
  const ir::Type type = call.type(bits);
  if (!type.is_int() || bits_of(type) < 32)
    call.fail(fmt::format("needs integers of 32 or 64 bits, not {}", text_of(type)));
  const bool is_short = bits_of(type) == 32;
  const ir::Value x = s.cast(bits, ir::Type::scalar(is_short ? i32 : i64), true);
  const Value is_negative = s.compare(python::CompareOperator::Less, x, Value::integer(0));
  const ir::Value positive = s.select(is_negative, s.invert(x), x);
  const double scale = is_short ? 4.6566127342e-10 : 1.0842020432385337e-19;
  return *s.binary(BinaryOperator::Multiply, positive, Value::number(scale)).get_if<ir::Value>();
}

// Two normal numbers from two uniform ones (Box and Muller).
std::array<ir::Value, 2> normal(Call& call, ir::Value first, ir::Value second) {
  Semantic& s = call.semantic;
  ir::Builder& builder = call.builder();
  const auto [least, u1] = s.operands(Value::number(1.0e-7), first, call.name, Literals::Strong);
  const ir::Value above = extremum(s, OpKind::Maximum, least, u1);
  const auto times = [&](double factor, ir::Value value) {
    return *s.binary(BinaryOperator::Multiply, Value::number(factor), value).get_if<ir::Value>();
  };
  const ir::Value angle = times(6.283185307179586, second);
  const ir::Value radius = builder.math("sqrt", {times(-2.0, builder.math("log", {above}))});
  return {apply(s, OpKind::Multiply, radius, builder.math("cos", {angle})),
          apply(s, OpKind::Multiply, radius, builder.math("sin", {angle}))};
}

// ---- Functions

Value philox(Call& call) {
  return tuple_of(philox_words(
      call, {call.tensor("c0"), call.tensor("c1"), call.tensor("c2"), call.tensor("c3")}));
}

Value randint(Call& call) { return random_words(call)[0]; }
Value randint4x(Call& call) { return tuple_of(random_words(call)); }
Value rand(Call& call) { return uniform(call, random_words(call)[0]); }

Words uniforms(Call& call) {
  Words words = random_words(call);
  for (ir::Value& word : words) word = uniform(call, word);
  return words;
}

Value rand4x(Call& call) { return tuple_of(uniforms(call)); }

Value randn(Call& call) {
  const Words words = random_words(call);
  return normal(call, uniform(call, words[0]), uniform(call, words[1]))[0];
}

Value randn4x(Call& call) {
  const Words u = uniforms(call);
  const auto first = normal(call, u[0], u[1]), second = normal(call, u[2], u[3]);
  return tuple_of({first[0], first[1], second[0], second[1]});
}

Value uint_to_uniform_float(Call& call) { return uniform(call, call.tensor("x")); }

Value pair_uniform_to_normal(Call& call) {
  for (const char* name : {"u1", "u2"})
    if (const ir::Type& type = call.type(call.tensor(name)); !type.is_float() || bits_of(type) < 32)
      call.fail(fmt::format("takes float32 or float64, not {}", text_of(type)),
                "use .to(tl.float32)");
  const auto both = normal(call, call.tensor("u1"), call.tensor("u2"));
  return Value::tuple({both[0], both[1]});
}

constexpr std::string_view parameters = "seed, offset, n_rounds=10";

constexpr BuiltinRow random_rows[] = {
    {"philox", "seed, c0, c1, c2, c3, n_rounds=10", philox},
    {"randint", parameters, randint},
    {"randint4x", parameters, randint4x},
    {"rand", parameters, rand},
    {"rand4x", parameters, rand4x},
    {"randn", parameters, randn},
    {"randn4x", parameters, randn4x},
    {"uint_to_uniform_float", "x", uint_to_uniform_float},
    {"uint32_to_uniform_float", "x", uint_to_uniform_float},
    {"pair_uniform_to_normal", "u1, u2", pair_uniform_to_normal},
};

}  // namespace

std::span<const BuiltinRow> random_builtins() { return random_rows; }

}  // namespace tilewright::triton
