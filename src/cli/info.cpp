// SPDX-License-Identifier: Apache-2.0
// cli/info.cpp — `tilewright info` as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/table.h"
#include "base/units.h"
#include "cli/info_json.h"
#include "cli/machine.h"
#include "cli/verbs.h"

namespace tilewright::cli {
namespace {

std::string bytes(std::int64_t n) {
  return n > 0 ? format_bytes(static_cast<std::size_t>(n)) : "unknown";
}

std::string megahertz(int khz) { return fmt::format("{:.0f} MHz", khz / 1000.0); }

std::string instructions(const Target& t) {
  std::vector<std::string> names;
  for (const Feature feature : all_features())
    if (t.has(feature)) names.emplace_back(name_of(feature));
  return names.empty() ? "none of note" : fmt::format("{}", fmt::join(names, ", "));
}

void add_cpu(Table& table, const DeviceReport& d) {
  const Target& t = d.properties.target;
  table.add({"cores", std::to_string(t.processors)});
  table.add({"vectors", fmt::format("{} bits ({})", t.vector_bits, t.name)});
  table.add({"caches", fmt::format("L1 {}, L2 {}, L3 {}", bytes(t.l1_bytes), bytes(t.l2_bytes),
                                   bytes(t.l3_bytes))});
}

void add_gpu(Table& table, const DeviceReport& d) {
  const DeviceProperties& p = d.properties;
  const Target& t = p.target;
  table.add({"architecture", fmt::format("{}, compute capability {}.{}", t.name, t.capability_major,
                                         t.capability_minor)});
  table.add({"multiprocessors", fmt::format("{} at {}", t.processors, megahertz(p.clock_khz))});
  table.add({"L2 cache", bytes(t.l2_bytes)});
  if (p.memory_bus_bits > 0)
    table.add({"memory bus",
               fmt::format("{} bits at {}", p.memory_bus_bits, megahertz(p.memory_clock_khz))});
  table.add({"per block",
             fmt::format("{} threads, {} registers, {} of shared memory ({} by default)",
                         t.max_threads_per_block, t.registers_per_block,
                         bytes(t.shared_bytes_per_block_optin), bytes(t.shared_bytes_per_block))});
  table.add({"per multiprocessor",
             fmt::format("{} threads, {} blocks, {} registers, {} of shared memory",
                         t.max_threads_per_processor, t.max_blocks_per_processor,
                         t.registers_per_processor, bytes(t.shared_bytes_per_processor))});
  table.add(
      {"largest grid", fmt::format("{} x {} x {}", p.max_grid[0], p.max_grid[1], p.max_grid[2])});
}

void add_ceiling(Table& table, const char* name, const Ceiling& ceiling, const std::string& unit,
                 const std::string& what) {
  if (!ceiling.problem.empty()) return table.add({name, "not measured: " + ceiling.problem});
  const BenchResult& times = ceiling.times;
  const double spread = 50 * (times.interval_high - times.interval_low) / times.median;
  table.add(
      {name, fmt::format("{} {}, +-{:.1f}%", format_rate(ceiling.per_second, unit), what, spread)});
}

std::string device_text(const DeviceReport& d, bool is_measured) {
  Table table({{}, {}}, 2);
  d.device.is_cuda() ? add_gpu(table, d) : add_cpu(table, d);
  table.add({"instructions", instructions(d.properties.target)});
  table.add({"memory", fmt::format("{}, {} free", bytes(static_cast<std::int64_t>(d.memory.total)),
                                   bytes(static_cast<std::int64_t>(d.memory.free)))});
  if (is_measured) {
    add_ceiling(table, "copy", d.copy, "B/s", "read + written");
    add_ceiling(table, "multiply-add", d.multiply_add, "FLOP/s", "float32");
    for (const auto& [dtype, ceiling] : d.matrix)
      add_ceiling(table, "matrix units", ceiling, dtype == DType::Int8 ? "OP/s" : "FLOP/s",
                  dtype == DType::Float32 ? "tf32" : std::string(name_of(dtype)));
  }
  return fmt::format("{}: {}\n{}\n", d.device.name(), d.properties.name, table.to_string());
}

std::string components_text(const std::vector<Component>& components) {
  Table found({{}, {}, {}}, 2);
  std::string missing;
  for (const Component& c : components) {
    if (c.is_usable()) found.add({c.name, c.version, c.path});
    else
      missing += fmt::format("  {}: {}\n    it {}; {}\n", c.name, c.problem, c.purpose, c.remedy);
  }
  std::string out = "tools and libraries\n" + found.to_string();
  if (!missing.empty()) out += "\nmissing\n" + missing;
  return out + "\n";
}

std::string cache_text(const DiskCache::Info& cache) {
  if (!cache.is_usable) return fmt::format("kernel cache\n  not used: {}\n", cache.problem);
  return fmt::format("kernel cache\n  {}: {} {}, {} of {}\n", cache.folder, cache.entries,
                     cache.entries == 1 ? "entry" : "entries",
                     format_bytes(static_cast<std::size_t>(cache.bytes)),
                     format_bytes(static_cast<std::size_t>(cache.max_bytes)));
}

}  // namespace

void run_info(const InfoOptions& options) {
  const MachineReport report = look_at_machine(options.measure);
  if (options.json) {
    fmt::print("{}\n", machine_json(report));
    return;
  }
  std::string out = fmt::format("tilewright {}\n\n", report.version);
  for (const DeviceReport& device : report.devices) out += device_text(device, report.is_measured);
  if (!report.why_no_cuda.empty()) out += fmt::format("cuda: {}\n\n", report.why_no_cuda);
  out += components_text(report.components);
  out += cache_text(report.cache);
  fmt::print("{}", out);
}

}  // namespace tilewright::cli
