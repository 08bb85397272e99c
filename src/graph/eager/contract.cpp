// SPDX-License-Identifier: Apache-2.0
// graph/eager/contract.cpp — matrix products: shapes, blocks, and products that are sums of rows.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/events.h"
#include "base/settings.h"
#include "compiler/launch_recording.h"
#include "graph/eager/eager.h"
#include "graph/lower/contract.h"
#include "graph/trace/tracer.h"
#include "runtime/library_product.h"
#include "tensor/shape.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace graph {
namespace {

// As set by the program; before that, by the environment, which is not read before main.
enum class Tf32 { Unset, No, Yes };
std::atomic<Tf32> allowed_tf32{Tf32::Unset};

// Both operands with rank 2 and more, of one dtype, their batch broadcast.
struct Product {
  Tensor a, b, bias;
  Shape batch;
  std::int64_t m = 0, n = 0, k = 0;
};

struct ContractKernel {
  ContractClass made_for;
  DeviceKind device;
  IrKernel kernel;
  ContractKernel* next = nullptr;
};
std::atomic<ContractKernel*> contract_kernels{nullptr};

const ContractKernel* find_contract(const ContractClass& wanted, DeviceKind device) {
  const ContractKernel* known = contract_kernels.load(std::memory_order_acquire);
  while (known != nullptr && !(known->made_for == wanted && known->device == device))
    known = known->next;
  return known;
}

const IrKernel& contract_kernel(const ContractClass& wanted, DeviceKind device) {
  if (const ContractKernel* known = find_contract(wanted, device)) return known->kernel;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const ContractKernel* known = find_contract(wanted, device)) return known->kernel;
  auto made = std::make_unique<ContractKernel>(
      ContractKernel{wanted, device, load_ir(lower_contract(wanted), false)});
  made->next = contract_kernels.load(std::memory_order_relaxed);
  contract_kernels.store(made.get(), std::memory_order_release);
  return made.release()->kernel;
}

[[noreturn]] void throw_sizes(std::string_view call, const Tensor& a, const Tensor& b) {
  throw ArgumentError(
      fmt::format("{}({}, {}): the last dimension of the first must be as long as the one before "
                  "the last of the second ({})",
                  call, tensor_text(a), tensor_text(b),
                  call == "linear" ? "weights are out x in" : "rows x k times k x columns"));
}

void choose_blocks(ContractClass& made, const Product& p, Device device) {
  const auto set = [&](int tall, int wide, int deep) {
    made.tall = static_cast<std::uint16_t>(tall);
    made.wide = static_cast<std::uint16_t>(wide);
    made.deep = static_cast<std::uint16_t>(deep);
  };
  const bool is_single = made.dtype == DType::Float32;
  if (const ContractBlocks* const chosen = ContractChoice::current())
    return set(chosen->tall, chosen->wide, chosen->deep);
  if (made.dtype == DType::Float64) return set(32, 32, 32);
  if (device.is_cuda() || emulated_target() != nullptr) {
    if (is_single) return set(64, 64, 32);
    if (p.m <= 64 || p.n <= 64) return set(64, 64, 64);
    return set(128, p.m * p.n >= std::int64_t{2048} * 2048 ? 256 : 128, 64);
  }
  // As for the Triton kernel of the suite: few rows take low blocks, and two large blocks for each
  // core are worth their copies.
  const int deep = is_single ? 128 : 256;
  if (p.m <= 16) return set(16, 64, 64);
  if (p.m <= 32) return set(32, 64, deep);
  const std::int64_t processors = device.target().processors;
  const auto blocks = [&](int tall, int wide) { return cdiv(p.m, tall) * cdiv(p.n, wide); };
  // A block packs its part of the right operand, but for rows that are words as they are: taller
  // blocks, where no more rows are computed, do so half as often.
  const bool packs_right = !is_single || made.unit_b != 1;
  const bool fits_tall = 2 * cdiv(p.m, 256) == cdiv(p.m, 128);
  if (packs_right && fits_tall && blocks(256, 128) >= 4 * processors) return set(256, 128, deep);
  // Of few large blocks the last ones leave processors idle.
  if (blocks(128, 128) >= 4 * processors) return set(128, 128, deep);
  if (blocks(128, 64) >= 2 * processors) return set(128, 64, deep);
  return set(64, 64, deep);
}

std::uint8_t unit_of(const Tensor& matrix) {
  if (matrix.stride(-1) == 1 || matrix.size(-1) == 1) return 1;
  return matrix.stride(-2) == 1 || matrix.size(-2) == 1 ? 0 : 2;
}

