// SPDX-License-Identifier: Apache-2.0
// base/text_writer.h — builds generated source that is made to be read: indented lines and brace
// blocks.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tilewright {

class TextWriter {
 public:
  // One indented line; an empty one stays empty.
  void line(std::string_view text = {}) {
    if (!text.empty()) out_.append(static_cast<std::size_t>(2 * depth_), ' ').append(text);
    out_ += '\n';
  }
  template <class... Values>
  void format(fmt::format_string<Values...> pattern, Values&&... values) {
    line(fmt::format(pattern, std::forward<Values>(values)...));
  }
  // `header {` ... `}`: lines in between are indented.
  void open(std::string_view header) {
    line(std::string(header) + " {");
    ++depth_;
  }
  void close(std::string_view trailer = {}) {
    --depth_;
    line("}" + std::string(trailer));
  }
  // One level less without a line of its own, before a line that closes and opens: "} else {".
  void outdent() { --depth_; }
  // Text that is already laid out, as it is.
  void raw(std::string_view text) { out_ += text; }

  const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  int depth_ = 0;
};

}  // namespace tilewright
