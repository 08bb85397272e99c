// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/compile_test.cpp — NVRTC takes the text for old and new GPUs, nothing is spilled,
// and memory is accessed in vectors of 16 bytes. No GPU is needed.
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "kernel_sources.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

// How many instructions of the kernel access global memory, by width in bits.
struct Accesses {
  int loads_128 = 0;
  int loads = 0;
  int stores_128 = 0;
  int stores = 0;
  int copies = 0;    // from global to shared memory
  int matrices = 0;  // reads of four matrices or fewer
  int products = 0;  // of matrices, by tensor cores
  int group_products = 0;  // of warpgroups
  int group_waits = 0;     // for them, and arrivals before them
  int map_copies = 0;      // by tensor maps
  int doubles = 0;   // sums and products of f64
};

// Walks the machine code of the one kernel in a cubin: instructions of 16 bytes, opcode in the low
// 12 bits (0x981 loads from global memory, 0x986 and 0x386 store, 0xfae copies, 0x83b reads
// matrices, 0x23c multiplies them, 0x9f0 and 0xdf0 do so for warpgroups, 0x9c5 waits for those, 0x5b4 copies by a tensor map, 0x228, 0x229 and 0x22b compute with f64), width in bits 73 to 75
// (6: 128).
Accesses accesses_of(const Binary& binary) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.bytes.data());
  const auto read = [&](std::size_t at, auto value) {
    std::memcpy(&value, bytes + at, sizeof value);
    return value;
  };
  const auto sections = read(0x28, std::uint64_t{});
  const auto count = read(0x3c, std::uint16_t{});
  const auto names = read(sections + 64 * read(0x3e, std::uint16_t{}) + 24, std::uint64_t{});
  Accesses out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t header = sections + 64 * i;
    const char* name = reinterpret_cast<const char*>(bytes + names + read(header, std::uint32_t{}));
    if (std::strncmp(name, ".text.", 6) != 0) continue;
    const auto begin = read(header + 24, std::uint64_t{});
    const auto size = read(header + 32, std::uint64_t{});
    for (std::size_t at = begin; at < begin + size; at += 16) {
      const auto opcode = read(at, std::uint64_t{}) & 0xfff;
      const bool is_128 = (read(at + 8, std::uint64_t{}) >> 9 & 7) == 6;
      if (opcode == 0x981 || opcode == 0x381) ++out.loads, out.loads_128 += is_128;
      if (opcode == 0x986 || opcode == 0x386) ++out.stores, out.stores_128 += is_128;
      out.copies += opcode == 0xfae;
      out.matrices += opcode == 0x83b;
      out.products += opcode == 0x23c;
      out.group_products += opcode == 0x9f0 || opcode == 0xdf0;
      out.group_waits += opcode == 0x9c5;
      out.map_copies += opcode == 0x5b4;
      out.doubles += opcode == 0x228 || opcode == 0x229 || opcode == 0x22b;
    }
  }
  return out;
}

struct Case {
  const char* source;
  const char* kernel;
  const char* signature;
  int num_warps;
  int loads_128;   // at least
  int stores_128;  // at least
};

class CudaCompile : public ::testing::TestWithParam<std::tuple<Case, const char*>> {};

TEST_P(CudaCompile, WithoutSpillsInVectors) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const auto& [c, target] = GetParam();
  const TileProgram program(c.source, c.kernel, c.signature, c.num_warps, target);
  CompileReport report;
  const Binary binary = compile(program.source(), Target::parse(target), &report);
  const std::vector<KernelResources> resources = resources_of(binary);
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0].spill_store_bytes, 0u) << program.text();
  EXPECT_EQ(resources[0].spill_load_bytes, 0u);
  EXPECT_EQ(resources[0].stack_bytes, 0u) << program.text();
  const Accesses accesses = accesses_of(binary);
  EXPECT_GE(accesses.loads_128, c.loads_128) << program.text();
  EXPECT_GE(accesses.stores_128, c.stores_128) << program.text();
  RecordProperty("registers", resources[0].registers);
  if (getenv("TW_SHOW"))
    printf("%s %s: %d registers, %zu bytes, %d of %d loads, %d of %d stores, %.3f s\n", c.kernel,
           target, resources[0].registers, resources[0].code_bytes, accesses.loads_128,
           accesses.loads, accesses.stores_128, accesses.stores, report.seconds);
}

