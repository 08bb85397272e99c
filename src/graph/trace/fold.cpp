// SPDX-License-Identifier: Apache-2.0
// graph/trace/fold.cpp — which captured tensors are known, and the operands that read them.
#include "graph/trace/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "graph/formula.h"
#include "graph/launch.h"
#include "tensor/traced.h"

namespace tilewright::graph {
namespace {

constexpr double exact_in_float = 0x1p24;

// Is the value the same in the dtype? Elements are computed as it, not rounded to the dtype first.
bool is_exact(DType dtype, double value) {
  if (dtype == DType::Float64) return true;
  if (dtype == DType::Float32)
    return static_cast<double>(static_cast<float>(value)) == value || std::isnan(value);
  if (is_floating(dtype)) return std::trunc(value) == value && std::abs(value) <= 8;
  if (value == 0 && std::signbit(value)) return false;  // integers have one zero
  if (dtype == DType::Bool) return value == 0 || value == 1;
  const double least = is_signed(dtype) ? -128 : 0;
  return std::trunc(value) == value && value >= least && value <= 127;
}

bool counts_exactly(DType dtype, double end) {
  if (dtype == DType::Int64 || dtype == DType::Float64) return end <= 0x1p53;
  if (dtype == DType::Int32) return end <= std::numeric_limits<std::int32_t>::max();
  return dtype == DType::Float32 && end <= exact_in_float;
}

class Folding {
 public:
  explicit Folding(Graph& graph) : graph_(graph) {}

  void run() {
    constants_.resize(graph_.nodes.size());
    bool is_any = false;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      if (node.kind != Node::Kind::Captured || !contents_of(node.captured)) continue;
      if (is_held(node.captured)) continue;
      const MadeContents contents = *contents_of(node.captured);
      if (contents.kind == MadeContents::Kind::Counting) {
        node.is_counting =
            node.captured.offset() == 0 && counts_exactly(node.dtype, contents.value);
        node.is_constant = node.is_counting;
        if (node.is_counting) node.call = "arange";
      } else if (is_exact(node.dtype, contents.value)) {
        constants_[i] = contents.value;
        node.is_constant = true;
        node.call = fmt::format("full {}", contents.value);
        is_any = true;
      }
    }
    if (is_any)
      for (Node& node : graph_.nodes)
        if (node.kind == Node::Kind::Pointwise) fold_operands(node);
  }

 private:
  // By other handles than the graph's own, and the one that keeps what was written in the trace.
  bool is_held(const Tensor& tensor) const {
    const OnlyAddresses only;
    const auto is_one = [&](const Node& node) {
      return node.kind == Node::Kind::Captured &&
             node.captured.buffer().data() == tensor.buffer().data();
    };
    return std::count_if(graph_.nodes.begin(), graph_.nodes.end(), is_one) +
               (traced_of(tensor) ? 1 : 0) !=
           tensor.buffer().use_count();
  }

  // A kernel has an operand with elements.
  void fold_operands(Node& node) const {
    const auto is_constant = [&](const Value& value) {
      return value.is_number() || constants_[static_cast<std::size_t>(value.node)].has_value();
    };
    if (std::all_of(node.operands.begin(), node.operands.end(), is_constant)) return;
    for (std::size_t o = 0; o < node.operands.size(); ++o) {
      Value& value = node.operands[o];
      if (value.is_number() || !is_constant(value)) continue;
      if (node.op == Op::Where && o == 0) continue;  // a condition is a tensor
      const double number = *constants_[static_cast<std::size_t>(value.node)];
      Value folded;
      folded.number = operand_argument(node.operand_dtype, Scalar(number));
      value = std::move(folded);
    }
  }

  Graph& graph_;
  std::vector<std::optional<double>> constants_;  // by node
};

}  // namespace

void fold_contents(Graph& graph) { Folding(graph).run(); }

}  // namespace tilewright::graph
