// SPDX-License-Identifier: Apache-2.0
// profile/rows.cpp — events of one name (or one place in the nesting) together, and their table.
#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/table.h"
#include "base/units.h"
#include "profile/nesting.h"
#include "tilewright/error.h"
#include "tilewright/profile.h"

namespace tilewright {
namespace {

constexpr double nanosecond = 1e-9;

struct SortKey {
  const char* name;
  std::function<double(const ProfileRow&)> value;  // the largest comes first
};

const std::vector<SortKey>& sort_keys() {
  static const std::vector<SortKey> keys = {
      {"device", [](const ProfileRow& row) { return row.device_seconds; }},
      {"self_device", [](const ProfileRow& row) { return row.self_device_seconds; }},
      {"host", [](const ProfileRow& row) { return row.host_seconds; }},
      {"self_host", [](const ProfileRow& row) { return row.self_host_seconds; }},
      {"calls", [](const ProfileRow& row) { return static_cast<double>(row.calls); }},
      {"memory", [](const ProfileRow& row) { return static_cast<double>(row.bytes); }},
      {"name", [](const ProfileRow&) { return 0.0; }},
  };
  return keys;
}

const SortKey& find_key(const std::string& name) {
  std::vector<std::string> names;
  for (const SortKey& key : sort_keys()) {
    if (name == key.name) return key;
    names.push_back(key.name);
  }
  throw ArgumentError(
      fmt::format("profiles cannot be sorted by '{}'{}", name, suggest_names(name, names)));
}

// Kernels by what they do on the device, everything else by the host's own time.
const char* default_key(const std::vector<ProfileRow>& rows) {
  const bool has_device = std::any_of(rows.begin(), rows.end(),
                                      [](const ProfileRow& row) { return row.device_seconds > 0; });
  return has_device ? "self_device" : "self_host";
}

void sort_rows(std::vector<ProfileRow>& rows, const std::string& by) {
  const SortKey& key = find_key(by.empty() ? default_key(rows) : by);
  std::stable_sort(rows.begin(), rows.end(), [&](const ProfileRow& a, const ProfileRow& b) {
    const double left = key.value(a), right = key.value(b);
    return left != right ? left > right : a.name < b.name;
  });
}

std::string shapes_of(const Trace& trace, const TraceEvent& event) {
  if (event.kind != TraceKind::Kernel) return trace.text(event.detail);
  return fmt::format("<<<{} {} {}, {} {} {}>>>", event.grid[0], event.grid[1], event.grid[2],
                     event.block[0], event.block[1], event.block[2]);
}

std::string time_cell(double seconds) { return seconds == 0 ? "" : format_seconds(seconds); }

std::string share_cell(double part, double whole) {
  return part == 0 || whole == 0 ? "" : fmt::format("{:.1f}%", 100 * part / whole);
}

// The end of a long C++ name says least.
std::string cut(const std::string& name, int width) {
  if (static_cast<int>(name.size()) <= width) return name;
  return name.substr(0, static_cast<std::size_t>(std::max(width - 3, 1))) + "...";
}

}  // namespace

std::vector<ProfileRow> Profile::rows(const ProfileTableOptions& options) const {
  const Trace& all = trace();
  const Nesting nesting = nest(all);
  std::map<std::pair<std::string, TraceKind>, ProfileRow> rows;
  for (std::uint32_t i = 0; i < all.events.size(); ++i) {
    const TraceEvent& event = all.events[i];
    if (event.kind == TraceKind::Memory) continue;
    const std::string name =
        options.group_by_stack ? stack_of(all, nesting, i, " > ") : all.name(event);
    ProfileRow& row = rows[{name, event.kind}];
    const double seconds = static_cast<double>(event.end - event.start) * nanosecond;
    if (row.calls++ == 0) {
      row.name = name;
      row.kind = name_of(event.kind);
      row.shapes = shapes_of(all, event);
    }
    row.bytes += event.bytes;
    row.device_seconds += static_cast<double>(nesting.total_device[i]) * nanosecond;
    if (is_on_device(event.kind)) {
      row.self_device_seconds += seconds;
    } else {
      row.host_seconds += seconds;
      row.self_host_seconds += static_cast<double>(nesting.self_host[i]) * nanosecond;
    }
  }
  std::vector<ProfileRow> out;
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  sort_rows(out, options.sort_by);
  return out;
}

std::string Profile::table(const ProfileTableOptions& options) const {
  const std::vector<ProfileRow> all = rows(options);
  double host = 0, device = 0;
  bool has_bytes = false;
  for (const ProfileRow& row : all) {
    host += row.self_host_seconds;
    device += row.self_device_seconds;
    has_bytes |= row.bytes != 0;
  }
  std::vector<Table::Column> columns = {{"name"},
                                        {"kind"},
                                        {"self host", Align::Right},
                                        {"host %", Align::Right},
                                        {"host total", Align::Right}};
  if (device > 0) {
    columns.push_back({"self device", Align::Right});
    columns.push_back({"device %", Align::Right});
    columns.push_back({"device total", Align::Right});
  }
  columns.push_back({"calls", Align::Right});
  columns.push_back({"per call", Align::Right});
  if (has_bytes) columns.push_back({"bytes", Align::Right});
  columns.push_back({"shapes"});
  Table table(columns);
  std::size_t shown = 0;
  for (const ProfileRow& row : all) {
    if (options.row_limit > 0 && shown == static_cast<std::size_t>(options.row_limit)) break;
    ++shown;
    std::vector<std::string> cells = {
        cut(row.name, options.name_width), row.kind, time_cell(row.self_host_seconds),
        share_cell(row.self_host_seconds, host), time_cell(row.host_seconds)};
    if (device > 0) {
      cells.push_back(time_cell(row.self_device_seconds));
      cells.push_back(share_cell(row.self_device_seconds, device));
      cells.push_back(time_cell(row.device_seconds));
    }
    cells.push_back(std::to_string(row.calls));
    const double total = row.self_device_seconds > 0 ? row.self_device_seconds : row.host_seconds;
    cells.push_back(time_cell(total / static_cast<double>(row.calls)));
    if (has_bytes)
      cells.push_back(row.bytes == 0 ? "" : format_bytes(static_cast<std::size_t>(row.bytes)));
    cells.push_back(row.shapes);
    table.add(std::move(cells));
  }
  std::string text = table.to_string();
  if (shown < all.size()) text += fmt::format("... and {} more rows\n", all.size() - shown);
  text += fmt::format("host {} in {}", format_seconds(host), format_seconds(seconds()));
  if (device > 0) text += fmt::format(", device {}", format_seconds(device));
  return text + "\n";
}

}  // namespace tilewright