// Results that are computed one by one are still stored in one piece, with and without a mask.
TEST(CudaStores, AreOneInstructionEach) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  for (const char* mask : {"(rows < n)[:, None]", "None"}) {
    const std::string source = fmt::format(R"(
@triton.jit
def gate_kernel(x_ptr, out_ptr, n):
    rows = tl.program_id(0).to(tl.int64) * 64 + tl.arange(0, 64)
    at = rows[:, None] * 4096 + tl.arange(0, 64)[None, :]
    x = tl.load(x_ptr + at, mask={0}).to(tl.float32)
    y = tl.where(x < 20.0, tl.log(1 + tl.exp(x)), x)
    tl.store(out_ptr + at, y, mask={0})
)",
                                           mask);
    const TileProgram program(source, "gate_kernel", "*bf16:16, *fp32:16, i32", 16, "sm_90a");
    const Accesses accesses =
        accesses_of(compile(program.source(), Target::parse("sm_90a"), nullptr));
    EXPECT_EQ(accesses.stores, 2) << program.text();
    EXPECT_EQ(accesses.stores_128, 2) << program.text();
  }
}

// One instruction of the type itself; f64 would be exact too, at a fraction of the speed.
TEST(CudaArithmetic, ShortMultiplyAddsNeedNoDoubles) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const char* source = R"(
@triton.jit
def fma_kernel(x_ptr, y_ptr, z_ptr, out_ptr):
    at = tl.arange(0, 1024)
    z = tl.fma(tl.load(x_ptr + at), tl.load(y_ptr + at), tl.load(z_ptr + at))
    tl.store(out_ptr + at, z)
)";
  for (const std::string type : {"fp16", "bf16"})
    for (const char* target : {"sm_80", "sm_90a"}) {
      const TileProgram program(source, "fma_kernel",
                                fmt::format("*{0}:16, *{0}:16, *{0}:16, *{0}:16", type), 4, target);
      EXPECT_EQ(accesses_of(compile(program.source(), Target::parse(target), nullptr)).doubles, 0)
          << type << " " << target;
    }
}

// Sums, differences and products of 16-bit floats are made two at a time in their own type. By f32
// each result would need a conversion, which of a single bf16 is as slow as a square root.
TEST(CudaArithmetic, ShortFloatsArePacked) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const char* source = R"(
@triton.jit
def turn_kernel(x_ptr, y_ptr, out_ptr):
    at = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    tl.store(out_ptr + at, (x * y + x) * (x - y))
)";
  for (const std::string type : {"fp16", "bf16"}) {
    const TileProgram program(source, "turn_kernel", fmt::format("*{0}:16, *{0}:16, *{0}:16", type), 4,
                              "sm_90a");
    const Target target = Target::parse("sm_90a");
    const std::string ptx = ptx_with_nvrtc(program.source(), target);
    EXPECT_EQ(ptx.find("cvt.rn"), std::string::npos) << ptx;
    EXPECT_NE(ptx.find(type == "fp16" ? "mul.rn.f16" : "mul.rn.bf16"), std::string::npos) << ptx;
    // A processor without such instructions goes by f32.
    const TileProgram older(source, "turn_kernel", fmt::format("*{0}:16, *{0}:16, *{0}:16", type), 4,
                            "sm_80");
    EXPECT_EQ(ptx_with_nvrtc(older.source(), Target::parse("sm_80")).find("mul.rn.bf16"),
              std::string::npos);
  }
}

class CudaProducts : public ::testing::TestWithParam<std::tuple<Case, const char*>> {};

// Copies of 16 bytes, whole matrices and tensor cores, and sums that stay in registers.
TEST_P(CudaProducts, ByTensorCoresWithoutSpills) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const auto& [c, target] = GetParam();
  const TileProgram program(c.source, c.kernel, c.signature, c.num_warps, target);
  const Binary binary = compile(program.source(), Target::parse(target), nullptr);
  const std::vector<KernelResources> resources = resources_of(binary);
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0].spill_store_bytes, 0u) << program.text();
  EXPECT_EQ(resources[0].stack_bytes, 0u) << program.text();
  const Accesses accesses = accesses_of(binary);
  EXPECT_GT(accesses.copies, 0) << program.text();
  EXPECT_GT(accesses.matrices, 0) << program.text();
  EXPECT_GT(accesses.products, accesses.matrices) << program.text();
  EXPECT_GE(accesses.stores_128, c.stores_128) << program.text();
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, CudaProducts,
    ::testing::Combine(::testing::Values(Case{product_source, "product_kernel",
                                              "*fp16:16, *fp16:16, *fp16:16, i32, 128", 4, 0, 1},
                                         Case{attention_source, "attention_kernel",
                                              "*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, 64",
                                              4, 0, 1}),
                       ::testing::Values("sm_80", "sm_90")));

