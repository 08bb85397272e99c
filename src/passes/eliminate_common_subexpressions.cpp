// SPDX-License-Identifier: Apache-2.0
// passes/eliminate_common_subexpressions.cpp — a table of ops seen, scoped by region.
#include "passes/eliminate_common_subexpressions.h"

#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "ir/rewrite.h"

namespace tilewright {
namespace {

using ir::Attribute;
using ir::Kernel;
using ir::Op;
using ir::Region;
using ir::Value;

// What makes two ops equal, as bytes: kind, operands, attributes, result types.
std::string key_of(const Kernel& kernel, const Op& op) {
  std::string key(1, static_cast<char>(op.kind));
  const auto append = [&](const auto& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const Value operand : op.operands) append(operand.id);
  for (const Attribute& attribute : op.attributes) {
    key += attribute.name;
    key += static_cast<char>(attribute.value.index());
    if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) append(*integer);
    else if (const auto* number = std::get_if<double>(&attribute.value))
      append(*number);  // by bits: -0 is not 0
    else if (const auto* text = std::get_if<std::string>(&attribute.value)) key += *text + '\0';
    else if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value))
      for (const std::string& item : *texts) key += item + '\0';
    else
      for (const std::int64_t item : std::get<std::vector<std::int64_t>>(attribute.value))
        append(item);
  }
  static_assert(std::has_unique_object_representations_v<ir::Type>);
  for (const Value result : op.results) append(kernel.type(result));
  return key;
}

class Merger {
 public:
  explicit Merger(Kernel& kernel) : kernel_(kernel), substitution_(kernel.value_count()) {}

  void run(Region& region) {
    std::vector<std::string> added;
    std::vector<Op*> kept;
    for (Op* op : region.ops) {
      substitution_.apply(op->operands);
      if (op->facts().has(ir::Pure) && op->regions.empty()) {
        std::string key = key_of(kernel_, *op);
        if (const auto found = seen_.find(key); found != seen_.end()) {
          for (std::size_t i = 0; i < op->results.size(); ++i)
            substitution_.add(op->results[i], found->second->results[i]);
          continue;
        }
        seen_.emplace(key, op);
        added.push_back(std::move(key));
      }
      for (Region& inner : op->regions) run(inner);
      kept.push_back(op);
    }
    region.ops = std::move(kept);
    for (const std::string& key : added) seen_.erase(key);  // not visible after the region
  }

 private:
  Kernel& kernel_;
  ir::Substitution substitution_;
  std::unordered_map<std::string, const Op*> seen_;
};

}  // namespace

void eliminate_common_subexpressions(Kernel& kernel, const Target&) {
  Merger(kernel).run(kernel.body);
}

}  // namespace tilewright
