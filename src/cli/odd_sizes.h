// SPDX-License-Identifier: Apache-2.0
// cli/odd_sizes.h — `tilewright check --sizes odd`: the launch again with sizes at which a
// forgotten comparison shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::cli {

// Throws UsageError for anything but "odd" and nothing.
void check_sizes_option(const std::string& sizes);

// Around `block`, the most threads or elements that one block takes. Throws UsageError where no
// size has a name.
std::vector<std::vector<std::string>> odd_arguments(const std::vector<std::string>& given,
                                                    std::int64_t block);

// "with n=13"
std::string sizes_note(const std::vector<std::string>& arguments);

}  // namespace tilewright::cli