class CudaGroupProducts : public ::testing::TestWithParam<Case> {};

// A wait for each product would mean that the compiler has made them one after the other.
TEST_P(CudaGroupProducts, StayAsynchronousWithoutSpills) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const Case& c = GetParam();
  const TileProgram program(c.source, c.kernel, c.signature, c.num_warps, "sm_90a");
  const Binary binary = compile(program.source(), Target::parse("sm_90a"), nullptr);
  const std::vector<KernelResources> resources = resources_of(binary);
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0].spill_store_bytes, 0u) << program.text();
  EXPECT_EQ(resources[0].stack_bytes, 0u) << program.text();
  const Accesses accesses = accesses_of(binary);
  EXPECT_GT(accesses.group_products, 0) << program.text();
  EXPECT_LT(accesses.group_waits, accesses.group_products) << program.text();
  EXPECT_EQ(accesses.products, 0) << program.text();
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, CudaGroupProducts,
    ::testing::Values(Case{product_source, "product_kernel", "*fp16:16, *fp16:16, *fp16:16, i32, 128", 4, 0, 1},
                      Case{product_source, "product_kernel", "*bf16:16, *bf16:16, *bf16:16, i32, 128", 8, 0, 1},
                      Case{attention_source, "attention_kernel", "*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, 64", 4, 0, 1},
                      Case{attention_source, "attention_kernel", "*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, 128", 8, 0, 1}));

// A tile of 128 x 256 in rounds of 64: a warpgroup makes 64 rows of 16 deep at a time. The producer
// starts one copy for A and four for the panels of B; nobody loads, and what waits are words.
TEST(CudaGroupProduct, RolesStayAsynchronousWithoutSpills) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  Settings changed = settings();
  changed.extra_passes = "split_roles";
  const SettingsOverride with_passes(changed);
  const TileProgram program(masked_product_source, "product",
                            "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, 128, 256, 64", 8, "sm_90a");
  const Binary binary = compile(program.source(), Target::parse("sm_90a"), nullptr);
  EXPECT_EQ(binary.log.find("Potential Performance Loss"), std::string::npos) << binary.log;
  const std::vector<KernelResources> resources = resources_of(binary);
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0].spill_store_bytes, 0u) << program.text();
  EXPECT_EQ(resources[0].registers, 168) << program.text();  // 65536 among 384 threads
  const Accesses accesses = accesses_of(binary);
  EXPECT_EQ(accesses.group_products, 64 / 16) << program.text();
  EXPECT_EQ(accesses.map_copies, 1 + 256 / 64) << program.text();
  EXPECT_NE(program.text().find("held_tile"), std::string::npos) << program.text();
  EXPECT_EQ(program.text().find("meet_consumers"), std::string::npos) << program.text();
  EXPECT_EQ(accesses.copies + accesses.loads, 0) << program.text();
}

// The same of a kernel that loops over its tiles by itself, without a word on its strides: the code
// is for positive ones, and other launches have another one. Parts of results go out by a map.
TEST(CudaGroupProduct, OwnLoopsHaveRolesOnConditions) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const TileProgram program(looping_product_source, "looping_product",
                            "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, i32:16, "
                            "i32:16, 132, 128, 256, 64",
                            8, "sm_90a");
  const KernelSource::Kernel& kernel = program.source().kernels[0];
  EXPECT_EQ(kernel.variants[0].conditions.size(), 3u);
  EXPECT_NE(program.text().find("held_tile"), std::string::npos) << program.text();
  EXPECT_NE(program.text().find("tw::store_map"), std::string::npos) << program.text();
  const Binary binary = compile(program.source(), Target::parse("sm_90a"), nullptr);
  EXPECT_EQ(binary.log.find("Potential Performance Loss"), std::string::npos) << binary.log;
  const std::vector<KernelResources> resources = resources_of(binary);
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0].spill_store_bytes, 0u) << program.text();
  const Accesses accesses = accesses_of(binary);
  EXPECT_EQ(accesses.group_products, 64 / 16) << program.text();
  EXPECT_EQ(accesses.map_copies, 2) << program.text();
  EXPECT_EQ(accesses.copies + accesses.loads, 0) << program.text();
}

