// SPDX-License-Identifier: Apache-2.0
// ir/check/strides.cpp — which parameters are added to which pointers.
#include "ir/check/strides.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::ir {
namespace {

using Uses = std::map<std::size_t, const Op*>;  // by argument: the op that multiplies with it

// What a value is made of, as far as it matters here.
struct Origin {
  std::set<std::size_t> pointers;  // arguments that it points into
  std::set<std::size_t> strides;   // arguments that it is, whatever its shape and width
  Uses uses;                       // strides that went into it

  bool add(const Origin& other) {
    const std::size_t before = pointers.size() + strides.size() + uses.size();
    pointers.insert(other.pointers.begin(), other.pointers.end());
    strides.insert(other.strides.begin(), other.strides.end());
    uses.insert(other.uses.begin(), other.uses.end());
    return pointers.size() + strides.size() + uses.size() != before;
  }
};

// A stride that is used with a pointer, both as numbers of arguments.
using StrideUses = std::map<std::pair<std::size_t, std::size_t>, const Op*>;

class StrideWalk {
 public:
  explicit StrideWalk(const Kernel& kernel) : kernel_(kernel), origins_(kernel.value_count()) {
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
      const Value value = kernel.arguments[i].value;
      Origin& origin = origins_[value.id];
      if (kernel.type(value).is_pointer) origin.pointers = {i};
      else if (kernel.name_of(value).find("stride") != std::string::npos) origin.strides = {i};
    }
    // Loops bring what they carry back to their begin.
    do {
      has_changed_ = false;
      walk(kernel.body, [&](const Op& op) { follow(op); });
    } while (has_changed_);
  }

  const StrideUses& uses() const { return uses_; }

 private:
  void add(Value value, const Origin& origin) { has_changed_ |= origins_[value.id].add(origin); }

  void follow(const Op& op) {
    if (!op.regions.empty()) return carry(op);
    Origin made;
    for (const Value operand : op.operands) {
      Origin part = origins_[operand.id];
      const bool is_same = op.facts().is(Family::View) || op.kind == OpKind::Cast;
      if (!is_same) {
        const bool is_use = op.kind == OpKind::Multiply || op.kind == OpKind::Offset;
        for (const std::size_t stride : part.strides)
          if (is_use) part.uses.emplace(stride, &op);
        part.strides.clear();
      }
      made.add(part);
    }
    if (op.kind == OpKind::Offset)
      for (const std::size_t pointer : made.pointers)
        for (const auto& [stride, where] : made.uses)
          uses_.emplace(std::pair(stride, pointer), where);
    if (op.facts().is(Family::Access)) return;  // what was read is no address of it
    for (const Value result : op.results) add(result, made);
  }

  // Results and arguments of regions are any of what could come there.
  void carry(const Op& op) {
    for (const Region& region : op.regions)
      for (const Op* inner : region.ops)
        if (inner->facts().is(Family::Ends))
          for (std::size_t k = 0; k < inner->operands.size(); ++k) pass(op, *inner, k);
    const std::size_t first = op.kind == OpKind::For ? 3 : 0;
    for (std::size_t k = first; k < op.operands.size(); ++k)
      for (const Region& region : op.regions)
        give(region.arguments, k - first + (first > 0), op.operands[k]);
    for (std::size_t k = first; k < op.operands.size(); ++k)
      give(op.results, k - first, op.operands[k]);
  }

  void give(std::span<const Value> to, std::size_t at, Value from) {
    if (at < to.size()) add(to[at], origins_[from.id]);
  }

  // What a region ends with: the next round's arguments, and the op's results.
  void pass(const Op& op, const Op& end, std::size_t k) {
    const std::size_t first = end.kind == OpKind::Condition ? 1 : 0;
    if (k < first) return;
    give(op.results, k - first, end.operands[k]);
    for (const Region& region : op.regions)
      give(region.arguments, k - first + (op.kind == OpKind::For), end.operands[k]);
  }

  const Kernel& kernel_;
  std::vector<Origin> origins_;
  StrideUses uses_;
  bool has_changed_ = false;
};

const TensorLayout* tensor_at(const StrideLaunch& launch, std::size_t argument) {
  const auto* const pointer = std::get_if<InterpretPointer>(&launch.arguments[argument]);
  if (pointer == nullptr || pointer->buffer < 0 || pointer->byte_offset != 0) return nullptr;
  const void* const data = launch.buffers[static_cast<std::size_t>(pointer->buffer)].data;
  for (const TensorLayout& tensor : launch.tensors)
    if (tensor.data == data) return &tensor;
  return nullptr;
}

bool says_something(const TensorLayout& tensor) {
  return std::count_if(tensor.shape.begin(), tensor.shape.end(),
                       [](std::int64_t size) { return size > 1; }) > 1;
}

}  // namespace

std::vector<Finding> check_strides(const Kernel& kernel, const StrideLaunch& launch) {
  std::vector<Finding> findings;
  const StrideWalk walked(kernel);
  for (const auto& [use, op] : walked.uses()) {
    const auto* const value = std::get_if<std::int64_t>(&launch.arguments[use.first]);
    const TensorLayout* const tensor = tensor_at(launch, use.second);
    if (value == nullptr || *value == 0 || *value == 1) continue;
    if (tensor == nullptr || !says_something(*tensor)) continue;
    const auto& strides = tensor->strides;
    if (std::find(strides.begin(), strides.end(), *value) != strides.end()) continue;
    Finding finding;
    finding.kind = FindingKind::Stride;
    finding.kernel = kernel.name;
    finding.place = place_of(kernel, *op);
    finding.has_program = false;
    finding.message =
        fmt::format("argument '{}' is {}, which is no stride of '{}'",
                    kernel.name_of(kernel.arguments[use.first].value), *value, tensor->name);
    finding.values.push_back(fmt::format("'{}' has the shape [{}] and the strides {}", tensor->name,
                                         fmt::join(tensor->shape, ", "), fmt::join(strides, ", ")));
    finding.remedy = fmt::format("pass the tensor's own stride, {}.stride(0)", tensor->name);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace tilewright::ir
