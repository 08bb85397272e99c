// SPDX-License-Identifier: Apache-2.0
// bench/vector_math_ulp.cpp — how far the math functions of CPU kernels are from the exact results:
// every float32, float16 and bfloat16, through Triton kernels as users write them.
//
// The limits are those that device_lib/cpu/math.h states; a function beyond its limit fails the
// program. The reference is the C library's function of float64.
#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "base/embedded.h"
#include "report.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright::bench {
namespace {

constexpr const char* help =
    "vector_math_ulp [--stride N] [FUNCTION ...]: the largest errors of the CPU's math functions\n"
    "(or of those named) in ulp, over every Nth float32 (1: all of them, some 2 minutes of CPU\n"
    "time each) and every float16 and bfloat16; exit code 1 when a function is beyond the limit\n"
    "that the device library states\n";

// Rounding to a small type takes half an ulp; float32's error before it is hardly seen.
constexpr double small_limit = 0.51;
// Of the reference, in ulp of float32.
constexpr double reference_error = 1e-6;

struct MathFunction {
  const char* name;
  const char* text;  // in the kernel: of x and, for pow, of p
  double (*exact)(double x, double p);
};

constexpr MathFunction functions[] = {
    {"cos", "tl.cos(x)", [](double x, double) { return std::cos(x); }},
    {"erf", "tl.erf(x)", [](double x, double) { return std::erf(x); }},
    {"exp", "tl.exp(x)", [](double x, double) { return std::exp(x); }},
    {"exp_plus", "tl.exp(x) + 1", [](double x, double) { return std::exp(x) + 1; }},
    {"exp2", "tl.exp2(x)", [](double x, double) { return std::exp2(x); }},
    {"log", "tl.log(x)", [](double x, double) { return std::log(x); }},
    {"log10", "libdevice.log10(x)", [](double x, double) { return std::log10(x); }},
    {"log2", "tl.log2(x)", [](double x, double) { return std::log2(x); }},
    {"pow", "libdevice.pow(x, p)", [](double x, double p) { return std::pow(x, p); }},
    {"rsqrt", "tl.rsqrt(x)", [](double x, double) { return 1 / std::sqrt(x); }},
    {"sin", "tl.sin(x)", [](double x, double) { return std::sin(x); }},
    {"sqrt", "tl.sqrt(x)", [](double x, double) { return std::sqrt(x); }},
    {"tanh", "libdevice.tanh(x)", [](double x, double) { return std::tanh(x); }},
};

constexpr const char* kernel_text = R"(
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def kernel(x_ptr, p_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    p = tl.load(p_ptr + i, mask=i < n).to(tl.float32)
    tl.store(y_ptr + i, {}, mask=i < n)
)";

// The limit in the table at the head of the device library's file.
double limit_of(std::string_view name) {
  const std::string_view text = embedded_file("device_lib/cpu/math.h");
  std::istringstream lines(std::string(text.substr(0, text.find("#pragma"))));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("//   ")) continue;
    std::istringstream words(line.substr(2));
    double limit = 0;
    for (std::string word; words >> word >> limit;)
      if (word == name) return limit;
  }
  throw InternalError(fmt::format("device_lib/cpu/math.h states no limit for '{}'", name));
}

// ---- Errors

struct Format {
  DType dtype;
  int mantissa_bits;
  int least_exponent;  // of a last place
  double end;          // the first power of two beyond all numbers
};
constexpr Format formats[] = {{DType::Float32, 23, -149, 0x1p128},
                              {DType::Float16, 10, -24, 0x1p16},
                              {DType::BFloat16, 7, -133, 0x1p128}};

// In units of the exact result's last place; infinity counts as the end.
double error_of(const Format& format, double got, double exact) {
  if (std::isnan(got) || std::isnan(exact))
    return std::isnan(got) && std::isnan(exact) ? 0 : INFINITY;
  if (std::isinf(got)) got = std::copysign(format.end, got);
  if (std::fabs(exact) > format.end) exact = std::copysign(format.end, exact);
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(exact) >> 52 & 2047) - 1023;
  const int last = std::max(exponent - format.mantissa_bits, format.least_exponent);
  const auto inverse = static_cast<std::uint64_t>(1023 - last) << 52;
  return std::fabs(got - exact) * std::bit_cast<double>(inverse);
}

struct Worst {
  double ulps = 0;
  double x = 0, p = 0;
};

// Powers of all kinds for the base with this number: whole, plain, near the ends of the range.
float power_for(std::uint32_t number) {
  std::uint32_t bits = number * 0x9e3779b9u;
  bits = (bits ^ bits >> 15) * 0x85ebca6bu;
  bits ^= bits >> 13;
  const auto part = static_cast<float>(static_cast<int>(bits >> 8 & 0xffff) - 0x8000);
  switch (bits & 3) {
    case 0:
      return std::trunc(part / 1024);
    case 1:
      return part / 2048;
    case 2:
      return part;
    default:
      return std::bit_cast<float>(bits);
  }
}

// ---- One function over one format

template <class T>
T element_of(std::uint32_t number) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<T>(number);
  else return std::bit_cast<T>(static_cast<std::uint16_t>(number));
}

template <class T>
class Measurement {
 public:
  Measurement(const MathFunction& function, const Format& format, std::uint64_t stride)
      : function_(function),
        format_(format),
        kernel_(
            load_triton_source(fmt::format(fmt::runtime(kernel_text), function.text), "kernel")),
        stride_(stride),
        count_(((std::uint64_t{1} << 8 * sizeof(T)) + stride - 1) / stride) {}