bool is_multiple(std::int64_t value) { return value % 16 == 0; }

// Strides of the batch dimensions in an operand, 0 where it is repeated.
std::vector<std::int64_t> batch_strides(const Tensor& x, const Shape& batch) {
  std::vector<std::int64_t> strides(batch.size(), 0);
  const std::size_t own = x.shape().size() - 2, missing = batch.size() - own;
  for (std::size_t d = 0; d < own; ++d)
    if (x.shape()[d] != 1) strides[missing + d] = x.strides()[d];
  return strides;
}

// Where a library can be asked: an operand's rows or columns lie together, and no two elements
// share memory.
std::optional<LibraryMatrix> library_matrix(const Tensor& x, std::int64_t batch_stride) {
  const std::int64_t rows = x.size(-2), columns = x.size(-1);
  const std::uint8_t unit = unit_of(x);
  if (unit == 2) return std::nullopt;
  const std::int64_t inner = unit == 1 ? columns : rows, outer = unit == 1 ? rows : columns;
  std::int64_t leading = x.stride(unit == 1 ? -2 : -1);
  if (outer == 1) leading = inner;
  if (leading < inner || batch_stride < 0) return std::nullopt;
  return LibraryMatrix{x.data(), unit == 1 ? leading : 1, unit == 1 ? 1 : leading, batch_stride};
}

// The stride of all batch dimensions as one; nothing when they are not one.
std::optional<std::int64_t> joined_stride(const Tensor& x, const Shape& batch) {
  const std::vector<std::int64_t> strides = batch_strides(x, batch);
  std::int64_t stride = 0, count = 1;
  for (std::size_t d = batch.size(); d-- > 0;) {
    if (batch[d] == 1) continue;
    if (count == 1) stride = strides[d];
    else if (strides[d] != stride * count) return std::nullopt;
    count *= batch[d];
  }
  return stride;
}

bool run_by_library(const Product& p, const Tensor& out) {
  if (settings().interpret || emulated_target() != nullptr || p.k == 0) return false;
  // Somebody has chosen our kernel.
  if (ContractChoice::current() != nullptr) return false;
  // Kernels are only compiled: a library has nothing to compile.
  const LaunchRecording* const recording = LaunchRecording::current();
  if (recording != nullptr && !recording->runs() && !product_library(out.device()).empty())
    return true;
  const auto stride_a = joined_stride(p.a, p.batch), stride_b = joined_stride(p.b, p.batch);
  if (!stride_a || !stride_b) return false;
  const auto a = library_matrix(p.a, *stride_a), b = library_matrix(p.b, *stride_b);
  const bool has_bias = p.bias.is_defined();
  if (!a || !b || (has_bias && p.bias.stride(0) != 1 && p.bias.size(0) > 1)) return false;
  LibraryProduct product{.dtype = out.dtype(),
                         .m = p.m,
                         .n = p.n,
                         .k = p.k,
                         .batch = out.numel() / (p.m * p.n),
                         .a = *a,
                         .b = *b,
                         .bias = has_bias ? p.bias.data() : nullptr,
                         .out = out.data(),
                         .allows_tf32 = is_tf32_allowed()};
  const Stream stream = current_stream(out.device());
  EventScope event(EventKind::Tensor, "matmul");
  if (!library_multiply(product, stream)) return false;
  note_foreign_call();
  for (const Tensor* operand : {&p.a, &p.b, &p.bias, &out})
    if (operand->is_defined()) operand->buffer().record_use(stream);
  if (auto* const observed = observed_launches())
    observed->push_back({product_library(out.device()), 1,
                         2 * static_cast<double>(out.numel()) * static_cast<double>(p.k),
                         static_cast<double>(p.a.nbytes() + p.b.nbytes()),
                         static_cast<double>(out.nbytes())});
  return true;
}

