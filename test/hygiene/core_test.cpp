// SPDX-License-Identifier: Apache-2.0
// hygiene/core_test.cpp — the core of the compiler knows the IR alone: no front end, no Triton.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

namespace core_fs = std::filesystem;

// What a core file may not include: front ends, what stands on the core, and Triton's interface.
bool is_above_core(const std::string& include) {
  return include.starts_with("frontend/") || include.starts_with("compiler/triton/") ||
         include.starts_with("compiler/numba/") || include == "tilewright/numba.h" ||
         include == "tilewright/triton.h" || include == "tilewright/tilewright.h";
}

std::vector<std::string> includes_above_core(const core_fs::path& file) {
  std::vector<std::string> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("#include \"")) continue;
    const std::string include = line.substr(10, line.find('"', 10) - 10);
    if (is_above_core(include)) found.push_back(include);
  }
  return found;
}

TEST(CompilerCore, IncludesNeitherFrontEndsNorTriton) {
  const core_fs::path folder = core_fs::path(TW_SOURCE_FOLDER) / "src/compiler";
  int files = 0;
  for (const auto& entry : core_fs::recursive_directory_iterator(folder)) {
    const std::string path = core_fs::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || path.starts_with("triton/") ||
        path.starts_with("numba/"))
      continue;
    for (const std::string& include : includes_above_core(entry.path()))
      ADD_FAILURE() << "compiler/" << path << " includes " << include;
    ++files;
  }
  EXPECT_GT(files, 30);
}

// Also what its headers include in turn: a core that needs a front end by a detour is none.
TEST(CompilerCore, AFrontEndIsNotReachedByADetour) {
  const core_fs::path root = core_fs::path(TW_SOURCE_FOLDER);
  std::set<std::string> seen;
  std::vector<core_fs::path> pending;
  for (const auto& entry : core_fs::recursive_directory_iterator(root / "src/compiler")) {
    const std::string path = core_fs::relative(entry.path(), root / "src/compiler").string();
    if (entry.is_regular_file() && !path.starts_with("triton/") && !path.starts_with("numba/"))
      pending.push_back(entry.path());
  }
  while (!pending.empty()) {
    const core_fs::path file = pending.back();
    pending.pop_back();
    if (!seen.insert(file.string()).second) continue;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("#include \"")) continue;
      const std::string include = line.substr(10, line.find('"', 10) - 10);
      EXPECT_FALSE(is_above_core(include)) << file << " includes " << include;
      for (const char* folder : {"src", "include"})
        if (core_fs::exists(root / folder / include)) pending.push_back(root / folder / include);
    }
  }
  EXPECT_GT(seen.size(), 60u);
}

TEST(CompilerCore, AWrongIncludeIsFound) {
  const core_fs::path file = core_fs::path(testing::TempDir()) / "core_test_wrong.h";
  std::ofstream(file) << "#include \"frontend/triton/lower.h\"\n#include \"ir/kernel.h\"\n";
  EXPECT_EQ(includes_above_core(file), std::vector<std::string>{"frontend/triton/lower.h"});
  core_fs::remove(file);
}

}  // namespace
}  // namespace tilewright
