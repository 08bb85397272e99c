// SPDX-License-Identifier: Apache-2.0
// golden/cpu_test.cpp — cpu/*.tir: a kernel, a line `// ----`, and the exact function that the CPU
// emitter makes of it. The text is made to be read: read it.
//
// With TW_UPDATE_GOLDEN set in the environment the files are rewritten instead.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codegen/cpu/emit.h"
#include "ir/parse.h"
#include "ir/verify.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr const char* separator = "// ----\n";

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  const fs::path root = fs::path(TW_GOLDEN_FOLDER) / "cpu";
  if (!fs::exists(root)) return files;  // a bundle carries programs, not the tree
  for (const auto& entry : fs::directory_iterator(root)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The function of one program; what is around it is the same for every kernel.
std::string program_of(const std::string& input, const std::string& file) {
  const ir::Kernel kernel = ir::parse(input, file);
  ir::verify(kernel);
  const std::string text = emit_cpu(kernel).text;
  const auto begin = text.find("static void"), end = text.find("\n}\n", begin);
  return text.substr(begin, end + 3 - begin);
}

class GoldenCpu : public testing::TestWithParam<fs::path> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenCpu);

TEST_P(GoldenCpu, HasExactText) {
  const std::string text = read(GetParam());
  const auto cut = text.find(separator);
  ASSERT_NE(cut, std::string::npos) << GetParam() << " has no line '// ----'";
  const std::string input = text.substr(0, cut);
  const std::string output = program_of(input, GetParam().filename().string());
  EXPECT_EQ(program_of(input, GetParam().filename().string()), output);
  if (std::getenv("TW_UPDATE_GOLDEN")) {
    std::ofstream(GetParam()) << input << separator << output;
    return;
  }
  EXPECT_EQ(output, text.substr(cut + std::string(separator).size()));
}

std::string test_name(const testing::TestParamInfo<fs::path>& info) {
  return info.param.stem().string();
}
INSTANTIATE_TEST_SUITE_P(Kernels, GoldenCpu, testing::ValuesIn(golden_files()), test_name);

}  // namespace
}  // namespace tilewright
