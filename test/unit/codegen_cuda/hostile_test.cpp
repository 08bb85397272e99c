// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/hostile_test.cpp — without any one of its barriers, generated text is found to be
// wrong by the emulation's checks: they watch it all, and no barrier is there for nothing.
#include <gtest/gtest.h>

#include "base/settings.h"
#include "kernel_sources.h"
#include "tile_program.h"
#include "tilewright/device.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr std::string_view barrier = "__syncthreads();";

constexpr const char* transpose_source = R"(
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :])
    total = tl.sum(x, axis=1)
    y = tl.reshape(tl.trans(x), (M, N)) + total[:, None]
    tl.store(out_ptr + m[:, None] * N + n[None, :], y)
)";

constexpr const char* dot_source = R"(
@triton.jit
def dot_kernel(a_ptr, b_ptr, c_ptr, k, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    c = tl.zeros((N, N), dtype=tl.float32)
    for step in range(0, k):
        a = tl.load(a_ptr + step * N * N + at)
        b = tl.load(b_ptr + step * N * N + at)
        c += tl.dot(a, b)
    tl.store(c_ptr + at, c)
)";

// What threads store to memory others load again, through another view.
constexpr const char* reload_source = R"(
@triton.jit
def reload_kernel(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.program_id(0) * N * N + i[:, None] * N + i[None, :]
    tl.store(x_ptr + at, tl.load(y_ptr + at) * 3 + 1)
    tl.store(y_ptr + at, tl.trans(tl.load(x_ptr + at)))
)";

struct Program {
  const char* source;
  const char* kernel;
  const char* signature;
  std::vector<RunArgument> (*arguments)(std::vector<Memory>& memory);
  // Only those of the loop: behind it a warp happens to overwrite only what it has read itself.
  bool in_loop = false;
};

std::vector<Memory> buffers() {
  return {numbers(f32, 8192, 1), numbers(f32, 8192, 2), numbers(f32, 8192, 3),
          numbers(f32, 8192, 4)};
}

const Program programs[] = {
    {softmax_source, "softmax_kernel", "*fp32:16, *fp32:16, i32, i32, 512",
     [](std::vector<Memory>& m) -> std::vector<RunArgument> {
       return {&m[0], &m[1], std::int64_t{512}, std::int64_t{500}};
     }},
    {transpose_source, "transpose_kernel", "*fp32:16, *fp32:16, 32, 64",
     [](std::vector<Memory>& m) -> std::vector<RunArgument> {
       return {&m[0], &m[1]};
     }},
    {reload_source, "reload_kernel", "*fp32:16, *fp32:16, 32",
     [](std::vector<Memory>& m) -> std::vector<RunArgument> {
       return {&m[0], &m[1]};
     }},
    {dot_source, "dot_kernel", "*fp32:16, *fp32:16, *fp32:16, i32, 32",
     [](std::vector<Memory>& m) -> std::vector<RunArgument> {
       return {&m[0], &m[1], &m[2], std::int64_t{3}};
     }},
    {product_source, "product_kernel", "*fp16:16, *fp16:16, *fp16:16, i32, 32",
     [](std::vector<Memory>& m) -> std::vector<RunArgument> {
       return {&m[0], &m[1], &m[2], std::int64_t{4}};  // the last round's slot is the first one
     }},
    {attention_source, "attention_kernel", "*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, 64",
     [](std::vector<Memory>& m) -> std::vector<RunArgument> {
       return {&m[0], &m[1], &m[2], &m[3], std::int64_t{256}};
     },
     true},
};

// The texts of a source that hold barriers: its own, and the device library's where it is used.
std::vector<std::string*> texts_of(KernelSource& source) {
  std::vector<std::string*> out = {&source.text};
  const bool uses_library = source.text.find("reduce_block") != std::string::npos;
  for (NamedFile& header : source.headers)
    if (uses_library) out.push_back(&header.text);
  return out;
}

// Before the first write of all, a race is a read of nothing.
bool names_the_race(const std::string& fault) {
  return fault.find("without a barrier between") != std::string::npos ||
         fault.find("has not been waited for by the thread that started it") != std::string::npos ||
         fault.find("but no thread has written it") != std::string::npos;
}

std::string fault_of(const KernelSource& source, const Program& program) {
  std::vector<Memory> memory = buffers();
  const Loaded loaded = load_emulated(source);
  const Function function = loaded.function(program.kernel);
  std::vector<Argument> arguments;
  for (const RunArgument& argument : program.arguments(memory)) {
    if (const auto* buffer = std::get_if<Memory*>(&argument))
      arguments.emplace_back(static_cast<void*>((*buffer)->bytes.data()));
    else arguments.emplace_back(static_cast<std::int32_t>(std::get<std::int64_t>(argument)));
  }
  try {
    function.launch({.grid = {2}}, arguments);
  } catch (const KernelFault& fault) {
    return fault.what();
  }
  return "";
}

class Hostile : public ::testing::TestWithParam<Program> {};

TEST_P(Hostile, EveryBarrierIsMissed) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "builds with sanitizers have no checks of shared memory";
#endif
  Settings checked = settings();
  checked.emulate_check = true;
  const SettingsOverride with_checks(checked);
  const Program& program = GetParam();
  const TileProgram tiles(program.source, program.kernel, program.signature);
  EXPECT_EQ(fault_of(tiles.source(), program), "") << tiles.text();
  KernelSource changed = tiles.source();
  int barriers = 0;
  for (std::string* text : texts_of(changed))
    for (std::size_t at = 0; (at = text->find(barrier, at)) != std::string::npos; ++at) {
      if (program.in_loop && at > text->find("    slot = ")) continue;
      text->replace(at, 2, "//");
      const std::string fault = fault_of(changed, program);
      EXPECT_TRUE(names_the_race(fault)) << fault << "\n"
                                         << text->substr(at > 300 ? at - 300 : 0, 600);
      text->replace(at, 2, "__");
      ++barriers;
    }
  EXPECT_GT(barriers, 0);
}

INSTANTIATE_TEST_SUITE_P(Programs, Hostile, ::testing::ValuesIn(programs),
                         [](const auto& test) { return std::string(test.param.kernel); });

}  // namespace
}  // namespace tilewright
