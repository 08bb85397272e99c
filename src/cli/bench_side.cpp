// SPDX-License-Identifier: Apache-2.0
// cli/bench_side.cpp — loads a kernel of Triton, thread-level Python or CUDA, gives it values and a
// grid.
#include "cli/bench_side.h"

#include <algorithm>

#include "bench/suite/user_kernel.h"
#include "cli/kernel_path.h"
#include "cli/run_numba.h"
#include "cli/symbolic_sizes.h"
#include "compiler/triton/grid_text.h"
#include "compiler/triton/triton_state.h"

namespace tilewright::cli {

const NamedValue* BenchSide::find(const std::string& name_of_value) const {
  for (const NamedValue& value : values)
    if (value.name == name_of_value) return &value;
  return nullptr;
}

bool BenchSide::has_parameter(const std::string& name_of_value) const {
  const std::string parameter = name_of_value.substr(0, name_of_value.find('.'));
  return std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
}

BenchSide load_side(const std::string& path, Device device) {
  BenchSide side;
  if (is_cuda_path(path)) {
    const CudaFile file = read_cuda_file(path);
    side.cuda = std::make_shared<CudaCall>(file, device);
    side.name = side.cuda->name();
    side.parameters = side.cuda->parameters();
    side.lines = suite::lines_of_code(file.source.text);
    return side;
  }
  if (is_numba_path(path)) {
    side.numba = load_numba_kernel(path);
    side.name = side.numba.name();
    side.parameters = side.numba.parameters();
    side.lines = suite::lines_of_kernel(side.numba);
    return side;
  }
  side.kernel = load_kernel(path);
  side.name = side.kernel.name();
  side.parameters = side.kernel.parameters();
  side.lines = suite::lines_of_kernel(side.kernel);
  return side;
}

void give_values(BenchSide& side, const BenchVerbOptions& options,
                 const std::vector<std::string>& texts, const std::vector<std::string>& given,
                 Device device) {
  std::vector<std::string> own;
  for (const std::string& text : texts)
    if (side.has_parameter(parse_assignment(text, "NAME=VALUE").first)) own.push_back(text);
  if (side.cuda) {
    side.values = values_for(own, side.name, side.parameters, {.device = device});
    return;
  }
  if (side.is_numba()) {
    const auto sizes = [&](const std::string& text) {
      return grid_with_sizes(text, given, side.parameters);
    };
    side.numba_call = std::make_shared<NumbaCall>(read_numba_call(
        side.numba, {own, sizes(options.grid), sizes(options.block)}, {.device = device}));
    side.values = side.numba_call->values;
    return;
  }
  KernelArguments read = read_arguments(own, side.kernel, {.device = device});
  side.values = std::move(read.values);
  side.own_launch = std::move(read.launch);
  if (!side.own_launch) return;
  side.launch.num_warps = side.own_launch->num_warps;
  side.launch.num_stages = side.own_launch->num_stages;
}

void take_contents(BenchSide& side, const BenchSide& other) {
  for (NamedValue& value : side.values) {
    const NamedValue* known = other.find(value.name);
    if (value.tensor() == nullptr || known == nullptr || known->tensor() == nullptr) continue;
    value.tensor()->copy_from(known->before);
    value.before = value.tensor()->to(Device::cpu()).clone();
  }
}

// Without once_per_config the evaluation of a grid as text would be timed.
void set_grid(BenchSide& side, const BenchVerbOptions& options,
              const std::vector<std::string>& given) {
  if (side.is_numba()) return;
  const std::string grid = grid_with_sizes(options.grid, given, side.parameters);
  if (!side.cuda) {
    side.launch.grid = once_per_config(grid_for(grid, side.kernel, {side.values, side.own_launch}));
    return;
  }
  CudaShape shape;  // a host function has none
  if (side.cuda->is_kernel()) {
    shape.grid = grid;
    shape.block = grid_with_sizes(options.block, given, side.parameters);
  }
  side.cuda->bind(side.values, shape);
}

namespace {

suite::Prepared prepared_cuda(const BenchSide& side) {
  suite::Prepared prepared{.run = [side] { *side.result = side.cuda->run(); }};
  if (side.cuda->device().is_cpu()) prepared.note = "emulated";
  if (side.cuda->is_kernel())
    prepared.launches = {[cuda = side.cuda] {
      return launch_facts(cuda->options(), cuda->kernel(), cuda->config());
    }};
  return prepared;
}

suite::Prepared prepared_numba(const BenchSide& side) {
  return {.run = [side, arguments = side.numba_call->arguments(side.numba)] {
    side.numba.launch(side.numba_call->launch, arguments);
  }};
}

}  // namespace

suite::Prepared prepared_from(const BenchSide& side) {
  if (side.cuda) return prepared_cuda(side);
  if (side.is_numba()) return prepared_numba(side);
  const auto arguments = std::make_shared<const LaunchArguments>(side.values);
  return {.run = [side, arguments] { side.kernel.launch(side.launch, arguments->get()); },
          .launches = {[side, arguments] {
            return launch_facts(side.kernel, side.launch, arguments->get());
          }}};
}

}  // namespace tilewright::cli
