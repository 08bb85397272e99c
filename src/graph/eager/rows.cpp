// SPDX-License-Identifier: Apache-2.0
// graph/eager/rows.cpp — reductions, softmax, norms and cross entropy.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "graph/call.h"
#include "graph/eager/eager.h"
#include "graph/expand.h"
#include "graph/trace/tracer.h"
#include "tensor/shape.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace graph {
namespace {

std::uint64_t dtype_key(DType dtype) { return static_cast<std::uint64_t>(dtype); }

void check_not_empty(std::string_view call, const Tensor& x, std::uint32_t mask) {
  if (reduced_count(x, mask) > 0) return;
  throw ArgumentError(
      fmt::format("{}({}): the dimensions to reduce have no elements, and nothing is the result of "
                  "that",
                  call, tensor_text(x)));
}

Tensor reduce_simply(Op op, const Tensor& x, const Axes& axes, bool keepdim) {
  const std::string_view name = facts_of(op).name;
  const std::uint32_t mask = axes_mask(name, x, axes);
  if (op != Op::Sum && op != Op::Product) check_not_empty(name, x, mask);
  if (const std::optional<Tensor> made = reduce_in_parts(op, x, mask, x.dtype()))
    return made->view(kept_shape(x.shape(), mask, keepdim));
  const Formula& formula =
      eager_formula(static_cast<int>(op), dtype_key(x.dtype()), [&](Formula& f) {
        f.name = fmt::format("tw_{}", name);
        const int made = f.step(op, {f.leaf(x.dtype())});
        f.output(made, f.dtype(made), true);
      });
  return run_rows({.name = name, .formula = formula, .x = x, .reduced = mask, .keepdim = keepdim});
}

// Over all dimensions an index counts the elements in row-major order.
Tensor place_of(Op op, const Tensor& x, std::optional<int> axis, bool keepdim) {
  if (axis) return reduce_simply(op, x, *axis, keepdim);
  const Tensor flat = reduce_simply(op, x.reshape({-1}), 0, false);
  return keepdim ? flat.view(Shape(x.shape().size(), 1)) : flat;
}

DType count_dtype(DType dtype) { return compute_dtype(dtype); }

Argument float_argument(DType dtype, double value) {
  return number_argument(count_dtype(dtype), Scalar(value));
}

// A reduction of floats with numbers of its own.
struct Expansion {
  std::string_view name;
  Expanded kind;
  int (*expand)(Formula&, int x, const int* numbers);
  bool is_per_row;
};

Tensor run_expanded(const Expansion& expansion, const Tensor& x, std::uint32_t mask, bool keepdim,
                    std::span<const double> numbers) {
  check_floating(expansion.name, x);
  const Formula& formula =
      eager_formula(static_cast<int>(expansion.kind), dtype_key(x.dtype()), [&](Formula& f) {
        f.name = fmt::format("tw_{}", expansion.name);
        const int leaf = f.leaf(x.dtype());
        int values[4] = {};
        for (std::size_t i = 0; i < numbers.size(); ++i)
          values[i] = f.number(count_dtype(x.dtype()));
        f.output(expansion.expand(f, leaf, values), x.dtype(), expansion.is_per_row);
      });
  Argument arguments[4];
  for (std::size_t i = 0; i < numbers.size(); ++i)
    arguments[i] = float_argument(x.dtype(), numbers[i]);
  return run_rows({.name = expansion.name,
                   .formula = formula,
                   .x = x,
                   .reduced = mask,
                   .keepdim = keepdim,
                   .numbers = {arguments, numbers.size()}});
}

// ---- Norms.

struct NormCall {
  std::string_view name;
  Expanded kind;
  const Tensor& weight;
  const Tensor& bias;
  double eps;
};

void check_norm_operand(const NormCall& call, const Tensor& x, const Tensor& operand) {
  const std::size_t missing = x.shape().size() - std::min(x.shape().size(), operand.shape().size());
  const Shape tail(x.shape().begin() + static_cast<std::ptrdiff_t>(missing), x.shape().end());
  if (operand.rank() > 0 && tail == operand.shape() && is_floating(operand.dtype())) return;
  throw ArgumentError(
      fmt::format("{}({}): weight or bias {} must be floats of the last dimensions' "
                  "sizes",
                  call.name, tensor_text(x), tensor_text(operand)));
}

Tensor run_norm(const NormCall& call, const Tensor& x) {
  check_floating(call.name, x);
  if (x.rank() == 0)
    throw ArgumentError(
        fmt::format("{}({}) needs a dimension to work along", call.name, tensor_text(x)));
  const Tensor* others[2];
  std::size_t count = 0;
  std::uint64_t key = dtype_key(x.dtype());
  int normalized = 1;
  for (const Tensor* operand : {&call.weight, &call.bias}) {
    key <<= 5;
    if (!operand->is_defined()) {
      key |= 31;
      continue;
    }
    check_norm_operand(call, x, *operand);
    normalized = operand->rank();
    key |= dtype_key(operand->dtype());
    others[count++] = operand;
  }
  if (call.weight.is_defined() && call.bias.is_defined() &&
      call.weight.shape() != call.bias.shape())
    throw ArgumentError(fmt::format("{}({}): weight {} and bias {} must have one shape", call.name,
                                    tensor_text(x), tensor_text(call.weight),
                                    tensor_text(call.bias)));
  const Formula& formula = eager_formula(static_cast<int>(call.kind), key, [&](Formula& f) {
    f.name = fmt::format("tw_{}", call.name);
    const int leaf = f.leaf(x.dtype());
    const int weight = call.weight.is_defined() ? f.leaf(call.weight.dtype()) : -1;
    const int bias = call.bias.is_defined() ? f.leaf(call.bias.dtype()) : -1;
    const int n = f.number(count_dtype(x.dtype())), eps = f.number(count_dtype(x.dtype()));
    const int y = call.kind == Expanded::LayerNorm
                      ? expand_layer_norm(f, leaf, n, eps, weight, bias)
                      : expand_rms_norm(f, leaf, n, eps, weight);
    f.output(y, x.dtype());
  });
  const std::uint32_t mask = ((1u << normalized) - 1) << (x.rank() - normalized);
  const std::array<Argument, 2> numbers = {
      float_argument(x.dtype(), static_cast<double>(reduced_count(x, mask))),
      float_argument(x.dtype(), call.eps)};
  return run_rows({.name = call.name,
                   .formula = formula,
                   .x = x,
                   .reduced = mask,
                   .others = {others, count},
                   .numbers = numbers});
}

// A row is a group of channels with all their elements; weights have one element for a channel.
Tensor run_group_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  std::uint64_t key = dtype_key(x.dtype());
  std::vector<Tensor> by_channel;
  for (const Tensor* operand : {&weight, &bias}) {
    key = key << 5 | (operand->is_defined() ? dtype_key(operand->dtype()) : 31);
    // Repeated for each element of a plane: rows go over both dimensions as one.
    if (operand->is_defined())
      by_channel.push_back(operand->reshape({x.size(1), x.size(2), 1})
                               .broadcast_to({x.size(1), x.size(2), x.size(3)})
                               .contiguous());
  }
  const Formula& formula =
      eager_formula(static_cast<int>(Expanded::GroupNorm), key, [&](Formula& f) {
        f.name = "tw_group_norm";
        const int leaf = f.leaf(x.dtype());
        const int w = weight.is_defined() ? f.leaf(weight.dtype()) : -1;
        const int b = bias.is_defined() ? f.leaf(bias.dtype()) : -1;
        const int n = f.number(count_dtype(x.dtype())), e = f.number(count_dtype(x.dtype()));
        f.output(expand_layer_norm(f, leaf, n, e, w, b), x.dtype());
      });
  constexpr std::uint32_t mask = 0b1100;
  const std::array<Argument, 2> numbers = {
      float_argument(x.dtype(), static_cast<double>(reduced_count(x, mask))),
      float_argument(x.dtype(), eps)};
  std::vector<const Tensor*> others;
  for (const Tensor& operand : by_channel) others.push_back(&operand);
  return run_rows({.name = "group_norm",
                   .formula = formula,
                   .x = x,
                   .reduced = mask,
                   .others = others,
                   .numbers = numbers});
}

