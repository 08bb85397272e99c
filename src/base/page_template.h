// SPDX-License-Identifier: Apache-2.0
// base/page_template.h — an embedded page whose places (@TITLE@) are filled.
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

// Fills the places in the order of the text; what was put in is not looked at again.
class PageTemplate {
 public:
  explicit PageTemplate(std::string_view text) : rest_(text) {}

  void put(std::string_view place, std::string_view text);
  std::string finish() { return out_.append(rest_); }

 private:
  std::string_view rest_;
  std::string out_;
};

}  // namespace tilewright
