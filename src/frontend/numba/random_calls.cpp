// SPDX-License-Identifier: Apache-2.0
// frontend/numba/random_calls.cpp — numba.cuda.random: numbers by xoroshiro128+, whose states are
// an array of uint64 with two per state.
#include <fmt/format.h>

#include "frontend/numba/function.h"

namespace tilewright::numba {

using namespace python;

Value FunctionWriter::call_random(std::string_view name, const Arguments& given,
                                  const Node& place) {
  struct Function {
    std::string_view name;
    const char* helper;
    DType dtype;
  };
  constexpr Function functions[] = {
      {"xoroshiro128p_next", "tw_random_next", DType::UInt64},
      {"xoroshiro128p_uniform_float32", "tw_random_uniform", DType::Float32},
      {"xoroshiro128p_uniform_float64", "tw_random_uniform", DType::Float64},
      {"xoroshiro128p_normal_float32", "tw_random_normal", DType::Float32},
      {"xoroshiro128p_normal_float64", "tw_random_normal", DType::Float64}};
  for (const Function& function : functions) {
    if (function.name != name) continue;
    expect_count(given, 2, 2, name, place);
    const Value& states = given.values[0];
    const bool are_states = states.type.is_array() && states.type.dtype == DType::UInt64 &&
                            states.type.ndim == 2 && states.type.is_contiguous;
    if (!are_states)
      fail(place,
           fmt::format("{} takes an array of states, uint64[n, 2], not {}", name,
                       text_of(states.type)),
           "make it with xoroshiro128p_states(n, seed), or rng=xoroshiro:1000 in tilewright run");
    if (!given.values[1].type.is_integer())
      fail(place, fmt::format("{} takes the index of a state second, not {}", name,
                              text_of(given.values[1].type)));
    note_write(states);
    const Value state = row(states, given.values[1]);
    Value number = scalar_value(function.dtype == DType::Float32 ? DType::Float64 : function.dtype,
                                fmt::format("{}({})", helper(function.helper), state.text));
    number.is_nonnegative |= function.dtype == DType::UInt64;
    return converted(number, function.dtype);
  }
  missing(place, fmt::format("cuda.random.{}", name));
}

}  // namespace tilewright::numba
