// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/dispatch.h — AT_DISPATCH_*: one case per element type, with `scalar_t` inside.
#pragma once

#include "load_inline/torch/core.h"

#define AT_DISPATCH_CASE(tw_case, ...)                                               \
  case tw_case: {                                                                    \
    using scalar_t [[maybe_unused]] = ::tilewright_inline::ElementOf<tw_case>::type; \
    return __VA_ARGS__();                                                            \
  }
#define AT_DISPATCH_SWITCH(given, name, ...)                                                   \
  [&] {                                                                                        \
    const c10::ScalarType tw_type = (given);                                                   \
    switch (tw_type) {                                                                         \
      __VA_ARGS__                                                                              \
      default:                                                                                 \
        ::tilewright_inline::check_failed(__FILE__, __LINE__, "", name,                        \
                                          " is not implemented for ", c10::toString(tw_type)); \
    }                                                                                          \
  }()

#define TW_CASES_FLOATING(...) \
  AT_DISPATCH_CASE(c10::kDouble, __VA_ARGS__) AT_DISPATCH_CASE(c10::kFloat, __VA_ARGS__)
#define TW_CASES_INTEGRAL(...)                                                       \
  AT_DISPATCH_CASE(c10::kByte, __VA_ARGS__)                                          \
  AT_DISPATCH_CASE(c10::kChar, __VA_ARGS__)                                          \
  AT_DISPATCH_CASE(c10::kInt, __VA_ARGS__) AT_DISPATCH_CASE(c10::kLong, __VA_ARGS__) \
      AT_DISPATCH_CASE(c10::kShort, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES TW_CASES_FLOATING
#define AT_DISPATCH_CASE_INTEGRAL_TYPES TW_CASES_INTEGRAL
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
  TW_CASES_FLOATING(__VA_ARGS__) TW_CASES_INTEGRAL(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, TW_CASES_FLOATING(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                             \
                     TW_CASES_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE(c10::kHalf, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(a, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, TW_CASES_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE(a, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(a, b, type, name, ...)                       \
  AT_DISPATCH_SWITCH(type, name,                                                     \
                     TW_CASES_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE(a, __VA_ARGS__) \
                         AT_DISPATCH_CASE(b, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(type, name, ...)    \
  AT_DISPATCH_SWITCH(type, name,                               \
                     AT_DISPATCH_CASE(c10::kHalf, __VA_ARGS__) \
                         AT_DISPATCH_CASE(c10::kBFloat16, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, TW_CASES_INTEGRAL(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, TW_CASES_FLOATING(__VA_ARGS__) TW_CASES_INTEGRAL(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(a, type, name, ...)                              \
  AT_DISPATCH_SWITCH(type, name,                                                   \
                     TW_CASES_FLOATING(__VA_ARGS__) TW_CASES_INTEGRAL(__VA_ARGS__) \
                         AT_DISPATCH_CASE(a, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(a, b, type, name, ...)                          \
  AT_DISPATCH_SWITCH(type, name,                                                   \
                     TW_CASES_FLOATING(__VA_ARGS__) TW_CASES_INTEGRAL(__VA_ARGS__) \
                         AT_DISPATCH_CASE(a, __VA_ARGS__) AT_DISPATCH_CASE(b, __VA_ARGS__))

namespace tilewright_inline {
template <c10::ScalarType type>
struct ElementOf;
template <>
struct ElementOf<c10::kDouble> {
  using type = double;
};
template <>
struct ElementOf<c10::kFloat> {
  using type = float;
};
template <>
struct ElementOf<c10::kHalf> {
  using type = c10::Half;
};
template <>
struct ElementOf<c10::kBFloat16> {
  using type = c10::BFloat16;
};
template <>
struct ElementOf<c10::kByte> {
  using type = unsigned char;
};
template <>
struct ElementOf<c10::kChar> {
  using type = signed char;
};
template <>
struct ElementOf<c10::kShort> {
  using type = short;
};
template <>
struct ElementOf<c10::kInt> {
  using type = int;
};
template <>
struct ElementOf<c10::kLong> {
  using type = long;
};
template <>
struct ElementOf<c10::kBool> {
  using type = bool;
};
}  // namespace tilewright_inline
