// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/kinds.cpp — names of kinds.
#include "kinds.h"

#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::fuzz {
namespace {

constexpr std::string_view kind_names[kind_count] = {"aliased_arguments",
                                                     "carried_pointers",
                                                     "selected_pointers",
                                                     "cast_pointers",
                                                     "gathered_pointers",
                                                     "stores",
                                                     "atomics",
                                                     "loops",
                                                     "whiles",
                                                     "branches",
                                                     "stages",
                                                     "ties",
                                                     "reductions",
                                                     "scans",
                                                     "sorts",
                                                     "gathers",
                                                     "products",
                                                     "histograms",
                                                     "moves",
                                                     "matrices",
                                                     "small_types",
                                                     "floats",
                                                     "programs",
                                                     "exchanges",
                                                     "long_rows"};

}  // namespace

std::string_view name_of(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

Kinds parse_kinds(const std::string& names) {
  Kinds kinds;
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');) {
    int kind = 0;
    while (kind < kind_count && kind_names[kind] != name) ++kind;
    if (kind == kind_count)
      throw std::invalid_argument(
          fmt::format("there is no kind '{}'; there are {}", name, fmt::join(kind_names, ", ")));
    kinds.set(static_cast<Kind>(kind));
  }
  return kinds;
}

}  // namespace tilewright::fuzz
