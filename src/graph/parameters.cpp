// SPDX-License-Identifier: Apache-2.0
// graph/parameters.cpp — names of a tree's tensors, and files with all of them.
#include "tilewright/parameters.h"

#include <fmt/format.h>

#include "base/quote.h"
#include "tensor/shape.h"
#include "tilewright/error.h"
#include "tilewright/safetensors.h"

namespace tilewright {
namespace named {

std::string member(std::string_view prefix, std::string_view list, std::size_t index) {
  for (; index > 0; --index) list.remove_prefix(list.find(',') + 1);
  list = list.substr(0, list.find(','));
  while (list.starts_with(' ')) list.remove_prefix(1);
  while (list.ends_with(' ')) list.remove_suffix(1);
  return fmt::format("{}{}{}", prefix, prefix.empty() ? "" : ".", list);
}

std::string numbered(std::string_view prefix, std::size_t index) {
  return fmt::format("{}{}{}", prefix, prefix.empty() ? "" : ".", index);
}

void save(const std::string& path, const std::vector<std::pair<std::string, Tensor*>>& from) {
  NamedTensors tensors;
  for (const auto& [name, tensor] : from) tensors.emplace(name, *tensor);
  save_safetensors(path, tensors);
}

void assign(const std::string& path, const std::vector<std::pair<std::string, Tensor*>>& to) {
  NamedTensors found = load_safetensors(path, Device::cpu());
  std::vector<Tensor> made;
  for (const auto& [name, tensor] : to) {
    const auto place = found.find(name);
    if (place == found.end())
      throw ArgumentError(printable(
          fmt::format("'{}' has no tensor \"{}\", which is to be loaded from it", path, name)));
    const Tensor& stored = place->second;
    if (!tensor->is_defined())
      throw ArgumentError(fmt::format(
          "\"{}\" is undefined: make the tree with its shapes before loading '{}'", name, path));
    if (stored.shape() != tensor->shape() || stored.dtype() != tensor->dtype())
      throw ArgumentError(fmt::format("'{}' has \"{}\" as {}{}, but {}{} is wanted", path, name,
                                      name_of(stored.dtype()), shape_text(stored.shape()),
                                      name_of(tensor->dtype()), shape_text(tensor->shape())));
    made.push_back(stored.to(tensor->device()));
    found.erase(place);
  }
  if (!found.empty())
    throw ArgumentError(fmt::format(
        "'{}' has a tensor \"{}\" that nothing is loaded from: load it with load_safetensors and "
        "take what is needed",
        path, printable(found.begin()->first)));
  for (std::size_t i = 0; i < to.size(); ++i) *to[i].second = made[i];
}

}  // namespace named
}  // namespace tilewright
