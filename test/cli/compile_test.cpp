// SPDX-License-Identifier: Apache-2.0
// cli/compile_test.cpp — `tilewright compile`: what is emitted, the launcher header, wrong input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"
#include "runtime/components.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* compile_source = R"(import triton
import triton.language as tl

@triton.jit
def add(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + 1.0, mask=i < n)
)";
constexpr const char* signature = "*fp32:16, *fp32:16, i32, 1024";

bool has_nvrtc() {
  for (const ComponentStatus& component : cuda_components())
    if (component.name == "NVRTC") return component.is_usable();
  return false;
}

class Compile : public ::testing::Test {
 protected:
  Compile() {
    file_ = folder_.path() + "/k.py";
    std::ofstream(file_) << compile_source;
  }
  CommandResult compile(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"compile", file_ + ":add"});
    return tilewright_command(arguments);
  }
  void expect_error(const std::vector<std::string>& arguments, int code, const std::string& text) {
    const CommandResult r = compile(arguments);
    EXPECT_EQ(r.exit_code, code);
    EXPECT_EQ(r.output, "");
    EXPECT_EQ(r.error, "tilewright: " + text + "\n");
  }

  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(Compile, TextNeedsNoCompiler) {
  const CommandResult ir =
      compile({"--signature", signature, "--target", "sm_90a", "--emit", "ir"});
  EXPECT_EQ(ir.exit_code, 0) << ir.error;
  EXPECT_THAT(ir.output, HasSubstr("kernel @add(%x: *f32 {divisible = 16}"));
  EXPECT_THAT(ir.output, HasSubstr("// ---- stage Tile"));
  const CommandResult cuda =
      compile({"--signature", signature, "--target", "sm_80", "--emit", "cuda"});
  EXPECT_EQ(cuda.exit_code, 0) << cuda.error;
  EXPECT_THAT(cuda.output, HasSubstr("__global__ void"));
  EXPECT_THAT(cuda.output,
              HasSubstr("// k.py:7: tl.store(out + i, tl.load(x + i, mask=i < n) + 1.0"));
  EXPECT_THAT(cuda.output, Not(HasSubstr("asm")));
  const CommandResult cpp = compile({"--signature", signature, "--target", "cpu", "--emit", "cpp"});
  EXPECT_EQ(cpp.exit_code, 0) << cpp.error;
  EXPECT_THAT(cpp.output, HasSubstr("extern \"C\" void add("));
}

