// SPDX-License-Identifier: Apache-2.0
// cli/step_print.cpp — summaries, slices and maps of tiles.
#include "cli/step_print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/check/checker.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

double number_of(const ir::Type& type, ir::Element element) {
  if (type.is_float()) return element.f;
  return type.is_pointer ? static_cast<double>(ir::TaggedPointer::address(element.i))
                         : static_cast<double>(element.i);
}

struct Summary {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  std::int64_t nan = 0;
  std::int64_t infinite = 0;
};

Summary summary_of(const ir::Tile& tile) {
  Summary s;
  for (const ir::Element element : tile.elements) {
    const double value = number_of(tile.type, element);
    s.nan += std::isnan(value);
    s.infinite += std::isinf(value);
    if (!std::isfinite(value)) continue;
    s.low = std::min(s.low, value);
    s.high = std::max(s.high, value);
  }
  return s;
}

std::string type_text(const ir::Type& type) {
  const std::string element = fmt::format("{}{}", type.is_pointer ? "*" : "", name_of(type.dtype));
  return type.is_scalar() ? element : fmt::format("{}[{}]", element, fmt::join(type.shape(), ", "));
}

// One dimension of a slice.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;  // one past it
  bool is_index = false;
};

std::int64_t bound_of(std::string_view text, std::int64_t otherwise, std::int64_t size) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) return otherwise;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw ArgumentError(fmt::format("'{}' is no index; write numbers and ranges: [0:4, 7]", text));
  return value < 0 ? value + size : value;
}

Range range_of(std::string_view text, std::int64_t size) {
  const std::size_t colon = text.find(':');
  Range range;
  range.is_index = colon == std::string_view::npos;
  range.first = bound_of(text.substr(0, colon), 0, size);
  range.last = range.is_index ? range.first + 1 : bound_of(text.substr(colon + 1), size, size);
  range.last = std::min(range.last, size);
  if (range.first < 0 || range.first >= range.last)
    throw ArgumentError(fmt::format("'{}' is outside of a dimension of {}", text, size));
  return range;
}

// Rows of the last dimension; a scalar is one row.
struct Rows {
  std::size_t count = 1;
  std::size_t length = 1;
  explicit Rows(const ir::Tile& tile, std::int64_t last_size) {
    length = static_cast<std::size_t>(std::max<std::int64_t>(last_size, 1));
    count = tile.size() / length;
  }
};

std::int64_t row_length(const ir::Tile& tile) {
  return tile.type.is_scalar() ? static_cast<std::int64_t>(tile.size())
                               : tile.type.size(tile.type.rank - 1);
}

}  // namespace

std::string element_text(const ir::Type& type, ir::Element element) {
  return ir::value_text(type, element);
}

std::string tile_text(const ir::Tile& tile) {
  if (tile.size() == 1 && tile.type.is_scalar())
    return fmt::format("{}  {}", type_text(tile.type), element_text(tile.type, tile.elements[0]));
  std::string text = type_text(tile.type);
  if (!tile.type.is_bool() && !tile.type.is_pointer) {
    const Summary s = summary_of(tile);
    if (s.low <= s.high) text += fmt::format("  min {:.6g}  max {:.6g}", s.low, s.high);
    if (tile.type.is_float()) text += fmt::format("  NaN {}", s.nan);
    if (s.infinite > 0) text += fmt::format("  infinite {}", s.infinite);
  } else if (tile.type.is_bool()) {
    std::int64_t on = 0;
    for (const ir::Element element : tile.elements) on += element.i != 0;
    text += fmt::format("  true {} of {}", on, tile.size());
  }
  const Rows rows(tile, row_length(tile));
  constexpr std::size_t shown_rows = 8, shown_columns = 8;
  for (std::size_t r = 0; r < std::min(rows.count, shown_rows); ++r) {
    std::vector<std::string> values;
    for (std::size_t c = 0; c < std::min(rows.length, shown_columns); ++c)
      values.push_back(element_text(tile.type, tile.elements[r * rows.length + c]));
    text += fmt::format("\n  {}{}", fmt::join(values, ", "),
                        rows.length > shown_columns ? ", ..." : "");
  }
  if (rows.count > shown_rows) text += "\n  ...";
  return text;
}

ir::Tile tile_slice(const ir::Tile& tile, const std::string& indices) {
  std::vector<Range> ranges;
  std::string_view rest = indices;
  for (int d = 0; d < tile.type.rank; ++d) {
    const std::size_t comma = rest.find(',');
    ranges.push_back(range_of(rest.empty() ? ":" : rest.substr(0, comma), tile.type.size(d)));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  if (!rest.empty() || tile.type.is_scalar())
    throw ArgumentError(
        fmt::format("the tile has {} dimensions, and '[{}]' has more", tile.type.rank, indices));
  ir::Tile out{tile.type.element(), {}};
  for (std::size_t i = 0; i < tile.size(); ++i) {
    auto at = static_cast<std::int64_t>(i);
    bool is_inside = true;
    for (int d = tile.type.rank - 1; d >= 0; --d) {
      const std::int64_t index = at % tile.type.size(d);
      at /= tile.type.size(d);
      const Range& range = ranges[static_cast<std::size_t>(d)];
      is_inside &= index >= range.first && index < range.last;
    }
    if (is_inside) out.elements.push_back(tile.elements[i]);
  }
  return out;
}

std::string heat_map(const ir::Tile& tile) {
  static constexpr std::string_view shades = " .:-=+*#%@";
  constexpr std::size_t most_rows = 32, most_columns = 64;
  const Rows rows(tile, row_length(tile));
  const Summary s = summary_of(tile);
  const std::size_t down = (rows.count + most_rows - 1) / most_rows;
  const std::size_t across = (rows.length + most_columns - 1) / most_columns;
  std::string text = fmt::format("from '{}' = {:.6g} to '{}' = {:.6g}, NaN '?'", shades.front(),
                                 s.low, shades.back(), s.high);
  for (std::size_t r = 0; r < rows.count; r += down) {
    text += "\n  |";
    for (std::size_t c = 0; c < rows.length; c += across) {
      double high = -std::numeric_limits<double>::infinity();
      bool has_nan = false;
      for (std::size_t y = r; y < std::min(r + down, rows.count); ++y)
        for (std::size_t x = c; x < std::min(c + across, rows.length); ++x) {
          const double value = number_of(tile.type, tile.elements[y * rows.length + x]);
          has_nan |= std::isnan(value);
          high = std::max(high, std::isnan(value) ? high : value);
        }
      const double share = s.high > s.low ? (high - s.low) / (s.high - s.low) : 0;
      const auto shade = static_cast<std::size_t>(
          std::clamp(share, 0.0, 1.0) * static_cast<double>(shades.size() - 1) + 0.5);
      text += has_nan ? '?' : shades[shade];
    }
    text += '|';
  }
  return text;
}

}  // namespace tilewright::cli
