// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/kernel_graph.cpp — nodes of kernels, their executable, and changes of it.
#include "runtime/kernel_graph.h"

#include <vector>

#include "base/check.h"
#include "runtime/backend.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/errors.h"

namespace tilewright {

thread_local KernelSink* kernel_sink = nullptr;

namespace {

using namespace cuda;

CUDA_KERNEL_NODE_PARAMS node_parameters(void* function, const PreparedLaunch& launch) {
  return {.func = static_cast<CUfunction>(function),
          .gridDimX = launch.grid[0],
          .gridDimY = launch.grid[1],
          .gridDimZ = launch.grid[2],
          .blockDimX = launch.block[0],
          .blockDimY = launch.block[1],
          .blockDimZ = launch.block[2],
          .sharedMemBytes = launch.shared_bytes,
          .kernelParams = const_cast<void**>(launch.parameters),
          .extra = nullptr,
          .kern = nullptr,
          .ctx = nullptr};
}

class SinkScope {
 public:
  explicit SinkScope(KernelSink& sink) { kernel_sink = &sink; }
  ~SinkScope() { kernel_sink = nullptr; }
  SinkScope(const SinkScope&) = delete;
  SinkScope& operator=(const SinkScope&) = delete;
};

class CudaKernelGraph final : public KernelGraph {
 public:
  explicit CudaKernelGraph(int device) : device_(device) {
    const ContextScope scope(device);
    TW_CUDA(cuGraphCreate(&graph_, 0));
  }
  ~CudaKernelGraph() override {
    if (executable_) static_cast<void>(driver().cuGraphExecDestroy(executable_));
    static_cast<void>(driver().cuGraphDestroy(graph_));
  }
  CudaKernelGraph(const CudaKernelGraph&) = delete;
  CudaKernelGraph& operator=(const CudaKernelGraph&) = delete;

  void add(const std::function<void()>& launch) override {
    first_.push_back(nodes_.size());
    Adder adder(*this);
    const SinkScope scope(adder);
    launch();
  }

  void finish() override {
    const ContextScope scope(device_);
    TW_CUDA(cuGraphInstantiateWithFlags(&executable_, graph_, 0));
  }

  void change(std::size_t number, const std::function<void()>& launch) override {
    Changer changer(*this, first_.at(number));
    const SinkScope scope(changer);
    launch();
    const std::size_t end = number + 1 < first_.size() ? first_[number + 1] : nodes_.size();
    TW_CHECK(changer.next == end, "a launch of a graph has other kernels than before");
  }

  void replay(const Stream& stream) override {
    const ContextScope scope(device_);
    TW_CUDA(cuGraphLaunch(executable_, static_cast<CUstream>(stream.native())));
  }

 private:
  struct Adder final : KernelSink {
    explicit Adder(CudaKernelGraph& to) : graph(to) {}
    void take(void* function, const PreparedLaunch& launch) override {
      graph.add_node(function, launch);
    }
    CudaKernelGraph& graph;
  };
  struct Changer final : KernelSink {
    Changer(CudaKernelGraph& to, std::size_t first) : graph(to), next(first) {}
    void take(void* function, const PreparedLaunch& launch) override {
      TW_CHECK(next < graph.nodes_.size(), "a launch of a graph has more kernels than before");
      const CUDA_KERNEL_NODE_PARAMS parameters = node_parameters(function, launch);
      TW_CUDA(
          cuGraphExecKernelNodeSetParams_v2(graph.executable_, graph.nodes_[next++], &parameters));
    }
    CudaKernelGraph& graph;
    std::size_t next;
  };

  void add_node(void* function, const PreparedLaunch& launch) {
    const CUDA_KERNEL_NODE_PARAMS parameters = node_parameters(function, launch);
    const CUgraphNode* const before = nodes_.empty() ? nullptr : &nodes_.back();
    CUgraphNode node = nullptr;
    TW_CUDA(cuGraphAddKernelNode_v2(&node, graph_, before, before ? 1 : 0, &parameters));
    nodes_.push_back(node);
    CUlaunchAttributeValue value{};
    if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] != 1) {
      value.clusterDim = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
      TW_CUDA(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    }
    if (launch.cooperative) {
      value = {};
      value.cooperative = 1;
      TW_CUDA(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    }
  }

  const int device_;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
  std::vector<CUgraphNode> nodes_;
  std::vector<std::size_t> first_;  // node of each launch
};

}  // namespace

std::unique_ptr<KernelGraph> make_kernel_graph(Device device) {
  if (!device.is_cuda()) return nullptr;
  return std::make_unique<CudaKernelGraph>(device.index);
}

}  // namespace tilewright
