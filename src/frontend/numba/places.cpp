// SPDX-License-Identifier: Apache-2.0
// frontend/numba/places.cpp — one walk over a function's names.
#include "frontend/numba/places.h"

#include <algorithm>

namespace tilewright::numba {

using namespace python;

bool Place::is_inside(const Place& other) const {
  return blocks.size() >= other.blocks.size() &&
         std::equal(other.blocks.begin(), other.blocks.end(), blocks.begin());
}

Places::Places(const FunctionDef& function) {
  for (const Node* parameter : function.parameters) all_[parameter] = now_;
  block(function.body);
}

void Places::block(NodeList body) {
  const Place outside = now_;
  now_.blocks.push_back(++blocks_);
  for (const Node* node : body) statement(*node);
  const int order = now_.order;
  now_ = outside;
  now_.order = order;
}

void Places::statement(const Node& node) {
  now_.statement = &node;
  if (const auto* branch = cast_if<If>(&node)) {
    names(branch->test);
    block(branch->body);
    block(branch->otherwise);
  } else if (const auto* loop = cast_if<While>(&node)) {
    names(loop->test);
    block(loop->body);
  } else if (const auto* counted = cast_if<For>(&node)) {
    names(counted->iterable);
    const Place outside = now_;
    now_.blocks.push_back(++blocks_);
    names(counted->target);
    for (const Node* each : counted->body) statement(*each);
    const int order = now_.order;
    now_ = outside;
    now_.order = order;
  } else {
    names(&node);
  }
}

void Places::names(const Node* node) {
  if (node == nullptr) return;
  if (is<Name>(node)) {
    Place place = now_;
    place.order = ++now_.order;
    all_[node] = std::move(place);
  }
  for_each_child(*node, [&](const Node& child) { names(&child); });
}

const Node* Places::first_definition(const Web& web) const {
  return *std::min_element(web.definitions.begin(), web.definitions.end(),
                           [&](const Node* a, const Node* b) { return of(a).order < of(b).order; });
}

bool Places::is_declarable(const Web& web) const {
  if (web.is_parameter) return false;
  const Node* const first = first_definition(web);
  const Place& begin = of(first);
  const bool is_loop_target = is<For>(begin.statement);
  const auto follows = [&](const Node* other) {
    const Place& place = of(other);
    return place.is_inside(begin) && place.order > begin.order &&
           (is_loop_target || place.statement != begin.statement);
  };
  return std::all_of(web.uses.begin(), web.uses.end(), follows) &&
         std::all_of(web.definitions.begin(), web.definitions.end(),
                     [&](const Node* other) { return other == first || follows(other); });
}

}  // namespace tilewright::numba
