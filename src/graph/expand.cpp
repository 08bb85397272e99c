// SPDX-License-Identifier: Apache-2.0
// graph/expand.cpp — the formulas of operations over rows.
#include "graph/expand.h"

namespace tilewright::graph {

int expand_mean(Formula& f, int x, int count) {
  return f.step(Op::Quotient, {f.step(Op::Sum, {x}), count});
}

// The mean first, then the squares of what differs from it: no cancellation.
int expand_var(Formula& f, int x, int count, int count_less_correction) {
  const int centred = f.step(Op::Subtract, {x, expand_mean(f, x, count)});
  const int total = f.step(Op::Sum, {f.step(Op::Square, {centred})});
  return f.step(Op::Divide, {total, count_less_correction});
}

namespace {

// The largest of a row, as a number that x may be shifted by.
struct Top {
  int top, is_finite, zero;
  int is_low;  // -inf: of a row without numbers
};
Top top_of(Formula& f, int x) {
  Top made{};
  made.top = f.step(Op::MaxNumber, {x});
  const int nothing = f.step(Op::Subtract, {made.top, made.top});  // 0, or NaN for an infinite top
  made.is_finite = f.step(Op::Equal, {nothing, nothing});
  made.zero = f.cast(f.step(Op::IsNan, {made.is_finite}), f.dtype(x));
  made.is_low = f.step(Op::LogicalAnd, {f.step(Op::LogicalNot, {made.is_finite}),
                                        f.step(Op::Less, {made.top, made.zero})});
  return made;
}

}  // namespace

// log(sum(exp(x - top))) + top, where a top that is infinite is left out of the difference, since
// inf - inf is NaN. The sum of a row of -inf is counted as 1, so that the derivative has no 1 / 0.
int expand_logsumexp(Formula& f, int x) {
  const auto [top, is_finite, zero, is_low] = top_of(f, x);
  const int shift = f.step(Op::Where, {is_finite, top, zero});
  const int powers = f.step(Op::Exp, {f.step(Op::Subtract, {x, shift})});
  const int total = f.step(Op::Add, {f.step(Op::Sum, {powers}), f.cast(is_low, f.dtype(x))});
  return f.step(Op::Add, {f.step(Op::Log, {total}), f.step(Op::Where, {is_low, top, shift})});
}

// A NaN that `max_number` passes over comes back through the sum.
int expand_softmax(Formula& f, int x) {
  const int top = f.step(Op::MaxNumber, {x});
  const int power = f.step(Op::Exp, {f.step(Op::Subtract, {x, top})});
  return f.step(Op::Quotient, {power, f.step(Op::Sum, {power})});
}

// A row of -inf is shifted by 0, and its sum of 0 counted as 1.
int expand_masked_softmax(Formula& f, int x) {
  const auto [top, is_finite, zero, is_low] = top_of(f, x);
  const int shift = f.step(Op::Where, {is_low, zero, top});
  const int power = f.step(Op::Exp, {f.step(Op::Subtract, {x, shift})});
  const int total = f.step(Op::Add, {f.step(Op::Sum, {power}), f.cast(is_low, f.dtype(x))});
  return f.step(Op::Quotient, {power, total});
}

int expand_log_softmax(Formula& f, int x) {
  const int centred = f.step(Op::Subtract, {x, f.step(Op::MaxNumber, {x})});
  const int total = f.step(Op::Sum, {f.step(Op::Exp, {centred})});
  return f.step(Op::Subtract, {centred, f.step(Op::Log, {total})});
}

int expand_layer_norm(Formula& f, int x, int count, int eps, int weight, int bias) {
  const int centred = f.step(Op::Subtract, {x, expand_mean(f, x, count)});
  const int variance =
      f.step(Op::Quotient, {f.step(Op::Sum, {f.step(Op::Square, {centred})}), count});
  int y = f.step(Op::Multiply, {centred, f.step(Op::Rsqrt, {f.step(Op::Add, {variance, eps})})});
  if (weight >= 0) y = f.step(Op::Multiply, {y, weight});
  if (bias >= 0) y = f.step(Op::Add, {y, bias});
  return y;
}

int expand_rms_norm(Formula& f, int x, int count, int eps, int weight) {
  const int square = f.step(Op::Quotient, {f.step(Op::Sum, {f.step(Op::Square, {x})}), count});
  int y = f.step(Op::Multiply, {x, f.step(Op::Rsqrt, {f.step(Op::Add, {square, eps})})});
  if (weight >= 0) y = f.step(Op::Multiply, {y, weight});
  return y;
}

// log(sum(exp(x - top))) + (top - chosen): the difference of two logits is small where the loss is,
// and must not be rounded as they are.
int expand_cross_entropy(Formula& f, int x, int target, const CrossEntropyNumbers& numbers) {
  const int top = f.step(Op::MaxNumber, {x});
  const int total = f.step(Op::Sum, {f.step(Op::Exp, {f.step(Op::Subtract, {x, top})})});
  const int is_target = f.step(Op::Equal, {f.step(Op::RowIndex, {}), target});
  const int nothing = f.cast(numbers.zero, f.dtype(x));
  const int chosen = f.step(Op::Sum, {f.step(Op::Where, {is_target, x, nothing})});
  const int loss = f.step(Op::Add, {f.step(Op::Log, {total}), f.step(Op::Subtract, {top, chosen})});
  const int is_low = f.step(Op::Less, {target, numbers.zero});
  const int is_high = f.step(Op::GreaterEqual, {target, numbers.count});
  const int is_wrong = f.step(Op::LogicalOr, {is_low, is_high});
  const int checked = f.step(Op::Where, {is_wrong, f.cast(numbers.nan, f.dtype(loss)), loss});
  const int is_ignored = f.step(Op::Equal, {target, numbers.ignored});
  return f.step(Op::Where, {is_ignored, f.cast(numbers.zero, f.dtype(loss)), checked});
}

}  // namespace tilewright::graph
