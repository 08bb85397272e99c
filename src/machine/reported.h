// SPDX-License-Identifier: Apache-2.0
// machine/reported.h — what a user's source is told when it asks for the version of its machine.
#pragma once

#include "tilewright/target.h"

namespace tilewright {

struct ComputeCapability {
  int major = 0;
  int minor = 0;
};

// Host code that asks for a GPU while there is none still has to be read: it was written for one,
// and is told of the newest that most of it knows.
ComputeCapability reported_capability(const Target& target);

}  // namespace tilewright
