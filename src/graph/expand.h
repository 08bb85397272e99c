// SPDX-License-Identifier: Apache-2.0
// graph/expand.h — operations over rows, written as formulas of the table's operations. Eager calls
// run a formula; a traced graph takes its steps.
#pragma once

#include "graph/formula.h"

namespace tilewright::graph {

// Each adds its steps to the formula and returns the value. `count` is the number of elements of a
// row, as a number of the formula.
int expand_mean(Formula& formula, int x, int count);
int expand_var(Formula& formula, int x, int count, int count_less_correction);
int expand_logsumexp(Formula& formula, int x);
int expand_softmax(Formula& formula, int x);
// Of scores with a mask: 0 where all of a row are -inf.
int expand_masked_softmax(Formula& formula, int x);
int expand_log_softmax(Formula& formula, int x);
// Weight and bias are values or -1.
int expand_layer_norm(Formula& formula, int x, int count, int eps, int weight, int bias);
int expand_rms_norm(Formula& formula, int x, int count, int eps, int weight);
// One loss a row: 0 where the target is `ignored`, NaN where there is no such class. `count` is an
// int64 here, as `zero` and `ignored`; `nan` is a float.
struct CrossEntropyNumbers {
  int count, zero, ignored, nan;
};
int expand_cross_entropy(Formula& formula, int x, int target, const CrossEntropyNumbers& numbers);

}  // namespace tilewright::graph
