// SPDX-License-Identifier: Apache-2.0
// bench/suite/references.cpp — the operations in float64, row by row.
#include "bench/suite/references.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace tilewright::suite {
namespace {

using Row = std::vector<double>;

constexpr std::int64_t most_rows = 256;
constexpr std::int64_t most_elements = std::int64_t{1} << 22;

std::vector<std::int64_t> sampled_rows(std::int64_t rows, std::int64_t work_per_row) {
  const std::int64_t possible = std::clamp(most_elements / std::max<std::int64_t>(work_per_row, 1),
                                           std::int64_t{2}, most_rows);
  const std::int64_t count = std::min(rows, possible);
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < count; ++i)
    chosen.push_back(count > 1 ? (rows - 1) * i / (count - 1) : 0);
  return chosen;
}

Row doubles_of(const Tensor& tensor) {
  return tensor.contiguous().cpu().to(DType::Float64).to_vector<double>();
}

// Row `row` of a tensor whose last dimension is a row.
Row row_of(const Tensor& tensor, std::int64_t row) {
  return doubles_of(tensor.view({-1, tensor.size(-1)}).slice(0, row, row + 1));
}

// Keeps the worst of what it has seen.
class Comparison {
 public:
  void add(std::int64_t row, const Row& expected, const Row& got, std::int64_t column = 0) {
    ++check_.rows;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!std::isfinite(expected[i]) && check_.problem.empty())
        check_.problem =
            fmt::format("the reference is {} at row {}, column {}", expected[i], row, i);
      top_ = std::max(top_, std::abs(expected[i]));
      const double distance = std::abs(got[i] - expected[i]);
      const double difference = std::isnan(distance) ? INFINITY : distance;
      if (difference <= largest_) continue;
      largest_ = difference;
      worst_ = {row, column + static_cast<std::int64_t>(i), got[i], expected[i]};
    }
  }
  Check result() const {
    Check check = check_;
    check.error = top_ > 0 ? largest_ / top_ : largest_;
    if (largest_ > 0)
      check.worst = fmt::format("row {}, column {}: {:.9g}, expected {:.9g}", worst_.row,
                                worst_.column, worst_.got, worst_.expected);
    return check;
  }

 private:
  Check check_;
  double top_ = 0;
  double largest_ = 0;
  struct Element {
    std::int64_t row = 0, column = 0;
    double got = 0, expected = 0;
  } worst_;
};

// For operations whose output has a row for each row of x.
template <class Reference>
Check check_rows(const Problem& problem, const Tensor& out, const Reference& reference) {
  Comparison comparison;
  for (const std::int64_t row : sampled_rows(problem.rows(), problem.columns())) {
    Row x = row_of(problem.tensor("x"), row);
    Row expected(x.size());
    reference(row, x, expected);
    comparison.add(row, expected, row_of(out, row));
  }
  return comparison.result();
}

double dot(const double* a, const double* b, std::int64_t count) {
  return std::inner_product(a, a + count, b, 0.0);
}

void to_softmax(Row& row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& value : row) sum += value = std::exp(value - top);
  for (double& value : row) value /= sum;
}

}  // namespace

Check check_gelu(const Problem& problem, const Tensor& out) {
  return check_rows(problem, out, [](std::int64_t, const Row& x, Row& y) {
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] = 0.5 * x[i] * (1 + std::tanh(0.79788456 * (x[i] + 0.044715 * x[i] * x[i] * x[i])));
  });
}

Check check_add(const Problem& problem, const Tensor& out) {
  return check_rows(problem, out, [&](std::int64_t row, const Row& x, Row& sum) {
    const Row y = row_of(problem.tensor("y"), row);
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] = x[i] + y[i];
  });
}

Check check_softmax(const Problem& problem, const Tensor& out) {
  return check_rows(problem, out, [](std::int64_t, const Row& x, Row& y) {
    y = x;
    to_softmax(y);
  });
}

Check check_layernorm(const Problem& problem, const Tensor& out) {
  const Row weight = doubles_of(problem.tensor("weight")),
            bias = doubles_of(problem.tensor("bias"));
  return check_rows(problem, out, [&](std::int64_t, const Row& x, Row& y) {
    const double n = static_cast<double>(x.size());
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
    double squares = 0;
    for (const double v : x) squares += (v - mean) * (v - mean);
    const double scale = 1 / std::sqrt(squares / n + norm_epsilon);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  });
}

