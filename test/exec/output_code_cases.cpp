// SPDX-License-Identifier: Apache-2.0
// exec/output_code_cases.cpp — writes functions' output_code to a folder, with the launches of
// their kernels, what these read and what they wrote here: test/differential/output_code.py lets
// Triton run the same.
//
//   output_code_cases FOLDER
#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "graph/lower/group.h"
#include "graph/plan/run.h"
#include "graph/trace/tracer.h"
#include "tensor/traced.h"
#include "tilewright/grad.h"
#include "tilewright/nn.h"

namespace tilewright::graph {
namespace {

using Json = nlohmann::json;
using Function = std::function<std::vector<Tensor>(std::vector<Tensor>)>;

struct Case {
  std::string name;
  Function function;
  std::vector<Tensor> inputs;
};

Tensor normal(Shape shape, std::uint64_t seed = 1, DType dtype = DType::Float32) {
  return randn(std::move(shape), RandomOptions(f32, Device::cpu()).with_seed(seed)).to(dtype);
}

std::vector<Case> cases() {
  const auto softmax_of = [](std::vector<Tensor> t) {
    const Tensor power = exp(t[0] - max(t[0], -1, true));
    return std::vector<Tensor>{power / sum(power, -1, true)};
  };
  return {
      {"gelu",
       [](std::vector<Tensor> t) {
         const Tensor& x = t[0];
         return std::vector<Tensor>{0.5 * x * (1 + tanh(0.79788456 * (x + 0.044715 * x * x * x)))};
       },
       {normal({5, 70})}},
      {"softmax", softmax_of, {normal({5, 70})}},
      {"softmax_exact", softmax_of, {normal({5, 128})}},
      {"softmax_bf16", softmax_of, {normal({5, 100}, 1, DType::BFloat16)}},
      {"softmax_long", softmax_of, {normal({2, 40000})}},
      {"softmax_columns",
       [](std::vector<Tensor> t) { return std::vector<Tensor>{softmax(t[0], 0)}; },
       {normal({33, 50})}},
      {"norms",
       [](std::vector<Tensor> t) {
         return std::vector<Tensor>{gelu(layer_norm(t[0] * t[1], t[2], t[1])),
                                    rms_norm(t[0], t[2])};
       },
       {normal({7, 60}), normal({60}, 2), normal({60}, 3)}},
      {"places",
       [](std::vector<Tensor> t) {
         return std::vector<Tensor>{argmax(t[0] * t[0], 1), where(t[0] > 0.0, t[0], -t[0]).to(i32)};
       },
       {normal({6, 90})}},
      {"losses",
       [](std::vector<Tensor> t) {
         return std::vector<Tensor>{cross_entropy(t[0], argmax(t[0], 1), Reduction::None),
                                    logsumexp(t[0], 1), var(t[0], 1)};
       },
       {normal({9, 40})}},
      {"views",
       [](std::vector<Tensor> t) {
         return std::vector<Tensor>{t[0].t() + t[1], t[0].slice(1, 5, 25) * 2.0, sum(t[0], 0)};
       },
       {normal({20, 30}), normal({30, 20}, 2)}},
      {"adamw",
       [](std::vector<Tensor> t) {
         nn::Mlp net, g;
         net.layers.resize(2);
         g.layers.resize(2);
         for (std::size_t i = 0; i < 2; ++i) {
           net.layers[i].weight = t[4 * i], net.layers[i].bias = t[4 * i + 1];
           g.layers[i].weight = t[4 * i + 2], g.layers[i].bias = t[4 * i + 3];
         }
         nn::AdamW<nn::Mlp> adam;
         adam.first = adam.second = g;
         for (Tensor* m : nn::tensors_of(adam.second)) *m = square(*m);
         adam.steps = t[8];
         adam.update(net, g);
         std::vector<Tensor> all;
         for (Tensor* p : nn::tensors_of(net)) all.push_back(*p);
         return all;
       },
       {normal({30, 20}), normal({30}, 2), normal({30, 20}, 3), normal({30}, 4), normal({7, 30}, 5),
        normal({7}, 6), normal({7, 30}, 7), normal({7}, 8), full({}, 3.0, {f32, Device::cpu()})}},
      {"mlp_backward",
       [](std::vector<Tensor> t) {
         const auto loss = [](std::vector<Tensor> p, Tensor x) {
           return mean(square(linear(gelu(linear(x, p[0], p[1])), p[2])));
         };
         auto [value, g] = value_and_grad(loss)(std::vector<Tensor>{t[1], t[2], t[3]}, t[0]);
         g.push_back(value);
         return g;
       },
       {normal({12, 16}), normal({24, 16}, 2), normal({24}, 3), normal({8, 24}, 4)}},
  };
}

Plan plan_of(const Case& which) {
  Graph graph;
  TraceScope scope;
  const TracingScope tracing;
  std::vector<Tensor> traced;
  for (const Tensor& input : which.inputs) traced.push_back(scope.tracer().add_input(input));
  for (const Tensor& result : which.function(traced)) scope.tracer().add_output(result);
  scope.tracer().finish();
  return make_plan(std::move(scope.tracer().graph));
}

// The elements of a node, in memory order; bfloat16 as the integers that they are.
std::string save_node(const PlanRun& run, int node, const std::string& path) {
  const Tensor& memory = memory_of(run, node);
  const Tensor flat = memory.view({memory.numel()});
  save_npy(path, memory.dtype() == DType::BFloat16 ? flat.to(f32) : flat);
  return std::string(name_of(memory.dtype()));
}

Json number_json(const Argument& number) {
  if (!is_floating(number.dtype)) return static_cast<std::int64_t>(number.bits);
  const double value = number.dtype == DType::Float64
                           ? std::bit_cast<double>(number.bits)
                           : std::bit_cast<float>(static_cast<std::uint32_t>(number.bits));
  // JSON has neither NaN nor infinities: Python reads them from text.
  if (!std::isfinite(value)) return fmt::format("{}", value);
  return value;
}

Json launch_json(const PlanRun& run, const PlannedStep& step, const std::string& folder,
                 const std::string& kernel, std::size_t number) {
  Json launch = {{"kernel", kernel}, {"programs", programs_of(step)}, {"arguments", Json::array()}};
  const auto lists = static_cast<std::size_t>(lists_of(step));
  const std::size_t leaves = step.leaves.size() / lists, written = step.written.size() / lists;
  const auto add_tensor = [&](int node, std::int64_t offset, bool is_written) {
    const std::string file = fmt::format("{}_{}.npy", number, launch["arguments"].size());
    const std::string dtype = save_node(run, node, folder + "/" + file);
    launch["arguments"].push_back(
        {{"file", file}, {"dtype", dtype}, {"offset", offset}, {"written", is_written}});
  };
  for (std::size_t list = 0; list < lists; ++list) {
    for (std::size_t l = 0; l < leaves; ++l) {
      const PlannedLeaf& leaf = step.leaves[list * leaves + l];
      add_tensor(leaf.node, leaf.offset, false);
    }
    for (std::size_t w = 0; w < written; ++w) add_tensor(step.written[list * written + w], 0, true);
  }
  for (const Argument& value : step.numbers)
    launch["arguments"].push_back({{"number", number_json(value)}});
  std::int64_t integers[max_walk_arguments];
  const int count = lists == 1 ? walk_arguments(step.full_walk(), integers) : 0;
  for (int i = 0; i < count; ++i) launch["arguments"].push_back({{"number", integers[i]}});
  if (lists > 1)
    for (const std::int64_t size : step.sizes) launch["arguments"].push_back({{"number", size}});
  return launch;
}

int write_case(const Case& which, const std::string& folder) {
  std::filesystem::create_directories(folder);
  const Plan plan = plan_of(which);
  std::ofstream(folder + "/code.py") << plan.output_code();
  const std::vector<std::string> names = plan.code_names();
  PlanRun run(plan, which.inputs);
  Json launches = Json::array();
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    run_step(run, plan.steps[s]);
    if (names[s].empty()) continue;
    launches.push_back(launch_json(run, plan.steps[s], folder, names[s], s));
  }
  std::ofstream(folder + "/launches.json") << launches.dump(1) << "\n";
  return static_cast<int>(launches.size());
}

}  // namespace
}  // namespace tilewright::graph

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: output_code_cases FOLDER\n");
    return 2;
  }
  try {
    for (const auto& each : tilewright::graph::cases())
      std::printf(
          "%s: %d launches\n", each.name.c_str(),
          tilewright::graph::write_case(each, fmt::format("{}/{}", arguments[1], each.name)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "output_code_cases: %s\n", error.what());
    return 1;
  }
  return 0;
}
