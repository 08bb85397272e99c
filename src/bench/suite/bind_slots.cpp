// SPDX-License-Identifier: Apache-2.0
// bench/suite/bind_slots.cpp — parameters of a user's kernel by their names.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/suite/references.h"
#include "bench/suite/user_kernel.h"
#include "tilewright/error.h"

namespace tilewright::suite {
namespace {

using Numbers = std::map<std::string, Bound, std::less<>>;

// What people call the operands; the first that the operation has is meant.
const std::vector<std::pair<std::string_view, std::vector<std::string_view>>> operand_names = {
    {"x", {"x", "input", "in", "inp", "src", "logits", "x1", "a"}},
    {"y", {"y", "other", "x2", "b"}},
    {"weight", {"weight", "weights", "w", "gamma", "g"}},
    {"bias", {"bias", "b", "beta"}},
    {"target", {"target", "targets", "label", "labels"}},
    {"a", {"a"}},
    {"b", {"b"}},
    {"q", {"q", "query"}},
    {"k", {"k", "key"}},
    {"v", {"v", "value"}},
    {"out", {"out", "output", "o", "dst", "result", "res", "c", "z", "y", "loss", "losses"}}};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// "x" of x_ptr, X, ptr_x, x_pointer, p_x.
std::string bare_name(const std::string& name) {
  std::string text = lower(name);
  for (const std::string_view end : {"_pointer", "_ptrs", "_ptr", "ptr"})
    if (text.size() > end.size() && text.ends_with(end)) text.erase(text.size() - end.size());
  for (const std::string_view begin : {"ptr_", "p_"})
    if (text.size() > begin.size() && text.starts_with(begin)) text.erase(0, begin.size());
  return text;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Every number that a kernel of this operation may ask for, by our name for it.
Numbers numbers_of(const Problem& problem) {
  const Shape& s = problem.shape;
  Numbers numbers = {{"n", problem.elements()}, {"eps", norm_epsilon}, {"seed", std::int64_t{123}}};
  const std::string_view op = problem.operation->name;
  if (op == "matmul") {
    numbers.insert({{"M", s[0]}, {"N", s[1]}, {"K", s[2]}});
  } else if (op == "attention") {
    numbers.insert({{"length", s[2]}, {"head", s[3]}, {"heads", s[0] * s[1]}});
    numbers.insert({"scale", 1 / std::sqrt(static_cast<double>(s[3]))});
  } else {
    numbers.insert({{"rows", problem.rows()}, {"columns", problem.columns()}});
  }
  if (op == "dropout") numbers.insert({"p", dropout_probability});
  return numbers;
}

bool is_by_element(const Problem& problem) {
  return is_one_of(problem.operation->name, {"add", "dropout", "gelu"});
}

// Our name for a scalar parameter of a name like this; empty when it says nothing.
std::string number_named(const std::string& name, const Problem& problem) {
  const std::string text = lower(name);
  const std::string_view op = problem.operation->name;
  if (op == "matmul")
    return is_one_of(text, {"m", "n", "k"}) ? std::string(1, static_cast<char>(text[0] - 32)) : "";
  if (text.find("eps") != std::string::npos) return "eps";
  if (text.find("seed") != std::string::npos) return "seed";
  if (op == "dropout" && is_one_of(text, {"p", "prob", "probability", "rate"})) return "p";
  if (op == "attention") {
    if (text.find("scale") != std::string::npos) return "scale";
    if (is_one_of(text, {"length", "seq_len", "seqlen", "n_ctx", "n", "l"})) return "length";
    return is_one_of(text, {"head", "head_dim", "headdim", "d"}) ? "head" : "";
  }
  if (is_one_of(text, {"rows", "n_rows", "nrows", "num_rows", "m"})) return "rows";
  if (is_one_of(text, {"n_elements", "numel", "num_elements", "size", "count", "total"}))
    return "n";
  if (is_by_element(problem)) return text == "n" ? "n" : "";
  const bool is_width = is_one_of(text, {"columns", "cols", "n_cols", "ncols", "num_cols", "n", "d",
                                         "width", "hidden", "vocab", "vocab_size", "hidden_size"});
  return is_width || text.find("stride") != std::string::npos ? "columns" : "";
}

// stride_am, stride_bk, ...: the tensors are row-major.
Bound matmul_stride(const std::string& name, const Problem& problem) {
  const std::string text = lower(name);
  if (!text.starts_with("stride_") || text.size() != 9) return {};
  const bool is_a = text[7] == 'a';
  if (text[8] == (is_a ? 'k' : 'n')) return std::int64_t{1};
  return is_a ? problem.shape[2] : problem.shape[1];
}

Bound block_size(const std::string& name, const Problem& problem) {
  const std::string text = lower(name);
  if (problem.operation->is_arithmetic) {
    if (text.find("group") != std::string::npos) return std::int64_t{8};
    if (text.find("head") != std::string::npos) return problem.shape.back();
    if (text.find("block") == std::string::npos) return {};
    return std::int64_t{text.ends_with("k") ? 32 : 64};
  }
  if (text.find("block") == std::string::npos) return {};
  return is_by_element(problem) ? std::int64_t{1024} : next_power_of_2(problem.columns());
}

Bound literal(const std::string& text) {
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (auto r = std::from_chars(text.data(), end, integer); r.ec == std::errc() && r.ptr == end)
    return integer;
  double number = 0;
  if (auto r = std::from_chars(text.data(), end, number); r.ec == std::errc() && r.ptr == end)
    return number;
  if (text == "true" || text == "True") return std::int64_t{1};
  if (text == "false" || text == "False") return std::int64_t{0};
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    return text.substr(1, text.size() - 2);
  return {};
}

class Binder {
 public:
  Binder(const Problem& problem, const UserKernel& kernel, bool has_configs)
      : problem_(problem),
        kernel_(kernel),
        has_configs_(has_configs),
        numbers_(numbers_of(problem)) {}

  std::vector<Bound> bind(const std::vector<Slot>& slots) {
    std::vector<Bound> bound(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) bound[i] = by_name(slots[i]);
    by_place(slots, bound);
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (std::holds_alternative<std::monostate>(bound[i]) && !slots[i].is_constexpr)
        throw ArgumentError(fmt::format(
            "parameter '{0}' of kernel '{1}' matches nothing of {2}; give {0}=VALUE with a number "
            "or "
            "one of {3}",
            slots[i].name, kernel_.kernel, problem_.operation->name, fmt::join(words(), ", ")));
    return bound;
  }

 private:
  Bound by_name(const Slot& slot) {
    for (const auto& [name, value] : kernel_.arguments)
      if (name == slot.name) return given(slot, value);
    if (slot.is_pointer) return operand_named(bare_name(slot.name));
    if (slot.is_constexpr && has_configs_) return {};
    if (problem_.operation->name == std::string_view("matmul") && !slot.is_constexpr)
      if (Bound stride = matmul_stride(slot.name, problem_);
          !std::holds_alternative<std::monostate>(stride))
        return stride;
    const auto found = numbers_.find(number_named(slot.name, problem_));
    if (found != numbers_.end()) return found->second;
    return slot.is_constexpr ? block_size(slot.name, problem_) : Bound();
  }

  Bound given(const Slot& slot, const std::string& text) {
    for (const auto& [name, tensor] : problem_.tensors)
      if (name == text) return taken(name, tensor);
    if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
    Bound value = literal(text);
    if (std::holds_alternative<std::monostate>(value))
      throw ArgumentError(fmt::format("{}={}: neither a number nor one of {}", slot.name, text,
                                      fmt::join(words(), ", ")));
    return value;
  }

  Bound taken(const std::string& name, const Tensor& tensor) {
    used_.insert(name);
    return tensor;
  }

  Bound operand_named(const std::string& bare) {
    for (const auto& [operand, names] : operand_names)
      for (const auto& [name, tensor] : problem_.tensors)
        if (name == operand && !used_.contains(name) &&
            std::find(names.begin(), names.end(), bare) != names.end())
          return taken(name, tensor);
    return {};
  }

  // Pointers whose names say nothing are the operands that are left, in order.
  void by_place(const std::vector<Slot>& slots, std::vector<Bound>& bound) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].is_pointer && std::holds_alternative<std::monostate>(bound[i]))
        open.push_back(i);
    std::vector<Tensor> left;
    for (const auto& [name, tensor] : problem_.tensors)
      if (!used_.contains(name)) left.push_back(tensor);
    if (open.size() != left.size()) return;
    for (std::size_t i = 0; i < open.size(); ++i) bound[open[i]] = left[i];
  }

  std::vector<std::string> words() const {
    std::vector<std::string> words;
    for (const auto& [name, tensor] : problem_.tensors) words.push_back(name);
    for (const auto& [name, value] : numbers_) words.push_back(name);
    return words;
  }

  const Problem& problem_;
  const UserKernel& kernel_;
  bool has_configs_;
  Numbers numbers_;
  std::set<std::string> used_;
};

}  // namespace

std::vector<Bound> bind_slots(const std::vector<Slot>& slots, const Problem& problem,
                              const UserKernel& kernel, bool has_configs) {
  return Binder(problem, kernel, has_configs).bind(slots);
}

}  // namespace tilewright::suite
