// SPDX-License-Identifier: Apache-2.0
// cli/info_json.h — `tilewright info --json`.
#pragma once

#include <string>

#include "cli/machine.h"

namespace tilewright::cli {

std::string machine_json(const MachineReport& report);

}  // namespace tilewright::cli
