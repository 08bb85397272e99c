// SPDX-License-Identifier: Apache-2.0
// tilewright/compile.h — functions of tensors, traced into graphs whose operations share kernels.
//
//   auto f = tw::compile([](tw::Tensor x, tw::Tensor w) { return tw::gelu(tw::matmul(x, w)); });
//   tw::Tensor y = f(x, w);
//   std::puts(f.explain().c_str());
//
// The function runs once for each new combination of dtypes, shapes and strides of its arguments,
// with tensors that have no elements: what it does is recorded and planned. Later calls run the
// plan. A new shape is a new plan, not new code: kernels take sizes as arguments.
//
// Arguments are tensors, vectors of tensors, numbers (which become constants: another number is
// another plan) and structs that list their tensors (TW_TREE). The result is a tensor, a vector,
// pair or tuple of tensors, or such a struct. Results are always fresh and contiguous.
//
// Tensors that the function refers to otherwise are bound by handle: their contents may change
// between calls. Other state that it reads is that of the call that was traced. While it is traced,
// nothing can be read out of a tensor (item, printing, a branch on it) nor written into one. An
// exception of the function passes through, and nothing is kept of that call.
#pragma once

#include <any>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/tensor.h"

namespace tilewright {

enum class Mode {
  Default,
  // Launches are written down at the first call like this and made again by later ones, on CUDA as
  // a graph of kernels whose addresses are changed: for functions of many small kernels. Values
  // between kernels keep their memory; results are fresh.
  ReduceOverhead,
  // Block sizes and warps of every kernel are timed at the first call and kept on disk; then as
  // ReduceOverhead.
  MaxAutotune,
  MaxAutotuneNoGraphs,  // timed, and launched one by one
};
std::string_view name_of(Mode mode);  // "reduce-overhead"

struct CompileOptions {
  std::string name = "function";  // in messages and logs
  Mode mode = Mode::Default;
  bool fuses = true;  // false: each operation has a kernel of its own, to compare with
};

struct CompileStats {
  std::size_t calls = 0;
  std::size_t traces = 0;    // plans made
  std::size_t kernels = 0;   // of the last plan that ran
  std::size_t replays = 0;   // calls that made recorded launches again
  std::size_t launches = 0;  // of the last plan that was recorded
  std::size_t graphs = 0;    // CUDA graphs that they became
  std::size_t variants = 0;  // of kernels, timed by this function
  std::size_t known = 0;     // kernels whose fastest variant was on disk
};

// ---- Trees of tensors. A struct lists its members with TW_TREE:
//
//   struct Layer { Tensor w, b; TW_TREE(w, b) };

#define TW_TREE(...)                            \
  auto tree() { return std::tie(__VA_ARGS__); } \
  static constexpr std::string_view tree_members() { return #__VA_ARGS__; }

template <class T>
concept TensorTree = requires(T& value) {
  value.tree();
};

// Calls `visit` for each tensor, in order.
template <class Visit>
void visit_tensors(Tensor& tensor, const Visit& visit);
template <class T, class Visit>
void visit_tensors(std::vector<T>& list, const Visit& visit);
template <class T, std::size_t N, class Visit>
void visit_tensors(std::array<T, N>& list, const Visit& visit);
template <class A, class B, class Visit>
void visit_tensors(std::pair<A, B>& both, const Visit& visit);
template <class... T, class Visit>
void visit_tensors(std::tuple<T...>& items, const Visit& visit);
template <TensorTree T, class Visit>
void visit_tensors(T& value, const Visit& visit);

template <class Visit>
void visit_tensors(Tensor& tensor, const Visit& visit) {
  visit(tensor);
}
template <class T, class Visit>
void visit_tensors(std::vector<T>& list, const Visit& visit) {
  for (T& item : list) visit_tensors(item, visit);
}
template <class T, std::size_t N, class Visit>
void visit_tensors(std::array<T, N>& list, const Visit& visit) {
  for (T& item : list) visit_tensors(item, visit);
}
template <class A, class B, class Visit>
void visit_tensors(std::pair<A, B>& both, const Visit& visit) {
  visit_tensors(both.first, visit);
  visit_tensors(both.second, visit);
}
template <class... T, class Visit>
void visit_tensors(std::tuple<T...>& items, const Visit& visit) {
  std::apply([&](auto&... item) { (visit_tensors(item, visit), ...); }, items);
}
template <TensorTree T, class Visit>
void visit_tensors(T& value, const Visit& visit) {
  auto members = value.tree();
  visit_tensors(members, visit);
}

namespace compiled {

// What a compiled function keeps; the templates below only take arguments apart.
class State {
 public:
  explicit State(CompileOptions options);
  ~State();
  struct Call {
    std::span<const Tensor> inputs;
    std::span<const double> numbers;  // of arguments
    // Runs the function with tensors that stand for the inputs; gives its results, and a tree of
    // them without tensors.
    std::function<std::pair<std::vector<Tensor>, std::any>(std::span<const Tensor>)> trace;
  };
  // Fresh results in the tree's order, and the tree.
  std::pair<std::vector<Tensor>, const std::any*> run(const Call& call);

  std::string explain() const;      // of the last plan that ran
  std::string graph() const;        // likewise
  std::string output_code() const;  // likewise
  std::string drawing() const;      // likewise
  CompileStats stats() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

template <class T>
void collect(T& argument, std::vector<Tensor>& tensors, std::vector<double>& numbers) {
  if constexpr (std::is_arithmetic_v<std::remove_cvref_t<T>>)
    numbers.push_back(static_cast<double>(argument));
  else visit_tensors(argument, [&](Tensor& tensor) { tensors.push_back(tensor); });
}
template <class T>
void replace(T& tree, std::span<const Tensor> with, std::size_t& next) {
  if constexpr (!std::is_arithmetic_v<std::remove_cvref_t<T>>)
    visit_tensors(tree, [&](Tensor& tensor) { tensor = with[next++]; });
}

}  // namespace compiled

template <class Function>
class Compiled {
 public:
  Compiled(Function function, CompileOptions options)
      : function_(std::move(function)),
        state_(std::make_shared<compiled::State>(std::move(options))) {}

  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    using Result = std::remove_cvref_t<std::invoke_result_t<const Function&, Arguments&...>>;
    std::vector<Tensor> tensors;
    std::vector<double> numbers;
    (compiled::collect(arguments, tensors, numbers), ...);
    const auto trace = [&](std::span<const Tensor> traced) {
      std::size_t next = 0;
      (compiled::replace(arguments, traced, next), ...);
      Result result = function_(arguments...);
      std::vector<Tensor> results;
      visit_tensors(result, [&](Tensor& tensor) { results.push_back(std::exchange(tensor, {})); });
      return std::pair<std::vector<Tensor>, std::any>(std::move(results), std::move(result));
    };
    const auto [made, tree] = state_->run({tensors, numbers, trace});
    Result result = std::any_cast<const Result&>(*tree);
    std::size_t next = 0;
    compiled::replace(result, made, next);
    return result;
  }

  const Function& function() const { return function_; }
  std::string explain() const { return state_->explain(); }
  // Of the plan that ran last: what shares a kernel and why not more; the graph; the kernels of
  // fused groups as Triton source.
  std::string graph() const { return state_->graph(); }
  std::string output_code() const { return state_->output_code(); }
  // The same as SVG: a box for each kernel with its operations, arcs for values between them.
  std::string drawing() const { return state_->drawing(); }
  CompileStats stats() const { return state_->stats(); }

 private:
  Function function_;
  std::shared_ptr<compiled::State> state_;
};

template <class Function>
Compiled<Function> compile(Function function, CompileOptions options = {}) {
  return Compiled<Function>(std::move(function), std::move(options));
}

}  // namespace tilewright
