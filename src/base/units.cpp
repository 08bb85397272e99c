// SPDX-License-Identifier: Apache-2.0
// base/units.cpp — choice of prefix and number of digits.
#include "base/units.h"

#include <cmath>

#include <fmt/format.h>

namespace tilewright {
namespace {

// Three significant digits, as in "1.50", "12.3", "850".
std::string three_digits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace

std::string format_bytes(std::size_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1023.5 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  return three_digits(value) + " " + units[unit];
}

std::string format_seconds(double seconds) {
  const double size = std::fabs(seconds);
  if (size >= 1) return three_digits(seconds) + " s";
  if (size >= 1e-3) return three_digits(seconds * 1e3) + " ms";
  if (size >= 1e-6) return three_digits(seconds * 1e6) + " us";
  return three_digits(seconds * 1e9) + " ns";
}

std::string format_rate(double per_second, const std::string& unit) {
  static constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  double value = per_second;
  int prefix = 0;
  while (std::fabs(value) >= 999.5 && prefix < 5) {
    value /= 1000;
    ++prefix;
  }
  return three_digits(value) + " " + prefixes[prefix] + unit;
}

}  // namespace tilewright
