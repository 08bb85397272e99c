// SPDX-License-Identifier: Apache-2.0
// cli/run_cuda_test.cpp — `tilewright run` of .cu files: host functions, kernels, programs with
// main.
#include <gtest/gtest.h>

#include <csignal>

#include "command.h"

namespace tilewright::cli {
namespace {

class RunCuda : public testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name) << text;
    return folder_.path() + "/" + name;
  }
  CommandResult run(const std::string& path, std::vector<std::string> rest = {}) const {
    std::vector<std::string> arguments = {"run", path, "--device", "emulate"};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return tilewright_command(arguments);
  }
  TemporaryFolder folder_;
};

const char* const kernels = R"(
#include <torch/extension.h>
namespace ns {
template <typename T, int Times>
__global__ void scale(T* x, T by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) for (int t = 0; t < Times; ++t) x[i] *= by;
}
}  // namespace ns
__global__ void add(const float* x, float* y, int n) {
  extern __shared__ float shared[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = shared[threadIdx.x] + 1;
}
torch::Tensor plus(torch::Tensor x, double by) { return x + by; }
int64_t count(torch::Tensor x) { return x.numel(); }
)";

TEST_F(RunCuda, HostFunctions) {
  const std::string file = put("k.cu", kernels);
  const CommandResult plus = run(file + ":plus", {"x=ones:f32[3]", "by=1.5"});
  EXPECT_EQ(plus.exit_code, 0) << plus.error;
  EXPECT_NE(plus.output.find("plus on cpu, emulated:"), std::string::npos) << plus.output;
  EXPECT_NE(plus.output.find("result  float32[3]  3 of 3 changed  2.5, 2.5, 2.5"),
            std::string::npos)
      << plus.output;
  const CommandResult count = run(file + ":count", {"x=ones:f32[3]"});
  EXPECT_NE(count.output.find("result  3\n"), std::string::npos) << count.output << count.error;
}

// What a kernel has damaged is often noticed when it is freed, behind the results.
TEST_F(RunCuda, ACrashBehindTheResultsIsExplained) {
  const std::string file =
      put("late.cpp",
          "#include <torch/extension.h>\n"
          "#include <cstdlib>\n"
          "torch::Tensor late(torch::Tensor x) {\n"
          "  std::atexit([] { std::abort(); });\n"
          "  return x + 1;\n"
          "}\n"
          "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"late\", &late); }\n");
  const CommandResult r = tilewright_command({"run", file + ":late", "x=zeros:f32[4]"});
  EXPECT_NE(r.exit_code, 0);
  EXPECT_NE(r.output.find("result"), std::string::npos) << r.output << r.error;
  EXPECT_NE(r.error.find("'late' was aborted"), std::string::npos) << r.error;
}

TEST_F(RunCuda, DefaultsOfBoundFunctions) {
  const std::string file = put("k.cu", R"(
#include <torch/extension.h>
torch::Tensor line(torch::Tensor x, double by, double plus) { return x * by + plus; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("line", &line, py::arg("x"), py::arg("by") = 2.0, py::arg("plus") = 0.5);
}
)");
  const CommandResult both = run(file + ":line", {"x=ones:f32[2]"});
  EXPECT_NE(both.output.find("2.5, 2.5"), std::string::npos) << both.output << both.error;
  const CommandResult last = run(file + ":line", {"x=ones:f32[2]", "by=3"});
  EXPECT_NE(last.output.find("3.5, 3.5"), std::string::npos) << last.output << last.error;
  const CommandResult middle = run(file + ":line", {"x=ones:f32[2]", "plus=3"});
  EXPECT_EQ(middle.exit_code, 1) << middle.output;
  EXPECT_NE(middle.error.find("'line' needs a value for 'by', since 'plus' behind it has one; add "
                              "by=VALUE"),
            std::string::npos)
      << middle.error;
  const CommandResult none = run(file + ":line", {"by=3"});
  EXPECT_NE(none.error.find("'line' needs a value for 'x'"), std::string::npos) << none.error;
}

