// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/align_stores_test.cpp — results of products whose lines nothing is known of: the
// same elements by 16 bytes and one by one.
#include "passes/align_stores.h"

#include <gtest/gtest.h>

#include "../passes/product_kernel.h"
#include "tile_program.h"

namespace tilewright {
namespace {

TileProgram aligned_program() {
  ir::Kernel kernel = at_tile(product_text({.bm = 64, .bn = 64, .bk = 64}));
  align_stores(kernel, Target::parse("sm_90a"));
  return TileProgram::from_kernel(std::move(kernel), 4);
}

TEST(CudaAlignedStores, AgreeWithTheInterpreter) {
  const TileProgram program = aligned_program();
  show(program);
  EXPECT_NE(program.text().find("& 15ll) == 0ll"), std::string::npos) << program.text();
  EXPECT_NE(program.text().find("tw::store_guarded<8, 8"), std::string::npos) << program.text();
  for (const std::int64_t lines : {256, 264, 257, 260})
    for (const auto& [m, n, k] :
         {std::tuple{130, 100, 150}, {1, 1, 1}, {64, 64, 64}, {65, 63, 10}}) {
      Memory a = numbers(DType::Float16, static_cast<std::size_t>(m * 256), 1);
      Memory b = numbers(DType::Float16, static_cast<std::size_t>(k * 256), 2);
      Memory c = zeros(DType::Float16, static_cast<std::size_t>(m * lines));
      const std::int64_t stride = 256, rows = m, columns = n, depth = k;
      program.expect_same({.grid = {(m + 63) / 64 * ((n + 63) / 64), 1, 1},
                           .arguments = {&a, &b, &c, rows, columns, depth, stride, stride, lines},
                           .tolerance = 2e-3});
    }
}

}  // namespace
}  // namespace tilewright
