// SPDX-License-Identifier: Apache-2.0
// bench/suite/html.cpp — fills the page's template.
#include "bench/suite/html.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/embedded.h"
#include "base/quote.h"
#include "bench/suite/ops.h"
#include "bench/suite/record_json.h"

namespace tilewright::suite {
namespace {

// Fills the places in the order of the text; what was put in is not looked at again.
class Page {
 public:
  explicit Page(std::string_view text) : rest_(text) {}

  void put(std::string_view place, std::string_view text) {
    const std::size_t at = rest_.find(place);
    TW_CHECK(at != std::string_view::npos, "the report's template has no {}", place);
    out_.append(rest_.substr(0, at)).append(text);
    rest_.remove_prefix(at + place.size());
  }
  std::string finish() { return out_.append(rest_); }

 private:
  std::string_view rest_;
  std::string out_;
};

// What was measured, and where: "gelu 4096x1024 float32 on NVIDIA H200".
std::string title_of(const Report& report) {
  std::vector<std::string> ops, dtypes;
  std::set<std::string> sizes;
  const auto add = [](std::vector<std::string>& to, const std::string& text) {
    if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
  };
  for (const Record& record : report.records) {
    add(ops, record.op);
    add(dtypes, record.dtype);
    sizes.insert(shape_text(record.shape));
  }
  std::string what = fmt::format("{}", fmt::join(ops, ", "));
  if (sizes.size() == 1) what += " " + *sizes.begin();
  else if (sizes.size() > 1) what += fmt::format(", {} sizes,", sizes.size());
  return fmt::format("{} {} on {}", what, fmt::join(dtypes, ", "), report.device_name);
}

std::string subtitle_of(const Report& report) {
  const std::size_t count = report.records.size();
  return fmt::format("{}{}tilewright {}, {} measurement{}{}", report.date,
                     report.date.empty() ? "" : ", ", report.version, count, count == 1 ? "" : "s",
                     report.is_interrupted ? ", interrupted: partial results" : "");
}

}  // namespace

std::string report_html(const Report& report) {
  const std::string title = xml_text(title_of(report)), command = xml_text(report.command);
  Page page(embedded_file("suite/report.html"));
  page.put("@TITLE@", title);
  page.put("@TITLE@", title);
  page.put("@SUBTITLE@", xml_text(subtitle_of(report)));
  page.put("@COMMAND@", command);
  page.put("@COMMAND@", command);
  page.put("@DATA@", json_in_script(report_json(report)));
  page.put("@CHART@", embedded_file("chart.js"));
  return page.finish();
}

}  // namespace tilewright::suite