Check check_rmsnorm(const Problem& problem, const Tensor& out) {
  const Row weight = doubles_of(problem.tensor("weight"));
  return check_rows(problem, out, [&](std::int64_t, const Row& x, Row& y) {
    const double squares = dot(x.data(), x.data(), static_cast<std::int64_t>(x.size()));
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + norm_epsilon);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * weight[i];
  });
}

Check check_cross_entropy(const Problem& problem, const Tensor& out) {
  const Row losses = doubles_of(out);
  const std::vector<std::int64_t> targets =
      problem.tensor("target").cpu().to_vector<std::int64_t>();
  Comparison comparison;
  for (const std::int64_t row : sampled_rows(problem.rows(), problem.columns())) {
    const Row x = row_of(problem.tensor("x"), row);
    const double top = *std::max_element(x.begin(), x.end());
    double sum = 0;
    for (const double v : x) sum += std::exp(v - top);
    const std::size_t at = static_cast<std::size_t>(row);
    const double chosen = x[static_cast<std::size_t>(targets[at])];
    comparison.add(row, {top + std::log(sum) - chosen}, {losses[at]});
  }
  return comparison.result();
}

// Which elements are kept is the generator's choice; how many, and what becomes of them, is not.
Check check_dropout(const Problem& problem, const Tensor& out) {
  double kept = 0, seen = 0;
  Check check = check_rows(problem, out, [&](std::int64_t row, const Row& x, Row& y) {
    const Row got = row_of(out, row);
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = got[i] == 0 ? 0 : x[i] / (1 - dropout_probability);
      kept += got[i] != 0;
    }
    seen += static_cast<double>(x.size());
  });
  const double share = 1 - dropout_probability;
  const double deviation = std::sqrt(share * dropout_probability / std::max(seen, 1.0));
  if (std::abs(kept / std::max(seen, 1.0) - share) > 6 * deviation + 1 / std::max(seen, 1.0))
    check.error = INFINITY;
  return check;
}

// The sampled rows at some columns: a row costs K products per column.
Check check_matmul(const Problem& problem, const Tensor& out) {
  const std::int64_t n = problem.shape[1], k = problem.shape[2];
  const std::int64_t width = std::min<std::int64_t>(n, 64);
  const Tensor &a = problem.tensor("a"), &b = problem.tensor("b");
  Comparison comparison;
  for (const std::int64_t first : {std::int64_t{0}, (n - width) / 2, n - width}) {
    const Row columns = doubles_of(b.slice(1, first, first + width).t());
    for (const std::int64_t row : sampled_rows(problem.shape[0], width * k)) {
      const Row left = row_of(a, row);
      Row expected(static_cast<std::size_t>(width));
      for (std::int64_t j = 0; j < width; ++j)
        expected[static_cast<std::size_t>(j)] = dot(left.data(), columns.data() + j * k, k);
      comparison.add(row, expected,
                     doubles_of(out.slice(0, row, row + 1).slice(1, first, first + width)), first);
    }
  }
  return comparison.result();
}

Check check_attention(const Problem& problem, const Tensor& out) {
  const std::int64_t length = problem.shape[2], head = problem.shape[3];
  const std::int64_t heads = problem.shape[0] * problem.shape[1];
  const double scale = 1 / std::sqrt(static_cast<double>(head));
  const Shape by_head = {heads, length, head};
  const auto at = [&](const Tensor& t, std::int64_t i) { return t.view(by_head).select(0, i); };
  Comparison comparison;
  for (const std::int64_t i : sampled_rows(heads, most_elements / 4)) {
    const Row keys = doubles_of(at(problem.tensor("k"), i));
    const Row values = doubles_of(at(problem.tensor("v"), i));
    for (const std::int64_t row : sampled_rows(length, 16 * length * head)) {
      const Row query = row_of(at(problem.tensor("q"), i), row);
      Row weights(static_cast<std::size_t>(length));
      for (std::int64_t j = 0; j < length; ++j)
        weights[static_cast<std::size_t>(j)] =
            scale * dot(query.data(), keys.data() + j * head, head);
      to_softmax(weights);
      Row expected(static_cast<std::size_t>(head));
      for (std::int64_t j = 0; j < length; ++j)
        for (std::int64_t d = 0; d < head; ++d)
          expected[static_cast<std::size_t>(d)] +=
              weights[static_cast<std::size_t>(j)] * values[static_cast<std::size_t>(j * head + d)];
      comparison.add(i * length + row, expected, row_of(at(out, i), row));
    }
  }
  return comparison.result();
}

}  // namespace tilewright::suite
