// SPDX-License-Identifier: Apache-2.0
// load_inline/text_edits.cpp — changes to a source that keep every line where it was.
#include "load_inline/text_edits.h"

#include <algorithm>

namespace tilewright {

void TextEdits::replace(TextRange range, std::string text) {
  const std::string_view old = text_.substr(range.begin, range.end - range.begin);
  const auto wanted = std::count(old.begin(), old.end(), '\n');
  const auto given = std::count(text.begin(), text.end(), '\n');
  if (given < wanted) text.append(static_cast<std::size_t>(wanted - given), '\n');
  replace_exactly(range, std::move(text));
}

std::string TextEdits::apply() const {
  std::vector<Edit> sorted = edits_;
  std::sort(sorted.begin(), sorted.end(), [](const Edit& a, const Edit& b) {
    if (a.range.begin != b.range.begin) return a.range.begin < b.range.begin;
    const bool a_inserts = a.range.empty(), b_inserts = b.range.empty();
    if (a_inserts != b_inserts) return a_inserts;
    if (!a_inserts && a.range.end != b.range.end) return a.range.end > b.range.end;
    return a.order < b.order;
  });
  std::string out;
  std::size_t at = 0;
  for (const Edit& edit : sorted) {
    if (edit.range.begin < at) continue;
    out += text_.substr(at, edit.range.begin - at);
    out += edit.text;
    at = edit.range.end;
  }
  out += text_.substr(at);
  return out;
}

}  // namespace tilewright
