// SPDX-License-Identifier: Apache-2.0
// machine/target_test.cpp — targets by name, their features, and this machine.
#include "tilewright/target.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "machine/cuda.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(Target, HopperHasItsInstructions) {
  const Target target = Target::parse("sm_90a");
  EXPECT_TRUE(target.is_cuda());
  EXPECT_TRUE(target.has(Feature::Wgmma));
  EXPECT_TRUE(target.has(Feature::RegisterBudget));
  EXPECT_EQ(target.shared_bytes_per_block_optin, 232448);
  EXPECT_FALSE(Target::parse("sm_80").has(Feature::TensorMaps));
}

TEST(Target, StartedProductsAreOfOneChip) {
  for (const Target& target : cuda_targets())
    EXPECT_EQ(target.has(Feature::Wgmma), target.name == "sm_90a") << target.name;
}

TEST(Target, ALaterArchitectureHasWhatAnEarlierHad) {
  const std::set<Feature> of_one = {Feature::Wgmma, Feature::RegisterBudget};
  const std::vector<Target> targets = cuda_targets();
  for (std::size_t i = 1; i < targets.size(); ++i)
    for (const Feature feature : all_features()) {
      if (of_one.contains(feature)) continue;
      EXPECT_LE(targets[i - 1].has(feature), targets[i].has(feature))
          << targets[i].name << " " << name_of(feature);
    }
  EXPECT_FALSE(Target::parse("sm_75").has(Feature::AsyncCopy));
  EXPECT_FALSE(Target::parse("sm_86").has(Feature::MmaF8));
  EXPECT_TRUE(Target::parse("sm_89").has(Feature::MmaF8));
}

TEST(Target, FeaturesHaveNamesAndMeanings) {
  std::set<std::string_view> names;
  for (const Feature feature : all_features()) {
    EXPECT_TRUE(names.insert(name_of(feature)).second) << name_of(feature);
    EXPECT_FALSE(meaning_of(feature).empty()) << name_of(feature);
  }
  EXPECT_EQ(name_of(Feature::Wgmma), "wgmma");
}

TEST(Target, AFeatureCanBeTakenAway) {
  Target target = Target::parse("sm_90a");
  target.features.remove(Feature::MmaF16);
  EXPECT_FALSE(target.has(Feature::MmaF16));
  EXPECT_TRUE(target.has(Feature::MmaBf16));
}

TEST(Target, HostIsACpuWithCores) {
  EXPECT_FALSE(Target::host().is_cuda());
  EXPECT_GE(Target::host().processors, 1);
  EXPECT_GE(Target::host().vector_bits, 128);
  EXPECT_FALSE(Target::parse("avx2").has(Feature::Avx512));
  EXPECT_TRUE(Target::parse("avx512").has(Feature::Avx512));
}

TEST(Target, UnknownNameIsRefused) { EXPECT_THROW(Target::parse("sm_9"), ArgumentError); }

}  // namespace
}  // namespace tilewright
