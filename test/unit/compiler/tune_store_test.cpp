// SPDX-License-Identifier: Apache-2.0
// unit/compiler/tune_store_test.cpp — configs as text, and records of tunings on disk.
#include "compiler/tune/store.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "compiler/triton/tune/config_text.h"
#include "compiler/triton/tune/report.h"

namespace tilewright {
namespace {

python::ConfigValue config_of(std::vector<std::pair<std::string, python::Value>> meta) {
  python::ConfigValue config;
  for (auto& [name, value] : meta) config.meta.set(name, value);
  return config;
}

TEST(TuneConfigText, GoesThereAndBack) {
  python::ConfigValue config =
      config_of({{"BLOCK", 64}, {"EVEN", true}, {"MODE", "a, b=c"}, {"EPS", 0.5}, {"X", {}}});
  config.num_warps = 8;
  config.maxnreg = 128;
  const std::string text = config_text(config);
  EXPECT_EQ(text,
            "BLOCK=64, EVEN=true, MODE='a, b=c', EPS=0.5, X=none, num_warps=8, num_stages=3, "
            "maxnreg=128");
  const auto read = parse_config_text(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(config_text(*read), text);
  EXPECT_EQ(read->num_warps, 8);
  EXPECT_EQ(read->maxnreg, 128);
  EXPECT_EQ(config_as_python(*read),
            "triton.Config({'BLOCK': 64, 'EVEN': True, 'MODE': 'a, b=c', 'EPS': 0.5, 'X': None}, "
            "num_warps=8, num_stages=3, maxnreg=128)");
}

TEST(TuneConfigText, WhatIsNoConfig) {
  for (const char* text : {"BLOCK", "=4", "BLOCK=", "BLOCK=?", "BLOCK=4, ", "BLOCK=4,num_warps=2"})
    EXPECT_FALSE(parse_config_text(text)) << text;
}

class TuneStoreTest : public ::testing::Test {
 protected:
  TuneStoreTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tilewright_tune_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    cache_.emplace(folder_ + "/cache", std::int64_t{1} << 20);
  }
  ~TuneStoreTest() override {
    cache_.reset();
    std::filesystem::remove_all(folder_);
  }
  TuneStore store(const std::string& key, const std::string& source = "text") {
    return TuneStore(*cache_, {"k", source, Device::cpu(), key});
  }

  std::string folder_;
  std::optional<DiskCache> cache_;
};

const TuneRecord sample{
    .kernel = "k",
    .device = "cpu",
    .key = "n=4",
    .given = "*fp32:16, i32",
    .configs = {{"A=1, num_warps=4, num_stages=3", "c0de", {1e-3, 9e-4, 2e-3, 7}},
                {"A=2, num_warps=4, num_stages=3", "", {}, "two\nlines\tand a tab"}},
    .winner = "A=1, num_warps=4, num_stages=3",
    .is_finished = true};

TEST_F(TuneStoreTest, ARecordComesBack) {
  EXPECT_FALSE(store("n=4").find());
  store("n=4").store(sample);
  const auto read = store("n=4").find();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kernel, "k");
  EXPECT_EQ(read->key, "n=4");
  EXPECT_EQ(read->given, "*fp32:16, i32");
  ASSERT_EQ(read->configs.size(), 2u);
  EXPECT_EQ(read->configs[0].timing.median, 1e-3);
  EXPECT_EQ(read->configs[0].timing.samples, 7);
  EXPECT_EQ(read->configs[0].code, "c0de");
  EXPECT_EQ(read->configs[1].problem, "two lines and a tab");
  EXPECT_EQ(read->winner, sample.winner);
  EXPECT_TRUE(read->is_finished);
  EXPECT_EQ(read->find("A=1, num_warps=4, num_stages=3"), &read->configs[0]);
  EXPECT_EQ(read->find("A=3"), nullptr);
}

TEST_F(TuneStoreTest, AnotherKeyOrSourceIsAnotherEntry) {
  store("n=4").store(sample);
  EXPECT_FALSE(store("n=5").find());
  EXPECT_FALSE(store("n=4", "other text").find());
}

TEST_F(TuneStoreTest, ADamagedEntryCountsAsAbsent) {
  store("n=4").store(sample);
  for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/cache/entries")) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(80);
    file.put('!');
  }
  EXPECT_FALSE(store("n=4").find());
  store("n=4").store(sample);
  EXPECT_TRUE(store("n=4").find());
}

TEST_F(TuneStoreTest, OneHoldsAKeyAtATime) {
  const auto held = store("n=4").hold(1);
  ASSERT_TRUE(held);
  EXPECT_FALSE(store("n=4").hold(0.01));
  EXPECT_TRUE(store("n=5").hold(0.01));
}

TEST(TuneRecordText, OtherTextsAreNone) {
  EXPECT_FALSE(parse_record(""));
  EXPECT_FALSE(parse_record("tilewright tuning 2\nkernel\tk\n"));
  EXPECT_FALSE(parse_record("tilewright tuning 1\nnonsense\tk\n"));
  EXPECT_TRUE(parse_record(record_text(sample)));
}

ConfigOutcome compiled(int blocks, std::size_t local_bytes) {
  ConfigOutcome outcome;
  outcome.threads = 128;
  outcome.registers = 255;
  outcome.shared_bytes = 4096;
  outcome.blocks_per_processor = blocks;
  outcome.local_bytes = local_bytes;
  return outcome;
}

TEST(TuneHopeless, NoBlockFitsOrMuchIsSpilled) {
  std::vector<ConfigOutcome> configs = {compiled(0, 0), compiled(1, 512), compiled(1, 16),
                                        compiled(2, 0)};
  skip_hopeless(configs);
  EXPECT_EQ(configs[0].problem,
            "no block of 128 threads with 255 registers each and 4.00 KiB of shared memory fits a "
            "multiprocessor");
  EXPECT_EQ(configs[1].problem,
            "512 B of registers per thread are spilled to memory, and other configs spill nothing");
  EXPECT_EQ(configs[2].problem, "");
  EXPECT_EQ(configs[3].problem, "");
}

TEST(TuneHopeless, WhereAllSpillAllAreTried) {
  std::vector<ConfigOutcome> configs = {compiled(1, 512), compiled(1, 1024)};
  skip_hopeless(configs);
  EXPECT_NE(configs[0].kind, ConfigOutcome::Kind::Skipped);
  EXPECT_NE(configs[1].kind, ConfigOutcome::Kind::Skipped);
}

}  // namespace
}  // namespace tilewright
