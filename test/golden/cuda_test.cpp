// SPDX-License-Identifier: Apache-2.0
// golden/cuda_test.cpp — cuda/*.py: the exact CUDA text of a kernel, in the .cu file beside it. The
// first line names the kernel and its signature.
//
// With TW_UPDATE_GOLDEN set in the environment the files are rewritten instead; read the difference
// before committing it.
#include "codegen/cuda/source_lines.h"
#include "compiler/compile.h"
#include "compiler/signature.h"
#include "golden.h"

namespace tilewright {
namespace {

std::string cuda_text(const golden::fs::path& file) {
  const std::string source = golden::read(file);
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
  return without_line_directives(emit_source(loader, kernel, target, {}).text);
}

class GoldenCuda : public testing::TestWithParam<golden::fs::path> {};

TEST_P(GoldenCuda, HasExactText) {
  golden::expect_file(golden::fs::path(GetParam()).replace_extension(".cu"), cuda_text(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenCuda, testing::ValuesIn(golden::files("cuda", ".py")),
                         golden::stem_of);

}  // namespace
}  // namespace tilewright