void run_dot(const Product& p, const Tensor& out) {
  if (run_by_library(p, out)) return;
  ContractClass wanted{.dtype = out.dtype(),
                       .has_bias = p.bias.is_defined(),
                       .batch_rank = static_cast<std::uint8_t>(p.batch.size()),
                       .unit_a = unit_of(p.a),
                       .unit_b = unit_of(p.b),
                       .allows_tf32 = out.dtype() == DType::Float32 && is_tf32_allowed()};
  choose_blocks(wanted, p, out.device());
  std::vector<std::int64_t> integers = {p.m, p.n, p.k};
  integers.insert(integers.end(), p.batch.begin(), p.batch.end());
  bool is_aligned = is_multiple(p.n) && is_multiple(p.k);
  for (const Tensor* x : {&p.a, &p.b})
    for (const std::int64_t stride : batch_strides(*x, p.batch)) {
      is_aligned &= is_multiple(stride);
      integers.push_back(stride);
    }
  const auto add_strides = [&](const Tensor& x, int unit) {
    for (int side = 0; side < 2; ++side) {
      if (side == unit) continue;
      is_aligned &= is_multiple(x.stride(side - 2));
      integers.push_back(x.stride(side - 2));
    }
  };
  add_strides(p.a, wanted.unit_a);
  add_strides(p.b, wanted.unit_b);
  wanted.is_aligned = is_aligned;
  if (p.bias.is_defined()) integers.push_back(p.bias.stride(0));
  std::vector<Argument> arguments = {p.a, p.b};
  if (p.bias.is_defined()) arguments.emplace_back(p.bias);
  arguments.emplace_back(out);
  arguments.insert(arguments.end(), integers.begin(), integers.end());
  std::int64_t programs = cdiv(p.m, wanted.tall) * cdiv(p.n, wanted.wide);
  for (const std::int64_t size : p.batch) programs *= size;
  if (auto* const observed = observed_launches()) {
    const double outs = static_cast<double>(out.numel());
    observed->push_back({"tw_matmul", programs, 2 * outs * static_cast<double>(p.k),
                         static_cast<double>(p.a.nbytes() + p.b.nbytes()),
                         static_cast<double>(out.nbytes())});
  }
  std::optional<int> num_warps;
  if (wanted.wide == 256) num_warps = 8;
  if (const ContractBlocks* const chosen = ContractChoice::current();
      chosen && chosen->num_warps > 0)
    num_warps = chosen->num_warps;
  contract_kernel(wanted, emulated_target() != nullptr ? DeviceKind::Cuda : out.device().kind)
      .launch({.grid = programs, .num_warps = num_warps, .emulate = emulated_target()}, arguments);
}

// As the sum over k of a[.., m, 1, k] * b[.., 1, n, k]: for integers, which no unit multiplies, and
// for products with a vector, which are bound by memory.
Tensor run_as_rows(const Product& p, DType dtype) {
  const Tensor a = p.a.unsqueeze(-2), b = p.b.transpose(-1, -2).unsqueeze(-3);
  Shape domain = p.batch;
  domain.insert(domain.end(), {p.m, p.n, p.k});
  constexpr std::uint64_t sum_of_products = 1;  // the key's other meanings are dtypes alone
  const std::uint64_t key = sum_of_products << 32 | static_cast<std::uint64_t>(p.a.dtype()) << 8 |
                            static_cast<std::uint64_t>(dtype);
  const Formula& formula = eager_formula(static_cast<int>(Op::Sum), key, [&](Formula& f) {
    f.name = "tw_matmul";
    const int x = f.leaf(p.a.dtype()), y = f.leaf(p.a.dtype());
    const int wide_x = is_floating(dtype) ? x : f.cast(x, DType::Int64);
    const int product = f.step(Op::Multiply, {wide_x, y});
    f.output(f.step(Op::Sum, {product}), dtype, true);
  });
  const Tensor left = a.broadcast_to(domain), right = b.broadcast_to(domain);
  const Tensor* const others[] = {&right};
  return run_rows({.name = "matmul",
                   .formula = formula,
                   .x = left,
                   .reduced = 1u << (domain.size() - 1),
                   .others = others});
}

Tensor run_product(const Product& p, DType dtype) {
  const bool has_unit = dtype == DType::Float16 || dtype == DType::BFloat16 ||
                        dtype == DType::Float32 || dtype == DType::Float64;
  const bool is_vector = p.m == 1 || p.n == 1;
  if (!has_unit || (is_vector && !p.bias.is_defined())) {
    const Tensor product = run_as_rows(p, dtype);
    return p.bias.is_defined() ? product + p.bias : product;
  }
  Shape shape = p.batch;
  shape.insert(shape.end(), {p.m, p.n});
  const Tensor out = empty(std::move(shape), {dtype, p.a.device()});
  if (out.numel() > 0) run_dot(p, out);
  return out;
}

