// SPDX-License-Identifier: Apache-2.0
// conformance/conformance.h — one test body for every kernel at every place.
#pragma once

#include <tuple>

#include <gtest/gtest.h>

#include "run.h"

namespace tilewright::conformance {

inline void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }
inline void PrintTo(Place place, std::ostream* out) { *out << place_name(place); }

class Conformance : public testing::TestWithParam<std::tuple<Family, Place>> {};

inline std::string test_name(const testing::TestParamInfo<std::tuple<Family, Place>>& info) {
  return std::get<0>(info.param).name + "_" + place_name(std::get<1>(info.param));
}

// `families` is a function that returns a vector of them.
#define TW_CONFORMANCE(suite, families) \
  INSTANTIATE_TEST_SUITE_P(             \
      suite, Conformance,               \
      testing::Combine(testing::ValuesIn(families()), testing::ValuesIn(all_places)), test_name)

}  // namespace tilewright::conformance