// ---- Cross entropy.

void check_cross_entropy(const Tensor& logits, const Tensor& target) {
  check_floating("cross_entropy", logits);
  const bool fits = logits.rank() == 2 && target.rank() == 1 && target.dtype() == DType::Int64 &&
                    target.size(0) == logits.size(0);
  if (!fits)
    throw ArgumentError(
        fmt::format("cross_entropy({}, {}): logits have a shape of rows x classes, targets are "
                    "int64, one for each row",
                    tensor_text(logits), tensor_text(target)));
  check_one_device("cross_entropy", logits, target);
  check_not_empty("cross_entropy", logits, 2);
}

Tensor row_losses(const Tensor& logits, const Tensor& target, std::int64_t ignored) {
  const DType dtype = logits.dtype();
  const Formula& formula =
      eager_formula(static_cast<int>(Expanded::CrossEntropy), dtype_key(dtype), [&](Formula& f) {
        f.name = "tw_cross_entropy";
        const int x = f.leaf(dtype), t = f.leaf(DType::Int64, true);
        CrossEntropyNumbers numbers{};
        numbers.count = f.number(DType::Int64);
        numbers.zero = f.number(DType::Int64);
        numbers.ignored = f.number(DType::Int64);
        numbers.nan = f.number(count_dtype(dtype));
        f.output(expand_cross_entropy(f, x, t, numbers), dtype, true);
      });
  const std::array<Argument, 4> numbers = {
      Argument(logits.size(1)), Argument(std::int64_t{0}), Argument(ignored),
      float_argument(dtype, std::numeric_limits<double>::quiet_NaN())};
  const Tensor* const others[] = {&target};
  return run_rows({.name = "cross_entropy",
                   .formula = formula,
                   .x = logits,
                   .reduced = 2,
                   .others = others,
                   .numbers = numbers});
}

