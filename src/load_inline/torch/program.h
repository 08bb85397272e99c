// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/program.h — what stands before C++ source whose functions run once per program
// of a grid.
#pragma once

namespace tilewright_inline {
struct Program {
  long id[3];
  long count[3];
};
static thread_local Program program = {{0, 0, 0}, {1, 1, 1}};

template <class... Parameters>
struct ParameterList {};
template <class... Parameters>
ParameterList<Parameters...> parameters_of(void (*)(Parameters...));
template <int index, class List>
struct ParameterOf;
template <int index, class First, class... Rest>
struct ParameterOf<index, ParameterList<First, Rest...>>
    : ParameterOf<index - 1, ParameterList<Rest...>> {};
template <class First, class... Rest>
struct ParameterOf<0, ParameterList<First, Rest...>> {
  using type = First;
};
}  // namespace tilewright_inline

namespace tw {
// Which program of the grid this is, and how many there are, along an axis.
inline long program_id(int axis) { return ::tilewright_inline::program.id[axis]; }
inline long num_programs(int axis) { return ::tilewright_inline::program.count[axis]; }
}  // namespace tw
