// SPDX-License-Identifier: Apache-2.0
// bench/suite/html.cpp — fills the page's template.
#include "bench/suite/html.h"

#include "base/check.h"
#include "base/embedded.h"
#include "bench/suite/record_json.h"

namespace tilewright::suite {
namespace {

void put(std::string& page, std::string_view place, std::string_view text) {
  const std::size_t at = page.find(place);
  TW_CHECK(at != std::string::npos, "the report's template has no {}", place);
  page.replace(at, place.size(), text);
}

// Nothing in the data may end the script element that holds it.
std::string inside_script(std::string text) {
  for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3))
    text.replace(at, 2, "<\\/");
  return text;
}

}  // namespace

// The data goes in last: it may hold anything, the names of the places too.
std::string report_html(const Report& report) {
  std::string page(embedded_file("suite/report.html"));
  put(page, "@CHART@", embedded_file("chart.js"));
  put(page, "@DATA@", inside_script(report_json(report)));
  return page;
}

}  // namespace tilewright::suite
