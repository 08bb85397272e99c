// SPDX-License-Identifier: Apache-2.0
// unit/compiler/tune_propose_test.cpp — the configs that the compiler proposes.
#include "compiler/triton/tune/propose.h"

#include <set>

#include <gtest/gtest.h>

#include "compiler/triton/tune/config_text.h"

namespace tilewright {
namespace {

std::vector<std::string> texts(const ProposalFacts& facts) {
  std::vector<std::string> all;
  for (const python::ConfigValue& config : propose_configs(facts))
    all.push_back(config_text(config));
  return all;
}

TEST(TunePropose, ElementwiseOnTheCpu) {
  EXPECT_EQ(
      texts({.sizes = {"BLOCK"}}),
      (std::vector<std::string>{
          "BLOCK=256, num_warps=4, num_stages=3", "BLOCK=1024, num_warps=4, num_stages=3",
          "BLOCK=4096, num_warps=4, num_stages=3", "BLOCK=16384, num_warps=4, num_stages=3"}));
}

TEST(TunePropose, WarpsOnCuda) {
  const auto all = texts({.sizes = {"BLOCK"}, .is_cuda = true});
  EXPECT_EQ(all.size(), 10u);
  EXPECT_EQ(all[1], "BLOCK=256, num_warps=8, num_stages=3");
}

TEST(TunePropose, ProductsAreBoundedAndAllDifferent) {
  const ProposalFacts facts{.sizes = {"M", "N", "K"}, .has_dot = true, .is_cuda = true};
  const auto all = texts(facts);
  EXPECT_EQ(all.size(), 40u);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  for (const python::ConfigValue& config : propose_configs(facts)) {
    EXPECT_LE(*config.meta.items[0].second.integer() * *config.meta.items[1].second.integer(),
              32768);
    EXPECT_LE(*config.meta.items[2].second.integer(), 64);
  }
}

TEST(TunePropose, NothingIsFree) {
  EXPECT_EQ(texts({}), std::vector<std::string>{"num_warps=4, num_stages=3"});
  EXPECT_EQ(texts({.is_cuda = true}).size(), 2u);
}

}  // namespace
}  // namespace tilewright
