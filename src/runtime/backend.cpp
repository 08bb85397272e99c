// SPDX-License-Identifier: Apache-2.0
// runtime/backend.cpp — finds the backend of a kind of device, and says when there is none.
#include "runtime/backend.h"

#include "base/check.h"

namespace tilewright {
namespace {

struct CudaState {
  std::string why;
  Backend* backend = cuda_backend(&why);
};

const CudaState& cuda_state() {
  static const CudaState state;
  return state;
}

}  // namespace

Backend& backend(DeviceKind kind) {
  if (kind == DeviceKind::Cpu) return cpu_backend();
  const CudaState& state = cuda_state();
  if (!state.backend) throw MissingError(state.why);
  return *state.backend;
}

Backend& checked_backend(Device device) {
  Backend& found = backend(device.kind);
  const int count = found.device_count();
  if (device.index < 0 || device.index >= count)
    throw MissingError(fmt::format(
        "there is no device {}:{} on this machine; there {} {} of this kind",
        device.is_cpu() ? "cpu" : "cuda", device.index, count == 1 ? "is" : "are", count));
  return found;
}

void Backend::encode_tensor_map(const TensorMapRequest&, TensorMap&, int) {
  throw MissingError(
      "this kernel needs TMA tensor maps; run it on a GPU of compute capability 9.0 or newer");
}

int cuda_device_count() {
  const CudaState& state = cuda_state();
  return state.backend ? state.backend->device_count() : 0;
}

std::string why_no_cuda() { return cuda_state().backend ? "" : cuda_state().why; }

}  // namespace tilewright
