// SPDX-License-Identifier: Apache-2.0
// cli/machine.cpp — gathers the report from the runtime; nothing that is missing makes it fail.
#include "cli/machine.h"

#include <fmt/format.h>

#include "base/process.h"
#include "base/text.h"
#include "cli/progress.h"
#include "runtime/compile.h"
#include "tilewright/error.h"
#include "tilewright/version.h"

namespace tilewright::cli {
namespace {

Component host_compiler() {
  Component c;
  c.name = "C++ compiler";
  c.purpose = "compiles CPU kernels and host functions";
  c.remedy = "install the package g++, or set TILEWRIGHT_CXX";
  try {
    c.path = host_compiler_path();
    c.version =
        first_line(run_process({.arguments = {c.path, "--version"}, .timeout_seconds = 10}).output);
  } catch (const EnvironmentError& error) {
    c.problem = error.what();
  }
  return c;
}

DeviceReport look_at(Device device, bool measure, Progress& progress) {
  DeviceReport report;
  report.device = device;
  report.properties = device.properties();
  report.memory = device.memory();
  if (!measure) return report;
  progress.show("measuring the copy bandwidth of " + device.name());
  report.copy = measure_copy(device);
  progress.show("measuring the multiply-add rate of " + device.name());
  report.multiply_add = measure_multiply_add(device);
  for (const DType dtype : matrix_dtypes(device.target())) {
    progress.show(fmt::format("measuring products of {} on {}", name_of(dtype), device.name()));
    report.matrix.emplace_back(dtype, measure_matrix(device, dtype));
  }
  device.release_cached_memory();
  return report;
}

}  // namespace

MachineReport look_at_machine(bool measure) {
  Progress progress;
  MachineReport report;
  report.version = version();
  report.is_measured = measure;
  for (Device device : devices()) report.devices.push_back(look_at(device, measure, progress));
  report.why_no_cuda = why_no_cuda();
  progress.show("looking for tools");
  report.components.push_back(host_compiler());
  for (const ComponentStatus& component : cuda_components()) report.components.push_back(component);
  report.cache = DiskCache::shared().info();
  return report;
}

}  // namespace tilewright::cli