// g++ drops calls of functions that only ask for memory, unless they are inlined first.
TEST_F(Compile, RowsOfLaterProgramsAreAskedForInTheMachineCode) {
#if defined(__x86_64__)
  std::ofstream(file_) << R"(import triton
import triton.language as tl

@triton.jit
def add(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    scale = tl.rsqrt(tl.sum(row * row, axis=0))
    tl.store(out + tl.program_id(0) * n + i, row * scale, mask=i < n)
)";
  const CommandResult r = compile({"--signature", signature, "--target", "cpu", "--emit", "asm"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("prefetch"));
#else
  GTEST_SKIP() << "other processors have other instructions";
#endif
}

TEST_F(Compile, ReportsForTheCpu) {
  const CommandResult r = compile({"--signature", signature, "--target", "cpu", "--json"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto json = parse_json(r.output);
  EXPECT_EQ(json["compiled"][0]["kernel"], "add");
  EXPECT_EQ(json["compiled"][0]["signature"], "*float32:16, *float32:16, int32, 1024");
  EXPECT_GT(json["compiled"][0]["binary_bytes"], 1000);
}

TEST_F(Compile, ReportsAndEmitsForCudaWithoutAGpu) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not here";
  const std::string out = folder_.path() + "/out";
  const CommandResult r = compile({"--signature", signature, "--target", "sm_80,sm_90a", "--emit",
                                   "ptx,cubin,header", "-o", out, "--json"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto json = parse_json(r.output);
  for (const auto& row : json["compiled"]) {
    EXPECT_GT(row["registers"], 0);
    EXPECT_EQ(row["spill_bytes"], 0);
    EXPECT_EQ(row["threads"], 128);
    EXPECT_EQ(row["elements_per_thread"], 8.0);
    EXPECT_GT(row["occupancy"], 0.5);
    EXPECT_TRUE(row["limited_by"].is_array());
  }
  std::ostringstream ptx;
  ptx << std::ifstream(out + "/add_sm_80.ptx").rdbuf();
  EXPECT_THAT(ptx.str(), HasSubstr(".target sm_80"));
  EXPECT_THAT(ptx.str(), HasSubstr("ld.global.v4"));
}

// A driver that only writes down what it is asked.
constexpr const char* fake_driver = R"(
#pragma once
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
typedef struct CUstream_st* CUstream;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
inline unsigned launched[4];
inline int last_n;
inline CUresult cuModuleLoadData(CUmodule*, const void* image) {
  return static_cast<const unsigned char*>(image)[0] == 0x7f ? CUDA_SUCCESS
                                                             : CUDA_ERROR_INVALID_VALUE;
}
inline CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*) { return CUDA_SUCCESS; }
inline CUresult cuFuncSetAttribute(CUfunction, int, int) { return CUDA_SUCCESS; }
inline CUresult cuLaunchKernel(CUfunction, unsigned x, unsigned y, unsigned z, unsigned threads,
                               unsigned, unsigned, unsigned, CUstream, void** arguments, void**) {
  launched[0] += x * y * z; launched[1] = threads; launched[2] += 1;
  last_n = *static_cast<int*>(arguments[2]);
  return CUDA_SUCCESS;
}
)";
constexpr const char* user_program = R"(
#include "add_sm_80.h"
int main() {
  alignas(16) float x[4] = {}, y[4] = {};
  if (sm_80::add(nullptr, {3, 2}, x, y, 17) != CUDA_SUCCESS) return 1;
  if (launched[0] != 6 || launched[1] != 128 || last_n != 17) return 2;
  if (sm_80::add(nullptr, {1}, x + 1, y, 17) != CUDA_ERROR_INVALID_VALUE) return 3;
  if (sm_80::add(nullptr, {0}, x, y, 17) != CUDA_SUCCESS) return 4;
  return launched[2] == 1 ? 0 : 5;
}
)";

TEST_F(Compile, TheHeaderLaunchesWithoutOurLibrary) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not here";
  const std::string out = folder_.path();
  const CommandResult r =
      compile({"--signature", signature, "--target", "sm_80", "--emit", "header", "-o", out});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  std::ofstream(out + "/cuda.h") << fake_driver;
  std::ofstream(out + "/main.cpp") << user_program;
  const ProcessResult built =
      run_process({.arguments = {"c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", out,
                                 out + "/main.cpp", "-o", out + "/main"}});
  ASSERT_EQ(built.exit_code, 0) << built.output;
  EXPECT_EQ(run_process({.arguments = {out + "/main"}}).exit_code, 0);
}

// Programs that share blocks, and programs that are spread over a cluster.
constexpr const char* fake_launches = R"(
#pragma once
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
       CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16 };
typedef int CUdevice;
typedef struct CUstream_st* CUstream;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
struct CUlaunchAttribute { int id; struct { struct { unsigned x, y, z; } clusterDim; } value; };
struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream; CUlaunchAttribute* attrs; unsigned numAttrs;
};
inline unsigned launched[4];
inline CUresult cuModuleLoadData(CUmodule*, const void*) { return CUDA_SUCCESS; }
inline CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*) { return CUDA_SUCCESS; }
inline CUresult cuFuncSetAttribute(CUfunction, int, int) { return CUDA_SUCCESS; }
inline CUresult cuCtxGetDevice(CUdevice* device) { *device = 0; return CUDA_SUCCESS; }
inline CUresult cuDeviceGetAttribute(int* value, int, CUdevice) { *value = 100; return CUDA_SUCCESS; }
inline CUresult cuLaunchKernel(CUfunction, unsigned x, unsigned, unsigned, unsigned threads, unsigned,
                               unsigned, unsigned, CUstream, void** arguments, void**) {
  launched[0] = x; launched[1] = threads; launched[2] = *static_cast<int*>(arguments[3]);
  return CUDA_SUCCESS;
}
inline CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction, void**, void**) {
  launched[0] = config->gridDimX; launched[1] = config->blockDimX; launched[2] = config->sharedMemBytes;
  launched[3] = config->attrs[0].value.clusterDim.x;
  return CUDA_SUCCESS;
}
)";

TEST_F(Compile, TheHeaderLaunchesAsTheKernelWasShaped) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not here";
  const std::string out = folder_.path();
  std::ofstream(out + "/cuda.h") << fake_launches;
  std::ofstream(out + "/rows.py") << R"(
import triton
import triton.language as tl

