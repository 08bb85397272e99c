// SPDX-License-Identifier: Apache-2.0
// cli/compile_report.cpp — resources, and the report as text and JSON.
#include "cli/compile_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/table.h"
#include "base/units.h"
#include "bench/json.h"
#include "runtime/cuda/cubin.h"

namespace tilewright::cli {
namespace {

std::vector<std::string> limits(const Occupancy& o) {
  std::vector<std::string> names;
  for (const OccupancyLimit limit : o.limits) names.push_back(name_of(limit));
  return names;
}

void print_row(const CompileReportRow& row) {
  fmt::print("{} for {}{}{}\n", row.kernel, row.target.name, row.signature.empty() ? "" : ": ",
             row.signature);
  Table table({{}, {}}, 2);
  if (row.target.is_cuda()) {
    table.add({"registers", fmt::format("{} per thread, {}", row.registers,
                                        row.spill_bytes == 0
                                            ? "no spills"
                                            : fmt::format("{} bytes spilled", row.spill_bytes))});
    table.add({"shared memory", format_bytes(static_cast<std::size_t>(row.shared_bytes))});
    if (row.occupied)
      table.add({"occupancy",
                 fmt::format("{:.0f}%: {} blocks of {} threads per multiprocessor, "
                             "limited by {}",
                             100 * row.occupied->fraction, row.occupied->blocks_per_processor,
                             row.threads, fmt::join(limits(*row.occupied), " and "))});
    for (const std::string& product : row.products) table.add({"product", product});
    if (!row.roles.empty()) table.add({"roles", row.roles});
    if (row.programs > 1)
      table.add({"programs", fmt::format("up to {} in a block; their number is the kernel's last "
                                         "argument",
                                         row.programs)});
    if (row.cluster > 1) table.add({"cluster", fmt::format("{} blocks per program", row.cluster)});
    if (row.elements_per_thread > 0)
      table.add({"elements",
                 fmt::format("{:g} per thread in the largest tile", row.elements_per_thread)});
  }
  if (row.binary_bytes > 0)
    table.add(
        {"compiled", fmt::format("{} in {:.2f} s", format_bytes(row.binary_bytes), row.seconds)});
  for (const std::string& note : row.notes) table.add({"note", note});
  for (const std::string& fault : row.faults) table.add({"look at", fault});
  fmt::print("{}", table.to_string());
}

Json to_json(const CompileReportRow& row, const std::string& folder) {
  Json out = {{"kernel", row.kernel},
              {"target", row.target.name},
              {"signature", row.signature},
              {"seconds", row.seconds},
              {"binary_bytes", row.binary_bytes}};
  if (row.target.is_cuda()) {
    out["threads"] = row.threads;
    out["registers"] = row.registers;
    out["spill_bytes"] = row.spill_bytes;
    out["stack_bytes"] = row.stack_bytes;
    out["shared_bytes"] = row.shared_bytes;
    out["dynamic_shared_bytes"] = row.dynamic_shared_bytes;
    out["programs_per_block"] = row.programs;
    out["blocks_per_program"] = row.cluster;
    out["products"] = row.products;
    if (!row.roles.empty()) out["roles"] = row.roles;
    out["notes"] = row.notes;
    out["faults"] = row.faults;
    if (row.occupied) {
      out["occupancy"] = row.occupied->fraction;
      out["blocks_per_processor"] = row.occupied->blocks_per_processor;
      out["limited_by"] = limits(*row.occupied);
    }
    out["elements_per_thread"] = row.elements_per_thread;
  }
  Json files = Json::object();
  for (const Emitted& emitted : row.emitted)
    files[emitted.kind] = folder.empty() ? emitted.content : folder + "/" + emitted.file;
  if (!row.emitted.empty()) out["emitted"] = files;
  return out;
}

}  // namespace

void add_resources(CompileReportRow& row, const Binary& binary, const std::string& symbol,
                   std::int64_t dynamic_shared) {
  row.binary_bytes = binary.bytes.size();
  if (!row.target.is_cuda()) return;
  for (const KernelResources& resources : resources_of(binary)) {
    if (resources.symbol != symbol && resources.name != symbol) continue;
    row.symbol = resources.symbol;
    row.registers = resources.registers;
    row.spill_bytes = resources.spill_store_bytes;
    row.stack_bytes = resources.stack_bytes;
    row.shared_bytes = static_cast<std::int64_t>(resources.shared_bytes) + dynamic_shared;
    row.dynamic_shared_bytes = dynamic_shared;
    row.occupied = occupancy(row.target, {.threads = row.threads,
                                          .registers = resources.registers,
                                          .shared_bytes = row.shared_bytes});
    return;
  }
}

void print_reports(const std::vector<CompileReportRow>& rows, const std::string& folder,
                   bool json) {
  if (json) {
    Json all = Json::array();
    for (const CompileReportRow& row : rows) all.push_back(to_json(row, folder));
    fmt::print("{}\n", text_of(Json{{"compiled", all}}));
    return;
  }
  for (const CompileReportRow& row : rows) {
    const bool prints_text = folder.empty() && !row.emitted.empty();
    // Text alone, so that it can be piped into a file.
    if (!prints_text) print_row(row);
    for (const Emitted& emitted : row.emitted) {
      if (folder.empty()) fmt::print("{}", emitted.content);
      else fmt::print("  {}/{}\n", folder, emitted.file);
    }
  }
}

}  // namespace tilewright::cli