Product product_of(std::string_view call, const Tensor& a, const Tensor& b) {
  check_rank(call, a);
  check_rank(call, b);
  check_one_device(call, a, b);
  if (a.rank() == 0 || b.rank() == 0)
    throw ArgumentError(
        fmt::format("{}({}, {}) needs vectors or matrices: multiply by a single "
                    "number with *",
                    call, tensor_text(a), tensor_text(b)));
  const DType common = promote(a.dtype(), b.dtype());
  if (a.dtype() != b.dtype())
    throw ArgumentError(fmt::format("{}({}, {}): both must have one dtype: convert with to(tw::{})",
                                    call, tensor_text(a), tensor_text(b), name_of(common)));
  Product p;
  p.a = a.rank() == 1 ? a.unsqueeze(0) : a;
  p.b = b.rank() == 1 ? b.unsqueeze(1) : b;
  p.m = p.a.size(-2);
  p.k = p.a.size(-1);
  p.n = p.b.size(-1);
  if (p.b.size(-2) != p.k) throw_sizes(call, a, b);
  const Shape batch_a(p.a.shape().begin(), p.a.shape().end() - 2);
  const Shape batch_b(p.b.shape().begin(), p.b.shape().end() - 2);
  p.batch = broadcast_shapes(call, batch_a, batch_b);
  return p;
}

// Vectors had a dimension added to them.
Tensor without_units(Tensor out, const Tensor& a, const Tensor& b) {
  if (b.rank() == 1) out = out.select(-1, 0);
  if (a.rank() == 1) out = out.select(b.rank() == 1 ? -1 : -2, 0);
  return out;
}

Tensor record_product(Tracer& tracer, std::string_view call, const Product& p, const Shape& shape) {
  Node node{.kind = Node::Kind::Contract,
            .dtype = p.a.dtype(),
            .shape = shape,
            .operands = {tracer.value_of(p.a), tracer.value_of(p.b)},
            .call = std::string(call)};
  if (p.bias.is_defined()) node.operands.push_back(tracer.value_of(p.bias));
  return tracer.record(std::move(node));
}

// A stack times one matrix is one tall product, where the stack's rows can be counted on.
bool is_one_product(const Product& p) {
  return p.b.rank() == 2 && p.a.rank() > 2 && p.a.is_contiguous();
}

}  // namespace

bool is_tf32_allowed() {
  const Tf32 set = allowed_tf32.load(std::memory_order_relaxed);
  return set == Tf32::Unset ? settings().allow_tf32 : set == Tf32::Yes;
}

Tensor multiply_matrices(std::string_view call, const Tensor& a, const Tensor& b,
                         const Tensor& bias) {
  Product p = product_of(call, a, b);
  p.bias = bias;
  const bool is_flat = is_one_product(p);
  Shape shape = p.batch;
  shape.insert(shape.end(), {p.m, p.n});
  Tracer* tracer = tracer_of({&a, &b});
  if (bias.is_defined() && tracer_of(bias) != nullptr) tracer = tracer_of(bias);
  if (tracer != nullptr) return without_units(record_product(*tracer, call, p, shape), a, b);
  if (is_flat) {
    p.m = p.k == 0 ? p.m * reduced_count(p.a, (1u << (p.a.rank() - 2)) - 1) : p.a.numel() / p.k;
    p.a = p.a.view({p.m, p.k});
    p.batch.clear();
  }
  Tensor out = run_product(p, a.dtype());
  if (is_flat) out = out.view(shape);
  return without_units(out, a, b);
}

}  // namespace graph

void allow_tf32(bool is_allowed) {
  graph::allowed_tf32 = is_allowed ? graph::Tf32::Yes : graph::Tf32::No;
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  return graph::multiply_matrices("matmul", a, b, {});
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.rank() != 2)
    throw ArgumentError(fmt::format("linear({}, {}): weights are a matrix of out x in",
                                    graph::tensor_text(x), graph::tensor_text(weight)));
  if (x.rank() == 0 || x.size(-1) != weight.size(1)) graph::throw_sizes("linear", x, weight);
  if (bias.is_defined()) {
    graph::check_one_device("linear", x, bias);
    if (bias.shape() != Shape{weight.size(0)} || bias.dtype() != x.dtype())
      throw ArgumentError(fmt::format("linear({}, {}): bias {} must be {}[{}]",
                                      graph::tensor_text(x), graph::tensor_text(weight),
                                      graph::tensor_text(bias), name_of(x.dtype()),
                                      weight.size(0)));
  }
  return graph::multiply_matrices("linear", x, weight.t(), bias);
}

}  // namespace tilewright
