// SPDX-License-Identifier: Apache-2.0
// codegen/text/names.h — identifiers of generated text: the user's names, valid and each used once.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace tilewright {

// The symbol of a kernel's entry point: its name, where C++, CUDA and PTX let it be one. Python's
// names may be keywords (`double`), functions of the language (`min`) or in any script.
std::string kernel_symbol(std::string_view name);

// "evict_first" as "EvictFirst".
std::string camel_case(std::string_view words);

// Names that the program of a thread has besides those of the kernel.
inline constexpr const char* own_names_of_threads[] = {
    "thread",   "v",    "k",    "s",    "shared",     "program_id",
    "programs", "lane", "warp", "left", "shared_row", "right"};

class Names {
 public:
  // `wanted` made a C++ identifier that is neither a keyword nor a name of the device library nor
  // given before: "x", "x_2", "x_3"... An empty one becomes `otherwise`.
  std::string make(std::string_view wanted, std::string_view otherwise = "v");
  // Takes a name that was made elsewhere.
  void reserve(const std::string& name) { counts_.try_emplace(name, 1); }

 private:
  std::unordered_map<std::string, int> counts_;  // how often each was given
};

}  // namespace tilewright
