// SPDX-License-Identifier: Apache-2.0
// base/table.h — text in aligned columns.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

enum class Align { Left, Right };

class Table {
 public:
  // One entry per column; a title may be empty, and no title line is printed when all are.
  struct Column {
    std::string title;
    Align align = Align::Left;
  };
  explicit Table(std::vector<Column> columns, int indent = 0);

  // Missing cells at the end are empty; too many are an InternalError.
  void add(std::vector<std::string> cells);

  // Columns are two spaces apart; lines have no trailing spaces.
  std::string to_string() const;

 private:
  std::string line(const std::vector<std::string>& cells,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  int indent_;
};

}  // namespace tilewright
