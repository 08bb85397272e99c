// SPDX-License-Identifier: Apache-2.0
// examples/attention.cpp — attention forward and backward over heads of an odd length, causal and
// not, against float64.
#include "check.h"

constexpr std::int64_t heads = 3, length = 75, dim = 32;

// Everything of one run in float64, in the layout of the tensors.
struct Reference {
  std::vector<double> out, d_q, d_k, d_v;
};

Reference reference(const std::vector<float>& q, const std::vector<float>& k,
                    const std::vector<float>& v, const std::vector<float>& d_out, double scale,
                    bool is_causal) {
  const std::size_t size = q.size(), n = length, width = dim;
  Reference all{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size),
                std::vector<double>(size)};
  for (std::size_t row = 0; row < size / width; ++row) {
    const std::size_t first = row / n * n;  // of the head
    const std::size_t count = is_causal ? row - first + 1 : n;
    const auto dot = [&](const std::vector<float>& a, std::size_t i, const std::vector<float>& b,
                         std::size_t j) {
      double sum = 0;
      for (std::size_t d = 0; d < width; ++d) sum += double(a[i * width + d]) * b[j * width + d];
      return sum;
    };
    std::vector<double> p(count);
    double total = 0;
    for (std::size_t j = 0; j < count; ++j)
      total += p[j] = std::exp(dot(q, row, k, first + j) * scale);
    double delta = 0;
    for (std::size_t j = 0; j < count; ++j) {
      p[j] /= total;
      delta += p[j] * dot(d_out, row, v, first + j);
    }
    for (std::size_t j = 0; j < count; ++j) {
      const double d_s = p[j] * (dot(d_out, row, v, first + j) - delta) * scale;
      for (std::size_t d = 0; d < width; ++d) {
        const std::size_t here = row * width + d, there = (first + j) * width + d;
        all.out[here] += p[j] * v[there];
        all.d_v[there] += p[j] * d_out[here];
        all.d_q[here] += d_s * k[there];
        all.d_k[there] += d_s * q[here];
      }
    }
  }
  return all;
}

int run(const std::string& file, bool is_causal, tw::DType dtype) {
  const auto forward = tw::load_triton(file, "attention_forward");
  const auto make_delta = tw::load_triton(file, "attention_delta");
  const auto backward = tw::load_triton(file, "attention_backward");
  const double scale = 1 / std::sqrt(double(dim));
  const tw::Shape shape = {heads, length, dim};
  const auto random = [&] { return tw::randn(shape).to(dtype); };
  const auto q = random(), k = random(), v = random(), d_out = random();
  const auto out = tw::empty_like(q), d_k = tw::empty_like(q), d_v = tw::empty_like(q);
  const auto d_q = tw::zeros(shape);
  const auto log_sum = tw::empty({heads, length}), delta = tw::empty({heads, length});

  const auto causal = tw::constant("CAUSAL", is_causal);
  const auto width = tw::constant("DIM", dim);
  const auto block_m = tw::constant("BLOCK_M", 32), block_n = tw::constant("BLOCK_N", 32);
  const std::int64_t blocks = tw::cdiv(length, 32);
  forward[{blocks, heads}](q, k, v, out, log_sum, length, scale, width, block_m, block_n, causal);
  make_delta[tw::cdiv(heads * length, 32)](out, d_out, delta, heads * length, width, block_m);
  backward[{blocks, heads}](q, k, v, d_out, log_sum, delta, d_q, d_k, d_v, length, scale, width,
                            block_m, block_n, causal);

  const auto values = [](const tw::Tensor& tensor) {
    return tensor.cpu().to(tw::f32).to_vector<float>();
  };
  const Reference want =
      reference(values(q), values(k), values(v), values(d_out), scale, is_causal);
  const auto check = [&](const std::string& what, const tw::Tensor& got,
                         const std::vector<double>& expected) {
    const double error = largest_error(got.to(tw::f32), [&](std::size_t i) { return expected[i]; });
    const double limit = dtype == tw::f32 ? 1e-5 : 5e-3;
    const std::string name =
        what + ", " + std::string(tw::name_of(dtype)) + (is_causal ? ", causal" : "");
    return report(name.c_str(), got, error, limit);
  };
  return check("attention", out, want.out) + check("gradient of queries", d_q, want.d_q) +
         check("gradient of keys", d_k, want.d_k) + check("gradient of values", d_v, want.d_v);
}

int main(int count, char** arguments) {
  return guarded([&] {
    const std::string file = python_file(count, arguments, "attention.py");
    int wrong = 0;
    for (tw::DType dtype : {tw::f32, tw::f16})
      for (bool is_causal : {false, true}) wrong += run(file, is_causal, dtype);
    return wrong;
  });
}
