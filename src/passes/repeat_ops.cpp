// SPDX-License-Identifier: Apache-2.0
// passes/repeat_ops.cpp — copies with types, attributes and names.
#include "passes/repeat_ops.h"

namespace tilewright {

using ir::Value;

std::vector<Value> mapped(const std::vector<Value>& from, const IterationValues& values) {
  std::vector<Value> out;
  for (const Value value : from) {
    const auto found = values.find(value.id);
    out.push_back(found == values.end() ? value : found->second);
  }
  return out;
}

ir::Op* repeat(ir::Builder& build, const ir::Op& op, std::vector<Value> operands,
               IterationValues& values) {
  ir::Kernel& kernel = build.kernel();
  build.set_location(op.location);
  std::vector<ir::Type> types;
  for (const Value result : op.results) types.push_back(kernel.type(result));
  ir::Op* copy = build.create(op.kind, std::move(operands), types, op.attributes);
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    kernel.set_name(copy->results[i], kernel.name_of(op.results[i]));
    values[op.results[i].id] = copy->results[i];
  }
  return copy;
}

}  // namespace tilewright
