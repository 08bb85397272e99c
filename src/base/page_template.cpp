// SPDX-License-Identifier: Apache-2.0
// base/page_template.cpp — text up to a place, then what stands there.
#include "base/page_template.h"

#include "base/check.h"

namespace tilewright {

void PageTemplate::put(std::string_view place, std::string_view text) {
  const std::size_t at = rest_.find(place);
  TW_CHECK(at != std::string_view::npos, "the page's template has no {}", place);
  out_.append(rest_.substr(0, at)).append(text);
  rest_.remove_prefix(at + place.size());
}

}  // namespace tilewright
