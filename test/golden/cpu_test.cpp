// SPDX-License-Identifier: Apache-2.0
// golden/cpu_test.cpp — cpu/*.tir: a kernel, a line `// ----`, and the exact function that the CPU
// emitter makes of it. The text is made to be read: read it.
//
// With TW_UPDATE_GOLDEN set in the environment the files are rewritten instead.
#include "codegen/cpu/emit.h"
#include "golden.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace tilewright {
namespace {

// The function of one program; what is around it is the same for every kernel.
std::string program_of(const std::string& input, const std::string& file) {
  const ir::Kernel kernel = ir::parse(input, file);
  ir::verify(kernel);
  const std::string text = emit_cpu(kernel).text;
  const auto begin = text.find("static void"), end = text.find("\n}\n", begin);
  return text.substr(begin, end + 3 - begin);
}

class GoldenCpu : public testing::TestWithParam<golden::fs::path> {};

TEST_P(GoldenCpu, HasExactText) {
  const std::string input = golden::input_of(GetParam());
  const std::string output = program_of(input, GetParam().filename().string());
  EXPECT_EQ(program_of(input, GetParam().filename().string()), output) << "not deterministic";
  golden::expect_file(GetParam(), input + golden::separator + output);
}

// What is printed depends on the Final kernel alone: read back from its text it is the same.
TEST_P(GoldenCpu, HasTheSameTextFromItsLoops) {
  const ir::Kernel tiles = ir::parse(golden::input_of(GetParam()), "k.tir");
  const ir::Kernel loops = final_for_cpu(laid_for_cpu(tiles));
  const std::string text = ir::print(loops);
  const ir::Kernel read = ir::parse(text, "k.tir");
  ir::verify(loops);
  ir::verify(read);
  EXPECT_EQ(ir::print(read), text);
  EXPECT_EQ(emit_cpu(read).text, emit_cpu(loops).text);
  EXPECT_EQ(emit_cpu(tiles).text, emit_cpu(loops).text);
}

INSTANTIATE_TEST_SUITE_P(Kernels, GoldenCpu, testing::ValuesIn(golden::files("cpu", ".tir")),
                         golden::stem_of);

}  // namespace
}  // namespace tilewright
