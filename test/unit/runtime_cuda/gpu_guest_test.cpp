// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/gpu_guest_test.cpp — in someone else's process: their streams, graphs and contexts,
// and kernels that fault.
#include <dlfcn.h>

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/process.h"
#include "gpu_test.h"
#include "runtime/cuda/driver_api.h"
#include "tilewright/error.h"

namespace tilewright {

namespace {

using ::testing::HasSubstr;

// Functions of the driver that a caller uses and this library does not.
template <class Function>
Function* driver_function(const char* name) {
  static void* const library = dlopen(cuda::driver_path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(library ? dlsym(library, name) : nullptr);
}

class Guest : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    device()
        .synchronize();  // the primary context is current, as after any call of the CUDA runtime
  }

  static void check(unsigned result, const char* what) { ASSERT_EQ(result, 0u) << what; }

  // A stream of the caller that the legacy default stream waits for, the usual kind.
  static cuda::CUstream make_stream() {
    cuda::CUstream stream = nullptr;
    check(cuda::driver().cuStreamCreate(&stream, 0), "cuStreamCreate");
    return stream;
  }
  static void begin_capture(cuda::CUstream stream) {
    const auto begin =
        driver_function<unsigned(cuda::CUstream, unsigned)>("cuStreamBeginCapture_v2");
    check(begin(stream, cuda::CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  }
  static cuda::CUgraph end_capture(cuda::CUstream stream) {
    cuda::CUgraph graph = nullptr;
    const auto end =
        driver_function<unsigned(cuda::CUstream, cuda::CUgraph*)>("cuStreamEndCapture");
    check(end(stream, &graph), "cuStreamEndCapture");
    return graph;
  }
  static void replay(cuda::CUgraph graph, cuda::CUstream stream, int times) {
    void* executable = nullptr;
    const auto instantiate = driver_function<unsigned(void**, cuda::CUgraph, unsigned long long)>(
        "cuGraphInstantiateWithFlags");
    check(instantiate(&executable, graph, 0), "cuGraphInstantiateWithFlags");
    for (int i = 0; i < times; ++i)
      check(driver_function<unsigned(void*, cuda::CUstream)>("cuGraphLaunch")(executable, stream),
            "cuGraphLaunch");
    check(cuda::driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
    check(driver_function<unsigned(void*)>("cuGraphExecDestroy")(executable), "cuGraphExecDestroy");
    check(driver_function<unsigned(cuda::CUgraph)>("cuGraphDestroy")(graph), "cuGraphDestroy");
  }
};

TEST_F(Guest, LaunchesAreCapturedAndReplayed) {
  const Function increment = function("increment");
  const Buffer counter = device_buffer<int>({0});
  const cuda::CUstream stream = make_stream();
  begin_capture(stream);
  for (int i = 0; i < 3; ++i)
    increment[{.block = 32, .stream = Stream::wrap(stream)}](counter.data());
  const cuda::CUgraph graph = end_capture(stream);
  EXPECT_EQ(download<int>(counter), std::vector<int>{0}) << "capturing runs nothing";
  replay(graph, stream, 4);
  EXPECT_EQ(download<int>(counter), std::vector<int>{3 * 32 * 4});
}

TEST_F(Guest, ColdKernelsAndMemoryInsideACapture) {
  const Buffer result = device_buffer(std::vector<int>(1000));
  const cuda::CUstream native = make_stream();
  const Stream stream = Stream::wrap(native);
  Module cold;
  begin_capture(native);
  {
    KernelSource source = gpu_kernel_source();
    source.text += "\n// another text, so that nothing of it is loaded\n";
    cold = Module::load(source, device());
    const Buffer scratch = Buffer::allocate(4000, device(), MemoryKind::Device, stream);
    const std::byte zero{0};
    fill_async({scratch}, 4000, {&zero, 1}, stream);
    cold.function("set_all")[{.block = 128, .stream = stream}](scratch.data(), 11, 500);
    cold.function("reverse")[{.block = 128, .shared_bytes = 100 << 10, .stream = stream}](
        scratch.data(), 1000);
    copy_async({result}, {scratch}, 4000, stream);
  }
  const cuda::CUgraph graph = end_capture(native);
  ASSERT_NE(graph, nullptr);
  // Memory of the graph is not handed out while the graph lives.
  const Buffer other = Buffer::allocate(4000, device(), MemoryKind::Device, stream);
  function("set_all")[{.block = 128, .stream = stream}](other.data(), 77, 1000);
  stream.synchronize();
  replay(graph, native, 2);
  std::vector<int> expected(500, 0);
  expected.insert(expected.end(), 500, 11);
  EXPECT_EQ(download<int>(result), expected);
  EXPECT_EQ(download<int>(other), std::vector<int>(1000, 77));
}

TEST_F(Guest, MemoryOfAGraphComesBackAfterIt) {
  const cuda::CUstream native = make_stream();
  begin_capture(native);
  {
    const Buffer scratch =
        Buffer::allocate(4 << 20, device(), MemoryKind::Device, Stream::wrap(native));
  }
  const cuda::CUgraph graph = end_capture(native);
  const std::size_t during = device().memory().in_use;
  replay(graph, native, 1);
  // The driver may say so a little later, on a thread of its own, and of an earlier graph as well.
  constexpr std::size_t bytes = 4 << 20;
  std::size_t after = during;
  for (int i = 0; i < 200 && after + bytes > during; ++i) {
    device().synchronize();
    device().release_cached_memory();
    after = device().memory().in_use;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(after + bytes, during);
}

TEST_F(Guest, FreeingDuringAnothersCaptureDoesNotSpoilIt) {
  const cuda::CUstream native = make_stream();
  const Stream s = Stream::create(device());
  Buffer buffer = Buffer::allocate(4096, device(), MemoryKind::Device, s);
  Buffer pinned = Buffer::allocate(4096, device(), MemoryKind::Pinned);
  begin_capture(native);
  buffer.record_use(Stream::wrap(native));
  buffer.record_use(Stream::default_of(device()));
  buffer = Buffer();
  pinned = Buffer();
  const Buffer more = Buffer::allocate(4096, device(), MemoryKind::Device, s);
  const cuda::CUgraph graph = end_capture(native);
  ASSERT_NE(graph, nullptr);
  replay(graph, native, 1);
  device().synchronize();
}

TEST_F(Guest, TheCallersContextStaysCurrent) {
  cuda::CUcontext theirs = nullptr, current = nullptr;
  const auto create = driver_function<unsigned(cuda::CUcontext*, unsigned, int)>("cuCtxCreate_v2");
  ASSERT_NE(create, nullptr);
  check(create(&theirs, 0, 0), "cuCtxCreate");
  const Buffer x = device_buffer<int>({1, 2, 3});
  function("scale<int, 3>")[{.block = 3}](x.data());
  EXPECT_EQ(download<int>(x), (std::vector<int>{3, 6, 9}));
  check(cuda::driver().cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  EXPECT_EQ(current, theirs);
  const cuda::CUstream foreign = make_stream();
  EXPECT_THROW(Stream::wrap(foreign), ArgumentError);
  check(driver_function<unsigned(cuda::CUcontext)>("cuCtxDestroy_v2")(theirs), "cuCtxDestroy");
  device().synchronize();
}

// ---- In a process of their own. The tests named Child run only there.

ProcessResult run_child(const std::string& test, std::vector<std::string> environment = {}) {
  return run_process(
      {.arguments = {"/proc/self/exe", "--gtest_also_run_disabled_tests", "--gtest_filter=" + test},
       .environment = std::move(environment),
       .timeout_seconds = 120});
}

class Child : public Gpu {
 protected:
  void SetUp() override {
    if (!GTEST_FLAG_GET(also_run_disabled_tests)) GTEST_SKIP() << "run by the Guest tests";
    Gpu::SetUp();
  }
};

TEST_F(Child, Faults) {
  const Buffer held = device_buffer<int>({1});
  function("spin")[{}](1L);
  try {
    function("write_bad")[{}](16L);
    device().synchronize();
    FAIL() << "must throw";
  } catch (const KernelFault& fault) {
    fmt::print("caught: {}\n", fault.what());
  }
  EXPECT_THROW(Buffer::allocate(1000, device()), KernelFault);
}

TEST_F(Child, Prints) {
  function("say")[{}](17);
  device().synchronize();
}

TEST_F(Guest, AFaultNamesTheKernelAndTheProcessEndsCleanly) {
  const ProcessResult result = run_child("Child.Faults");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(
      result.output,
      HasSubstr(
          "caught: one of the last kernels ('write_bad', 'spin', the newest first) faulted on "
          "cuda:0 with CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(Guest, ABlockingLaunchNamesExactlyTheKernelThatFaults) {
  const ProcessResult result = run_child("Child.Faults", {"TILEWRIGHT_LAUNCH_BLOCKING=1"});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(
      result.output,
      HasSubstr("caught: kernel 'write_bad' faulted on cuda:0 with CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(Guest, KernelsPrint) {
  const ProcessResult result = run_child("Child.Prints");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("the kernel says 17\n"));
}

// CUDA hidden on a machine that has it.
TEST_F(Guest, HiddenCudaIsNotUsed) {
  const ProcessResult result = run_child("Gpu.Properties", {"TILEWRIGHT_CUDA_HOME=none"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("CUDA is hidden by TILEWRIGHT_CUDA_HOME=none"));
}

}  // namespace
}  // namespace tilewright
