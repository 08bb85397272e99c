// SPDX-License-Identifier: Apache-2.0
// compiler/backends.h — what joins a kind of machine with what writes its language: a row each.
//
// The runtime compiles a source by its language and loads it by the kind of its device; what it
// needs of a backend is in the KernelSource. A new kind of machine is a row here, a target
// (src/machine), a lowering and a language (src/codegen) and a backend of the runtime (src/runtime).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "compiler/compile.h"

namespace tilewright {

struct PlannedBytes {
  std::int64_t shared_bytes = 0;  // that a block needs, also when that is more than it can have
  std::shared_ptr<const KernelPlan> plan;
};

struct CodeBackend {
  DeviceKind kind;
  Language language;  // of its sources
  // The text of a kernel at stage Tile; with its plan, where it was asked for.
  KernelSource (*emit)(const ir::Kernel& tiles, const Target& target, const KernelOptions& options,
                       const LineText& line_text, const KernelPlan* plan);
  // The kernel at stage Laid, in the sweeps in which it is emitted.
  ir::Kernel (*lay)(const ir::Kernel& tiles, const Target& target, const KernelOptions& options);
  // The Laid kernel at stage Final.
  ir::Kernel (*lower)(const ir::Kernel& laid, const Target& target, const KernelOptions& options);
  // null where blocks have no shared memory.
  PlannedBytes (*plan)(const ir::Kernel& tiles, const Target& target, const KernelOptions& options);
};

std::span<const CodeBackend> all_backends();
const CodeBackend& backend_of(const Target& target);

}  // namespace tilewright
