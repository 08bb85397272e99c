// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/random_test.cpp — random kernels compute the same as emulated CUDA text and in the
// interpreter.
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../../fuzz/random_kernel.h"
#include "tile_program.h"

namespace tilewright {
namespace {

// One source with the kernels of many, so that the host compiler is started once.
KernelSource together(const std::vector<TileProgram>& programs) {
  KernelSource out = programs[0].source();
  std::set<std::string> names;
  out.headers.clear();
  out.text.clear();
  out.kernels.clear();
  const char* order[] = {"ptx",     "types", "arithmetic", "math", "memory",
                         "atomics", "warp",  "reduce",     "check"};
  for (const char* part : order)
    for (const TileProgram& program : programs)
      for (const NamedFile& header : program.source().headers)
        if (header.name == fmt::format("tilewright/{}.cuh", part) &&
            names.insert(header.name).second)
          out.headers.push_back(header);
  for (const TileProgram& program : programs) {
    std::string_view text = program.text();
    while (text.starts_with("#include")) text.remove_prefix(text.find('\n') + 1);
    out.text += text;
    out.kernels.push_back(program.source().kernels[0]);
  }
  return out;
}

TEST(CudaRandom, KernelsKeepTheirMeaning) {
  std::vector<TileProgram> programs;
  for (unsigned seed = 0; seed < 24; ++seed) {
    ir::Kernel kernel = fuzz::Generator(seed).make();
    kernel.name = fmt::format("random_{}", seed);
    programs.push_back(TileProgram::from_kernel(std::move(kernel), seed % 2 == 0 ? 1 : 4));
  }
  const Loaded loaded = load_emulated(together(programs));
  for (const TileProgram& program : programs) {
    Memory ints = zeros(i32, fuzz::outputs * fuzz::tile_size);
    Memory floats = zeros(f32, fuzz::outputs * fuzz::tile_size);
    for (std::size_t i = 0; i < ints.count(); ++i) ints.set(i, 3), floats.set(i, 0.25);
    program.expect_same({.arguments = {&ints, &floats, std::int64_t{5}}, .tolerance = 1e-5},
                        loaded);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tilewright
