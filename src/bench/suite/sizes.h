// SPDX-License-Identifier: Apache-2.0
// bench/suite/sizes.h — sizes on the command line: lists by comma, ranges that double, and how time
// grows over them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/suite/record.h"

namespace tilewright::suite {

// "1024", "256,512", "1k..64k" (doubling, the end included when it is met), "1M". k and M are 1024
// and 1024 * 1024. Throws ArgumentError that quotes the text.
std::vector<std::int64_t> parse_sizes(std::string_view text);

// "8192x781", "4096x4096,8192x781", "1024..4096x781".
std::vector<Shape> parse_shapes(std::string_view text);

// One for every way and dtype that was measured at three sizes or more, by least squares over the
// logarithms.
std::vector<Fit> fit_exponents(const std::vector<Record>& records);

}  // namespace tilewright::suite
