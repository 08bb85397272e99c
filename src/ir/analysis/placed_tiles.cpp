// SPDX-License-Identifier: Apache-2.0
// ir/analysis/placed_tiles.cpp — `into` of every op, and walks from readers back to placed tiles.
#include "ir/analysis/placed_tiles.h"

#include <algorithm>

namespace tilewright::ir {

PlacedTiles::PlacedTiles(const Kernel& kernel)
    : kernel_(kernel), buffers_(kernel.value_count(), -1), seen_(kernel.value_count(), 0) {
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    numbers_.emplace(kernel.buffers[i].name, static_cast<int>(i));
  walk(kernel.body, [&](const Op& op) { note_places(op); });
}

int PlacedTiles::buffer_named(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? -1 : found->second;
}

// What a loop carries comes before its results, which have the buffers of what was carried last.
void PlacedTiles::note_places(const Op& op) {
  if (op.kind == OpKind::ReadBuffer) {
    buffers_[op.result().id] = buffer_named(op.text("buffer"));
    return;
  }
  const std::vector<std::string> into = op.texts("into");
  std::vector<Value> values;
  const bool is_loop = op.facts().has(Loops);
  if (is_loop)
    for (const Region& region : op.regions)
      values.insert(values.end(), region.arguments.begin() + (op.kind == OpKind::For ? 1 : 0),
                    region.arguments.end());
  const std::size_t behind = is_loop ? values.size() - op.results.size() : 0;
  for (std::size_t k = 0; k < std::min(values.size(), into.size()); ++k)
    buffers_[values[k].id] = buffer_named(into[k]);
  for (std::size_t k = 0; k < op.results.size() && behind + k < into.size(); ++k)
    buffers_[op.results[k].id] = buffer_named(into[behind + k]);
}

bool PlacedTiles::is_on_demand(const Op& sweep) const {
  return !sweep.results.empty() &&
         std::all_of(sweep.results.begin(), sweep.results.end(), [&](Value result) {
           return kernel_.type(result).is_tile() && buffers_[result.id] < 0;
         });
}

std::vector<Value> PlacedTiles::reads_of(std::span<const Value> values) {
  ++reader_;
  std::vector<Value> out;
  for (const Value value : values) read(value, out);
  return out;
}

std::vector<Value> PlacedTiles::reads_of_sweep(const Op& sweep) {
  ++reader_;
  std::vector<Value> out;
  read_inside(sweep, out);
  return out;
}

void PlacedTiles::read(Value value, std::vector<Value>& out) {
  if (!kernel_.type(value).is_tile() || seen_[value.id] == reader_) return;
  seen_[value.id] = reader_;
  if (buffers_[value.id] >= 0) return out.push_back(value);
  const Op* maker = kernel_.maker(value);
  if (!maker) return;
  if (maker->kind == OpKind::Sweep) return read_inside(*maker, out);
  for (const Value operand : maker->operands) read(operand, out);
}

void PlacedTiles::read_inside(const Op& sweep, std::vector<Value>& out) {
  walk(sweep.regions[0], [&](const Op& op) {
    if (op.facts().is(Family::Ends)) return;
    for (const Value operand : op.operands) read(operand, out);
  });
}

}  // namespace tilewright::ir
