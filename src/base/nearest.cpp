// SPDX-License-Identifier: Apache-2.0
// base/nearest.cpp — edit distance and the sentence made from it.
#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {
namespace {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) ==
                        std::tolower(static_cast<unsigned char>(b[j - 1]));
      const int replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view wanted,
                                       std::span<const std::string> known) {
  std::vector<std::pair<int, std::string>> scored;
  for (const std::string& name : known) {
    int distance = edit_distance(wanted, name);
    const std::size_t shorter = std::min(wanted.size(), name.size());
    const std::size_t longer = std::max(wanted.size(), name.size());
    if (shorter >= 3 &&
        (name.find(wanted) != std::string::npos || wanted.find(name) != std::string_view::npos))
      distance = std::min(distance, 1);
    // Two of three letters changed is another word; two of four may be two that were swapped.
    const std::size_t limit = longer <= 3 ? longer / 2 : std::max<std::size_t>(2, longer / 3);
    if (static_cast<std::size_t>(distance) <= limit) scored.emplace_back(distance, name);
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < scored.size() && i < 3; ++i) names.push_back(scored[i].second);
  return names;
}

std::string suggest_names(std::string_view wanted, std::span<const std::string> known) {
  if (known.empty()) return "; there are none";
  const std::vector<std::string> near = nearest_names(wanted, known);
  if (!near.empty()) return fmt::format("; did you mean '{}'?", fmt::join(near, "' or '"));
  const std::size_t shown = std::min<std::size_t>(known.size(), 12);
  return fmt::format("; there {}: {}{}", known.size() == 1 ? "is" : "are",
                     fmt::join(known.first(shown), ", "), shown < known.size() ? ", ..." : "");
}

}  // namespace tilewright
