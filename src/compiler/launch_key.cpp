// SPDX-License-Identifier: Apache-2.0
// compiler/launch_key.cpp — 16 bits per argument, hashed together.
#include "compiler/launch_key.h"

#include <cstring>
#include <string_view>

#include "base/settings.h"

namespace tilewright {
namespace {

using Kind = Specialized::Kind;
using Token = std::uint16_t;

// What `specialize` says of an argument, without its value. Those of all but the usual arguments
// are said by `specialize` itself, behind the others.
constexpr Token elsewhere = 0xffff;

constexpr Token token(Kind kind, DType dtype, bool divisible = false, bool is_const = false) {
  return static_cast<Token>(static_cast<unsigned>(kind) | static_cast<unsigned>(dtype) << 4 |
                            static_cast<unsigned>(divisible) << 12 |
                            static_cast<unsigned>(is_const) << 13);
}

bool is_plain_integer(const Argument& value) {
  return value.kind == Argument::Kind::Scalar &&
         (value.dtype == DType::Int32 || value.dtype == DType::Int64);
}

std::int64_t integer_of(const Argument& value) {
  return value.dtype == DType::Int32
             ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value.bits))
             : static_cast<std::int64_t>(value.bits);
}

Token integer_token(const TritonParameter& parameter, std::int64_t number) {
  if (parameter.specializes && number == 1) return token(Kind::Integer, DType::Int64);
  const bool fits = number == static_cast<std::int32_t>(number);
  return token(Kind::Scalar, fits ? DType::Int32 : DType::Int64,
               parameter.specializes_alignment && number % 16 == 0);
}

Token token_of(const TritonParameter& parameter, const TritonArgument* argument) {
  if (argument == nullptr) return token(Kind::Absent, DType::Int32);
  const Argument& value = argument->value;
  if (argument->kind != TritonArgument::Kind::Value) return elsewhere;
  if (parameter.is_constexpr)
    return is_plain_integer(value) ? token(Kind::Integer, DType::Int64) : elsewhere;
  if (parameter.type) return elsewhere;
  if (value.kind == Argument::Kind::Memory && value.is_defined)
    return token(Kind::Pointer, value.dtype,
                 parameter.specializes_alignment && value.bits % 16 == 0, parameter.is_const);
  if (is_plain_integer(value)) return integer_token(parameter, integer_of(value));
  return elsewhere;
}

// What is hashed: options and values that matter, then the tokens behind them.
class Words {
 public:
  void add(std::int64_t word) { words_[count_++] = word; }
  void add(const Token* tokens, std::size_t count) {
    words_[count_ + count / tokens_per_word] = 0;  // the rest of the last word
    std::memcpy(words_ + count_, tokens, count * sizeof(Token));
    count_ += count / tokens_per_word + 1;
  }
  void add_options(const TritonLaunch& launch, const LaunchPlace& place) {
    add(static_cast<std::int64_t>(place.device.kind) | std::int64_t{place.device.index} << 8 |
        static_cast<std::int64_t>(place.interpret) << 40 |
        static_cast<std::int64_t>(launch.fp_fusion) << 41 |
        static_cast<std::int64_t>(launch.flush_to_zero) << 42 |
        static_cast<std::int64_t>(launch.debug || settings().debug) << 43 |
        static_cast<std::int64_t>(launch.bare) << 44);
    const auto pair = [](const std::optional<int>& low, const std::optional<int>& high) {
      return static_cast<std::int64_t>(
          static_cast<std::uint32_t>(low.value_or(-1)) |
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(high.value_or(-1))) << 32);
    };
    add(pair(launch.num_warps, launch.num_stages));
    add(pair(launch.num_ctas, launch.maxnreg));
  }
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(words_), count_ * sizeof(std::int64_t)};
  }

 private:
  static constexpr std::size_t tokens_per_word = sizeof(std::int64_t) / sizeof(Token);
  // Not initialised: most launches use a few.
  std::int64_t words_[3 + max_slots + max_slots / tokens_per_word + 1];
  std::size_t count_ = 0;
};

}  // namespace

Hash128 launch_key(const TritonKernel::State& state, const TritonArgument* const* slots,
                   const TritonLaunch& launch, const LaunchPlace& place) {
  Token tokens[max_slots];
  Words words;
  words.add_options(launch, place);
  bool is_any_elsewhere = false;
  const std::size_t count = state.parameters.size();
  for (std::size_t i = 0; i < count; ++i) {
    const TritonParameter& parameter = state.parameters[i];
    tokens[i] = token_of(parameter, slots[i]);
    is_any_elsewhere |= tokens[i] == elsewhere;
    if (slots[i] == nullptr) continue;
    if (parameter.is_keyed_by_value && slots[i]->value.kind == Argument::Kind::Scalar)
      words.add(static_cast<std::int64_t>(slots[i]->value.bits));
    else if (parameter.is_constexpr && tokens[i] != elsewhere)
      words.add(integer_of(slots[i]->value));
  }
  Hasher hasher;
  words.add(tokens, count);
  hasher.add(words.bytes());
  for (std::size_t i = 0; is_any_elsewhere && i < count; ++i)
    if (tokens[i] == elsewhere) add_specialized(hasher, state.name, state.parameters[i], *slots[i]);
  return hasher.finish();
}

}  // namespace tilewright
