// SPDX-License-Identifier: Apache-2.0
// cli/symbolic_sizes.h — sizes by name: x=randn:f32[n,2*m] n=1000 m=64, and sweeps n=1k..1M.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace tilewright::cli {

// Puts numbers in place of the expressions in shapes, strides and offsets of NAME=VALUE texts. The
// names in them are other texts with whole numbers (1k is 1024); those that are no `parameters` of
// the kernel are left out. Throws ArgumentError for a name without a number.
std::vector<std::string> with_sizes(const std::vector<std::string>& texts,
                                    const std::vector<std::string>& parameters);

// A grid with numbers for the names of `texts` that are no parameters, which it could not see.
std::string grid_with_sizes(const std::string& grid, const std::vector<std::string>& texts,
                            const std::vector<std::string>& parameters);

// The names with whole numbers that shapes, strides and offsets of the texts use.
std::set<std::string> names_in_sizes(const std::vector<std::string>& texts);

// One list of texts for each value of n=1k..1M or n=256,512; with several such names their values
// go together one by one when they are equally many, else every one with every other. The list
// itself when there is no sweep.
std::vector<std::vector<std::string>> swept(const std::vector<std::string>& texts);

// Throws UsageError for a sweep, on behalf of verbs that launch once.
void refuse_sweeps(const std::vector<std::string>& texts, const std::string& verb);

}  // namespace tilewright::cli