  Worst run() {
    std::vector<std::jthread> threads;
    const std::uint64_t chunks = (count_ + chunk - 1) / chunk;
    const unsigned most = std::max(1u, std::thread::hardware_concurrency());
    for (std::uint64_t k = 0; k < std::min<std::uint64_t>(most, chunks); ++k)
      threads.emplace_back([this] { work(); });
    threads.clear();
    if (failure_) std::rethrow_exception(failure_);
    return worst_;
  }

 private:
  static constexpr std::uint64_t chunk = 1 << 18;

  void work() {
    try {
      const TensorOptions options{format_.dtype, Device::cpu()};
      const Shape shape{static_cast<std::int64_t>(chunk)};
      Tensor x = empty(shape, options), p = empty(shape, options), y = empty(shape, options);
      Worst worst;
      for (std::uint64_t first; (first = next_.fetch_add(chunk)) < count_;)
        check(first, std::min(count_, first + chunk), x, p, y, worst);
      const std::lock_guard lock(mutex_);
      if (worst.ulps > worst_.ulps) worst_ = worst;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
  }

  void check(std::uint64_t first, std::uint64_t last, Tensor& x, Tensor& p, Tensor& y,
             Worst& worst) {
    const auto count = static_cast<std::int64_t>(last - first);
    T* const inputs = x.data<T>();
    T* const powers = p.data<T>();
    for (std::int64_t i = 0; i < count; ++i) {
      const auto number =
          static_cast<std::uint32_t>((first + static_cast<std::uint64_t>(i)) * stride_);
      inputs[i] = element_of<T>(number);
      powers[i] = T(power_for(number));
    }
    kernel_[{cdiv(count, 4096)}](x, p, y, count, constant("BLOCK", 4096));
    const T* const outputs = y.data<T>();
    for (std::int64_t i = 0; i < count; ++i) {
      const double in = static_cast<float>(inputs[i]), power = static_cast<float>(powers[i]);
      const double ulps =
          error_of(format_, static_cast<float>(outputs[i]), function_.exact(in, power));
      if (ulps > worst.ulps) worst = {ulps, in, power};
    }
  }

  const MathFunction& function_;
  const Format& format_;
  const TritonKernel kernel_;
  const std::uint64_t stride_, count_;
  std::atomic<std::uint64_t> next_ = 0;
  std::mutex mutex_;
  Worst worst_;
  std::exception_ptr failure_;
};

Worst measure(const MathFunction& function, const Format& format, std::uint64_t stride) {
  if (format.dtype == DType::Float32) return Measurement<float>(function, format, stride).run();
  if (format.dtype == DType::Float16) return Measurement<Half>(function, format, 1).run();
  return Measurement<BFloat16>(function, format, 1).run();
}

// Prints the errors of all functions, each when it is known; whether all are within their limits.
bool measure_all(std::uint64_t stride, const std::vector<std::string_view>& wanted) {
  fmt::print("Largest errors in ulp over every {} on {}\n\n",
             stride == 1 ? "float32" : fmt::format("{}th float32", stride), machine_name());
  constexpr const char* line = "{:<8}  {:>5}  {:>9}  {:<34}  {:>8}  {:>8}  {}\n";
  fmt::print(line, "function", "limit", "float32", "at", "float16", "bfloat16", "");
  bool is_good = true;
  for (const MathFunction& function : functions) {
    const std::string_view name = function.name;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    const double limit = limit_of(function.name);
    const Worst wide = measure(function, formats[0], stride);
    const Worst half = measure(function, formats[1], stride);
    const Worst brain = measure(function, formats[2], stride);
    const bool is_within = wide.ulps <= limit + reference_error && half.ulps <= small_limit &&
                           brain.ulps <= small_limit;
    is_good &= is_within;
    std::string place = fmt::format("{:.9g}", wide.x);
    if (function.name == std::string_view("pow")) place += fmt::format(", {:.9g}", wide.p);
    fmt::print(line, function.name, fmt::format("{:.1f}", limit), fmt::format("{:.3f}", wide.ulps),
               place, fmt::format("{:.4f}", half.ulps), fmt::format("{:.4f}", brain.ulps),
               is_within ? "" : "beyond its limit");
    std::fflush(stdout);
  }
  return is_good;
}

bool is_function(std::string_view name) {
  return std::any_of(std::begin(functions), std::end(functions),
                     [&](const MathFunction& function) { return name == function.name; });
}

int run(int count, char** arguments) {
  std::uint64_t stride = 1;
  std::vector<std::string_view> wanted;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--help") return std::fputs(help, stdout) < 0 ? 1 : 0;
    const std::string_view text = word == "--stride" && i + 1 < count ? arguments[++i] : "";
    const auto end = std::from_chars(text.data(), text.data() + text.size(), stride).ptr;
    const bool is_stride = !text.empty() && end == text.data() + text.size() && stride >= 1;
    if (is_function(word)) wanted.push_back(word);
    else if (!is_stride) {
      fmt::print(stderr, "'{}' is no function and no stride; see --help\n", word);
      return 2;
    }
  }
  try {
    return measure_all(stride, wanted) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace tilewright::bench

int main(int count, char** arguments) { return tilewright::bench::run(count, arguments); }
