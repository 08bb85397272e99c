// SPDX-License-Identifier: Apache-2.0
// base/units.h — numbers with units, as people read them: "1.50 GiB", "12.3 us", "4.21 TB/s".
#pragma once

#include <cstddef>
#include <string>

namespace tilewright {

std::string format_bytes(std::size_t bytes);  // binary prefixes: "256 B", "1.50 GiB"
std::string format_seconds(double seconds);   // "850 ns", "12.3 us", "1.20 ms", "3.00 s"
std::string format_rate(double per_second,
                        const std::string& unit);  // decimal prefixes: "4.21 TB/s" from unit "B/s"

}  // namespace tilewright