TEST_F(RunCuda, FunctionsOfCppFiles) {
  const std::string file = put("k.cpp", R"(
#include <torch/extension.h>
torch::Tensor plus(torch::Tensor x, double by) { return x + by; }
)");
  const CommandResult plus = run(file + ":plus", {"x=ones:f32[3]", "by=1.5"});
  EXPECT_EQ(plus.exit_code, 0) << plus.error;
  EXPECT_NE(plus.output.find("2.5, 2.5, 2.5"), std::string::npos) << plus.output;
  const CommandResult program = run(put("p.cpp", "int main() { return 0; }"));
  EXPECT_EQ(program.exit_code, 2) << program.output;
  EXPECT_NE(program.error.find("is a program without CUDA"), std::string::npos) << program.error;
  for (const char* verb : {"compile", "check", "step"}) {
    const CommandResult other = tilewright_command({verb, file + ":plus"});
    EXPECT_EQ(other.exit_code, 2) << verb << other.output;
    EXPECT_NE(other.error.find(":plus' is C++ for the host"), std::string::npos) << other.error;
  }
}

TEST_F(RunCuda, SizesByNameAndExpectedResults) {
  const std::string file = put("k.cu", kernels);
  const CommandResult add = run(file + ":ns::scale<float, 1>",
                                {"x=ones:f32[2*m]", "by=3", "n=6", "m=3", "--grid",
                                 "cdiv(2 * m, 4)", "--block", "4", "--expect", "x=full:f32[6]=3"});
  EXPECT_EQ(add.exit_code, 0) << add.error << add.output;
  EXPECT_NE(add.output.find("grid 2 x 1 x 1"), std::string::npos) << add.output;
  const CommandResult other =
      run(file + ":plus", {"x=ones:f32[3]", "by=1", "--expect", "result=full:f32[3]=3"});
  EXPECT_EQ(other.exit_code, 4) << other.error;
  EXPECT_NE(other.output.find("3 of 3 differ"), std::string::npos) << other.output;
  const CommandResult compared = run(file + ":plus", {"x=ones:f32[3]", "by=1", "--compare", "cpu"});
  EXPECT_EQ(compared.exit_code, 2);
  EXPECT_NE(compared.error.find("--compare goes with FILE.py:KERNEL"), std::string::npos)
      << compared.error;
  const CommandResult swept = run(file + ":plus", {"x=ones:f32[n]", "by=1", "n=1..4"});
  EXPECT_EQ(swept.exit_code, 2);
}

TEST_F(RunCuda, KernelsByNameAndTemplateArguments) {
  const std::string file = put("k.cu", kernels);
  const CommandResult add = run(
      file + ":add", {"x=arange:f32[5]", "y=zeros:f32[5]", "n=5", "--grid", "cdiv(n, 4)", "--block",
                      "4", "--shared", "16", "--save", "y=" + folder_.path() + "/y.npy"});
  EXPECT_EQ(add.exit_code, 0) << add.error;
  EXPECT_NE(add.output.find("add on cpu, emulated: grid 2 x 1 x 1"), std::string::npos);
  EXPECT_NE(add.output.find("5 of 5 changed  1, 2, 3, 4, 5"), std::string::npos) << add.output;
  EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/y.npy"));
  const CommandResult scale =
      run(file + ":ns::scale<float, 2>", {"x=ones:f32[3]", "by=3", "n=3", "--grid", "1", "--json"});
  EXPECT_EQ(scale.exit_code, 0) << scale.error;
  EXPECT_NE(scale.output.find("9.0"), std::string::npos) << scale.output;
}

