// SPDX-License-Identifier: Apache-2.0
// layout/picture.cpp — a table of cells of one width.
#include "layout/picture.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace tilewright {
namespace {

std::string cell(const Layout& layout, std::uint64_t element) {
  const Place place = layout.owner(element);
  const std::uint64_t thread = place.warp << layout.lanes().columns() | place.lane;
  return fmt::format("{}:{}", thread, place.reg);
}

}  // namespace

std::string picture(const Layout& layout, LogSizes sizes, const PictureOptions& options) {
  const std::size_t rank = sizes.size();
  const int log_columns = rank >= 1 ? sizes[rank - 1] : 0;
  const int log_rows = rank >= 2 ? sizes[rank - 2] : 0;
  const int rows = std::min(1 << log_rows, options.most_rows);
  const int columns = std::min(1 << log_columns, options.most_columns);
  std::vector<std::vector<std::string>> cells;
  std::size_t width = 2;
  for (int row = 0; row < rows; ++row) {
    cells.emplace_back();
    for (int column = 0; column < columns; ++column) {
      const auto index = static_cast<std::uint64_t>((row << log_columns) + column);
      cells.back().push_back(cell(layout, index));
      width = std::max(width, cells.back().back().size());
    }
  }
  std::string out = "    ";
  for (int column = 0; column < columns; ++column) out += fmt::format("  {:>{}}", column, width);
  out += '\n';
  const bool is_wide = columns < 1 << log_columns;
  for (int row = 0; row < rows; ++row) {
    out += fmt::format("{:>4}", row);
    for (const std::string& text : cells[static_cast<std::size_t>(row)])
      out += fmt::format("  {:>{}}", text, width);
    out += is_wide ? "  ..\n" : "\n";
  }
  if (rows < 1 << log_rows) out += "  ..\n";
  return out;
}

}  // namespace tilewright
