// SPDX-License-Identifier: Apache-2.0
// tensor/convert_test.cpp — every pair of dtypes against a slow reference that knows only exact
// values.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "cpu_device.h"
#include "tensor/element_types.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

// Every element of every dtype is a long double exactly; integers also as 128 bits.
struct Value {
  long double number = 0;
  __int128 integer = 0;
  bool is_integer = false;
};

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
Value integer_value(const std::byte* at) {
  const T value = read<T>(at);
  return {static_cast<long double>(value), static_cast<__int128>(value), true};
}

Value value_of(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::Float64:
      return {read<double>(at)};
    case DType::Float32:
      return {read<float>(at)};
    case DType::Float16:
      return {half_to_float(read<std::uint16_t>(at))};
    case DType::BFloat16:
      return {bfloat16_to_float(read<std::uint16_t>(at))};
    case DType::Float8E4M3:
      return {float8_e4m3_to_float(read<std::uint8_t>(at))};
    case DType::Float8E5M2:
      return {float8_e5m2_to_float(read<std::uint8_t>(at))};
    case DType::Int8:
      return integer_value<std::int8_t>(at);
    case DType::Int16:
      return integer_value<std::int16_t>(at);
    case DType::Int32:
      return integer_value<std::int32_t>(at);
    case DType::Int64:
      return integer_value<std::int64_t>(at);
    case DType::UInt8:
      return integer_value<std::uint8_t>(at);
    case DType::UInt16:
      return integer_value<std::uint16_t>(at);
    case DType::UInt32:
      return integer_value<std::uint32_t>(at);
    case DType::UInt64:
      return integer_value<std::uint64_t>(at);
    case DType::Bool:
      return integer_value<bool>(at);
  }
  return {};
}

struct Small {
  int bits;          // exponent and mantissa
  unsigned largest;  // the largest finite pattern
  unsigned beyond;   // what larger values become
  float (*widen)(unsigned);
};

Small small_format(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return {15, 0x7bff, 0x7c00,
              [](unsigned b) { return half_to_float(static_cast<std::uint16_t>(b)); }};
    case DType::BFloat16:
      return {15, 0x7f7f, 0x7f80,
              [](unsigned b) { return bfloat16_to_float(static_cast<std::uint16_t>(b)); }};
    case DType::Float8E4M3:
      return {7, 0x7e, 0x7f,
              [](unsigned b) { return float8_e4m3_to_float(static_cast<std::uint8_t>(b)); }};
    default:
      return {7, 0x7b, 0x7c,
              [](unsigned b) { return float8_e5m2_to_float(static_cast<std::uint8_t>(b)); }};
  }
}

// The pattern nearest to a value that is not NaN, by search; between two, the even one.
std::uint64_t nearest_small(DType dtype, long double value) {
  const Small f = small_format(dtype);
  const std::uint64_t sign = std::signbit(value) ? 1ull << f.bits : 0;
  const long double size = std::fabs(value);
  unsigned low = 0, high = f.largest;
  while (low < high) {  // the largest pattern that is not above
    const unsigned middle = (low + high + 1) / 2;
    if (f.widen(middle) <= size) low = middle;
    else high = middle - 1;
  }
  // Beyond the largest the next one would be as far away as the one before it.
  const long double below = f.widen(low);
  const long double above = low == f.largest
                                ? 2 * below - static_cast<long double>(f.widen(low - 1))
                                : static_cast<long double>(f.widen(low + 1));
  const long double down = size - below, up = above - size;
  const bool goes_up = up < down || (up == down && (low & 1));
  if (!goes_up) return sign | low;
  return sign | (low == f.largest ? f.beyond : low + 1);
}

std::uint64_t reference_integer(DType to, const Value& value) {
  const int bits = 8 * static_cast<int>(size_of(to));
  const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  if (value.is_integer) return static_cast<std::uint64_t>(value.integer) & mask;
  if (std::isnan(value.number)) return 0;
  const long double least = is_signed(to) ? -std::ldexp(1.0L, bits - 1) : 0.0L;
  const long double most = std::ldexp(1.0L, is_signed(to) ? bits - 1 : bits) - 1;
  const long double cut = std::clamp(std::trunc(value.number), least, most);
  return static_cast<std::uint64_t>(static_cast<__int128>(cut)) & mask;
}

// The bits that `value` has as an element of `to`; nothing when it is a NaN of any payload.
std::optional<std::uint64_t> reference(DType to, const Value& value) {
  if (to == DType::Bool) return value.number != 0;
  if (!is_floating(to)) return reference_integer(to, value);
  if (std::isnan(value.number)) return std::nullopt;
  if (to == DType::Float64) return std::bit_cast<std::uint64_t>(static_cast<double>(value.number));
  if (to == DType::Float32) return std::bit_cast<std::uint32_t>(static_cast<float>(value.number));
  if (std::isinf(value.number)) {
    const Small f = small_format(to);
    return (value.number < 0 ? 1ull << f.bits : 0) | f.beyond;
  }
  return nearest_small(to, value.number);
}

