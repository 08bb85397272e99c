// SPDX-License-Identifier: Apache-2.0
// cli/step_trace.h — which elements of memory each program of a launch touches, in the order in
// which it does: what `tilewright step --html` draws.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/launch_watch.h"
#include "ir/interpret/program.h"
#include "ir/interpret/watch.h"
#include "tilewright/dtype.h"

namespace tilewright::cli {

// A tensor of the launch, as it lies in memory.
struct TracedTensor {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<std::int64_t> shape;
  const void* data = nullptr;
};

// `rows` runs of `count` elements that lie together; each begins `stride` after the one before.
struct TracedRun {
  std::int64_t first = 0;
  std::int64_t count = 1;
  std::int64_t rows = 1;
  std::int64_t stride = 0;
};

struct TracedAccess {
  enum class Kind : std::uint8_t { Load, Store, Atomic };
  std::int64_t program = 0;
  int file = 0;
  int line = 0;
  Kind kind = Kind::Load;
  int tensor = -1;  // -1: none of the launch's
  std::vector<TracedRun> runs;
  std::int64_t masked_off = 0;  // elements of the tile
  std::int64_t outside = 0;     // of every tensor
  std::string value;            // "float32[128]  min -2.1  max 3"
};

struct LaunchTrace {
  std::string kernel;
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::vector<std::string> files;
  std::vector<TracedTensor> tensors;
  std::vector<TracedAccess> accesses;
  // False: it was ended at its limits, so that a page stays small.
  bool is_whole = true;
};

class StepTrace final : public LaunchWatch, private ir::Watch {
 public:
  struct Limits {
    std::size_t accesses = 20'000;
    std::size_t runs = 200'000;
  };
  StepTrace(std::vector<TracedTensor> tensors, Limits limits) : limits_(limits) {
    trace_.tensors = std::move(tensors);
  }

  void run(const ir::Kernel& kernel, std::span<const ir::InterpretBuffer> buffers,
           std::span<const ir::InterpretArgument> arguments, ir::InterpretOptions options) override;

  const LaunchTrace& trace() const { return trace_; }

 private:
  struct Full {};  // thrown out of the interpreter

  // ---- ir::Watch
  void begins(const ir::Program&, std::int64_t number) override { program_ = number; }
  void before(const ir::Program& program, const ir::Op& op) override;
  void after(const ir::Program& program, const ir::Op& op) override;
  bool lets_pass(const ir::Program&, const ir::Op&, const std::string&) override { return true; }

  void add_element(TracedAccess& access, std::int64_t pointer) const;

  Limits limits_;
  LaunchTrace trace_;
  std::vector<std::size_t> sizes_;  // of tensors, in elements
  std::size_t runs_ = 0;
  std::int64_t program_ = 0;
};

// Runs of equal length at equal distances become one.
std::vector<TracedRun> joined(const std::vector<TracedRun>& runs);

}  // namespace tilewright::cli