@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    tl.store(out + tl.program_id(0) * n + i, v - tl.sum(v, axis=0), mask=i < n)
)";
  const auto launches = [&](const std::string& block, const std::string& check) {
    const CommandResult r = tilewright_command({"compile", out + "/rows.py:total", "--signature",
                                                "*fp32:16, *fp32:16, i32:16, " + block, "--target",
                                                "sm_90a", "--emit", "header", "-o", out});
    EXPECT_EQ(r.exit_code, 0) << r.error;
    std::ofstream(out + "/main.cpp") << fmt::format(R"(#include "total_sm_90a.h"
int main() {{
  alignas(16) float x[4] = {{}};
  if (sm_90a::total(nullptr, {{1000}}, x, x, 16) != CUDA_SUCCESS) return 1;
  {}
}}
)",
                                                    check);
    const ProcessResult built =
        run_process({.arguments = {"c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", out,
                                   out + "/main.cpp", "-o", out + "/main"}});
    EXPECT_EQ(built.exit_code, 0) << built.output;
    return run_process({.arguments = {out + "/main"}}).exit_code;
  };
  // 1000 programs for 100 multiprocessors: two of them in a block of two warps.
  EXPECT_EQ(launches("256",
                     "return launched[0] == 500 && launched[1] == 64 && launched[2] == 1000 ? "
                     "0 : 2;"),
            0);
  EXPECT_EQ(
      launches("131072",
               "return sm_90a::total(nullptr, {300000000}, x, x, 16) == CUDA_SUCCESS ? 2 : 0;"),
      0);
  EXPECT_EQ(launches("131072",
                     "return launched[0] == 8000 && launched[1] == 512 && launched[2] == "
                     "65536 && launched[3] == 8 ? 0 : 2;"),
            0);
}

TEST_F(Compile, CudaSources) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not here";
  const std::string cu = folder_.path() + "/k.cu";
  std::ofstream(cu) << "__global__ void scale(float* x, int n) { if (n > 0) x[threadIdx.x] *= 2; }";
  const CommandResult r = tilewright_command(
      {"compile", cu + ":scale", "--target", "sm_80", "--block", "64,2", "-O0", "--json"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto json = parse_json(r.output);
  EXPECT_EQ(json["compiled"][0]["threads"], 128);
  const CommandResult wrong = tilewright_command({"compile", cu + ":scal", "--target", "sm_80"});
  EXPECT_EQ(wrong.error, "tilewright: " + cu + " has no kernel 'scal'; did you mean 'scale'?\n");
  const CommandResult block =
      tilewright_command({"compile", cu + ":scale", "--target", "sm_80", "--block", "0"});
  EXPECT_EQ(block.error, "tilewright: --block takes X[,Y[,Z]], not '0'\n");
}

TEST_F(Compile, CudaKernelsByAllTheirNames) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not here";
  const std::string cu = folder_.path() + "/k.cu";
  std::ofstream(folder_.path() + "/twice.cuh")
      << "__device__ float twice(float x) { return x + x; }";
  std::ofstream(cu) << R"(#include "twice.cuh"
namespace ns {
template <typename T, int N = 2>
__global__ void scale(T* x) { x[threadIdx.x] *= N; }
__global__ void plain(float* x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
}
)";
  const auto compiled = [&](const std::string& name) {
    const CommandResult r = tilewright_command({"compile", cu + ":" + name, "--target", "sm_80",
                                                "--emit", "ptx", "-o", folder_.path() + "/out"});
    EXPECT_EQ(r.error, "");
    EXPECT_THAT(r.output, HasSubstr(name + " for sm_80\n  registers"));
    return r.output;
  };
  compiled("plain");
  compiled("ns::plain");
  compiled("scale<float>");
  EXPECT_THAT(compiled("ns::scale<double, 3>"), HasSubstr("/out/ns_scale_double_3_sm_80.ptx\n"));
  const auto error = [&](const std::string& name) {
    return tilewright_command({"compile", cu + ":" + name, "--target", "sm_80"}).error;
  };
  EXPECT_EQ(error("scale"),
            "tilewright: kernel 'ns::scale' is a template; name its arguments, as in "
            "ns::scale<float>\n");
  EXPECT_EQ(error("ns::plan"), "tilewright: " + cu +
                                   " has no kernel 'ns::plan'; did you mean "
                                   "'ns::plain'?\n");
}

TEST_F(Compile, OptimisationLevelsAndDebugInformation) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not here";
  const auto compiled = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--signature", signature, "--target", "sm_90a,cpu", "--emit",
                                 "cubin", "-o", folder_.path(), "--json"});
    const CommandResult r = compile(flags);
    EXPECT_EQ(r.exit_code, 0) << r.error;
    EXPECT_EQ(parse_json(r.output)["compiled"].size(), 2u);
    std::ostringstream cubin;
    cubin << std::ifstream(folder_.path() + "/add_sm_90a.cubin", std::ios::binary).rdbuf();
    return cubin.str();
  };
  const std::string plain = compiled({});
  EXPECT_NE(compiled({"-O0"}), plain);
  compiled({"-O1"});
  compiled({"-O2"});
  compiled({"-O3"});
  EXPECT_THAT(plain, Not(HasSubstr(".debug_info")));
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"-G"}, std::vector<std::string>{"-G", "-O0"}}) {
    const std::string with_debug = compiled(flags);
    EXPECT_THAT(with_debug, HasSubstr(".debug_info"));
    EXPECT_THAT(with_debug, HasSubstr("k.py"));
  }
  expect_error({"--signature", signature, "--target", "sm_90a", "-O4"}, 2,
               "-O takes 0 to 3, not 4");
  expect_error({"--signature", signature, "--target", "sm_90a", "-O2", "-G"}, 2,
               "-G makes CUDA code without optimisation; leave out -O2 or give -O0");
}

