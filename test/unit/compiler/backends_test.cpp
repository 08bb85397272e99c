// SPDX-License-Identifier: Apache-2.0
// compiler/backends_test.cpp — every kind of machine has one row, whose parts fit together.
#include "compiler/backends.h"

#include <gtest/gtest.h>

#include "ir/parse.h"

namespace tilewright {
namespace {

ir::Kernel copy_kernel() {
  return ir::parse(R"(kernel @copy(%x: *i32, %y: *i32) source {
  %i = arange {start = 0} : i32[64]
  %from = splat %x : *i32[64]
  %p = offset %from, %i : *i32[64]
  %v = load %p : i32[64]
  %to = splat %y : *i32[64]
  %q = offset %to, %i : *i32[64]
  store %q, %v
}
)");
}

TEST(Backends, EmitSourcesOfTheirLanguage) {
  for (const char* name : {"avx2", "sm_80", "sm_90a"}) {
    const Target target = Target::parse(name);
    ir::Kernel kernel = copy_kernel();
    run_passes(kernel, target, {});
    const CodeBackend& backend = backend_of(target);
    EXPECT_EQ(backend.kind, target.kind);
    EXPECT_EQ(emit_source(kernel, target, {}).language, backend.language) << name;
    EXPECT_EQ(backend.lay(kernel, target, {}).stage, ir::Stage::Laid) << name;
    EXPECT_EQ(backend.plan != nullptr, target.has(Feature::Threads)) << name;
  }
}

TEST(Backends, AreOnePerKind) {
  for (const CodeBackend& one : all_backends()) {
    int rows = 0;
    for (const CodeBackend& other : all_backends()) rows += one.kind == other.kind ? 1 : 0;
    EXPECT_EQ(rows, 1);
  }
}

}  // namespace
}  // namespace tilewright
