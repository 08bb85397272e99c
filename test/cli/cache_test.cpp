// SPDX-License-Identifier: Apache-2.0
// cli/cache_test.cpp — `tilewright cache` on a folder that a measuring run has filled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

class CacheVerb : public ::testing::Test {
 protected:
  ProcessResult run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), tilewright_path());
    return run_process({.arguments = arguments,
                        .environment = {"TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/cache"},
                        .timeout_seconds = 120});
  }
  Json json(const std::vector<std::string>& arguments) const {
    return parse_json(run(arguments).output);
  }
  void fill() const { ASSERT_EQ(run({"info", "--json"}).exit_code, 0); }

  const TemporaryFolder folder_;
};

TEST_F(CacheVerb, EmptyAtFirst) {
  const auto info = json({"cache", "info", "--json"});
  EXPECT_EQ(info["folder"], folder_.path() + "/cache");
  EXPECT_EQ(info["entries"], 0);
  EXPECT_EQ(info["bytes"], 0);
  EXPECT_THAT(run({"cache", "info"}).output, HasSubstr("0 entries, 0 B"));
}

TEST_F(CacheVerb, FilledVerifiedCleared) {
  fill();
  const auto info = json({"cache", "info", "--json"});
  const int entries = info["entries"];
  EXPECT_GE(entries, 1);
  EXPECT_GT(info["bytes"].get<int>(), 0);
  EXPECT_EQ(json({"cache", "verify", "--json"})["damaged"], 0);
  EXPECT_EQ(json({"cache", "clear", "--json"})["removed"], entries);
  EXPECT_EQ(json({"cache", "info", "--json"})["entries"], 0);
  EXPECT_EQ(run({"cache", "clear"}).output,
            "removed 0 entries from " + folder_.path() + "/cache\n");
}

// Changes the last byte of every file that is not empty: what a bad disk does.
void damage(const std::string& folder) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (!file.is_regular_file() || file.file_size() == 0) continue;
    std::fstream stream(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-1, std::ios::end);
    const char last = static_cast<char>(stream.get());
    stream.seekp(-1, std::ios::end);
    stream.put(static_cast<char>(last ^ 1));
  }
}

TEST_F(CacheVerb, DamageIsFoundAndFails) {
  fill();
  damage(folder_.path() + "/cache");
  const ProcessResult r = run({"cache", "verify"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.output, HasSubstr("damaged; 'tilewright cache clear' removes them\n"));
}

TEST(CacheVerbWithoutFolder, IsSaid) {
  const CommandResult r = tilewright_command({"cache", "info"});
  EXPECT_EQ(r.exit_code, 0);
  const ProcessResult bad = run_process({.arguments = {tilewright_path(), "cache", "clear"},
                                         .environment = {"TILEWRIGHT_CACHE_DIR=/dev/null/cache"}});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.output, HasSubstr("the cache cannot be cleared: "));
}

}  // namespace
}  // namespace tilewright::cli
