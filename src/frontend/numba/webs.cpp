// SPDX-License-Identifier: Apache-2.0
// frontend/numba/webs.cpp — reaching definitions over the tree, joined where a use sees several.
#include "frontend/numba/webs.h"

#include <set>
#include <utility>

namespace tilewright::numba {
namespace {

using namespace python;

using Reaching = std::map<std::string_view, std::set<int>>;

// A point that cannot be reached has no state.
struct State {
  bool is_reached = true;
  Reaching names;

  void join(const State& other) {
    if (!other.is_reached) return;
    if (!is_reached) {
      *this = other;
      return;
    }
    for (const auto& [name, definitions] : other.names)
      names[name].insert(definitions.begin(), definitions.end());
  }
  friend bool operator==(const State&, const State&) = default;
};

class Finder {
 public:
  explicit Finder(const FunctionDef& function) {
    collect_names(function.body);
    for (const Node* node : function.parameters) {
      const auto& parameter = cast<Parameter>(node);
      assigned_.insert(parameter.name);
      define(parameter.name, node);
    }
    block(function.body);
  }

  Webs finish() {
    Webs webs;
    std::map<int, int> numbers;
    const auto web_of = [&](int definition) {
      const auto [found, is_new] =
          numbers.emplace(root(definition), static_cast<int>(webs.all.size()));
      if (is_new) webs.all.push_back({names_[static_cast<std::size_t>(definition)], {}, {}, false});
      return found->second;
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const int web = web_of(static_cast<int>(i));
      webs.of_definition[nodes_[i]] = web;
      Web& all = webs.all[static_cast<std::size_t>(web)];
      all.definitions.push_back(nodes_[i]);
      all.is_parameter |= nodes_[i]->kind == Kind::Parameter;
    }
    for (const auto& [use, definitions] : uses_) {
      if (definitions.empty()) {
        webs.unassigned.push_back(use);
        continue;
      }
      const int web = web_of(*definitions.begin());
      webs.of_use[use] = web;
      webs.all[static_cast<std::size_t>(web)].uses.push_back(use);
    }
    return webs;
  }

 private:
  struct Loop {
    State breaks{false, {}};
    State continues{false, {}};
  };

  void collect_names(NodeList body) {
    for (const Node* statement : body) collect_targets(*statement);
  }
  void collect_targets(const Node& node) {
    if (const auto* assign = cast_if<Assign>(&node))
      for (const Node* target : assign->targets) collect_target(target);
    if (const auto* assign = cast_if<AugAssign>(&node)) collect_target(assign->target);
    if (const auto* assign = cast_if<AnnAssign>(&node)) collect_target(assign->target);
    if (const auto* loop = cast_if<For>(&node)) collect_target(loop->target);
    for_each_child(node, [&](const Node& child) { collect_targets(child); });
  }
  void collect_target(const Node* target) {
    if (const auto* name = cast_if<Name>(target)) assigned_.insert(name->id);
    if (const auto* tuple = cast_if<Tuple>(target))
      for (const Node* element : tuple->elements) collect_target(element);
  }

  void define(std::string_view name, const Node* node) {
    const auto [found, is_new] = ids_.emplace(node, static_cast<int>(nodes_.size()));
    if (is_new) {
      nodes_.push_back(node);
      names_.push_back(name);
      parents_.push_back(found->second);
    }
    state_.names[name] = {found->second};
  }

  int root(int definition) {
    while (parents_[static_cast<std::size_t>(definition)] != definition)
      definition = parents_[static_cast<std::size_t>(definition)];
    return definition;
  }

  void use(const Name& name) {
    if (!assigned_.contains(name.id)) return;
    std::set<int>& seen = uses_[&name];
    if (!state_.is_reached) return;
    const std::set<int>& reaching = state_.names[name.id];
    seen.insert(reaching.begin(), reaching.end());
    for (const int definition : seen)
      parents_[static_cast<std::size_t>(root(definition))] = root(*seen.begin());
  }

  void expression(const Node* node) {
    if (node == nullptr) return;
    if (const auto* name = cast_if<Name>(node)) return use(*name);
    for_each_child(*node, [&](const Node& child) { expression(&child); });
  }

  void target(const Node* node) {
    if (const auto* name = cast_if<Name>(node)) return define(name->id, name);
    if (const auto* tuple = cast_if<Tuple>(node)) {
      for (const Node* element : tuple->elements) target(element);
      return;
    }
    expression(node);
  }

  void block(NodeList body) {
    for (const Node* node : body) statement(*node);
  }

  void statement(const Node& node) {
    if (const auto* assign = cast_if<Assign>(&node)) {
      expression(assign->value);
      for (const Node* each : assign->targets) target(each);
    } else if (const auto* augmented = cast_if<AugAssign>(&node)) {
      expression(augmented->target);
      expression(augmented->value);
      target(augmented->target);
    } else if (const auto* annotated = cast_if<AnnAssign>(&node)) {
      expression(annotated->value);
      if (annotated->value != nullptr) target(annotated->target);
    } else if (const auto* branch = cast_if<If>(&node)) {
      conditional(*branch);
    } else if (const auto* loop = cast_if<While>(&node)) {
      repeat(
          loop->body, [&] { expression(loop->test); }, [] {});
    } else if (const auto* counted = cast_if<For>(&node)) {
      expression(counted->iterable);
      repeat(
          counted->body, [] {}, [&] { target(counted->target); });
    } else if (is<Break>(&node) || is<Continue>(&node) || is<Return>(&node)) {
      leave(node);
    } else {
      for_each_child(node, [&](const Node& child) { expression(&child); });
    }
  }

  void leave(const Node& node) {
    if (const auto* result = cast_if<Return>(&node)) expression(result->value);
    else if (!loops_.empty())
      (is<Break>(&node) ? loops_.back().breaks : loops_.back().continues).join(state_);
    state_.is_reached = false;
  }

  void conditional(const If& branch) {
    expression(branch.test);
    const State before = state_;
    block(branch.body);
    State after = std::exchange(state_, before);
    block(branch.otherwise);
    state_.join(after);
  }

  template <class Test, class Begin>
  void repeat(NodeList body, const Test& test, const Begin& begin) {
    State head = state_;
    for (;;) {
      state_ = head;
      test();
      const State after_test = state_;
      loops_.emplace_back();
      begin();
      block(body);
      Loop loop = std::move(loops_.back());
      loops_.pop_back();
      state_.join(loop.continues);
      State next = head;
      next.join(state_);
      state_ = after_test;
      state_.join(loop.breaks);
      if (next == head) return;
      head = std::move(next);
    }
  }

  State state_;
  std::vector<Loop> loops_;
  std::set<std::string_view> assigned_;
  std::map<const Node*, int> ids_;
  std::vector<const Node*> nodes_;
  std::vector<std::string_view> names_;
  std::vector<int> parents_;
  std::map<const Name*, std::set<int>> uses_;
};

}  // namespace

Webs find_webs(const FunctionDef& function) { return Finder(function).finish(); }

}  // namespace tilewright::numba
