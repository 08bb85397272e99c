// SPDX-License-Identifier: Apache-2.0
// tilewright/compile.h — functions of tensors, traced into graphs whose operations share kernels.
//
//   auto f = tw::compile([](tw::Tensor x, tw::Tensor w) { return tw::gelu(tw::matmul(x, w)); });
//   tw::Tensor y = f(x, w);
//   std::puts(f.explain().c_str());
//
// The function runs once for each new combination of dtypes, shapes and strides of its arguments,
// with tensors that have no elements: what it does is recorded and planned. Later calls run the
// plan. A new shape is a new plan, not new code: kernels take sizes as arguments. The plans of the
// last CompileOptions::most_plans shapes are kept.
//
// Arguments are tensors, vectors of tensors, numbers (which become constants: another number is
// another plan) and structs that list their tensors (TW_TREE). The result is a tensor, a vector,
// pair or tuple of tensors, or such a struct. Results are always fresh and contiguous.
//
// An argument that is moved into a call gives its memory back as soon as it is read last, to be
// used by results that are computed later (Default and MaxAutotuneNoGraphs):
//
//   std::tie(loss, net, adam) = step(std::move(net), std::move(adam), x, target);
//
// (Where such a call throws, they are gone; arguments that were not moved are as before.)
//
// Results are those of the operations called one by one, but for rounding, with the freedom that
// torch.compile takes: values that stay inside of a kernel are not rounded to bfloat16 or float16
// on the way; a product and a sum may be rounded once; sums may be added up in another order;
// elements that are divided by one number of their row, and quotients of small floats, are within 2
// ulp; 1 + tanh(u) is computed as 2 sigmoid(2 u), which is exact where tanh(u) is near -1.
//
// Tensors that the function refers to otherwise are bound by handle: their contents may change
// between calls, and what is computed from them is computed in every call (those on another device
// than the arguments are read when it is traced). Other state that it reads, such as numbers of a
// struct, is that of the call that was traced. While it is traced,
// nothing can be read out of a tensor (item, printing, a branch on it). Tensors that it makes can
// be written, whole or through views (copy_from, fill); arguments and what it refers to cannot. An
// exception of the function passes through, and nothing is kept of that call.
#pragma once

#include <any>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
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
  // Combinations of shapes, numbers and so on that are kept, at least one. Beyond that the one that
  // was called longest ago is forgotten, and traced again when it comes back; kernels stay.
  std::size_t most_plans = 256;
};

struct CompileStats {
  std::size_t calls = 0;
  std::size_t traces = 0;    // plans made
  std::size_t plans = 0;     // kept now
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
  if constexpr (requires { visit.enter(list.size()); }) visit.enter(list.size());
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
    std::span<Tensor> inputs;  // the call's own handles; the plan drops what it has read
    // What arguments are besides: numbers, bit for bit, and lengths of vectors; their types.
    std::span<const std::uint64_t> words;
    const void* types;
    // Runs the function with tensors that stand for the inputs; gives its results, and a tree of
    // them without tensors.
    std::function<std::pair<std::vector<Tensor>, std::any>(std::span<const Tensor>)> trace;
  };
  // Fresh results in the tree's order, and the tree.
  std::pair<std::vector<Tensor>, std::shared_ptr<const std::any>> run(const Call& call);

  std::string explain() const;      // of the last plan that ran
  std::string graph() const;        // likewise
  std::string output_code() const;  // likewise
  std::string drawing() const;      // likewise
  CompileStats stats() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Takes the tensors out of the call's own arguments: no other handle of the call may keep memory.
struct Collector {
  std::vector<Tensor>& tensors;
  std::vector<std::uint64_t>& words;

  void operator()(Tensor& tensor) const { tensors.push_back(std::move(tensor)); }
  void enter(std::size_t length) const { words.push_back(length); }
  template <class T>
  void collect(T& argument) const {
    if constexpr (std::is_floating_point_v<T>)
      words.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(argument)));
    else if constexpr (std::is_arithmetic_v<T>)
      words.push_back(static_cast<std::uint64_t>(argument));
    else visit_tensors(argument, *this);
  }
};

// Its address stands for a list of types.
template <class... T>
inline constexpr char types_of = 0;

template <class T>
void replace(T& tree, std::span<const Tensor> with, std::size_t& next) {
  if constexpr (!std::is_arithmetic_v<std::remove_cvref_t<T>>)
    visit_tensors(tree, [&](Tensor& tensor) { tensor = with[next++]; });
}

template <class T>
void clear(T& tree) {
  if constexpr (!std::is_arithmetic_v<std::remove_cvref_t<T>>)
    visit_tensors(tree, [](Tensor& tensor) { tensor = {}; });
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
    std::vector<std::uint64_t> words;
    (compiled::Collector{tensors, words}.collect(arguments), ...);
    const auto trace = [&](std::span<const Tensor> traced) {
      std::size_t next = 0;
      (compiled::replace(arguments, traced, next), ...);
      Result result = function_(arguments...);
      (compiled::clear(arguments), ...);  // it may have stored something there
      std::vector<Tensor> results;
      visit_tensors(result, [&](Tensor& tensor) { results.push_back(std::exchange(tensor, {})); });
      return std::pair<std::vector<Tensor>, std::any>(std::move(results), std::move(result));
    };
    const auto [made, tree] =
        state_->run({tensors, words, &compiled::types_of<Arguments...>, trace});
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
