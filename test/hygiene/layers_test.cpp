// SPDX-License-Identifier: Apache-2.0
// hygiene/layers_test.cpp — includes point only to the left in the order of layers
// (ARCHITECTURE.md).
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> layers = {"base",     "layout",  "machine", "ir",     "frontend",
                                         "passes",   "codegen", "runtime", "tensor", "load_inline",
                                         "compiler", "graph",   "profile", "bench",  "cli"};

// Public headers belong to the layer that implements them. One that is missing here fails the test
// below.
const std::map<std::string, std::string> public_headers = {
    {"error.h", "base"},      {"features.def", "machine"}, {"dtype.h", "base"},
    {"target.h", "machine"},  {"version.h", "base"},       {"kernel_source.h", "base"},
    {"device.h", "runtime"},  {"stream.h", "runtime"},     {"buffer.h", "runtime"},
    {"module.h", "runtime"},  {"tensor.h", "tensor"},      {"shape.h", "tensor"},
    {"dlpack.h", "tensor"},   {"safetensors.h", "tensor"}, {"load_inline.h", "load_inline"},
    {"triton.h", "compiler"}, {"ir.h", "compiler"},        {"numba.h", "compiler"},
    {"ops.h", "graph"},       {"compile.h", "graph"},      {"grad.h", "graph"},
    {"nn.h", "graph"},        {"parameters.h", "graph"},   {"profile.h", "profile"},
    {"benchmark.h", "bench"}, {"tilewright.h", "cli"},
};

int rank_of(const std::string& layer) {
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i] == layer) return static_cast<int>(i);
  return -1;
}

// The layer of an included path ("runtime/backend.h", "tilewright/tensor.h"); empty for anything
// that is not ours.
std::string layer_of_include(const std::string& path) {
  const auto slash = path.find('/');
  if (slash == std::string::npos) return "";
  const std::string first = path.substr(0, slash);
  if (first != "tilewright") return rank_of(first) >= 0 ? first : "";
  const auto found = public_headers.find(path.substr(slash + 1));
  return found == public_headers.end() ? "unknown public header" : found->second;
}

std::vector<std::string> quoted_includes(const fs::path& file) {
  std::vector<std::string> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("#include \"")) continue;
    const auto end = line.find('"', 10);
    found.push_back(line.substr(10, end - 10));
  }
  return found;
}

// The includes of `file` that point to the right of `layer`.
std::vector<std::string> violations(const fs::path& file, const std::string& layer) {
  std::vector<std::string> wrong;
  for (const std::string& include : quoted_includes(file)) {
    const std::string other = layer_of_include(include);
    if (other.empty()) continue;
    if (rank_of(other) < 0 || rank_of(other) > rank_of(layer))
      wrong.push_back(fmt::format("{} (layer {}) includes {} (layer {})", file.string(), layer,
                                  include, other));
  }
  return wrong;
}

bool is_source(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".h" || extension == ".cpp" || extension == ".def";
}

TEST(Layers, SourcesIncludeOnlyToTheLeft) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TW_SOURCE_FOLDER) / "src")) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    const std::string layer =
        fs::relative(entry.path(), fs::path(TW_SOURCE_FOLDER) / "src").begin()->string();
    ASSERT_GE(rank_of(layer), 0) << entry.path() << " is in no known layer";
    for (const std::string& wrong : violations(entry.path(), layer)) ADD_FAILURE() << wrong;
    ++files;
  }
  EXPECT_GT(files, 20);
}

TEST(Layers, PublicHeadersIncludeOnlyPublicOnesToTheLeft) {
  for (const auto& entry :
       fs::directory_iterator(fs::path(TW_SOURCE_FOLDER) / "include/tilewright")) {
    const auto found = public_headers.find(entry.path().filename().string());
    ASSERT_NE(found, public_headers.end()) << entry.path() << " is not in the table of this test";
    for (const std::string& include : quoted_includes(entry.path()))
      EXPECT_TRUE(include.starts_with("tilewright/")) << entry.path() << " includes " << include;
    for (const std::string& wrong : violations(entry.path(), found->second)) ADD_FAILURE() << wrong;
  }
}

// The printer of stage Final sees ops, names and rows of the library: no analysis of Laid kernels,
// no schedule, no lowering.
TEST(Layers, ThePrinterOfFinalIsBlind) {
  int files = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(TW_SOURCE_FOLDER) / "src/codegen/print")) {
    for (const std::string& include : quoted_includes(entry.path())) {
      const std::string layer = layer_of_include(include);
      const bool is_left = layer == "base" || layer == "machine" || layer == "ir";
      const bool is_own =
          include.starts_with("codegen/print/") || include.starts_with("codegen/text/");
      EXPECT_TRUE(is_left || is_own) << entry.path() << " includes " << include;
      EXPECT_FALSE(include.starts_with("ir/analysis/")) << entry.path() << " includes " << include;
    }
    ++files;
  }
  EXPECT_GE(files, 6);
}

// Passes and lowerings decide by ops: none of them sees text. Only the length of a line is asked
// for, by one file, to choose who gets a name.
TEST(Layers, PassesAndLoweringsSeeNoText) {
  const fs::path source = fs::path(TW_SOURCE_FOLDER) / "src";
  int files = 0;
  for (const char* folder : {"passes", "codegen/lower"})
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      ++files;
      if (entry.path().filename() == "expression_facts.cpp") continue;
      for (const std::string& include : quoted_includes(entry.path()))
        EXPECT_FALSE(include.starts_with("codegen/print/") ||
                     include == "codegen/text/expressions.h")
            << entry.path() << " includes " << include;
    }
  for (const std::string& include : quoted_includes(source / "codegen/cuda/plan_kernel.cpp"))
    EXPECT_FALSE(include.starts_with("codegen/print/")) << include;
  EXPECT_GT(files, 200);
}

TEST(Layers, AWrongIncludeIsFound) {
  const fs::path file = fs::path(testing::TempDir()) / "layers_test_wrong.h";
  std::ofstream(file) << "#include \"tensor/tensor_state.h\"\n#include \"base/hash.h\"\n";
  EXPECT_EQ(violations(file, "runtime").size(), 1u);
  fs::remove(file);
}

}  // namespace
}  // namespace tilewright
