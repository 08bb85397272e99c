// SPDX-License-Identifier: Apache-2.0
// golden/cuda_test.cpp — cuda/*.py: the exact CUDA text of a kernel, in the .cu file beside it. The
// first line names the kernel and its signature; `# of PATH` in the second one, the file of this
// repository that has it.
//
// With TW_UPDATE_GOLDEN set in the environment the files are rewritten instead; read the difference
// before committing it.
#include "codegen/cuda/source_lines.h"
#include "compiler/triton/compile.h"
#include "compiler/triton/signature.h"
#include "golden.h"

namespace tilewright {
namespace {

std::string kernel_text(const std::string& source) {
  static constexpr std::string_view mark = "\n# of ";
  const std::size_t at = source.find(mark);
  if (at == std::string::npos) return source;
  const std::size_t from = at + mark.size();
  const std::string path = source.substr(from, source.find('\n', from) - from);
  return golden::read(golden::fs::path(TW_GOLDEN_FOLDER) / "../.." / path);
}

std::string cuda_text(const golden::fs::path& file) {
  const std::string source = golden::read(file);
  const std::string first = source.substr(2, source.find('\n') - 2);
  const std::string name = first.substr(0, first.find('('));
  const std::string signature = first.substr(name.size() + 1, first.size() - name.size() - 2);
  python::ModuleLoader loader;
  python::Evaluator evaluator{loader};
  const python::LoadedModule& module =
      loader.load_text(file.filename().string(), kernel_text(source));
  const python::DecoratedFunction function = find_kernel(loader, module, name);
  const auto parameters = read_parameters(loader, evaluator, function);
  const Target target = Target::parse("sm_90a");
  const TileKernel kernel =
      lower_to_tiles(loader, function, parse_signature(name, parameters, signature), target, {});
  return without_line_directives(emit_source(loader, kernel, target, {}).text);
}

class GoldenCuda : public testing::TestWithParam<golden::fs::path> {};

TEST_P(GoldenCuda, HasExactText) {
  golden::expect_file(golden::fs::path(GetParam()).replace_extension(".cu"), cuda_text(GetParam()));
}

// The loops that wait for copies: all threads meet once in a round.
TEST(GoldenCudaBarriers, OnePerRound) {
  for (const char* name : {"matmul", "attention"}) {
    const std::string text =
        golden::read(golden::fs::path(TW_GOLDEN_FOLDER) / "cuda" / (std::string(name) + ".cu"));
    const std::size_t begin = text.find("#pragma unroll 1\n");
    ASSERT_NE(begin, std::string::npos) << name;
    const std::string indent(begin - text.rfind('\n', begin) - 1, ' ');
    const std::string loop = text.substr(begin, text.find("\n" + indent + "}\n", begin) - begin);
    const auto count = [&](std::string_view what) {
      int found = 0;
      for (std::size_t at = 0; (at = loop.find(what, at)) != std::string::npos; ++at) ++found;
      return found;
    };
    EXPECT_EQ(count("__syncthreads();"), 1) << name;
    EXPECT_EQ(count("tw::wait_copies<"), 1) << name;
    EXPECT_EQ(count("tw::commit_copies();"), 1) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenCuda, testing::ValuesIn(golden::files("cuda", ".py")),
                         golden::stem_of);

}  // namespace
}  // namespace tilewright
