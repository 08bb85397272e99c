// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/spin.cpp — loops that do nothing but ask an atomic again: locks. One thread asks,
// the others wait at a barrier.
#include <algorithm>

#include <fmt/format.h>

#include "codegen/cuda/emitter.h"
#include "passes/laid/spins.h"

namespace tilewright {
namespace {

using ir::OpKind;

// Blocks of fewer threads are so many that their asking at full speed keeps the memory busy which
// the one that has the lock waits for: a fence in every round slows them down.
constexpr int threads_of_few_blocks = 256;

}  // namespace

// What the block did before must be seen by whoever sees the exchange: one fence is enough for all
// rounds, since nothing is written between them.
void Emitter::emit_spin(const Step& step) {
  parts_.insert("atomics");
  note_line(step.op->location);
  barrier();
  out_.open("if (thread == 0)");
  const auto at = std::find_if(step.regions[0].begin(), step.regions[0].end(),
                               [](const Step& inner) { return is_exchange(*inner.op); });
  const ir::Op& exchange = *at->op;
  const bool is_fenced = exchange.kind == OpKind::AtomicCas &&
                         exchange.text("order", "acq_rel") != "relaxed" &&
                         threads_ >= threads_of_few_blocks;
  if (is_fenced) out_.format("tw::fence<tw::Scope::{}>();", scope_text(exchange));
  out_.line("#pragma unroll 1");
  out_.open("while (true)");
  for (const Step& inner : step.regions[0]) {
    if (inner.op != &exchange) {
      scalar_step(*inner.op);
      continue;
    }
    std::vector<std::string> values;
    for (std::size_t i = 1; i < exchange.operands.size(); ++i)
      values.push_back(scalar(exchange.operands[i]));
    const std::string name = new_name(exchange.result(), "old");
    const std::string call =
        atomic_call(exchange, scalar(exchange.operands[0]), values, is_fenced ? "Acquire" : "");
    statement(exchange, constant_text(exchange.result(), name, call));
    scalars_[exchange.result().id] = name;
  }
  out_.format("if (!{}) break;", atom(scalar(step.op->regions[0].ops.back()->operands[0])));
  out_.close();
  out_.close();
  barrier();
}

}  // namespace tilewright
