// SPDX-License-Identifier: Apache-2.0
// frontend/numba/names.h — names of the text: those of the user, changed where C++ or CUDA uses
// them itself.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace tilewright::numba {

class Names {
 public:
  // The name itself where it is free, else with a number behind it.
  std::string make(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

// All names (and numbers) of a text.
std::set<std::string, std::less<>> identifiers_in(std::string_view text);

}  // namespace tilewright::numba
