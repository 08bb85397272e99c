// SPDX-License-Identifier: Apache-2.0
// passes/unwrap_rows_test.cpp — rows that wrap are masked where nobody sees them, and only there.
#include "passes/unwrap_rows.h"

#include <gtest/gtest.h>

#include "count_ops.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "product_kernel.h"

namespace tilewright {
namespace {

int affine_loads(const ir::Kernel& kernel) {
  int found = 0;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    const ir::Op* pointers = op.kind == ir::OpKind::Load ? kernel.maker(op.operands[0]) : nullptr;
    found += pointers && pointers->kind == ir::OpKind::Affine;
  });
  return found;
}

TEST(UnwrapRows, GivesLoadsFormulas) {
  for (const char* wrap : {"rem %x, %m", "select %below, %x, %zeros"}) {
    const ir::Kernel kernel = at_tile(product_text({.wrap = wrap}));
    ir::verify(kernel);
    EXPECT_EQ(affine_loads(kernel), 2) << wrap << ir::print(kernel);
    EXPECT_EQ(affine_loads(at_tile(product_text({.wrap = wrap}), false)), 0);
  }
}

TEST(UnwrapRows, ChangesNoResult) {
  for (const auto& [m, n, k] :
       {std::tuple{16, 16, 16}, {17, 15, 33}, {15, 17, 31}, {1, 1, 1}, {48, 31, 0}, {33, 40, 47}}) {
    ProductMemory before(m, n, k), after(m, n, k);
    before.run(at_tile(product_text(), false));
    after.run(at_tile(product_text()));
    EXPECT_EQ(before.c, after.c) << m << " " << n << " " << k;
  }
}

// What is stored without the bound, or with that of the other dimension alone, is seen.
TEST(UnwrapRows, LeavesRowsThatAreSeen) {
  EXPECT_EQ(affine_loads(at_tile(product_text({.mask = "%rows_all"}))), 1);     // columns are seen
  EXPECT_EQ(affine_loads(at_tile(product_text({.mask = "%columns_all"}))), 1);  // rows are seen
  std::string swapped = product_text();
  swapped.replace(swapped.find("%M_tall = splat %M"), 18, "%M_tall = splat %K");  // another bound
  EXPECT_EQ(affine_loads(at_tile(swapped)), 1);
}

TEST(UnwrapRows, LeavesIndicesThatMayBeNegative) {
  std::string text = product_text();
  text.replace(text.find("mul %pid_m, %block_m"), 20, "sub %pid_m, %block_m");
  EXPECT_EQ(affine_loads(at_tile(text)), 1);
}

// A sum over the rows sees all of them.
TEST(UnwrapRows, LeavesRowsThatMeetOthers) {
  std::string text = product_text();
  text.replace(text.find("dot %x, %y, %acc"), 16,
               "dot %y, %x, %acc");  // the wrapped rows of a lie along the depth
  EXPECT_EQ(affine_loads(at_tile(text)), 0);
}

TEST(UnwrapRows, KeepsWhatOthersUse) {
  std::string text = product_text();
  text.replace(text.find("%row = reshape %plain_m"), 23,
               "%row = reshape %at_m");  // the store wraps, too
  const ir::Kernel kernel = at_tile(text);
  EXPECT_EQ(count(kernel, ir::OpKind::Remainder), 2);  // of the program's number, and of the rows
}

}  // namespace
}  // namespace tilewright
