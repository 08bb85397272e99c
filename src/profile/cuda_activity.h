// SPDX-License-Identifier: Apache-2.0
// profile/cuda_activity.h — CUPTI's records of kernels, copies, calls and ranges into a recorder.
#pragma once

#include "profile/recorder.h"

namespace tilewright {

// Begins to record what CUDA does in this process. When that is not possible the recorder gets a
// note that says why. False then.
bool start_cuda_activity(Recorder& recorder);

// Hands over what was completed so far; `all` also waits for buffers that are not full.
void flush_cuda_activity(bool all);

// Ends it: flushes, then records no more.
void stop_cuda_activity();

}  // namespace tilewright
