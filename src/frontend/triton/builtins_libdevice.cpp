// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_libdevice.cpp — the functions of libdevice, by the names Triton gives
// them.
#include <limits>

#include <fmt/format.h>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/builtin_tables.h"

namespace tilewright::triton {
namespace {

using ir::OpKind;

bool is_plain_float(const ir::Type& type) {
  return type.is_float() && (type.dtype == f32 || type.dtype == f64);
}

// ---- Arguments, in one type and shape

ir::Value float_of(Call& call, ir::Value value) {
  if (!is_plain_float(call.type(value)))
    call.fail(fmt::format("takes float32 or float64, not {}", text_of(call.type(value))),
              "use .to(tl.float32)");
  return value;
}

ir::Value x_of(Call& call) { return float_of(call, call.tensor("x")); }

std::pair<ir::Value, ir::Value> both_of(Call& call) {
  const auto [x, y] =
      call.semantic.operands(call.tensor("x"), call.tensor("y"), call.name, Literals::Strong);
  float_of(call, x);
  return {x, y};
}

ir::Value integer_of(Call& call) {
  const ir::Value x = call.tensor("x");
  if (!call.type(x).is_int() || bits_of(call.type(x)) < 32)
    call.fail(fmt::format("takes integers of 32 or 64 bits, not {}", text_of(call.type(x))));
  return x;
}

ir::Value scaled(Call& call, ir::Value x, double factor) {
  const ir::Type type = call.type(x);
  const ir::Value constant = call.builder().constant(type.element(), factor);
  return call.builder().binary(OpKind::Multiply, x, call.semantic.like(constant, type));
}

// ---- Functions of math.def under other names

struct Alias {
  std::string_view name;
  std::string_view function;
};
constexpr Alias aliases[] = {
    {"fast_expf", "exp"},     {"fast_logf", "log"},      {"fast_log2f", "log2"},
    {"fast_log10f", "log10"}, {"fast_sinf", "sin"},      {"fast_cosf", "cos"},
    {"fast_tanf", "tan"},     {"fast_tanhf", "tanh"},    {"nearbyint", "rint"},
    {"finitef", "isfinite"},  {"isfinited", "isfinite"}, {"popc", "popcount"},
    {"llrint", "rint"},       {"llround", "round"},
};

std::string_view function_of(Call& call) {
  for (const Alias& alias : aliases)
    if (alias.name == call.row.name) return alias.function;
  return call.row.name;
}

Value unary(Call& call) { return call.builder().math(function_of(call), {x_of(call)}); }

Value binary(Call& call) {
  const auto [x, y] = both_of(call);
  return call.builder().math(function_of(call), {x, y});
}

Value test(Call& call) {
  const ir::Value x = x_of(call);
  return call.builder().create_one(OpKind::Math, {x}, call.type(x).with_element(b1),
                                   {{"function", std::string(function_of(call))}});
}

Value signbit(Call& call) {
  const Value is_set = test(call);
  return call.builder().cast(*is_set.get_if<ir::Value>(), i32);
}

// The nearest integer as an int64.
Value to_long(Call& call) {
  return call.builder().cast(call.builder().math(function_of(call), {x_of(call)}), i64);
}

// The exponent may be an integer.
Value pow(Call& call) {
  Semantic& s = call.semantic;
  const ir::Value x = x_of(call);
  ir::Value y = call.tensor("y");
  if (is_integral(call.type(y))) y = s.cast(y, call.type(x));
  const auto [base, exponent] = s.operands(x, y, call.name, Literals::Strong);
  return call.builder().math("pow", {float_of(call, base), exponent});
}

// ---- What ops do

Value absolute(Call& call) {
  const ir::Value x = call.tensor("x");
  if (call.type(x).is_pointer) call.fail("does not take a pointer");
  if (is_unsigned_integral(call.type(x))) return x;
  return call.builder().unary(OpKind::Absolute, x);
}

Value operation(Call& call, OpKind kind) {
  const auto [x, y] =
      call.semantic.operands(call.tensor("x"), call.tensor("y"), call.name, Literals::Strong);
  return call.semantic.arithmetic(kind, x, y);
}
Value larger(Call& call) { return operation(call, OpKind::Maximum); }
Value smaller(Call& call) { return operation(call, OpKind::Minimum); }
Value fmod(Call& call) { return operation(call, OpKind::Remainder); }
Value add(Call& call) { return operation(call, OpKind::Add); }
Value sub(Call& call) { return operation(call, OpKind::Subtract); }
Value mul(Call& call) { return operation(call, OpKind::Multiply); }

Value mulhi(Call& call) {
  const auto [x, y] =
      call.semantic.operands(call.tensor("x"), call.tensor("y"), call.name, Literals::Strong);
  if (!call.type(x).is_int())
    call.fail(fmt::format("takes integers, not {}", text_of(call.type(x))));
  return call.builder().binary(OpKind::MultiplyHigh, x, y);
}

ir::Value exact_quotient(Call& call, ir::Value x, ir::Value y) {
  return call.builder().create_one(OpKind::Divide, {x, y}, call.type(x),
                                   {{"exact", std::int64_t{1}}});
}

Value div_rn(Call& call) {
  const auto [x, y] = both_of(call);
  return exact_quotient(call, x, y);
}

// Toward zero: the quotient of two float32 never lies so near to a float32 that rounding it to
// float64 first would matter.
Value div_rz(Call& call) {
  const auto [x, y] = both_of(call);
  if (call.type(x).dtype != f32) call.fail("takes float32", "use libdevice.div_rn for float64");
  ir::Builder& builder = call.builder();
  const ir::Value wide = exact_quotient(call, builder.cast(x, f64), builder.cast(y, f64));
  return call.semantic.cast(wide, ir::Type::scalar(f32), false, "rtz");
}

Value fast_divide(Call& call) {
  const auto [x, y] = both_of(call);
  return call.builder().binary(OpKind::Divide, x, y);
}

Value rcp(Call& call) {
  const ir::Value x = x_of(call);
  const ir::Value one = call.builder().constant(call.type(x).element(), 1.0);
  return exact_quotient(call, call.semantic.like(one, call.type(x)), x);
}

Value fma(Call& call) {
  Semantic& s = call.semantic;
  auto [x, y] = both_of(call);
  ir::Value z;
  std::tie(x, z) = s.operands(x, call.tensor("z"), call.name, Literals::Strong);
  std::tie(x, y) = s.operands(x, y, call.name, Literals::Strong);
  std::tie(x, z) = s.operands(x, z, call.name, Literals::Strong);
  return call.builder().create_one(OpKind::Fma, {x, y, z}, call.type(x));
}

Value exp10(Call& call) {
  const ir::Value x = x_of(call);
  const ir::Value ten = call.builder().constant(call.type(x).element(), 10.0);
  return call.builder().math("pow", {call.semantic.like(ten, call.type(x)), x});
}

Value rcbrt(Call& call) {
  const ir::Value root = call.builder().math("cbrt", {x_of(call)});
  const ir::Value one = call.builder().constant(call.type(root).element(), 1.0);
  return exact_quotient(call, call.semantic.like(one, call.type(root)), root);
}

// ---- Turns: the sine and cosine of pi times x, exact at multiples of a half

constexpr double pi = 3.141592653589793;

// x is `quarters` / 2 + `rest`, less a multiple of 2; `quarters` is -2 to 2, `rest` at most 1/4.
struct Turn {
  ir::Value quarters, rest;
};

Turn turn_of(Call& call, ir::Value x) {
  ir::Builder& builder = call.builder();
  const ir::Value pairs = scaled(call, builder.math("rint", {scaled(call, x, 0.5)}), 2);
  const ir::Value inside = builder.binary(OpKind::Subtract, x, pairs);
  const ir::Value quarters = builder.math("rint", {scaled(call, inside, 2)});
  return {quarters, builder.binary(OpKind::Subtract, inside, scaled(call, quarters, 0.5))};
}

// Of an odd number of quarters it is `odd` times their sign; of an even one `even`, or less it.
Value turned(Call& call, const Turn& turn, ir::Value even, ir::Value odd) {
  ir::Builder& builder = call.builder();
  const ir::Type type = call.type(turn.quarters);
  const ir::Value one = call.semantic.like(builder.constant(type.element(), 1.0), type);
  const ir::Value count = builder.unary(OpKind::Absolute, turn.quarters);
  const ir::Value sign = builder.binary(OpKind::Subtract, one, count);
  return builder.select(builder.compare("eq", count, one),
                        builder.binary(OpKind::Multiply, odd, turn.quarters),
                        builder.binary(OpKind::Multiply, even, sign));
}

Value sinpi(Call& call) {
  const Turn turn = turn_of(call, x_of(call));
  const ir::Value angle = scaled(call, turn.rest, pi);
  return turned(call, turn, call.builder().math("sin", {angle}),
                call.builder().math("cos", {angle}));
}

Value cospi(Call& call) {
  const Turn turn = turn_of(call, x_of(call));
  const ir::Value angle = scaled(call, turn.rest, pi);
  return turned(call, turn, call.builder().math("cos", {angle}),
                call.builder().unary(OpKind::Negate, call.builder().math("sin", {angle})));
}

// ---- x times a power of two, rounded once

// 2 to the n, for n of -1022 to 1023: the bits of a float64.
ir::Value power_of_two(Call& call, ir::Value n) {
  ir::Builder& builder = call.builder();
  const auto constant = [&](std::int64_t value) {
    return call.semantic.like(builder.constant(ir::Type::scalar(i64), value), call.type(n));
  };
  const ir::Value field = builder.binary(OpKind::Add, builder.cast(n, i64), constant(1023));
  return builder.bitcast(builder.binary(OpKind::ShiftLeft, field, constant(52)), f64);
}

// A float32 is far inside of float64, which one factor suffices for. A float64 takes three, the
// first of which leave it a normal number on its way down.
Value ldexp(Call& call) {
  ir::Builder& builder = call.builder();
  const ir::Value given = x_of(call);
  const ir::Type type = call.type(given);
  if (!is_integral(call.type(call.tensor("y"))))
    call.fail(
        fmt::format("takes an integer as exponent, not {}", text_of(call.type(call.tensor("y")))));
  const ir::Value exponent = call.semantic.cast(call.tensor("y"), ir::Type::scalar(i32));
  auto [x, n] = call.semantic.broadcast(builder.cast(given, f64), exponent);
  const ir::Type shape = call.type(n);
  const auto constant = [&](std::int64_t value) {
    return call.semantic.like(builder.constant(ir::Type::scalar(i32), value), shape);
  };
  const auto within = [&](ir::Value value, std::int64_t low, std::int64_t high) {
    return builder.binary(OpKind::Minimum, builder.binary(OpKind::Maximum, value, constant(low)),
                          constant(high));
  };
  for (int step = 0; type.dtype == f64 && step < 2; ++step) {
    const ir::Value is_far = builder.compare("lt", n, constant(-1022));
    const ir::Value part = builder.select(is_far, constant(-969), within(n, -1022, 1023));
    x = builder.binary(OpKind::Multiply, x, power_of_two(call, part));
    n = builder.binary(OpKind::Subtract, n, part);
  }
  x = builder.binary(OpKind::Multiply, x, power_of_two(call, within(n, -1022, 1023)));
  return builder.cast(x, type.dtype);
}

Value saturate(Call& call) {
  Semantic& s = call.semantic;
  const ir::Value x = x_of(call);
  const auto constant = [&](double value) {
    return s.like(call.builder().constant(call.type(x).element(), value), call.type(x));
  };
  return s.arithmetic(OpKind::Minimum, s.arithmetic(OpKind::Maximum, x, constant(0)), constant(1));
}

// ---- Bits

Value count_bits(Call& call) {
  const ir::Value count = call.builder().math(function_of(call), {integer_of(call)});
  return call.semantic.cast(count, ir::Type::scalar(i32));
}

// One above the place of the lowest bit set; 0 when there is none.
Value ffs(Call& call) {
  Semantic& s = call.semantic;
  ir::Builder& builder = call.builder();
  const ir::Value x = integer_of(call);
  const ir::Value lowest = builder.binary(OpKind::And, x, s.negate(x));
  const ir::Value zeros = s.cast(builder.math("clz", {lowest}), ir::Type::scalar(i32));
  const ir::Value width = s.like(
      builder.constant(ir::Type::scalar(i32), std::int64_t{bits_of(call.type(x))}), call.type(x));
  return builder.binary(OpKind::Subtract, width, zeros);
}

// x - y where that is above 0, else 0.
Value positive_difference(Call& call) {
  const auto [x, y] = both_of(call);
  ir::Builder& builder = call.builder();
  const ir::Value zero = builder.constant(call.type(x), 0.0);
  return builder.select(builder.compare("le", x, y), zero, builder.binary(OpKind::Subtract, x, y));
}

std::pair<ir::Value, ir::Value> words_of(Call& call) {
  const auto [x, y] =
      call.semantic.operands(call.tensor("x"), call.tensor("y"), call.name, Literals::Strong);
  if (!call.type(x).is_int() || bits_of(call.type(x)) != 32)
    call.fail(fmt::format("takes integers of 32 bits, not {}", text_of(call.type(x))));
  return {x, y};
}

// The mean of two integers without a carry, rounded down or up.
template <bool is_up>
Value mean(Call& call) {
  const auto [x, y] = words_of(call);
  ir::Builder& builder = call.builder();
  const ir::Value half = builder.binary(OpKind::ShiftRight, builder.binary(OpKind::Xor, x, y),
                                        builder.constant(call.type(x), std::int64_t{1}));
  return is_up ? builder.binary(OpKind::Subtract, builder.binary(OpKind::Or, x, y), half)
               : builder.binary(OpKind::Add, builder.binary(OpKind::And, x, y), half);
}

// |x - y| + z
Value absolute_differences(Call& call) {
  Semantic& s = call.semantic;
  auto [x, y] = words_of(call);
  ir::Value z = s.cast(call.tensor("z"), call.type(x).element());
  std::tie(x, z) = s.broadcast(x, z);
  std::tie(x, y) = s.broadcast(x, y);
  ir::Builder& builder = call.builder();
  const ir::Value most = builder.binary(OpKind::Maximum, x, y),
                  least = builder.binary(OpKind::Minimum, x, y);
  return builder.binary(OpKind::Add, builder.binary(OpKind::Subtract, most, least), z);
}

// The lowest bit becomes the highest one: neighbouring bits change places, then pairs of them, ...
Value reversed_bits(Call& call) {
  const ir::Value x = integer_of(call);
  ir::Builder& builder = call.builder();
  const ir::Type& type = call.type(x);
  const DType wide = bits_of(type) == 64 ? u64 : u32;
  ir::Value bits = builder.bitcast(x, wide);
  for (int by = 1; by < bits_of(type); by *= 2) {
    const std::uint64_t low = ~std::uint64_t{0} / ((std::uint64_t{1} << by) + 1);
    const auto cut = static_cast<std::int64_t>(wide == u64 ? low : low & 0xffffffffu);
    const ir::Value mask = builder.constant(call.type(bits), cut),
                    shift = builder.constant(call.type(bits), std::int64_t{by});
    const ir::Value down =
        builder.binary(OpKind::And, builder.binary(OpKind::ShiftRight, bits, shift), mask);
    const ir::Value up =
        builder.binary(OpKind::ShiftLeft, builder.binary(OpKind::And, bits, mask), shift);
    bits = builder.binary(OpKind::Or, down, up);
  }
  return builder.bitcast(bits, type.dtype);
}

// The upper or lower half of a float64 as an int32.
template <int from>
Value half_of_bits(Call& call) {
  ir::Builder& builder = call.builder();
  const ir::Value bits =
      builder.bitcast(call.semantic.cast(call.tensor("x"), ir::Type::scalar(f64)), i64);
  const ir::Value by = builder.constant(call.type(bits), std::int64_t{from});
  return builder.cast(builder.binary(OpKind::ShiftRight, bits, by), i32);
}
Value of_halves(Call& call) {
  ir::Builder& builder = call.builder();
  const auto [high, low] = words_of(call);
  const ir::Value upper = builder.cast(high, i64),
                  lower = builder.cast(builder.cast(low, u32), i64);
  const ir::Value by = builder.constant(call.type(upper), std::int64_t{32});
  return builder.bitcast(
      builder.binary(OpKind::Or, builder.binary(OpKind::ShiftLeft, upper, by), lower), f64);
}

// ---- Integrals of the normal distribution, in float64

// The probability that a normal number is at most x.
Value normcdf(Call& call) {
  const ir::Value x = x_of(call);
  const ir::Value root = scaled(call, call.builder().cast(x, f64), -0.7071067811865476);
  const ir::Value both = call.builder().math("erfc", {root});
  return call.builder().cast(scaled(call, both, 0.5), call.type(x).dtype);
}

// exp(x * x) * erfc(x), whose factors leave the numbers at 26: from there on an expansion by 1 / x.
// What a square loses when it is rounded counts as often as the square is large.
Value erfcx(Call& call) {
  ir::Builder& builder = call.builder();
  const ir::Value given = x_of(call), x = builder.cast(given, f64);
  const ir::Type type = call.type(x);
  const auto number = [&](double value) { return builder.constant(type, value); };
  const auto made = [&](OpKind kind, ir::Value a, ir::Value b) {
    return builder.binary(kind, a, b);
  };
  const auto fma = [&](ir::Value a, ir::Value b, ir::Value c) {
    return builder.create_one(OpKind::Fma, {a, b, c}, type);
  };
  const ir::Value square = made(OpKind::Multiply, x, x);
  const ir::Value lost = fma(x, x, builder.unary(OpKind::Negate, square));
  const ir::Value power = builder.math("exp", {square});
  const ir::Value near =
      made(OpKind::Multiply, made(OpKind::Multiply, power, builder.math("erfc", {x})),
           made(OpKind::Add, lost, number(1)));
  const ir::Value inverse = exact_quotient(call, number(0.5), square);  // 1 / (2 x x)
  ir::Value series = number(10395);                                     // 1 - h + 3 h^2 - 15 h^3 ..
  for (const double factor : {-945.0, 105.0, -15.0, 3.0, -1.0, 1.0})
    series = fma(series, inverse, number(factor));
  const ir::Value far =
      exact_quotient(call, made(OpKind::Multiply, series, number(0.5641895835477563)), x);
  const ir::Value is_far = builder.compare("gt", x, number(26));
  // There the first factor is infinite, and what it lost is no number.
  const ir::Value below = builder.compare("lt", x, number(-26.7));
  const ir::Value inside =
      builder.select(below, number(std::numeric_limits<double>::infinity()), near);
  return builder.cast(builder.select(is_far, far, inside), call.type(given).dtype);
}

template <DType from, DType to>
Value as_bits(Call& call) {
  const ir::Value x = call.semantic.cast(call.tensor("x"), ir::Type::scalar(from));
  return call.builder().bitcast(x, to);
}

template <DType to>
Value convert(Call& call) {
  return call.semantic.cast(call.tensor("x"), ir::Type::scalar(to));
}
template <DType to>
Value convert_nearest(Call& call) {
  return call.semantic.cast(call.builder().math("rint", {x_of(call)}), ir::Type::scalar(to));
}

template <DType to>
Value convert_down(Call& call) {
  return call.semantic.cast(call.builder().math("floor", {x_of(call)}), ir::Type::scalar(to));
}
template <DType to>
Value convert_up(Call& call) {
  return call.semantic.cast(call.builder().math("ceil", {x_of(call)}), ir::Type::scalar(to));
}
Value convert_toward_zero(Call& call) {
  return call.semantic.cast(x_of(call), ir::Type::scalar(f32), false, "rtz");
}

constexpr BuiltinRow libdevice_rows[] = {
    {"exp", "x", unary},
    {"exp2", "x", unary},
    {"exp10", "x", exp10},
    {"expm1", "x", unary},
    {"log", "x", unary},
    {"log2", "x", unary},
    {"log10", "x", unary},
    {"log1p", "x", unary},
    {"sqrt", "x", unary},
    {"sqrt_rn", "x", unary},
    {"rsqrt", "x", unary},
    {"cbrt", "x", unary},
    {"rcbrt", "x", rcbrt},
    {"sin", "x", unary},
    {"cos", "x", unary},
    {"tan", "x", unary},
    {"sinpi", "x", sinpi},
    {"cospi", "x", cospi},
    {"asin", "x", unary},
    {"acos", "x", unary},
    {"atan", "x", unary},
    {"atan2", "x, y", binary},
    {"sinh", "x", unary},
    {"cosh", "x", unary},
    {"tanh", "x", unary},
    {"asinh", "x", unary},
    {"acosh", "x", unary},
    {"atanh", "x", unary},
    {"erf", "x", unary},
    {"erfc", "x", unary},
    {"erfinv", "x", unary},
    {"lgamma", "x", unary},
    {"tgamma", "x", unary},
    {"j0", "x", unary},
    {"j1", "x", unary},
    {"y0", "x", unary},
    {"y1", "x", unary},
    {"cyl_bessel_i0", "x", unary},
    {"cyl_bessel_i1", "x", unary},
    {"erfcx", "x", erfcx},
    {"normcdf", "x", normcdf},
    {"pow", "x, y", pow},
    {"hypot", "x, y", binary},
    {"copysign", "x, y", binary},
    {"nextafter", "x, y", binary},
    {"ldexp", "x, y", ldexp},
    {"scalbn", "x, y", ldexp},
    {"floor", "x", unary},
    {"ceil", "x", unary},
    {"trunc", "x", unary},
    {"round", "x", unary},
    {"rint", "x", unary},
    {"nearbyint", "x", unary},
    {"llrint", "x", to_long},
    {"llround", "x", to_long},
    {"isnan", "x", test},
    {"isinf", "x", test},
    {"finitef", "x", test},
    {"isfinited", "x", test},
    {"signbit", "x", signbit},
    {"abs", "x", absolute},
    {"fabs", "x", absolute},
    {"max", "x, y", larger},
    {"min", "x, y", smaller},
    {"fmax", "x, y", larger},
    {"fmin", "x, y", smaller},
    {"fmod", "x, y", fmod},
    {"fma", "x, y, z", fma},
    {"fma_rn", "x, y, z", fma},
    {"add_rn", "x, y", add},
    {"sub_rn", "x, y", sub},
    {"mul_rn", "x, y", mul},
    {"div_rn", "x, y", div_rn},
    {"div_rz", "x, y", div_rz},
    {"rcp_rn", "x", rcp},
    {"fdim", "x, y", positive_difference},
    {"hadd", "x, y", mean<false>},
    {"rhadd", "x, y", mean<true>},
    {"sad", "x, y, z", absolute_differences},
    {"brev", "x", reversed_bits},
    {"double2hiint", "x", half_of_bits<32>},
    {"double2loint", "x", half_of_bits<0>},
    {"hiloint2double", "x, y", of_halves},
    {"saturatef", "x", saturate},
    {"mulhi", "x, y", mulhi},
    {"clz", "x", count_bits},
    {"popc", "x", count_bits},
    {"ffs", "x", ffs},
    {"fast_expf", "x", unary},
    {"fast_exp10f", "x", exp10},
    {"fast_logf", "x", unary},
    {"fast_log2f", "x", unary},
    {"fast_log10f", "x", unary},
    {"fast_sinf", "x", unary},
    {"fast_cosf", "x", unary},
    {"fast_tanf", "x", unary},
    {"fast_tanhf", "x", unary},
    {"fast_powf", "x, y", pow},
    {"fast_dividef", "x, y", fast_divide},
    {"fdividef", "x, y", fast_divide},
    {"float_as_int", "x", as_bits<f32, i32>},
    {"int_as_float", "x", as_bits<i32, f32>},
    {"float_as_uint", "x", as_bits<f32, i32>},
    {"uint_as_float", "x", as_bits<u32, f32>},
    {"double_as_longlong", "x", as_bits<f64, i64>},
    {"longlong_as_double", "x", as_bits<i64, f64>},
    {"float2int_rn", "x", convert_nearest<i32>},
    {"float2int_rz", "x", convert<i32>},
    {"float2ll_rn", "x", convert_nearest<i64>},
    {"float2ll_rz", "x", convert<i64>},
    {"double2int_rn", "x", convert_nearest<i32>},
    {"double2int_rz", "x", convert<i32>},
    {"float2int_rd", "x", convert_down<i32>},
    {"float2int_ru", "x", convert_up<i32>},
    {"float2ll_rd", "x", convert_down<i64>},
    {"float2ll_ru", "x", convert_up<i64>},
    {"double2int_rd", "x", convert_down<i32>},
    {"double2int_ru", "x", convert_up<i32>},
    {"double2ll_rn", "x", convert_nearest<i64>},
    {"double2ll_rz", "x", convert<i64>},
    {"double2ll_rd", "x", convert_down<i64>},
    {"double2ll_ru", "x", convert_up<i64>},
    {"double2float_rn", "x", convert<f32>},
    {"double2float_rz", "x", convert_toward_zero},
    {"uint2double_rn", "x", convert<f64>},
    {"ll2double_rn", "x", convert<f64>},
    {"ull2double_rn", "x", convert<f64>},
    {"ull2float_rn", "x", convert<f32>},
    {"int2float_rn", "x", convert<f32>},
    {"uint2float_rn", "x", convert<f32>},
    {"ll2float_rn", "x", convert<f32>},
    {"int2double_rn", "x", convert<f64>},
};

}  // namespace

std::span<const BuiltinRow> libdevice_builtins() { return libdevice_rows; }

}  // namespace tilewright::triton
