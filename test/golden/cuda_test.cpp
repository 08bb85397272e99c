// SPDX-License-Identifier: Apache-2.0
// golden/cuda_test.cpp — cuda/*.py: the exact CUDA text of a kernel, in the .cu file beside it. The
// first line names the kernel and its signature.
//
// With TW_UPDATE_GOLDEN set in the environment the files are rewritten instead; read the difference
// before committing it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/signature.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string cuda_text(const fs::path& file) {
  const std::string source = read(file);
  const std::string first = source.substr(2, source.find('\n') - 2);
  const std::string name = first.substr(0, first.find('('));
  const std::string signature = first.substr(name.size() + 1, first.size() - name.size() - 2);
  python::ModuleLoader loader;
  python::Evaluator evaluator{loader};
  const python::LoadedModule& module = loader.load_text(file.filename().string(), source);
  const python::DecoratedFunction function = find_kernel(loader, module, name);
  const auto parameters = read_parameters(loader, evaluator, function);
  const Target target = Target::parse("sm_90a");
  const TileKernel kernel =
      lower_to_tiles(loader, function, parse_signature(name, parameters, signature), target, {});
  return emit_source(loader, kernel, target, {}).text;
}

class GoldenCuda : public testing::TestWithParam<const char*> {};

TEST_P(GoldenCuda, HasExactText) {
  const fs::path file = fs::path(TW_GOLDEN_FOLDER) / "cuda" / GetParam();
  if (!fs::exists(file)) GTEST_SKIP() << "the source tree is not here";
  const std::string text = cuda_text(file);
  fs::path expected = file;
  expected.replace_extension(".cu");
  if (std::getenv("TW_UPDATE_GOLDEN")) std::ofstream(expected) << text;
  EXPECT_EQ(text, read(expected));
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenCuda, testing::Values("add.py", "gelu.py", "softmax.py"));

}  // namespace
}  // namespace tilewright
