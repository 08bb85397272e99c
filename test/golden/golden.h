// SPDX-License-Identifier: Apache-2.0
// golden/golden.h — the files of a folder beside the tests: found, read, split, and rewritten when
// TW_UPDATE_GOLDEN is set.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tilewright::golden {

namespace fs = std::filesystem;

// Between an input and its expected output in one file.
inline constexpr const char* separator = "// ----\n";

// In order. A folder without such files makes gtest fail: the suite would have no test.
inline std::vector<fs::path> files(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TW_GOLDEN_FOLDER) / folder))
    if (entry.path().extension() == extension) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

inline std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// What stands before the separator; a failure of the test when there is none.
inline std::string input_of(const fs::path& path) {
  const std::string text = read(path);
  const auto cut = text.find(separator);
  EXPECT_NE(cut, std::string::npos) << path << " has no line '// ----'";
  return text.substr(0, cut);
}

// `text` must be what the file holds; or becomes it, to be read before it is committed.
inline void expect_file(const fs::path& path, const std::string& text) {
  if (std::getenv("TW_UPDATE_GOLDEN")) {
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(text, read(path));
}

inline std::string stem_of(const testing::TestParamInfo<fs::path>& info) {
  return info.param.stem().string();
}

}  // namespace tilewright::golden