TEST_F(Compile, MachineCodeByCuobjdump) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not here";
  if (cuda_components().back().is_usable()) GTEST_SKIP() << "this machine has a disassembler";
  const std::vector<std::string> arguments = {"--signature", signature, "--target",
                                              "sm_90a",      "--emit",  "sass"};
  expect_error(arguments, 1,
               "--emit sass needs nvdisasm or cuobjdump, and neither was found; install a CUDA "
               "toolkit or `pip install nvidia-cuda-nvdisasm`");
  const std::string program = folder_.path() + "/cuobjdump";
  std::ofstream(program) << "#!/bin/sh\necho \"code by cuobjdump $1\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::vector<std::string> all = {"compile", file_ + ":add"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const CommandResult r =
      tilewright_command(all, {"PATH=" + folder_.path() + ":" + std::getenv("PATH")});
  EXPECT_EQ(r.error, "");
  EXPECT_EQ(r.output, "code by cuobjdump -sass\n");
}

TEST_F(Compile, MachineCodeSaysWhichLineItDoes) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not here";
  if (cuda_components().back().is_usable()) GTEST_SKIP() << "this machine has a disassembler";
  const std::string program = folder_.path() + "/nvdisasm";
  std::ofstream(program) << R"(#!/bin/sh
cat <<'END'
nvdisasm warning : old
code:
	//## File "/x/add", line 9
  S2R ;
	//## File "/x/tilewright/memory.cuh", line 58 inlined at "/x/tilewright/memory.cuh", line 97
	//## File "/x/tilewright/memory.cuh", line 97 inlined at "/x/k.py", line 7
	//## File "/x/k.py", line 7
  LDG ;
	//## File "/x/k.py", line 7
  FADD ;
	//## File "/x/k.cu", line 2
  STG ;
END
)";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto sass_of = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compile");
    arguments.insert(arguments.end(), {"--target", "sm_90a", "--emit", "sass"});
    const CommandResult r =
        tilewright_command(arguments, {"PATH=" + folder_.path() + ":" + std::getenv("PATH")});
    EXPECT_EQ(r.error, "");
    return r.output;
  };
  EXPECT_EQ(sass_of({file_ + ":add", "--signature", signature}),
            "// nvdisasm warning : old\ncode:\n// line 9 of --emit cuda\n  S2R ;\n"
            "// k.py:7: tl.store(out + i, tl.load(x + i, mask=i < n) + 1.0, mask=i < n)\n"
            "  LDG ;\n  FADD ;\n// k.cu:2\n  STG ;\n");
  const std::string cu = folder_.path() + "/k.cu";
  std::ofstream(cu) << "__global__ void one(float* x) {\n  x[0] = 1;\n}\n";
  EXPECT_THAT(sass_of({cu + ":one"}), HasSubstr("\n// k.cu:2: x[0] = 1;\n  STG ;\n"));
}

TEST_F(Compile, WrongCommandLines) {
  expect_error({"--signature", signature, "--emit", "cppp"}, 2,
               "--emit has no 'cppp'; did you mean 'cpp'?");
  expect_error({"--signature", signature, "--target", "cpu", "--emit", "cuda"}, 2,
               "--emit cuda is for CUDA targets, and none is given with --target");
  expect_error({"--signature", signature, "--target", "sm_80", "--emit", "cubin"}, 2,
               "--emit cubin writes a binary file; give a folder with -o");
  expect_error({"--signature", "*fp32, *fp32, i33, 64", "--target", "cpu"}, 1,
               "item 3 of the signature of 'add', 'i33' for 'n', is neither a type such as "
               "*fp32:16, i32 or fp32 nor a constant");
  expect_error({"--signature", signature, "--target", "cpu", "--num-warps", "3"}, 1,
               "num_warps of kernel 'add' must be 1, 2, 4, 8, 16 or 32, not 3");
  const CommandResult r = compile({"--signature", "*fp32, *fp32, i32, 100", "--target", "cpu"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.error, HasSubstr(file_ + ":6:36: error:"));
}

}  // namespace
}  // namespace tilewright::cli
