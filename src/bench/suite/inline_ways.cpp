// SPDX-License-Identifier: Apache-2.0
// bench/suite/inline_ways.cpp — grids, blocks and arguments of the suite's CUDA and C++ kernels.
#include "bench/suite/inline_ways.h"

#include <fmt/format.h>

#include "tilewright/load_inline.h"

namespace tilewright::suite {
namespace {

enum class Language { Cuda, Cpp };

struct Loaded {
  InlineOptions options;
  InlineModule module;
  Function kernel;
};

Loaded load(const Problem& problem, const Way& way, Language language) {
  InlineOptions options{.name = fmt::format("{}_{}", way.operation, way.name),
                        .device = problem.device};
  if (language == Language::Cuda) {
    options.cuda_sources.emplace_back(source_of(way));
  } else {
    options.cpp_sources.emplace_back(source_of(way));
    options.extra_cflags.emplace_back("-ffp-contract=fast");
  }
  Loaded loaded{options, load_inline(options), {}};
  loaded.kernel = loaded.module.kernel(fmt::format("{}_kernel", way.operation));
  return loaded;
}

// The operands in their order, then the numbers.
Prepared launch_of(const Loaded& loaded, const LaunchConfig& config, const Problem& problem,
                   std::initializer_list<Argument> numbers) {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : problem.tensors) tensors.push_back(tensor);
  const std::vector<Argument> rest(numbers);
  Prepared prepared;
  prepared.run = [loaded, config, tensors, rest] {
    std::vector<Argument> arguments(tensors.begin(), tensors.end());
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    loaded.kernel.launch(config, arguments);
  };
  if (loaded.module.is_emulated()) prepared.note = "emulated";
  prepared.launches = {
      [loaded, config] { return launch_facts(loaded.options, loaded.kernel, config); }};
  return prepared;
}

constexpr std::int64_t part = 1 << 16;  // elements of one program of C++

}  // namespace

Prepared cuda_elementwise(const Problem& problem, const Way& way) {
  const std::int64_t n = problem.elements(), threads = 1024;
  return launch_of(load(problem, way, Language::Cuda), {.grid = cdiv(n, threads), .block = threads},
                   problem, {n});
}

Prepared cuda_vectors(const Problem& problem, const Way& way) {
  const std::int64_t n = problem.elements(), threads = 256;
  return launch_of(load(problem, way, Language::Cuda),
                   {.grid = cdiv(n, 4 * threads), .block = threads}, problem, {n});
}

Prepared cuda_rows(const Problem& problem, const Way& way) {
  return launch_of(load(problem, way, Language::Cuda), {.grid = problem.rows(), .block = 256},
                   problem, {problem.columns()});
}

Prepared cuda_matmul(const Problem& problem, const Way& way) {
  const std::int64_t m = problem.shape[0], n = problem.shape[1], k = problem.shape[2];
  return launch_of(load(problem, way, Language::Cuda),
                   {.grid = {cdiv(n, 16), cdiv(m, 16)}, .block = {16, 16}}, problem, {m, n, k});
}

Prepared cpp_elementwise(const Problem& problem, const Way& way) {
  const std::int64_t n = problem.elements();
  return launch_of(load(problem, way, Language::Cpp), {.grid = cdiv(n, part)}, problem, {n, part});
}

Prepared cpp_rows(const Problem& problem, const Way& way) {
  return launch_of(load(problem, way, Language::Cpp), {.grid = problem.rows()}, problem,
                   {problem.columns()});
}

Prepared cpp_matmul(const Problem& problem, const Way& way) {
  return launch_of(load(problem, way, Language::Cpp), {.grid = problem.shape[0]}, problem,
                   {problem.shape[1], problem.shape[2]});
}

}  // namespace tilewright::suite
