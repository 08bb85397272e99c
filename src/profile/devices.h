// SPDX-License-Identifier: Apache-2.0
// profile/devices.h — the GPUs of this process, as far as a profile asks for them.
#pragma once

#include "profile/recorder.h"

namespace tilewright {

bool has_cuda_devices();
void note_devices(Recorder& recorder);  // their names and processors
void synchronize_devices();

}  // namespace tilewright