// Patterns worth trying: all of the small ones, and for the others random bits, random magnitudes
// and neighbours of ties.
std::vector<std::uint64_t> samples(DType dtype) {
  std::mt19937_64 random(static_cast<unsigned>(dtype) + 1);
  std::vector<std::uint64_t> out;
  if (dtype == DType::Bool) return {0, 1};
  if (size_of(dtype) <= 1) {
    for (unsigned i = 0; i < 256; ++i) out.push_back(i);
    return out;
  }
  const int bits = 8 * static_cast<int>(size_of(dtype));
  for (int i = 0; i < bits; ++i)
    for (int j = -3; j <= 3; ++j) out.push_back((1ull << i) + static_cast<std::uint64_t>(j));
  for (int i = 0; i < 1500; ++i) out.push_back(random());
  for (int i = 0; i < 1500; ++i) out.push_back(random() >> (random() % 64));
  if (dtype == DType::Float32 || dtype == DType::Float64) {
    for (int i = 0; i < 6000; ++i) {
      const double magnitude =
          std::ldexp(static_cast<double>(random() % 4096), static_cast<int>(random() % 60) - 34);
      double value = (random() % 2 ? -1 : 1) * magnitude;
      if (i % 3 == 1) value = std::nextafter(value, 1e300);
      if (i % 3 == 2) value = std::nextafter(value, -1e300);
      out.push_back(dtype == DType::Float64
                        ? std::bit_cast<std::uint64_t>(value)
                        : std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    }
  }
  return out;
}

bool is_nan_pattern(DType dtype, std::uint64_t bits) {
  std::byte bytes[8];
  std::memcpy(bytes, &bits, sizeof bits);
  return std::isnan(value_of(dtype, bytes).number);
}

TEST(Convert, EveryPairOfDtypes) {
  for (int s = 0; s < dtype_count; ++s) {
    const auto from = static_cast<DType>(s);
    const std::vector<std::uint64_t> patterns = samples(from);
    const Tensor source = empty({static_cast<std::int64_t>(patterns.size())}, {from, cpu});
    auto* const bytes = static_cast<std::byte*>(source.data());
    for (std::size_t i = 0; i < patterns.size(); ++i)
      std::memcpy(bytes + i * size_of(from), &patterns[i], size_of(from));
    for (int d = 0; d < dtype_count; ++d) {
      const auto to = static_cast<DType>(d);
      const Tensor result = source.to(to);
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        std::uint64_t got = 0;
        std::memcpy(&got, static_cast<std::byte*>(result.data()) + i * size_of(to), size_of(to));
        const Value value = value_of(from, bytes + i * size_of(from));
        const std::optional<std::uint64_t> expected =
            to == from ? patterns[i] & (~0ull >> (64 - 8 * size_of(from))) : reference(to, value);
        if (expected)
          ASSERT_EQ(got, *expected)
              << name_of(from) << " " << static_cast<double>(value.number) << " to " << name_of(to);
        else ASSERT_TRUE(is_nan_pattern(to, got)) << name_of(from) << " to " << name_of(to);
      }
    }
  }
}

// The headers shared with CUDA against the functions of the public header.
TEST(Convert, SmallFloatsAgreeWithTheBaseLayer) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto word = static_cast<unsigned short>(bits);
    ASSERT_EQ(element::bits_of(element::wide(element::Float16{word})),
              element::bits_of(half_to_float(word)));
    ASSERT_EQ(element::bits_of(element::wide(element::BFloat16{word})),
              element::bits_of(bfloat16_to_float(word)));
  }
  for (unsigned bits = 0; bits < 0x100; ++bits) {
    const auto byte = static_cast<unsigned char>(bits);
    ASSERT_EQ(element::bits_of(element::wide(element::Float8E4M3{byte})),
              element::bits_of(float8_e4m3_to_float(byte)));
    ASSERT_EQ(element::bits_of(element::wide(element::Float8E5M2{byte})),
              element::bits_of(float8_e5m2_to_float(byte)));
  }
  for (std::uint64_t bits = 0; bits < (1ull << 32); bits += 4099) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    ASSERT_EQ(element::convert<element::Float16>(value).bits, float_to_half(value)) << bits;
    ASSERT_EQ(element::convert<element::BFloat16>(value).bits, float_to_bfloat16(value)) << bits;
    ASSERT_EQ(element::convert<element::Float8E4M3>(value).bits, float_to_float8_e4m3(value))
        << bits;
    ASSERT_EQ(element::convert<element::Float8E5M2>(value).bits, float_to_float8_e5m2(value))
        << bits;
  }
}

TEST(Convert, RoundsOnceWhereTwoStepsWouldNot) {
  // Just above the middle between two bfloat16 numbers: float32 in between would round onto the
  // middle, then to even.
  const double value = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(element::convert<element::BFloat16>(value).bits, 0x3f81);
  EXPECT_EQ(float_to_bfloat16(static_cast<float>(value)), 0x3f80);
  const long long integer = (1ll << 40) + (1ll << 32) + 1;
  EXPECT_EQ(element::convert<element::BFloat16>(integer).bits, float_to_bfloat16(0x1p40f) + 1);
  EXPECT_EQ(element::convert<element::BFloat16>(-integer).bits, float_to_bfloat16(-0x1p40f) + 1);
}

TEST(Convert, BytesOfBoolsThatAreNotOneAreTrue) {
  unsigned char bytes[3] = {0, 2, 255};
  const Tensor t = from_blob(bytes, {3}, {DType::Bool, cpu});
  EXPECT_EQ(t.to_vector<bool>(), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(t[1].item<int>(), 1);
  EXPECT_EQ(t[2].item<bool>(), true);
}

}  // namespace
}  // namespace tilewright
