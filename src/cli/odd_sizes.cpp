// SPDX-License-Identifier: Apache-2.0
// cli/odd_sizes.cpp — one list of arguments for each size of each name.
#include "cli/odd_sizes.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/symbolic_sizes.h"
#include "cli/verbs.h"

namespace tilewright::cli {
namespace {

// 1, a few primes, and what lies around the largest tile: sizes at which a forgotten mask shows.
std::vector<std::int64_t> odd_sizes(std::int64_t block) {
  std::set<std::int64_t> sizes = {1, 7, 13};
  if (block > 1) sizes.insert({block - 1, block, block + 1, 2 * block + 3});
  return {sizes.begin(), sizes.end()};
}

}  // namespace

// One list of arguments for each size of each name, the others as they are given.
std::vector<std::vector<std::string>> odd_arguments(const std::vector<std::string>& given,
                                                    std::int64_t block) {
  std::vector<std::vector<std::string>> lists;
  const std::set<std::string> names = names_in_sizes(given);
  if (names.empty())
    throw UsageError{
        "--sizes odd changes sizes that have names, and there are none; write x=randn:f32[n] "
        "n=1000"};
  for (const std::string& name : names)
    for (const std::int64_t size : odd_sizes(block)) {
      lists.push_back(given);
      for (std::string& text : lists.back())
        if (text.starts_with(name + "=")) text = fmt::format("{}={}", name, size);
    }
  return lists;
}

void check_sizes_option(const std::string& sizes) {
  if (!sizes.empty() && sizes != "odd")
    throw UsageError{fmt::format("--sizes takes odd, not '{}'", sizes)};
}

std::string sizes_note(const std::vector<std::string>& arguments) {
  std::vector<std::string> sizes;
  const std::set<std::string> names = names_in_sizes(arguments);
  for (const std::string& text : arguments)
    if (names.contains(text.substr(0, text.find('=')))) sizes.push_back(text);
  return fmt::format("with {}", fmt::join(sizes, " "));
}

}  // namespace tilewright::cli
