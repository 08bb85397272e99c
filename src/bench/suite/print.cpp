// SPDX-License-Identifier: Apache-2.0
// bench/suite/print.cpp — the same cells in three dresses.
#include "bench/suite/print.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quote.h"
#include "base/table.h"
#include "base/units.h"
#include "bench/suite/ops.h"

namespace tilewright::suite {
namespace {

using Cells = std::vector<std::string>;

std::string time_text(const Record& r) { return r.is_measured() ? format_seconds(r.seconds) : "-"; }

std::string spread_text(const Record& r) {
  if (!r.is_measured()) return "";
  return fmt::format("{:.0f}%..+{:.0f}%", 100 * (r.p10 / r.seconds - 1),
                     100 * (r.p90 / r.seconds - 1));
}

std::string percent_text(const Record& r) {
  if (r.percent_of_ceiling <= 0) return "-";
  return fmt::format("{:.{}f}%", r.percent_of_ceiling, r.percent_of_ceiling < 10 ? 1 : 0);
}

const Cells titles = {"way",   "time",    "p10..p90", "rate",  "of ceiling",
                      "moved", "kernels", "lines",    "error", ""};

Cells cells_of(const Record& r) {
  return {r.way,
          time_text(r),
          spread_text(r),
          r.is_measured() ? format_rate(r.rate, r.unit) : "-",
          percent_text(r),
          r.bytes_moved > 0 ? format_bytes(static_cast<std::size_t>(r.bytes_moved)) : "-",
          r.kernels > 0 ? fmt::format("{}", r.kernels) : "-",
          r.lines > 0 ? fmt::format("{}", r.lines) : "-",
          r.error ? fmt::format("{:.1e}", *r.error) : "-",
          remark_of(r)};
}

bool is_same_case(const Record& a, const Record& b) {
  return a.op == b.op && a.shape == b.shape && a.dtype == b.dtype;
}

using Group = std::span<const Record>;

std::vector<Group> groups_of(const std::vector<Record>& records) {
  std::vector<Group> groups;
  for (std::size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    while (end < records.size() && is_same_case(records[begin], records[end])) ++end;
    groups.push_back(Group(records).subspan(begin, end - begin));
  }
  return groups;
}

std::string ceiling_text(const Report& report) {
  const Ceilings& c = report.ceilings;
  if (c.bytes_per_second <= 0) return fmt::format("no ceiling was measured: {}", c.problem);
  std::string text = fmt::format("a copy makes {}", format_rate(c.bytes_per_second, "B/s"));
  if (c.flops_per_second > 0)
    text += fmt::format(", multiply-adds {}", format_rate(c.flops_per_second, "FLOP/s"));
  for (const auto& [dtype, rate] : c.matrix)
    if (rate > 0) text += fmt::format(", products of {} {}", dtype, format_rate(rate, "FLOP/s"));
  return text;
}

std::string heading(const Record& r) {
  return fmt::format("{} {} {} on {}: at least {}", r.op, shape_text(r.shape), r.dtype, r.device,
                     format_bytes(static_cast<std::size_t>(r.bytes)));
}

std::string machine_line(const Report& report) {
  std::string text = fmt::format("{}: {}", report.device_name, ceiling_text(report));
  if (!report.rivals.empty()) text += "; " + report.rivals;
  if (!report.clock_note.empty()) text += "; " + report.clock_note;
  return text;
}

std::string fits_text(const Report& report) {
  std::string out;
  for (const Fit& fit : report.fits)
    out += fmt::format("{} {}: time ~ {}^{:.2f} over {} sizes\n", fit.way, fit.dtype, fit.against,
                       fit.exponent, fit.points);
  return out;
}

std::string text_table(Group group) {
  std::vector<Table::Column> columns;
  for (std::size_t i = 0; i < titles.size(); ++i)
    columns.push_back({titles[i], i == 0 || i + 1 == titles.size() ? Align::Left : Align::Right});
  Table table(std::move(columns), 2);
  for (const Record& record : group) table.add(cells_of(record));
  return table.to_string();
}

std::string explanations_text(Group group) {
  std::string out;
  for (const Record& record : group) {
    if (record.explanation.empty()) continue;
    Table table({{}, {}}, 4);
    for (const auto& [topic, text] : record.explanation) table.add({topic, text});
    out += fmt::format("\n  {}\n{}", record.way, table.to_string());
  }
  return out;
}

std::string markdown_line(const Cells& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += fmt::format(" {} |", markdown_text(cell));
  return line + "\n";
}

std::string number(double value) { return value > 0 ? fmt::format("{:.6g}", value) : ""; }

}  // namespace

bool is_unsteady(const Record& r) {
  return r.is_measured() && !r.is_stable && r.status == Status::Ok && r.runs >= 11;
}

std::string remark_of(const Record& r) {
  Cells parts;
  if (r.status == Status::Interrupted)
    parts.push_back(fmt::format("interrupted after {} runs", r.runs));
  else if (r.status != Status::Ok)
    parts.push_back(fmt::format("{}: {}", name_of(r.status), r.reason));
  if (!r.note.empty()) parts.push_back(r.note);
  // Where queueing takes as long as the work, the device waits for the host.
  if (r.host_seconds > 0.5 * r.seconds && r.is_measured())
    parts.push_back(fmt::format("host {} per run", format_seconds(r.host_seconds)));
  if (r.graph_seconds > 0)
    parts.push_back(fmt::format("in a graph {}", format_seconds(r.graph_seconds)));
  if (is_unsteady(r)) parts.emplace_back("not steady");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string report_text(const Report& report) {
  std::string out = machine_line(report) + "\n";
  for (const Group& group : groups_of(report.records))
    out += fmt::format("\n{}\n{}{}", heading(group.front()), text_table(group),
                       explanations_text(group));
  const std::string fits = fits_text(report);
  if (!fits.empty()) out += "\n" + fits;
  if (report.is_interrupted) out += "\ninterrupted: these are partial results\n";
  return out;
}

std::string report_markdown(const Report& report) {
  std::string out = machine_line(report) + "\n";
  for (const Group& group : groups_of(report.records)) {
    out += fmt::format("\n{}\n\n{}", markdown_text(heading(group.front())), markdown_line(titles));
    out += "|---|" + [] {
      std::string rest;
      for (std::size_t i = 2; i < titles.size(); ++i) rest += "---:|";
      return rest + "---|\n";
    }();
    for (const Record& record : group) out += markdown_line(cells_of(record));
  }
  const std::string fits = fits_text(report);
  if (!fits.empty()) out += "\n" + fits;
  if (report.is_interrupted) out += "\ninterrupted: these are partial results\n";
  return out;
}

std::string report_csv(const Report& report) {
  std::string out =
      "op,way,device,dtype,shape,seconds,p10,p90,rate,unit,percent_of_ceiling,bytes,bytes_moved,"
      "kernels,lines,runs,error,status,reason\n";
  for (const Record& r : report.records)
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.0f},{:.0f},{},{},{},{},{},{}\n",
                       csv_cell(r.op), csv_cell(r.way), r.device, r.dtype, shape_text(r.shape),
                       number(r.seconds), number(r.p10), number(r.p90), number(r.rate), r.unit,
                       number(r.percent_of_ceiling), r.bytes, r.bytes_moved, r.kernels, r.lines,
                       r.runs, r.error ? fmt::format("{:.3e}", *r.error) : "", name_of(r.status),
                       csv_cell(r.reason));
  return out;
}

}  // namespace tilewright::suite
