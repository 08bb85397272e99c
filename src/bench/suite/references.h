// SPDX-License-Identifier: Apache-2.0
// bench/suite/references.h — float64 references: a sample of rows is computed on the host and
// compared.
//
// Small problems are compared whole. Of large ones the first row, the last one and rows evenly
// between them are taken, as many as can be computed in about a second.
#pragma once

#include "bench/suite/ops.h"

namespace tilewright::suite {

Check check_add(const Problem& problem, const Tensor& out);
Check check_attention(const Problem& problem, const Tensor& out);
Check check_cross_entropy(const Problem& problem, const Tensor& out);
Check check_dropout(const Problem& problem, const Tensor& out);
Check check_gelu(const Problem& problem, const Tensor& out);
Check check_layernorm(const Problem& problem, const Tensor& out);
Check check_matmul(const Problem& problem, const Tensor& out);
Check check_rmsnorm(const Problem& problem, const Tensor& out);
Check check_softmax(const Problem& problem, const Tensor& out);

inline constexpr double norm_epsilon = 1e-5;
inline constexpr double dropout_probability = 0.25;

}  // namespace tilewright::suite