// K and V in two panels of 64 each, scores in 8 steps of 16 deep, the other product in as many as
// there are columns, once in every loop; consumers start no copies but of Q. Delayed, one product more stands behind the loops
// and one copy of zeros before them.
TEST(CudaGroupProduct, AttentionRolesStayAsynchronousWithoutSpills) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  for (const auto& [is_causal, delays] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
    Settings changed = settings();
    changed.extra_passes = delays ? "split_roles,delay_products" : "split_roles";
    const SettingsOverride with_passes(changed);
    const int loops = is_causal ? 2 : 1, columns = is_causal ? 64 : 128;
    const TileProgram program(
        descriptor_attention_source, "attention",
        fmt::format("*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32, i32:16, 128, 128, {}, {}", columns,
                    is_causal ? "true" : "false"),
        8, "sm_90a");
    const Binary binary = compile(program.source(), Target::parse("sm_90a"), nullptr);
    EXPECT_EQ(binary.log.find("Potential Performance Loss"), std::string::npos) << binary.log;
    const std::vector<KernelResources> resources = resources_of(binary);
    ASSERT_EQ(resources.size(), 1u);
    EXPECT_EQ(resources[0].spill_store_bytes, 0u) << program.text();
    EXPECT_EQ(resources[0].registers, 168) << program.text();  // 65536 among 384 threads
    const Accesses accesses = accesses_of(binary);
    EXPECT_EQ(accesses.group_products, loops * 128 / 16 + (loops + delays) * columns / 16)
        << program.text();
    EXPECT_EQ(accesses.map_copies, (loops * 2 + delays) * 2) << program.text();
  }
}

// One arrival for each product; one wait for the scores alone and one for the sums in a round, one behind the loop: none before the exponentials, none for
// each instruction.
TEST(CudaGroupProduct, DelayedStaysAsynchronousWithoutSpills) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  Settings changed = settings();
  changed.extra_passes = "delay_products";
  const SettingsOverride with_passes(changed);
  for (const auto& [size, warps] : {std::pair(64, 4), std::pair(128, 8)}) {
    const TileProgram program(attention_source, "attention_kernel",
                              fmt::format("*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, {}", size), warps, "sm_90a");
    const Binary binary = compile(program.source(), Target::parse("sm_90a"), nullptr);
    const std::vector<KernelResources> resources = resources_of(binary);
    ASSERT_EQ(resources.size(), 1u);
    EXPECT_EQ(resources[0].spill_store_bytes, 0u) << program.text();
    EXPECT_EQ(accesses_of(binary).group_waits, 6) << program.text();
    EXPECT_EQ(accesses_of(binary).group_products, 3 * size / 16) << program.text();
  }
}

TEST(CudaTargets, AMissingFeatureIsNamedWithItsTarget) {
  try {
    TileProgram(add_source, "add_kernel", "*bf16:16, *bf16:16, *bf16:16, i32, 1024", 4, "sm_75");
    FAIL() << "no error";
  } catch (const ArgumentError& error) {
    EXPECT_STREQ(error.what(),
                 "kernel 'add_kernel' computes bfloat16 values, but sm_75 has no instructions for "
                 "them: compile it for sm_80 or later, or use float16");
  }
}

// Without the tensor cores and the copies of later GPUs, right but slower.
TEST(CudaTargets, ProductsCompileForOldGpus) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const TileProgram program(product_source, "product_kernel",
                            "*fp16:16, *fp16:16, *fp16:16, i32, 64", 4, "sm_75");
  const Accesses accesses = accesses_of(compile(program.source(), Target::parse("sm_75"), nullptr));
  EXPECT_EQ(accesses.copies + accesses.products, 0) << program.text();
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, CudaCompile,
    ::testing::Combine(
        ::testing::Values(
            Case{add_source, "add_kernel", "*fp32:16, *fp32:16, *fp32:16, i32, 1024", 4, 4, 2},
            Case{add_source, "add_kernel", "*bf16:16, *bf16:16, *bf16:16, i32:16, 1024", 4, 2, 1},
            Case{gelu_source, "gelu_kernel", "*fp16:16, *fp16:16, i32, 1024", 4, 1, 1},
            Case{softmax_source, "softmax_kernel", "*fp32:16, *fp32:16, i32:16, i32, 4096", 8, 4,
                 4},
            Case{softmax_source, "softmax_kernel", "*bf16:16, *bf16:16, i32:16, i32, 8192", 8, 4,
                 4},
            Case{softmax_source, "softmax_kernel", "*fp32:16, *fp32:16, i32:16, i32, 32768", 4, 4,
                 4},
            Case{softmax_source, "softmax_kernel", "*fp32:16, *fp32:16, i32:16, i32, 131072", 4, 4,
                 4},
            Case{column_sums_source, "column_sums_kernel",
                 "*fp32:16, *fp32:16, i32, i32:16, 16, 256", 4, 1, 0}),
        ::testing::Values("sm_80", "sm_90a")));

}  // namespace
}  // namespace tilewright
