// SPDX-License-Identifier: Apache-2.0
// load_inline/text_edits.h — changes to a source that keep every line where it was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "load_inline/outline.h"

namespace tilewright {

class TextEdits {
 public:
  explicit TextEdits(std::string_view text) : text_(text) {}

  // The new text gets as many line ends as the old one has, so that what follows keeps its line
  // number.
  void replace(TextRange range, std::string text);
  void blank(TextRange range) { replace(range, {}); }
  void insert(std::size_t offset, std::string text) {
    edits_.push_back({{offset, offset}, std::move(text), edits_.size()});
  }
  // As it is: for edits that move a text with its line ends to another place.
  void replace_exactly(TextRange range, std::string text) {
    edits_.push_back({range, std::move(text), edits_.size()});
  }

  // All edits at once; an edit inside a range that another one replaces is dropped.
  std::string apply() const;

 private:
  struct Edit {
    TextRange range;
    std::string text;
    std::size_t order;
  };
  std::string_view text_;
  std::vector<Edit> edits_;
};

}  // namespace tilewright
