// SPDX-License-Identifier: Apache-2.0
// cli/readme_test.cpp — the C++ that README.md and the public headers show is compiled; README's
// program is also run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/process.h"
#include "runtime/compile.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(std::string(TW_SOURCE_FOLDER) + "/" + path).rdbuf();
  return text.str();
}

struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "tilewright_readme_XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string path;
};

ProcessResult compiled(const Folder& folder, const std::string& text,
                       std::vector<std::string> options) {
  std::ofstream(folder.path + "/example.cpp") << text;
  std::vector<std::string> words = {host_compiler_path(), "-std=c++20",
                                    "-I" TW_SOURCE_FOLDER "/include", folder.path + "/example.cpp"};
  words.insert(words.end(), options.begin(), options.end());
  return run_process({.arguments = words, .timeout_seconds = 120});
}

TEST(Examples, TheProgramOfTheReadmeRuns) {
  const std::string readme = read("README.md");
  const std::size_t begin = readme.find("```cpp\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string program = readme.substr(begin + 7, readme.find("\n```", begin) - begin - 6);
  const Folder folder;
  const std::string binary = folder.path + "/example";
  const ProcessResult built =
      compiled(folder, program,
               {"-o", binary, TW_LIBRARY_FILE,
                "-Wl,-rpath," + fs::path(TW_LIBRARY_FILE).parent_path().string()});
  ASSERT_EQ(built.exit_code, 0) << built.output;
  // It reads examples/gelu.py.
  const ProcessResult ran = run_process(
      {.arguments = {"sh", "-c", "cd " TW_SOURCE_FOLDER " && exec \"$1\"", "sh", binary},
       .environment = {"TILEWRIGHT_CACHE_DIR=" + folder.path + "/cache",
                       "TILEWRIGHT_EMULATE_CHECK=0"},
       .timeout_seconds = 120});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_NE(ran.output.find("ms"), std::string::npos) << ran.output;
}

// The indented lines of the comment at the head of the header.
std::string head_of(const std::string& header) {
  std::istringstream lines(read("include/tilewright/" + header));
  std::string body;
  for (std::string line; std::getline(lines, line) && line.starts_with("//");)
    if (line.starts_with("//   ")) body += line.substr(4) + "\n";
  return body;
}

TEST(Examples, TheKernelOfIrRuns) {
  const std::string body = head_of("ir.h");
  ASSERT_NE(body.find("load_ir("), std::string::npos);
  const Folder folder;
  const std::string binary = folder.path + "/example";
  const ProcessResult built =
      compiled(folder,
               "#include <tilewright/tilewright.h>\n"
               "namespace tw = tilewright;\n"
               "int main() {\n"
               "  const int n = 3000;\n"
               "  const tw::Tensor x = tw::ones({n}, {tw::f32, tw::Device::cpu()});\n" +
                   body +
                   "  for (const float value : x.to_vector<float>()) if (value != 2) return 1;\n"
                   "  return 0;\n}\n",
               {"-o", binary, TW_LIBRARY_FILE,
                "-Wl,-rpath," + fs::path(TW_LIBRARY_FILE).parent_path().string()});
  ASSERT_EQ(built.exit_code, 0) << built.output;
  const ProcessResult ran =
      run_process({.arguments = {binary},
                   .environment = {"TILEWRIGHT_CACHE_DIR=" + folder.path + "/cache"},
                   .timeout_seconds = 120});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
}

TEST(Examples, ThoseOfLoadInlineCompile) {
  const std::string body = head_of("load_inline.h");
  ASSERT_NE(body.find("load_inline("), std::string::npos);
  const Folder folder;
  const ProcessResult built = compiled(folder,
                                       "#include <tilewright/tilewright.h>\n"
                                       "namespace tw = tilewright;\n"
                                       "void example(const char* source, const tw::Tensor& x, int "
                                       "blocks, int n) {\n" +
                                           body + "}\n",
                                       {"-fsyntax-only", "-Wall", "-Werror"});
  EXPECT_EQ(built.exit_code, 0) << built.output;
}

}  // namespace
}  // namespace tilewright