TEST_F(RunCuda, MistakesAreNamed) {
  const std::string file = put("k.cu", kernels);
  const auto error = [&](const std::string& name, std::vector<std::string> rest) {
    const CommandResult result = run(name.empty() ? file : file + ":" + name, std::move(rest));
    EXPECT_NE(result.exit_code, 0);
    std::string text = result.error;
    for (std::size_t at; (at = text.find(folder_.path() + "/")) != std::string::npos;)
      text.erase(at, folder_.path().size() + 1);
    return text;
  };
  EXPECT_EQ(error("", {}),
            "tilewright: k.cu has several kernels; write k.cu:KERNEL with one of ns::scale, add, "
            "plus, count\n");
  EXPECT_EQ(error("pluss", {}),
            "tilewright: k.cu has no function or kernel 'pluss'; did you mean 'plus'?\n");
  EXPECT_EQ(error("plus", {"x=ones:f32[3]"}),
            "tilewright: 'plus' needs a value for 'by'; add by=VALUE\n");
  EXPECT_EQ(error("plus", {"z=1"}), "tilewright: 'plus' has no parameter 'z'; there are: x, by\n");
  EXPECT_EQ(error("plus", {"x=ones:f32[3]", "by=1", "--grid", "1"}),
            "tilewright: 'plus' is a host function, which launches by itself; leave --grid and "
            "--block out\n");
  EXPECT_EQ(error("add", {"x=ones:f32[3]"}),
            "tilewright: the kernel 'add' needs --grid, and --block unless 256 threads are meant, "
            "as in --grid \"cdiv(n, 256)\" --block 256\n");
  EXPECT_EQ(error("add", {"x=ones:f32[3]", "--grid", "1"}),
            "tilewright: 'add' needs a value for 'y'; add y=VALUE\n");
}

TEST_F(RunCuda, ProgramsGetTheirArgumentsAndGiveTheirResult) {
  const std::string file = put("program.cu", R"(
#include <cstdio>
#include <iostream>
#include "half.cuh"
int main(int argc, char** argv) {
  int *d, h[4] = {1, 2, 3, 4};
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  twice<<<1, 4>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %d %d %d\n", h[0], h[1], h[2], h[3]);
  std::cout << argc << " " << argv[argc - 1] << std::endl;
  return 4;
}
)");
  put("half.cuh", "#pragma once\n__global__ void twice(int* x) { x[threadIdx.x] *= 2; }\n");
  const CommandResult result = run(file, {"--", "--size", "9"});
  EXPECT_EQ(result.output, "2 4 6 8\n3 9\n");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.exit_code, 4);
}

