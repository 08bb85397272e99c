// SPDX-License-Identifier: Apache-2.0
// tilewright/version.h — the version of these headers; `version()` is that of the library that was
// loaded.
#pragma once

#define TILEWRIGHT_VERSION "0.1.0"

namespace tilewright {

const char* version();

}  // namespace tilewright