// The sum of the losses over how many targets there are that are not ignored.
Tensor mean_loss(const Tensor& losses, const Tensor& target, std::int64_t ignored) {
  const DType dtype = losses.dtype();
  const Formula& formula =
      eager_formula(static_cast<int>(Expanded::MeanLoss), dtype_key(dtype), [&](Formula& f) {
        f.name = "tw_mean_loss";
        const int loss = f.leaf(dtype), t = f.leaf(DType::Int64);
        const int skipped = f.number(DType::Int64);
        const int counted = f.cast(f.step(Op::NotEqual, {t, skipped}), count_dtype(dtype));
        f.output(f.step(Op::Quotient, {f.step(Op::Sum, {loss}), f.step(Op::Sum, {counted})}), dtype,
                 true);
      });
  const std::array<Argument, 1> numbers = {Argument(ignored)};
  const Tensor* const others[] = {&target};
  return run_rows({.name = "cross_entropy",
                   .formula = formula,
                   .x = losses,
                   .reduced = 1,
                   .others = others,
                   .numbers = numbers});
}

Tensor reduce_losses(const Tensor& logits, const Tensor& target, Reduction reduction,
                     std::int64_t ignored) {
  const Tensor losses = row_losses(logits, target, ignored);
  if (reduction == Reduction::None) return losses;
  return reduction == Reduction::Sum ? sum(losses) : mean_loss(losses, target, ignored);
}

}  // namespace

void check_index_range(std::string_view call, const Tensor& index, std::int64_t count,
                       std::optional<std::int64_t> allowed) {
  if (!index.device().is_cpu() || index.numel() == 0 || tracer_of(index) != nullptr) return;
  const Tensor flat = index.to(DType::Int64).contiguous();
  const std::int64_t* const values = flat.data<std::int64_t>();
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    const bool is_right = (values[i] >= 0 && values[i] < count) || values[i] == allowed;
    if (!is_right)
      throw ArgumentError(
          fmt::format("{}: index {} at place {} is out of range: there are {} (0 to {})", call,
                      values[i], i, count, count - 1));
  }
}

Tensor masked_softmax(const Tensor& x) {
  static constexpr Expansion expansion{
      "softmax", Expanded::MaskedSoftmax,
      [](Formula& f, int v, const int*) { return expand_masked_softmax(f, v); }, false};
  return run_expanded(expansion, x, axes_mask("softmax", x, -1), false, {});
}

// Of a traced function on the CPU: indices are looked at in every call, as eager ones are.
Tensor run_checked_index(const CallInputs& inputs) {
  check_index_range("cross_entropy", inputs.tensors[0], inputs.numbers[0], inputs.numbers[1]);
  return inputs.tensors[0].clone();
}

}  // namespace graph

using graph::Expanded;
using graph::Expansion;

