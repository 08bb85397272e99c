// SPDX-License-Identifier: Apache-2.0
// profile/devices.cpp — asks the runtime; a device that cannot be asked is left out.
#include "profile/devices.h"

#include "tilewright/device.h"
#include "tilewright/error.h"

namespace tilewright {

bool has_cuda_devices() { return cuda_device_count() > 0; }

void note_devices(Recorder& recorder) {
  try {
    for (int i = 0; i < cuda_device_count(); ++i) {
      const DeviceProperties& properties = Device::cuda(i).properties();
      recorder.add_device(
          {i, properties.target.processors, properties.name, properties.target.name});
    }
  } catch (const Error& error) {
    recorder.note(std::string("the GPUs could not be named: ") + error.what());
  }
}

void synchronize_devices() { default_device().synchronize(); }

}  // namespace tilewright
