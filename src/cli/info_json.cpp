// SPDX-License-Identifier: Apache-2.0
// cli/info_json.cpp — the report of a machine with every number in plain units: bytes, seconds,
// kHz.
#include "cli/info_json.h"

#include "bench/json.h"

namespace tilewright::cli {
namespace {

Json target_json(const Target& t) {
  Json out = {{"name", t.name}, {"processors", t.processors}, {"l2_bytes", t.l2_bytes}};
  if (!t.is_cuda()) {
    out.update(
        {{"vector_bits", t.vector_bits}, {"l1_bytes", t.l1_bytes}, {"l3_bytes", t.l3_bytes}});
    return out;
  }
  out.update({{"capability", {t.capability_major, t.capability_minor}},
              {"warp_size", t.warp_size},
              {"max_threads_per_block", t.max_threads_per_block},
              {"max_threads_per_processor", t.max_threads_per_processor},
              {"max_blocks_per_processor", t.max_blocks_per_processor},
              {"registers_per_processor", t.registers_per_processor},
              {"registers_per_block", t.registers_per_block},
              {"shared_bytes_per_processor", t.shared_bytes_per_processor},
              {"shared_bytes_per_block", t.shared_bytes_per_block},
              {"shared_bytes_per_block_optin", t.shared_bytes_per_block_optin}});
  return out;
}

Json ceiling_json(const Ceiling& ceiling) {
  if (!ceiling.problem.empty()) return {{"problem", ceiling.problem}};
  return {{"per_second", ceiling.per_second},     {"median_seconds", ceiling.times.median},
          {"p10_seconds", ceiling.times.p10},     {"p90_seconds", ceiling.times.p90},
          {"runs", ceiling.times.samples.size()}, {"is_stable", ceiling.times.is_stable}};
}

Json device_json(const DeviceReport& d, bool is_measured) {
  const DeviceProperties& p = d.properties;
  Json out = {{"device", d.device.name()},
              {"name", p.name},
              {"memory_bytes", d.memory.total},
              {"free_memory_bytes", d.memory.free},
              {"clock_khz", p.clock_khz},
              {"memory_clock_khz", p.memory_clock_khz},
              {"memory_bus_bits", p.memory_bus_bits},
              {"max_grid", p.max_grid},
              {"max_block", p.max_block},
              {"target", target_json(p.target)}};
  if (is_measured) {
    out["copy_bytes_per_second"] = ceiling_json(d.copy);
    out["multiply_add_flops_per_second"] = ceiling_json(d.multiply_add);
    out["matrix_flops_per_second"] = Json::object();
    for (const auto& [dtype, ceiling] : d.matrix)
      out["matrix_flops_per_second"][dtype == DType::Float32 ? "tf32" : name_of(dtype)] =
          ceiling_json(ceiling);
  }
  return out;
}

Json component_json(const Component& c) {
  return {{"name", c.name},       {"is_usable", c.is_usable()}, {"path", c.path},
          {"version", c.version}, {"purpose", c.purpose},       {"problem", c.problem},
          {"remedy", c.remedy}};
}

}  // namespace

std::string machine_json(const MachineReport& report) {
  Json out = {{"version", report.version}, {"why_no_cuda", report.why_no_cuda}};
  out["devices"] = Json::array();
  for (const DeviceReport& device : report.devices)
    out["devices"].push_back(device_json(device, report.is_measured));
  out["components"] = Json::array();
  for (const Component& component : report.components)
    out["components"].push_back(component_json(component));
  const DiskCache::Info& cache = report.cache;
  out["cache"] = {{"folder", cache.folder},   {"is_usable", cache.is_usable},
                  {"problem", cache.problem}, {"entries", cache.entries},
                  {"bytes", cache.bytes},     {"max_bytes", cache.max_bytes}};
  return text_of(out);
}

}  // namespace tilewright::cli
