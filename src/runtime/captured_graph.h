// SPDX-License-Identifier: Apache-2.0
// runtime/captured_graph.h — a piece of device work, recorded once and replayed without its launch
// overhead.
#pragma once

#include <functional>
#include <memory>

#include "tilewright/stream.h"

namespace tilewright {

class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;
  virtual void replay(const Stream& stream) = 0;  // the host does not wait
};

// Captures `times` calls of `run`, which must queue their work on the current stream of the device.
// Null where that cannot be captured: on a CPU, or when `run` waits for the device. What `run`
// throws passes through.
std::unique_ptr<CapturedGraph> capture_graph(const std::function<void()>& run, Device device,
                                             int times);

}  // namespace tilewright
