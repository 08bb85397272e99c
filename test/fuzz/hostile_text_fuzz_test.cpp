// SPDX-License-Identifier: Apache-2.0
// fuzz/hostile_text_fuzz_test.cpp — random names of files, source lines, prefixes and messages
// change nothing of generated code but its comments, strings and #line directives.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/quote.h"
#include "codegen/cpu/emit.h"
#include "codegen/cuda/emit.h"
#include "codegen/text/cpp_tokens.h"
#include "ir/parse.h"
#include "ir/print.h"

namespace tilewright {
namespace {

// Pieces that end something in C++, in the IR's text or in PTX.
const std::vector<std::string> pieces = {"\n",
                                         "\r",
                                         "\"",
                                         "'",
                                         "\\",
                                         "*/",
                                         "//",
                                         "/*",
                                         "?\?/",
                                         "\\\n",
                                         "\t",
                                         "R\"(",
                                         ")\"",
                                         "#line 1",
                                         "%s",
                                         "\u2028",
                                         "\xff",
                                         "\xc3",
                                         "\x1b",
                                         "a",
                                         " ",
                                         "é",
                                         "{}",
                                         ";",
                                         "}",
                                         "#endif\n",
                                         "\n#error x\n",
                                         "\n\"x",
                                         "\\n",
                                         "\x7f",
                                         "\n  #line 3 \"b\"\nint",
                                         "?\?/\n"};

std::string random_text(std::mt19937& random) {
  std::string text;
  for (std::uint32_t k = random() % 12; k > 0; --k) text += pieces[random() % pieces.size()];
  if (random() % 4 == 0) text.resize(200, '\\');  // longer than what a comment shows
  return text;
}

struct UserTexts {
  std::string file, prefix, message, line;
};

ir::Kernel kernel_with(const UserTexts& texts) {
  ir::Kernel kernel = ir::parse(R"(kernel @shout(%x: *f32, %n: i32) tile {
  %0 = constant {value = 1} : i64 @6:9
  %1 = affine %x, %0 : *f32[64] @6:9
  %v = load %1 : f32[64] @6:9
  print %n {prefix = "P"} @7:5
  %2 = constant {value = 1} : i32 @8:22
  %3 = compare %n, %2 {is = "lt"} : b1 @8:22
  assert %3 {message = "M"} @8:5
  %4 = constant {value = 1.0} : f32[64] @9:22
  %5 = compare %v, %4 {is = "lt"} : b1[64] @9:22
  assert %5 {message = "M"} @9:5
  %6 = add %v, %4 : f32[64] @10:21
  store %1, %6 @10:5
})");
  kernel.files = {texts.file};
  ir::walk(kernel.body, [&](ir::Op& op) {
    for (ir::Attribute& attribute : op.attributes) {
      if (attribute.name == "prefix") attribute.value = texts.prefix;
      if (attribute.name == "message") attribute.value = texts.message;
    }
  });
  return kernel;
}

// Without what may differ: comments are no tokens, and the values of strings are the user's.
std::vector<std::string> code_of(const std::string& text) {
  std::vector<std::string> out;
  for (const CppToken& token : tokenize_cpp(text, "generated")) {
    if (token.kind == CppToken::Kind::Directive && directive_word(token) == "line") {
      EXPECT_EQ(std::count(token.text.begin(), token.text.end(), '"'), 2) << token.text;
      EXPECT_EQ(token.text.find_first_of("\\\n"), std::string_view::npos) << token.text;
      continue;
    }
    out.emplace_back(token.kind == CppToken::Kind::String ? "\"\"" : token.text);
  }
  return out;
}

struct Generated {
  std::vector<std::string> cuda, emulated, cpu;
  std::string strings;  // of the CUDA text
};

Generated generated_with(const UserTexts& texts) {
  const ir::Kernel kernel = kernel_with(texts);
  CudaEmitOptions cuda{.target = Target::parse("sm_80"), .line_directives = true};
  cuda.line_text = [&](std::uint16_t, std::int32_t) { return std::string_view(texts.line); };
  const CpuEmitOptions cpu{.line_text = [&](int, int) { return std::string_view(texts.line); }};
  const KernelSource source = emit_cuda(kernel, cuda);
  return {code_of(source.text), code_of(emulate_source(source).text),
          code_of(emit_cpu(kernel, cpu).text), source.text};
}

TEST(HostileText, ChangesNothingOfGeneratedCode) {
  const Generated plain = generated_with({"a.py", "p", "m", "y = x"});
  std::mt19937 random(11);
  for (int i = 0; i < 150; ++i) {
    const UserTexts texts = {random_text(random), random_text(random), random_text(random),
                             random_text(random)};
    const Generated made = generated_with(texts);
    SCOPED_TRACE(printable(texts.file + " | " + texts.line));
    ASSERT_EQ(made.cuda, plain.cuda);
    ASSERT_EQ(made.emulated, plain.emulated);
    ASSERT_EQ(made.cpu, plain.cpu);
    EXPECT_NE(made.strings.find(cpp_string(texts.message)), std::string::npos);
  }
}

TEST(HostileText, IsReadBackFromTheIr) {
  std::mt19937 random(12);
  for (int i = 0; i < 1000; ++i) {
    const ir::Kernel kernel =
        kernel_with({random_text(random), random_text(random), random_text(random), ""});
    const std::string text = ir::print(kernel);
    const ir::Kernel again = ir::parse(text);
    EXPECT_EQ(again.files, kernel.files);
    ASSERT_EQ(ir::print(again), text);
  }
}

}  // namespace
}  // namespace tilewright
