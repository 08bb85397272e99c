// SPDX-License-Identifier: Apache-2.0
// compiler/memory_use_test.cpp — what a kernel reads and writes by tensor maps counts as memory of
// their arguments.
#include "compiler/memory_use.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/verify.h"

namespace tilewright {
namespace {

TEST(MemoryUse, CountsStoresByTensorMaps) {
  const ir::Kernel kernel = ir::parse(R"(
kernel @filled(%x: *f16 {divisible = 16}, %c: *f16 {divisible = 16}, %M: i32, %N: i32 {divisible = 16}) tile {
  map @c_map : %c [1 = %N by 1, 0 = %M by %N]
  %none = constant {value = 0} : i32
  %zeros = constant {value = 0.0} : f16[64, 64]
  store_map %zeros, %none, %none {map = "c_map"}
  wait_stores {until = "read"}
}
)",
                                      "filled");
  ir::verify(kernel);
  const MemoryUse use = memory_use(kernel);
  EXPECT_EQ(use.writes, (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(use.reads, (std::vector<bool>(4, false)));
}

}  // namespace
}  // namespace tilewright
