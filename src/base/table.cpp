// SPDX-License-Identifier: Apache-2.0
// base/table.cpp — column widths and padding.
#include "base/table.h"

#include <algorithm>

#include "base/check.h"
#include "base/quote.h"

namespace tilewright {
namespace {

// Characters on the screen: bytes of UTF-8 that begin one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

Table::Table(std::vector<Column> columns, int indent)
    : columns_(std::move(columns)), indent_(indent) {}

void Table::add(std::vector<std::string> cells) {
  TW_CHECK(cells.size() <= columns_.size(), "{} cells in a table of {} columns", cells.size(),
           columns_.size());
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable_lines(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
  std::string out(static_cast<std::size_t>(indent_), ' ');
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - width_of(cells[i]), ' ');
    if (i > 0) out += "  ";
    out += columns_[i].align == Align::Right ? padding + cells[i] : cells[i] + padding;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

std::string Table::to_string() const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(width_of(column.title));
  }
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  const bool has_titles =
      std::any_of(titles.begin(), titles.end(), [](const std::string& t) { return !t.empty(); });
  std::string out = has_titles ? line(titles, widths) : std::string();
  for (const auto& row : rows_) out += line(row, widths);
  return out;
}

}  // namespace tilewright
