// SPDX-License-Identifier: Apache-2.0
// runtime/kernel_graph.h — kernels as nodes of a CUDA graph: built once, launched as one, and their
// arguments changed in place.
//
//   graph->add([&] { function.launch(config, arguments); });      // nothing runs
//   graph->finish();
//   graph->replay(stream);
//   graph->change(0, [&] { function.launch(config, others); });   // of later replays
//
// A launch is made as always, so that its plan, its sizes and its tensor maps are those of any
// other one; only its kernels go to the graph. One that needs memory of its own cannot be a node.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "tilewright/stream.h"

namespace tilewright {

struct PreparedLaunch;

class KernelGraph {
 public:
  virtual ~KernelGraph() = default;
  // Nodes run one after the other. Throws NotANode where the launch cannot be one.
  virtual void add(const std::function<void()>& launch) = 0;
  virtual void finish() = 0;
  // The same kernels with other arguments, in place of those that launch `number` made.
  virtual void change(std::size_t number, const std::function<void()>& launch) = 0;
  virtual void replay(const Stream& stream) = 0;  // the host does not wait
};

// Null on a CPU.
std::unique_ptr<KernelGraph> make_kernel_graph(Device device);

struct NotANode {
  const char* reason;
};

// Where the kernels of this thread's launches go instead of their stream; null: nowhere else.
class KernelSink {
 public:
  virtual ~KernelSink() = default;
  virtual void take(void* function, const PreparedLaunch& launch) = 0;
};
extern thread_local KernelSink* kernel_sink;

}  // namespace tilewright
