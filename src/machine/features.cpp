// SPDX-License-Identifier: Apache-2.0
// machine/features.cpp — the list of features, with names.
#include <array>

#include "tilewright/target.h"

namespace tilewright {
namespace {

struct FeatureRow {
  Feature feature;
  std::string_view name;
  std::string_view meaning;
};

constexpr FeatureRow feature_rows[] = {
#define FEATURE(enumerator, name, meaning) {Feature::enumerator, name, meaning},
#include "tilewright/features.def"
};

static_assert(std::size(feature_rows) <= 64, "FeatureSet has 64 bits");

constexpr auto every_feature = [] {
  std::array<Feature, std::size(feature_rows)> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = feature_rows[i].feature;
  return out;
}();

}  // namespace

std::string_view name_of(Feature feature) {
  return feature_rows[static_cast<std::size_t>(feature)].name;
}

std::string_view meaning_of(Feature feature) {
  return feature_rows[static_cast<std::size_t>(feature)].meaning;
}

std::span<const Feature> all_features() { return every_feature; }

}  // namespace tilewright
