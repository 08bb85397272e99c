// SPDX-License-Identifier: Apache-2.0
// bench/suite/record_json.cpp — one table of fields serves writing and reading.
#include "bench/suite/record_json.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/input_file.h"
#include "bench/json.h"
#include "bench/suite/explain.h"
#include "bench/suite/print.h"
#include "tilewright/error.h"

namespace tilewright::suite {
namespace {

constexpr std::array statuses = {std::pair{Status::Ok, "ok"}, std::pair{Status::Wrong, "wrong"},
                                 std::pair{Status::Failed, "failed"},
                                 std::pair{Status::NotAvailable, "not available"},
                                 std::pair{Status::Interrupted, "interrupted"}};

// Calls `field(name, member)` for every field that is a plain number or text.
template <class AnyRecord, class Field>
void each_field(AnyRecord& r, const Field& field) {
  field("op", r.op), field("way", r.way), field("device", r.device), field("dtype", r.dtype);
  field("shape", r.shape), field("dim", r.dim), field("reason", r.reason), field("note", r.note);
  field("seconds", r.seconds), field("p10", r.p10), field("p90", r.p90), field("min", r.min);
  field("mean", r.mean), field("interval_low", r.interval_low);
  field("interval_high", r.interval_high), field("runs", r.runs), field("outliers", r.outliers);
  field("is_stable", r.is_stable), field("clock", r.clock), field("host_seconds", r.host_seconds);
  field("graph_seconds", r.graph_seconds), field("first_seconds", r.first_seconds);
  field("rate", r.rate), field("unit", r.unit), field("percent_of_ceiling", r.percent_of_ceiling);
  field("bytes", r.bytes), field("bytes_moved", r.bytes_moved), field("flops", r.flops);
  field("kernels", r.kernels), field("lines", r.lines), field("tolerance", r.tolerance);
}

// What was not measured is null in JSON, not a zero that could be taken for a result.
bool is_absent_at_zero(std::string_view name) {
  for (const std::string_view known :
       {"seconds", "p10", "p90", "min", "mean", "interval_low", "interval_high", "rate",
        "percent_of_ceiling", "host_seconds", "graph_seconds", "first_seconds"})
    if (known == name) return true;
  return false;
}

Json record_json(const Record& record) {
  Json out;
  each_field(record, [&](const char* name, const auto& value) {
    out[name] = value;
    if (is_absent_at_zero(name) && out[name].is_number() && out[name] == 0) out[name] = nullptr;
  });
  out["error"] = record.error && std::isfinite(*record.error) ? Json(*record.error) : Json();
  out["status"] = name_of(record.status);
  out["not_steady"] = is_unsteady(record);
  out["remark"] = remark_of(record);
  if (record.evidence && !record.evidence->timeline.empty())
    for (const TimelineEvent& bar : record.evidence->timeline)
      out["timeline"].push_back(
          {{"lane", bar.lane}, {"name", bar.name}, {"start", bar.start}, {"seconds", bar.seconds}});
  if (!record.explanation.empty()) out["explanation"] = Json::array();
  for (const auto& [topic, text] : record.explanation)
    out["explanation"].push_back({{"topic", topic}, {"text", text}});
  return out;
}

Record read_record(const Json& json) {
  Record record;
  each_field(record, [&](const char* name, auto& value) {
    if (json.contains(name) && !json[name].is_null()) json[name].get_to(value);
  });
  if (json.contains("error") && json["error"].is_number())
    record.error = json["error"].get<double>();
  const std::string status = json.at("status").get<std::string>();
  for (const auto& [value, name] : statuses)
    if (status == name) record.status = value;
  return record;
}

Json fit_json(const Fit& fit) {
  return {{"way", fit.way},
          {"dtype", fit.dtype},
          {"against", fit.against},
          {"exponent", fit.exponent},
          {"points", fit.points}};
}

Report report_of(const Json& json) {
  Report report;
  report.version = json.value("version", "");
  report.command = json.value("command", "");
  report.date = json.value("date", "");
  report.device = json.value("device", "");
  report.device_name = json.value("device_name", "");
  report.rivals = json.value("rivals", "");
  for (const Json& record : json.at("records")) report.records.push_back(read_record(record));
  return report;
}

}  // namespace

std::string_view name_of(Status status) {
  for (const auto& [value, name] : statuses)
    if (status == value) return name;
  return "unknown";
}

std::string report_json(const Report& report) {
  Json out = {{"version", report.version},
              {"command", report.command},
              {"date", report.date},
              {"device", report.device},
              {"device_name", report.device_name},
              {"rivals", report.rivals},
              {"clock_note", report.clock_note},
              {"interrupted", report.is_interrupted}};
  const auto or_null = [](double value) { return value > 0 ? Json(value) : Json(); };
  out["ceilings"] = {{"bytes_per_second", or_null(report.ceilings.bytes_per_second)},
                     {"flops_per_second", or_null(report.ceilings.flops_per_second)},
                     {"matrix_flops_per_second", Json::object()},
                     {"problem", report.ceilings.problem}};
  for (const auto& [dtype, rate] : report.ceilings.matrix)
    out["ceilings"]["matrix_flops_per_second"][dtype] = or_null(rate);
  out["records"] = Json::array();
  for (const Record& record : report.records) out["records"].push_back(record_json(record));
  out["fits"] = Json::array();
  for (const Fit& fit : report.fits) out["fits"].push_back(fit_json(fit));
  return text_of(out);
}

Report read_report(const std::string& path) {
  const std::string text = read_input(path);
  try {
    return report_of(parse_json(text));
  } catch (const Json::parse_error& error) {
    throw FormatError(
        fmt::format("'{}' is no report of tilewright bench --json: it is no JSON from byte {} on",
                    path, error.byte));
  } catch (const Json::exception&) {
    throw FormatError(fmt::format(
        "'{}' is no report of tilewright bench --json: it is JSON without the fields of one",
        path));
  }
}

}  // namespace tilewright::suite
