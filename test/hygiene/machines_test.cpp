// SPDX-License-Identifier: Apache-2.0
// hygiene/machines_test.cpp — machines are data: features are asked for by name, lanes are a number
// of the machine. Versions of a vendor's machines stand in the tables of src/machine, where devices
// are read, and in `info`.
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

namespace machines_fs = std::filesystem;

// Whether a line asks for a version: the field, not Triton's function of a like name.
bool asks_for_version(const std::string& line) {
  return line.find("capability_major") != std::string::npos ||
         line.find("capability_minor") != std::string::npos;
}

bool may_know_versions(const std::string& path) {
  return path.starts_with("machine/") || path.starts_with("runtime/") ||
         path.starts_with("cli/info");
}

std::vector<std::string> version_lines(const machines_fs::path& file) {
  std::vector<std::string> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (asks_for_version(line)) found.push_back(line);
  return found;
}

TEST(Machines, VersionsAreKnownToMachineTablesDevicesAndInfoAlone) {
  const machines_fs::path folder = machines_fs::path(TW_SOURCE_FOLDER) / "src";
  int known = 0;
  for (const auto& entry : machines_fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = machines_fs::relative(entry.path(), folder).string();
    const std::vector<std::string> lines = version_lines(entry.path());
    if (may_know_versions(path)) known += static_cast<int>(lines.size());
    else
      for (const std::string& line : lines) ADD_FAILURE() << path << ": " << line;
  }
  EXPECT_GT(known, 3);
}

// Whether a line counts lanes as one kind of machine has them, outside of comments.
bool counts_lanes(const std::string& line) {
  static const std::regex number(
      R"([*/%&] ?(31|32)\b|[!=]= ?31\b|>> ?5\b|\b32 \*|(lanes|lane_bits) = 5\b)");
  return std::regex_search(line.substr(0, line.find("//")), number);
}

TEST(Machines, LanesAreANumberOfTheMachine) {
  int lines = 0;
  for (const char* folder :
       {"codegen/cuda", "codegen/device_lib/cuda", "codegen/lower", "layout", "passes"})
    for (const auto& entry : machines_fs::recursive_directory_iterator(
             machines_fs::path(TW_SOURCE_FOLDER) / "src" / folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line); ++lines)
        if (counts_lanes(line)) ADD_FAILURE() << entry.path().string() << ": " << line;
    }
  EXPECT_GT(lines, 5000);
}

TEST(Machines, ACountOfLanesIsFound) {
  EXPECT_TRUE(counts_lanes("  const int warps = threads / 32;"));
  EXPECT_TRUE(counts_lanes("  return lane_bits != 31 ? a : b;"));
  EXPECT_FALSE(counts_lanes("  constexpr int few_columns = 32;  // threads / 32"));
}

TEST(Machines, AQuestionForAVersionIsFound) {
  EXPECT_TRUE(asks_for_version("  if (target.capability_major >= 9) return;"));
  EXPECT_FALSE(asks_for_version("Value capability_geq(Call& call) {"));
  EXPECT_FALSE(may_know_versions("codegen/lower/thread_loops.cpp"));
}

}  // namespace
}  // namespace tilewright
