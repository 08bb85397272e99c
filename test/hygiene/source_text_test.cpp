// SPDX-License-Identifier: Apache-2.0
// hygiene/source_text_test.cpp — what every source file has, and what only one file may do.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> sources() {
  std::vector<fs::path> found;
  for (const char* folder : {"include", "src", "test", "examples", "bench"}) {
    const fs::path root = fs::path(TW_SOURCE_FOLDER) / folder;
    if (!fs::exists(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string extension = entry.path().extension().string();
      // Expected texts of the emitters are what they are, in folders below test/golden.
      if (entry.path().parent_path().parent_path().filename() == "golden") continue;
      if (extension == ".h" || extension == ".cpp" || extension == ".cuh" || extension == ".cu")
        found.push_back(entry.path());
    }
  }
  return found;
}

std::string name_in_tree(const fs::path& file) {
  return fs::relative(file, TW_SOURCE_FOLDER).string();
}

TEST(SourceText, EveryFileSaysItsLicenceAndPurpose) {
  for (const fs::path& file : sources()) {
    std::istringstream text(read(file));
    std::string first, second;
    std::getline(text, first);
    std::getline(text, second);
    EXPECT_EQ(first, "// SPDX-License-Identifier: Apache-2.0") << name_in_tree(file);
    EXPECT_TRUE(second.starts_with("// ") && second.find(" — ") != std::string::npos)
        << name_in_tree(file) << ": the second line must be '// path — what this file is for.'";
  }
}

// Counts the files under src/ that contain `text`.
std::vector<std::string> files_with(const std::string& text) {
  std::vector<std::string> found;
  for (const fs::path& file : sources()) {
    const std::string name = name_in_tree(file);
    if ((name.starts_with("src/") || name.starts_with("include/")) &&
        read(file).find(text) != std::string::npos)
      found.push_back(name);
  }
  return found;
}

TEST(SourceText, OneFileReadsTheEnvironment) {
  EXPECT_EQ(files_with("std::getenv("), std::vector<std::string>{"src/base/settings.cpp"});
}

TEST(SourceText, OneFileIncludesTbb) {
  EXPECT_EQ(files_with("#include <tbb/").size() + files_with("#include <oneapi/tbb").size(), 1u);
}

TEST(SourceText, OnlyTheCudaFolderNamesCudaLibraries) {
  for (const char* library : {"libcuda.so", "libnvrtc.so"})
    for (const std::string& file : files_with(library))
      EXPECT_TRUE(file.starts_with("src/runtime/cuda/") || file.starts_with("src/profile/cuda/"))
          << file << " names " << library;
}

}  // namespace
}  // namespace tilewright
