// SPDX-License-Identifier: Apache-2.0
// machine/reported.cpp — versions that sources ask for.
#include "machine/reported.h"

namespace tilewright {

ComputeCapability reported_capability(const Target& target) {
  if (!target.is_cuda()) return {.major = 9, .minor = 0};
  return {.major = target.capability_major, .minor = target.capability_minor};
}

}  // namespace tilewright
