// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/source_lines.h — #line directives, which tell profilers and debuggers which line of
// the user's file an instruction comes from.
//
// The printer writes one where a new source line begins. Generated lines are more than those of the
// source, so the compiler gets it before each of them:
//
//   #line 7 "a.py"                      #line 7 "a.py"
//   const f32 y = x + 1.0f;      =>     const f32 y = x + 1.0f;
//   z[0] = y;                           #line 7 "a.py"
//                                       z[0] = y;
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright {

std::string repeat_line_directives(std::string_view text);

// Which line of which file each line of the text without directives comes from.
struct SourceLines {
  std::vector<std::string> files;                  // as the directives name them, in quotes
  std::vector<std::pair<int, std::size_t>> lines;  // number (0: none) and file of each
};
SourceLines source_lines(std::string_view text);

// As a person wants to read it.
std::string without_line_directives(std::string_view text);

}  // namespace tilewright
