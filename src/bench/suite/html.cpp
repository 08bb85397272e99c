// SPDX-License-Identifier: Apache-2.0
// bench/suite/html.cpp — fills the page's template.
#include "bench/suite/html.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/embedded.h"
#include "base/page_template.h"
#include "base/quote.h"
#include "bench/suite/ops.h"
#include "bench/suite/record_json.h"

namespace tilewright::suite {
namespace {

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

// Which operations of a compiled function share a kernel, and what goes between kernels.
std::string graphs_of(const Report& report) {
  std::string graphs;
  for (const Record& record : report.records)
    if (!record.drawing.empty())
      graphs += fmt::format("<details><summary>{} {} {}, {}: {} kernel{}</summary>\n{}</details>\n",
                            xml_text(record.op), shape_text(record.shape), record.dtype,
                            xml_text(record.way), record.kernels, record.kernels == 1 ? "" : "s",
                            record.drawing);
  if (graphs.empty()) return graphs;
  return "<section id=\"graphs\"><h2>Kernels of compiled functions</h2>\n" + graphs +
         "</section>\n";
}

}  // namespace

std::string report_html(const Report& report) {
  const std::string title = xml_text(title_of(report)), command = xml_text(report.command);
  PageTemplate page(embedded_file("suite/report.html"));
  page.put("@TITLE@", title);
  page.put("@TITLE@", title);
  page.put("@SUBTITLE@", xml_text(subtitle_of(report)));
  page.put("@COMMAND@", command);
  page.put("@GRAPHS@", graphs_of(report));
  page.put("@COMMAND@", command);
  page.put("@DATA@", json_in_script(report_json(report)));
  page.put("@CHART@", embedded_file("chart.js"));
  return page.finish();
}

}  // namespace tilewright::suite
