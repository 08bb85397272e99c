// SPDX-License-Identifier: Apache-2.0
// bench/suite/tile_ways.cpp — grids, block sizes and arguments of the suite's Triton kernels.
#include "bench/suite/tile_ways.h"

#include <cmath>

#include <fmt/format.h>

#include "bench/suite/references.h"
#include "tilewright/triton.h"

namespace tilewright::suite {
namespace {

constexpr std::int64_t block = 1024;

TritonKernel kernel_of(const Way& way) {
  return load_triton_source(source_of(way), fmt::format("{}_kernel", way.operation));
}

// The operands in the kernel's order, then the numbers.
std::vector<TritonArgument> arguments_of(const Problem& problem,
                                         std::initializer_list<TritonArgument> numbers) {
  std::vector<TritonArgument> arguments;
  for (const auto& [name, tensor] : problem.tensors) arguments.emplace_back(tensor);
  arguments.insert(arguments.end(), numbers);
  return arguments;
}

// The arguments refer to the tensors' memory, so the tensors live as long as the function.
Prepared launch_of(const TritonKernel& kernel, const TritonLaunch& launch, const Problem& problem,
                   std::initializer_list<TritonArgument> numbers) {
  const auto arguments = arguments_of(problem, numbers);
  return {.run = [kernel, launch, tensors = problem.tensors,
                  arguments] { kernel.launch(launch, arguments); },
          .launches = {[kernel, launch, tensors = problem.tensors, arguments] {
            return launch_facts(kernel, launch, arguments);
          }}};
}

}  // namespace

Prepared tile_elementwise(const Problem& problem, const Way& way) {
  const std::int64_t n = problem.elements();
  return launch_of(kernel_of(way), {.grid = cdiv(n, block)}, problem,
                   {n, constant("BLOCK", block)});
}

Prepared tile_rows(const Problem& problem, const Way& way) {
  const std::int64_t columns = problem.columns();
  const TritonLaunch launch{.grid = problem.rows()};
  const TritonArgument size = constant("BLOCK", next_power_of_2(columns));
  if (problem.operation->name == std::string_view("softmax"))
    return launch_of(kernel_of(way), launch, problem, {columns, size});
  return launch_of(kernel_of(way), launch, problem,
                   {columns, static_cast<float>(norm_epsilon), size});
}

Prepared tile_dropout(const Problem& problem, const Way& way) {
  const std::int64_t n = problem.elements();
  return launch_of(kernel_of(way), {.grid = cdiv(n, block)}, problem,
                   {n, static_cast<float>(dropout_probability), 123, constant("BLOCK", block)});
}

Prepared tile_cross_entropy(const Problem& problem, const Way& way) {
  const std::int64_t columns = problem.columns();
  const std::int64_t width = std::min<std::int64_t>(next_power_of_2(columns), 4096);
  return launch_of(kernel_of(way), {.grid = problem.rows(), .num_warps = warps_for_row(width)},
                   problem, {columns, constant("BLOCK", width)});
}

struct ProductBlocks {
  std::int64_t tall, wide, deep;
};

// Large blocks read less of the operands, where there are enough of them for all processors.
ProductBlocks cuda_blocks(std::int64_t m, std::int64_t n, DType dtype) {
  if (dtype == DType::Float32) return {64, 64, 32};
  return {128, m * n >= std::int64_t{2048} * 2048 ? 256 : 128, 64};
}

// A block has no more rows than the result. Large blocks copy less of the operands, where there are
// two for each processor. Each step along k takes the sums out of their registers once: it is as
// long as the nearest caches allow.
ProductBlocks cpu_blocks(std::int64_t m, std::int64_t n, DType dtype, int processors) {
  if (m <= 16) return {16, 64, 64};
  const std::int64_t deep = dtype == DType::Float32 ? 128 : 256;
  if (m <= 32) return {32, 64, deep};
  const bool is_large = cdiv(m, 128) * cdiv(n, 128) >= 2 * std::int64_t{processors};
  return is_large ? ProductBlocks{128, 128, deep} : ProductBlocks{64, 64, deep};
}

Prepared tile_matmul(const Problem& problem, const Way& way) {
  const std::int64_t m = problem.shape[0], n = problem.shape[1], k = problem.shape[2];
  const ProductBlocks blocks =
      problem.device.is_cuda()
          ? cuda_blocks(m, n, problem.dtype)
          : cpu_blocks(m, n, problem.dtype, problem.device.target().processors);
  const TritonLaunch launch{.grid = cdiv(m, blocks.tall) * cdiv(n, blocks.wide),
                            .num_warps = blocks.wide == 256 ? 8 : 4};
  return launch_of(kernel_of(way), launch, problem,
                   {m, n, k, constant("BLOCK_M", blocks.tall), constant("BLOCK_N", blocks.wide),
                    constant("BLOCK_K", blocks.deep), constant("GROUP", 8)});
}

Prepared tile_attention(const Problem& problem, const Way& way) {
  const std::int64_t length = problem.shape[2], head = problem.shape[3];
  const std::int64_t tall = problem.device.is_cuda() ? 128 : 64;
  // Of 16 bits as examples/attention.py has it, of 32 in tiles that fit into shared memory: a warp's
  // part of 32 rows makes the most of what it reads of keys and values.
  const bool is_wide = problem.device.is_cuda() && size_of(problem.dtype) == 2;
  TritonLaunch launch{.grid = {cdiv(length, tall), problem.shape[0] * problem.shape[1]},
                      .num_warps = is_wide ? 8 : 4};
  if (is_wide) launch.num_stages = 2;
  const float scale = 1 / std::sqrt(static_cast<float>(head));
  return launch_of(kernel_of(way), launch, problem,
                   {length, scale, constant("HEAD", head), constant("BLOCK_M", tall),
                    constant("BLOCK_N", std::int64_t{is_wide ? 128 : 64})});
}

}  // namespace tilewright::suite
