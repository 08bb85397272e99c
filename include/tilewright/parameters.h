// SPDX-License-Identifier: Apache-2.0
// tilewright/parameters.h — the tensors of a tree by name, in files and out of them.
//
//   tw::save_parameters("mlp.safetensors", net);   // "layers.0.weight", "layers.0.bias", ...
//   tw::load_parameters("mlp.safetensors", net);   // by name; shapes and dtypes must fit
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tilewright/compile.h"
#include "tilewright/tensor.h"

namespace tilewright {

// ---- Trees of tensors (compile.h), whose members have names: "layers.0.weight". Parts of tuples,
// pairs, arrays and vectors have numbers.

namespace named {
// Member `index` of the list that TW_TREE was given.
std::string member(std::string_view prefix, std::string_view list, std::size_t index);
std::string numbered(std::string_view prefix, std::size_t index);
// Throws ArgumentError for a name that is missing, unknown, or has another shape or dtype. Nothing
// is assigned then.
void assign(const std::string& path, const std::vector<std::pair<std::string, Tensor*>>& to);
void save(const std::string& path, const std::vector<std::pair<std::string, Tensor*>>& from);
using Pointers = std::vector<std::pair<std::string, Tensor*>>;

inline void collect(Tensor& tensor, const std::string& name, Pointers& all) {
  all.emplace_back(name, &tensor);
}
template <class T>
void collect(T& value, const std::string& name, Pointers& all);

template <class Items, std::size_t... Index>
void collect_items(Items& items, const auto& name_of, Pointers& all,
                   std::index_sequence<Index...>) {
  (collect(std::get<Index>(items), name_of(Index), all), ...);
}
template <class T>
void collect(T& value, const std::string& name, Pointers& all) {
  if constexpr (TensorTree<T>) {
    auto members = value.tree();
    collect_items(
        members, [&](std::size_t i) { return member(name, T::tree_members(), i); }, all,
        std::make_index_sequence<std::tuple_size_v<decltype(members)>>());
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    collect_items(
        value, [&](std::size_t i) { return numbered(name, i); }, all,
        std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    for (std::size_t i = 0; i < value.size(); ++i) collect(value[i], numbered(name, i), all);
  }
}
}  // namespace named

// The tensors of a tree with their names, in order.
template <class Tree>
std::vector<std::pair<std::string, Tensor*>> named_tensors_of(Tree& tree) {
  named::Pointers all;
  named::collect(tree, "", all);
  return all;
}

template <class Tree>
void save_parameters(const std::string& path, Tree tree) {
  named::save(path, named_tensors_of(tree));
}
// Each tensor of the tree becomes one of the file, on its own device. The file has the same names
// with the same shapes and dtypes and no others; else ArgumentError, and the tree is as before.
template <class Tree>
void load_parameters(const std::string& path, Tree& tree) {
  named::assign(path, named_tensors_of(tree));
}

}  // namespace tilewright