Tensor sum(const Tensor& x, const Axes& axes, bool keepdim) {
  return graph::reduce_simply(graph::Op::Sum, x, axes, keepdim);
}
Tensor prod(const Tensor& x, const Axes& axes, bool keepdim) {
  return graph::reduce_simply(graph::Op::Product, x, axes, keepdim);
}
Tensor max(const Tensor& x, const Axes& axes, bool keepdim) {
  return graph::reduce_simply(graph::Op::Max, x, axes, keepdim);
}
Tensor min(const Tensor& x, const Axes& axes, bool keepdim) {
  return graph::reduce_simply(graph::Op::Min, x, axes, keepdim);
}
Tensor argmax(const Tensor& x, std::optional<int> axis, bool keepdim) {
  return graph::place_of(graph::Op::ArgMax, x, axis, keepdim);
}
Tensor argmin(const Tensor& x, std::optional<int> axis, bool keepdim) {
  return graph::place_of(graph::Op::ArgMin, x, axis, keepdim);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keepdim) {
  static constexpr Expansion expansion{
      "mean", Expanded::Mean,
      [](graph::Formula& f, int v, const int* n) { return graph::expand_mean(f, v, n[0]); }, true};
  const std::uint32_t mask = graph::axes_mask("mean", x, axes);
  const double count = static_cast<double>(graph::reduced_count(x, mask));
  if (is_floating(x.dtype())) {
    const DType wide = graph::compute_dtype(x.dtype());
    if (const auto total = graph::reduce_in_parts(graph::Op::Sum, x, mask, wide))
      return to(*total / count, x.dtype()).view(graph::kept_shape(x.shape(), mask, keepdim));
  }
  return graph::run_expanded(expansion, x, mask, keepdim, {&count, 1});
}

Tensor var(const Tensor& x, const Axes& axes, int correction, bool keepdim) {
  static constexpr Expansion expansion{
      "var", Expanded::Var,
      [](graph::Formula& f, int v, const int* n) { return graph::expand_var(f, v, n[0], n[1]); },
      true};
  const std::uint32_t mask = graph::axes_mask("var", x, axes);
  const double count = static_cast<double>(graph::reduced_count(x, mask));
  const double numbers[] = {count, std::max(count - correction, 0.0)};
  return graph::run_expanded(expansion, x, mask, keepdim, numbers);
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdim) {
  static constexpr Expansion expansion{
      "logsumexp", Expanded::LogSumExp,
      [](graph::Formula& f, int v, const int*) { return graph::expand_logsumexp(f, v); }, true};
  return graph::run_expanded(expansion, x, graph::axes_mask("logsumexp", x, axes), keepdim, {});
}

Tensor softmax(const Tensor& x, int axis) {
  static constexpr Expansion expansion{
      "softmax", Expanded::Softmax,
      [](graph::Formula& f, int v, const int*) { return graph::expand_softmax(f, v); }, false};
  return graph::run_expanded(expansion, x, graph::axes_mask("softmax", x, axis), false, {});
}

Tensor log_softmax(const Tensor& x, int axis) {
  static constexpr Expansion expansion{
      "log_softmax", Expanded::LogSoftmax,
      [](graph::Formula& f, int v, const int*) { return graph::expand_log_softmax(f, v); }, false};
  return graph::run_expanded(expansion, x, graph::axes_mask("log_softmax", x, axis), false, {});
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  return graph::run_norm({"layer_norm", Expanded::LayerNorm, weight, bias, eps}, x);
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  return graph::run_norm({"rms_norm", Expanded::RmsNorm, weight, {}, eps}, x);
}

Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps) {
  graph::check_floating("group_norm", x);
  if (x.rank() < 2 || groups < 1 || x.size(1) % groups != 0)
    throw ArgumentError(fmt::format("group_norm({}): its channels, dimension 1, must be {} groups",
                                    graph::tensor_text(x), groups));
  for (const Tensor* operand : {&weight, &bias})
    if (operand->is_defined() &&
        (operand->shape() != Shape{x.size(1)} || !is_floating(operand->dtype())))
      throw ArgumentError(
          fmt::format("group_norm({}): weight or bias {} must be floats, one for "
                      "each of {} channels",
                      graph::tensor_text(x), graph::tensor_text(*operand), x.size(1)));
  std::int64_t rest = 1;
  for (int d = 2; d < x.rank(); ++d) rest *= x.size(d);
  const Tensor rows = x.reshape({x.size(0), groups, x.size(1) / groups, rest});
  return graph::run_group_norm(rows, weight, bias, eps).view(x.shape());
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, Reduction reduction,
                     std::int64_t ignore_index) {
  graph::check_cross_entropy(logits, target);
  graph::check_index_range("cross_entropy", target, logits.size(1), ignore_index);
  if (graph::tracer_of(target) != nullptr && target.device().is_cpu()) {
    const std::array<std::int64_t, 2> range = {logits.size(1), ignore_index};
    const Tensor checked =
        graph::apply_call("checked_index", {&target, 1}, range, {target.dtype(), target.shape()});
    return graph::reduce_losses(logits, checked, reduction, ignore_index);
  }
  return graph::reduce_losses(logits, target, reduction, ignore_index);
}

}  // namespace tilewright
