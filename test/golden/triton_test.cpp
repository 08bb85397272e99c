// SPDX-License-Identifier: Apache-2.0
// golden/triton_test.cpp — triton/NAME.py: kernels, each lowered as its comment says, and in
// NAME.tir the exact IR.
//
//   # lower: add x=*f32:16 n=i32 BLOCK=1024
//
// With TW_UPDATE_GOLDEN set in the environment the .tir files are rewritten instead; read the
// difference before committing it.
#include "../unit/frontend/triton/lower_text.h"
#include "golden.h"
#include "ir/parse.h"
#include "ir/print.h"

namespace tilewright {
namespace {

std::string lowered(const golden::fs::path& path) {
  constexpr std::string_view mark = "# lower: ";
  const std::string text = golden::read(path);
  std::istringstream lines(text);
  std::string output;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(mark)) continue;
    const std::string request = line.substr(mark.size());
    const triton::LoweredKernel made = triton::lower_text(text, request, path.filename().string());
    const std::string printed = ir::print(made.kernel);
    EXPECT_EQ(ir::print(ir::parse(printed, "printed")), printed);
    output += "// " + request + "\n" + printed + "\n";
  }
  return output;
}

class GoldenTriton : public testing::TestWithParam<golden::fs::path> {};

TEST_P(GoldenTriton, LowersToExactIr) {
  const std::string output = lowered(GetParam());
  ASSERT_FALSE(output.empty()) << GetParam() << " has no line '# lower: ...'";
  golden::expect_file(golden::fs::path(GetParam()).replace_extension(".tir"), output);
}

INSTANTIATE_TEST_SUITE_P(Triton, GoldenTriton, testing::ValuesIn(golden::files("triton", ".py")),
                         golden::stem_of);

}  // namespace
}  // namespace tilewright
