// SPDX-License-Identifier: Apache-2.0
// graph/call.cpp — the table of operations with kernels of their own.
#include "graph/call.h"

#include <fmt/format.h>

#include "base/check.h"
#include "graph/eager/eager.h"
#include "graph/trace/tracer.h"
#include "tilewright/error.h"

namespace tilewright::graph {
namespace {

constexpr CallRule call_table[] = {
    {"gather", run_gather, derive_gather},
    {"index_select", run_index_select, derive_index_select},
    {"scatter", run_scatter, derive_scatter},
    {"scatter_add", run_scatter_add, derive_scatter_add},
    {"index_add", run_index_add, derive_index_add},
    {"checked_index", run_checked_index, nullptr},
    {"max_pool2d", run_max_pool2d, derive_max_pool2d},
    {"max_pool2d_places", run_max_pool2d_places, nullptr},
    {"max_pool2d_backward", run_max_pool2d_backward, nullptr},
    {"avg_pool2d", run_avg_pool2d, derive_avg_pool2d},
    {"avg_pool2d_backward", run_avg_pool2d_backward, nullptr},
    {"conv2d", run_conv2d, derive_conv2d},
    {"conv2d_weight", run_conv2d_weight, nullptr},
    {"rand", run_rand, nullptr},
    {"randn", run_randn, nullptr},
};

}  // namespace

const CallRule& call_rule(std::string_view name) {
  for (const CallRule& rule : call_table)
    if (rule.name == name) return rule;
  TW_UNREACHABLE("there is no call '{}'", name);
}

Tensor apply_call(std::string_view name, std::span<const Tensor> tensors,
                  std::span<const std::int64_t> numbers, CallResult result) {
  Tracer* tracer = nullptr;
  for (const Tensor& tensor : tensors) {
    check_rank(name, tensor);
    check_one_device(name, tensors[0], tensor);
    if (Tracer* const found = tracer_of(tensor)) tracer = found;
  }
  if (tracer == nullptr)
    return call_rule(name).run({tensors, numbers, result.dtype, result.shape, tensors[0].device()});
  Node node{.kind = Node::Kind::Call,
            .dtype = result.dtype,
            .shape = std::move(result.shape),
            .call = std::string(name),
            .attributes = {numbers.begin(), numbers.end()}};
  for (const Tensor& tensor : tensors) node.operands.push_back(tracer->value_of(tensor));
  return tracer->record(std::move(node));
}

Tensor run_call(const Node& node, std::span<const Tensor> operands, Device device) {
  return call_rule(node.call).run({operands, node.attributes, node.dtype, node.shape, device});
}

std::vector<Tensor> derive_call(const Derivation& d) {
  const CallRule& rule = call_rule(d.node.call);
  if (rule.derive == nullptr)
    throw ArgumentError(fmt::format(
        "{} has no derivative: compute it outside of the function that is differentiated",
        rule.name));
  return rule.derive(d);
}

}  // namespace tilewright::graph