TEST_F(RunCuda, WhatEmulationLacksInOneKernelStopsNoOther) {
  const std::string file = put("k.cu", R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void whole(float* x) { cg::this_grid().sync(); }
template <class T> __global__ void sample(cudaTextureObject_t t, T* x) { *x = tex2D<T>(t, 0, 0); }
template __global__ void sample<float>(cudaTextureObject_t, float*);
__global__ void fine(float* x) { x[cg::this_thread_block().thread_rank()] = 1; }
)");
  const CommandResult fine = run(file + ":fine", {"x=zeros:f32[3]", "--grid", "1", "--block", "3"});
  EXPECT_NE(fine.output.find("3 of 3 changed  1, 1, 1"), std::string::npos) << fine.error;
  const CommandResult whole =
      run(file + ":whole", {"x=zeros:f32[3]", "--grid", "1", "--block", "3"});
  EXPECT_EQ(whole.exit_code, 1);
  EXPECT_NE(whole.error.find("k.cu:4:39: error: emulation on the CPU does not support cooperative "
                             "groups of a whole grid (this_grid)"),
            std::string::npos)
      << whole.error;
  const CommandResult program = run(put("program.cu", R"(
__global__ void k(cudaTextureObject_t t) {}
int main() {}
)"));
  EXPECT_NE(program.error.find("program.cu:2:19: error: emulation on the CPU does not support "
                               "textures\n"
                               "    __global__ void k(cudaTextureObject_t t) {}\n"
                               "                      ^^^^^^^^^^^^^^^^^^^\n"),
            std::string::npos)
      << program.error;
}

TEST_F(RunCuda, ProgramsMaySetPoolsLimitsAndDefaultStreams) {
  const CommandResult r = run(put("program.cu", R"(
#include <cstdio>
#include <cstdint>
__global__ void one(int* x) { x[threadIdx.x] = 1; }
int main() {
  cudaMemPool_t pool;
  uint64_t threshold = UINT64_MAX;
  int bad = cudaDeviceGetDefaultMemPool(&pool, 0);
  bad += cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  bad += cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20);
  int *x, h[4];
  bad += cudaMallocAsync(&x, sizeof h, cudaStreamPerThread);
  one<<<1, 4, 0, cudaStreamPerThread>>>(x);
  bad += cudaMemcpyAsync(h, x, sizeof h, cudaMemcpyDeviceToHost, cudaStreamPerThread);
  bad += cudaStreamSynchronize(cudaStreamPerThread) + cudaStreamSynchronize(cudaStreamLegacy);
  bad += cudaFreeAsync(x, cudaStreamPerThread) + cudaMemPoolTrimTo(pool, 0);
  printf("%d %d\n", bad, h[0] + h[1] + h[2] + h[3]);
}
)"));
  EXPECT_EQ(r.output, "0 4\n") << r.error;
}

TEST_F(RunCuda, FaultsOfProgramsAreReported) {
  const std::string file = put("program.cu", R"(
#include <cassert>
#include <cstdio>
__global__ void k(int* p) {
  assert(p[threadIdx.x] == 0);
}
int main() {
  int* p;
  cudaMalloc(&p, 16);
  cudaMemset(p, 1, 16);
  k<<<1, 2>>>(p);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
)");
  const CommandResult fault = run(file);
  EXPECT_EQ(fault.output, "cudaErrorAssert\n");
  EXPECT_NE(fault.error.find("assertion 'p[threadIdx.x] == 0' failed at program.cu:5"),
            std::string::npos)
      << fault.error;
  EXPECT_EQ(fault.exit_code, 1);
  const CommandResult launch = run(put("launch.cu", R"(
__global__ void k() {}
int main() { k<<<1, 5000>>>(); }
)"));
  EXPECT_EQ(launch.exit_code, 1);
  EXPECT_EQ(
      launch.error,
      "tilewright: a launch failed, and the program did not ask by cudaGetLastError: kernel "
      "'k' cannot be launched with a block of 5000 x 1 x 1 threads; 1 to 1024 are possible\n");
  const CommandResult crash = run(put("crash.cu", R"(
__global__ void k(int* p) { p[threadIdx.x] = 1; }
int main() { k<<<1, 4>>>(nullptr); }
)"));
#ifndef TW_SANITIZE
  EXPECT_EQ(crash.exit_code, 1) << crash.error;
  EXPECT_NE(crash.error.find("writes 4 bytes through a null pointer at line 2"), std::string::npos)
      << crash.error;
#endif
  const CommandResult wrong = run(put("wrong.cu", "int main() { return x; }\n"));
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(wrong.error.find("wrong.cu:1:"), std::string::npos) << wrong.error;
}

#ifndef TW_SANITIZE  // accesses are not checked there
TEST_F(RunCuda, KernelsOfProgramsStayInsideOfAllocations) {
  const std::string file = put("program.cu", R"(
#include <cstdio>
#include <cstdlib>
__device__ int table[4];
__global__ void k(int* p, int at) { p[at] = table[1]; }
__global__ void divide(int* p) { p[0] = 5 / p[1]; }
int main(int, char** argv) {
  int *p, *managed, *pinned, *registered = (int*)malloc(64);
  cudaMalloc(&p, 16);
  cudaMallocManaged(&managed, 16);
  cudaMallocHost(&pinned, 16);
  cudaHostRegister(registered, 64, 0);
  cudaMemset(p, 0, 16);
  for (int* each : {p, managed, pinned, registered}) k<<<1, 2>>>(each, 3);
  cudaHostUnregister(registered);
  const char what = argv[1][0];
  if (what == 'o') k<<<1, 2>>>(managed, 7);
  if (what == 'h') k<<<1, 2>>>(registered, 0);
  if (what == 'd') divide<<<1, 1>>>(p);
  printf("%d\n", cudaDeviceSynchronize());
}
)");
  const auto error = [&](const std::string& what, int code) {
    const CommandResult r = run(file, {"--", what});
    EXPECT_EQ(r.exit_code, code) << r.error;
    EXPECT_EQ(r.output, code == 0 ? "0\n" : "719\n");
    return r.error;
  };
  EXPECT_EQ(error("right", 0), "");
  EXPECT_NE(error("outside", 1)
                .find("writes 4 bytes outside of every allocation at line 5: 12 bytes "
                      "behind the end of 'allocation 2', which has 16 bytes"),
            std::string::npos);
  EXPECT_NE(error("host", 1).find("writes 4 bytes outside of every allocation at line 5"),
            std::string::npos);
  EXPECT_NE(error("divide", 1).find("divides an integer by zero at line 6"), std::string::npos);
}

TEST_F(RunCuda, AnEndlessLoopNamesItsLine) {
  const std::string file = put("loop.cu", R"(
__host__ __device__ int next(int i) {
  int j = i;
  return j + 1;
}
__global__ void wait(volatile int* flag) {
  while (*flag == 0) {}
}
int main(int argc, char**) {
  int i = 0;
  while (i < 200000) i = next(i);  // statements before there is a launch
  int* flag;
  cudaMalloc(&flag, 4);
  cudaMemset(flag, argc > 1, 4);
  wait<<<1, 2>>>(flag);
  return cudaDeviceSynchronize();
}
)");
  using Words = std::vector<std::string>;
  const auto start = [&](const std::string& path, const Words& rest, const std::string& how) {
    Words all = {"sh", "-c", how, "sh", tilewright_path(), "run", path, "--device", "emulate"};
    all.insert(all.end(), rest.begin(), rest.end());
    return run_process({.arguments = all,
                        .environment = {"TILEWRIGHT_CACHE_DIR=" + folder_.path() + "/cache"},
                        .timeout_seconds = 100});
  };
  const auto expect_line = [&](const std::string& path, const Words& ends, const Words& hangs) {
    const ProcessResult compiled = start(path, ends, "\"$@\"");
    EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
    const ProcessResult r = start(path, hangs, "\"$@\" & p=$!; sleep 2.5; kill -INT $p; wait $p");
    EXPECT_EQ(r.exit_code, 130) << r.output;
    EXPECT_NE(r.output.find("tilewright: interrupted: kernel 'wait', block (0, 0, 0), thread ("),
              std::string::npos)
        << r.output;
    EXPECT_NE(r.output.find("is at line 7"), std::string::npos) << r.output;
  };
  expect_line(file, {"--", "end"}, {});
  expect_line(file + ":wait", {"flag=ones:i32[1]", "--grid", "1"},
              {"flag=zeros:i32[1]", "--grid", "1"});
}

// As compilers of some distributions do by themselves.
TEST_F(RunCuda, CompilersMayCheckStringFunctions) {
  const std::string file = put("zero.cu", R"(
#include <cstdio>
__global__ void k(float* out) { memset(out, 0, 4 * blockDim.x); }
int main() {
  float *out, h[4] = {1, 2, 3, 4};
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(out, h, sizeof h, cudaMemcpyHostToDevice);
  k<<<1, 1>>>(out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%g %g\n", h[0], h[3]);
}
)");
  const CommandResult r = tilewright_command({"run", file, "--device", "emulate"},
                                             {"TILEWRIGHT_CXX=g++ -D_FORTIFY_SOURCE=2"});
  EXPECT_EQ(r.error, "");
  EXPECT_EQ(r.output, "0 4\n");
}

TEST_F(RunCuda, KernelsMayAllocateMemoryThemselves) {
  const std::string file = put("heap.cu", R"(
#include <cstdio>
__global__ void k(float* out) {
  float* own = new float[4];
  own[threadIdx.x] = 3;
  out[threadIdx.x] = own[threadIdx.x];
  delete[] own;
}
int main() {
  float *out, h[4];
  cudaMalloc(&out, sizeof h);
  k<<<1, 4>>>(out);
  printf("%d ", cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  printf("%g\n", h[3]);
}
)");
  const CommandResult r = run(file);
  EXPECT_EQ(r.output, "0 3\n") << r.error;
}

TEST_F(RunCuda, KernelsOfHostFunctionsStayInsideOfTensors) {
  const std::string file = put("k.cu", R"(
#include <torch/extension.h>
__global__ void k(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
torch::Tensor copy(torch::Tensor x, int64_t n) {
  auto y = torch::empty({4}, x.options()), z = y + 1;  // others after the first launch
  k<<<1, 4>>>(z.data_ptr<float>(), y.data_ptr<float>(), 4);
  auto w = torch::empty({4}, x.options());
  k<<<1, 32>>>(x.data_ptr<float>(), w.data_ptr<float>(), n);
  return w;
}
)");
  const CommandResult right = run(file + ":copy", {"x=ones:f32[4]", "n=4"});
  EXPECT_EQ(right.exit_code, 0) << right.error;
  EXPECT_NE(right.output.find("4 of 4 changed  1, 1, 1, 1"), std::string::npos) << right.output;
  const CommandResult far = run(file + ":copy", {"x=ones:f32[4]", "n=5"});
  EXPECT_EQ(far.exit_code, 1);
  EXPECT_NE(
      far.error.find("reads 4 bytes outside of every tensor at line 5: 0 bytes behind the end "
                     "of 'x', which has 16 bytes"),
      std::string::npos)
      << far.error;
  const CommandResult kernel =
      run(file + ":k", {"x=ones:f32[2,4]@strides(8,1)", "y=zeros:f32[4]", "n=12", "--grid", "1"});
  EXPECT_NE(kernel.error.find("behind the end of 'y', which has 16 bytes"), std::string::npos)
      << kernel.error;
}
#endif

TEST_F(RunCuda, ACrashNamesTheCheck) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "the sanitizer reports it";
#else
  const std::string file = put("crash.cu", R"(
#include <cstdlib>
__global__ void k(int* p) { p[threadIdx.x] = 1; }
__global__ void divide(int* p) { p[0] = 5 / p[1]; }
int main(int argc, char**) {
  if (argc > 1) abort();
  k<<<1, 4>>>(nullptr);
}
)");
  const auto error = [&](const std::string& path, std::vector<std::string> rest, int code) {
    std::vector<std::string> arguments = {"run", path, "--device", "cpu"};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    const CommandResult r = tilewright_command(arguments, {"TILEWRIGHT_EMULATE_CHECK=0"});
    EXPECT_EQ(r.exit_code, 128 + code) << r.error;
    return r.error;
  };
  EXPECT_EQ(error(file, {}, SIGSEGV),
            "tilewright: 'crash.cu' crashed, most likely by an access outside of its memory; "
            "--device emulate names the line of a kernel that does this\n");
  EXPECT_NE(error(file, {"--", "x"}, SIGABRT).find("'crash.cu' was aborted: by itself (abort, "),
            std::string::npos);
  EXPECT_NE(error(file + ":divide", {"p=zeros:i32[4]", "--grid", "1"}, SIGFPE)
                .find("'divide' crashed: it divided an integer by zero; --device emulate names"),
            std::string::npos);
#endif
}

TEST_F(RunCuda, GuessTriesEveryProgramAndKernelOfAFolder) {
  put("a.cu", "int main() { return 0; }\n");
  put("b.cu", R"(
__global__ void good(float* x, const int* index, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by + index[i];
}
template <int N> __global__ void sized(float* x) { x[N] = 1; }
__global__ void bad(float* x) { frobnicate(x); }
)");
  put("c.cu", "__global__ void k(float* x) { if (threadIdx.x == 3) __trap(); }\n");
  const CommandResult r = tilewright_command({"run", folder_.path(), "--guess", "--jobs", "2"});
  EXPECT_EQ(r.exit_code, 0) << r.error;
  const auto row = [&](const std::string& kernel) {
    const std::size_t at = r.output.find("\n" + kernel + " ");
    return at == std::string::npos ? "no row"
                                   : r.output.substr(at + 1, r.output.find('\n', at + 1) - at - 1);
  };
  EXPECT_TRUE(row("main").ends_with("runs")) << r.output;
  EXPECT_NE(row("good").find("does not compile"), std::string::npos) << "the file has a mistake";
  EXPECT_NE(row("sized").find("cannot be guessed: its template parameter 'N' is no type"),
            std::string::npos)
      << r.output;
  EXPECT_NE(row("k").find("__trap was called"), std::string::npos) << r.output;
  put("b.cu", R"(
__global__ void good(float* x, const int* index, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by + index[i];
}
)");
  const CommandResult one =
      tilewright_command({"run", folder_.path() + "/b.cu:good", "--guess", "--json"});
  EXPECT_NE(one.output.find("\"result\": \"runs\""), std::string::npos) << one.output << one.error;
  EXPECT_NE(one.output.find("grid=4 block=256 x=randn:float32[65536] index=zeros:int32[65536] "
                            "by=0.5 n=32"),
            std::string::npos)
      << one.output;
}

TEST_F(RunCuda, GuessNeedsSomethingToTry) {
  const CommandResult empty =
      tilewright_command({"run", put("empty.cu", "int x = 1;\n"), "--guess"});
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_NE(empty.error.find("there is no kernel or program in"), std::string::npos) << empty.error;
  const std::string file = put("k.cu", "__global__ void scale(float* x) { x[0] = 1; }\n");
  const CommandResult unknown = tilewright_command({"run", file + ":scal", "--guess"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.error.find("has no kernel 'scal'; did you mean 'scale'?"), std::string::npos)
      << unknown.error;
}

TEST_F(RunCuda, BenchMeasuresAKernelAloneAndSwept) {
  const std::string file = put("k.cu", kernels);
  const CommandResult alone = tilewright_command(
      {"bench", file + ":ns::scale<float, 1>", "x=ones:f32[n]", "by=1", "n=256,512", "--grid",
       "cdiv(n, 256)", "--device", "cpu", "--warmup", "0", "--trials", "2", "--no-ceiling"});
  EXPECT_EQ(alone.exit_code, 0) << alone.error;
  EXPECT_NE(alone.output.find(" 256 float32 on cpu"), std::string::npos) << alone.output;
  EXPECT_NE(alone.output.find(" 512 float32 on cpu"), std::string::npos) << alone.output;
}

TEST_F(RunCuda, BenchComparesWithAReference) {
  const std::string file = put("k.cu", R"(
#include <torch/extension.h>
__global__ void twice(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}
__global__ void wrong(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3 * x[i];
}
torch::Tensor doubled(torch::Tensor x) { return x + x; }
)");
  const auto bench = [&](const std::string& kernel, const std::string& reference) {
    return tilewright_command({"bench", kernel, "--reference", reference, "x=randn:f32[1000]",
                               "out=zeros:f32[1000]", "n=1000", "--grid", "cdiv(n, 256)", "--block",
                               "256", "--device", "cpu", "--warmup", "0", "--trials", "2",
                               "--no-ceiling", "--json"});
  };
  const CommandResult function = bench(file + ":twice", file + ":doubled");
  EXPECT_EQ(function.exit_code, 0) << function.error;
  EXPECT_NE(function.output.find("\"error\": 0.0"), std::string::npos) << function.output;
  const CommandResult wrong = bench(file + ":wrong", file + ":twice");
  EXPECT_NE(wrong.output.find("'out' is off by 5.0e-01"), std::string::npos)
      << wrong.output << wrong.error;
  const CommandResult wrong_function = bench(file + ":wrong", file + ":doubled");
  EXPECT_NE(wrong_function.output.find("is off by 5.0e-01"), std::string::npos)
      << wrong_function.output << wrong_function.error;
}

}  // namespace
}  // namespace tilewright::cli
