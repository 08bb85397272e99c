// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/captured_graph.cpp — stream capture, and the graph's replay.
#include "runtime/captured_graph.h"

#include "runtime/backend.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/errors.h"

namespace tilewright {
namespace {

using namespace cuda;

class CudaGraph : public CapturedGraph {
 public:
  CudaGraph(CUgraph graph, CUgraphExec executable) : graph_(graph), executable_(executable) {}
  ~CudaGraph() override {
    static_cast<void>(driver().cuGraphExecDestroy(executable_));
    static_cast<void>(driver().cuGraphDestroy(graph_));
  }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void replay(const Stream& stream) override {
    const ContextScope scope(stream.device().index);
    TW_CUDA(cuGraphLaunch(executable_, static_cast<CUstream>(stream.native())));
  }

 private:
  CUgraph graph_;
  CUgraphExec executable_;
};

// Ends the capture also when `run` throws: a stream left in capture mode can do nothing else.
CUgraph recorded(const std::function<void()>& run, CUstream stream, int times) {
  CUgraph graph = nullptr;
  try {
    for (int i = 0; i < times; ++i) run();
  } catch (...) {
    static_cast<void>(driver().cuStreamEndCapture(stream, &graph));
    if (graph) static_cast<void>(driver().cuGraphDestroy(graph));
    throw;
  }
  return driver().cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS ? graph : nullptr;
}

}  // namespace

std::unique_ptr<CapturedGraph> capture_graph(const std::function<void()>& run, Device device,
                                             int times) {
  if (!device.is_cuda()) return nullptr;
  // The legacy default stream cannot be captured.
  const Stream stream = Stream::create(device);
  const StreamGuard guard(stream);
  const auto native = static_cast<CUstream>(stream.native());
  const ContextScope scope(device.index);
  if (driver().cuStreamBeginCapture_v2(native, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) != CUDA_SUCCESS)
    return nullptr;
  const CUgraph graph = recorded(run, native, times);
  if (!graph) return nullptr;
  CUgraphExec executable = nullptr;
  if (driver().cuGraphInstantiateWithFlags(&executable, graph, 0) == CUDA_SUCCESS)
    return std::make_unique<CudaGraph>(graph, executable);
  static_cast<void>(driver().cuGraphDestroy(graph));
  return nullptr;
}

}  // namespace tilewright
