// SPDX-License-Identifier: Apache-2.0
// ir/check/finding_text.h — findings as text that another process reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/check/finding.h"

namespace tilewright::ir {

struct CheckedProcess {
  std::int64_t launches = 0;
  std::vector<Finding> findings;
};

std::string text_of(const CheckedProcess& process);
// Lines that are no findings are left out: a process may have been killed while it wrote.
CheckedProcess read_checked(std::string_view text);

}  // namespace tilewright::ir
