// SPDX-License-Identifier: Apache-2.0
// codegen/emulate/reach.h — which functions of a source mention which names, over any number of
// calls.
//
// Works on tokens, by name only: overloads are one, every mention counts as a call, and a class
// stands for all its members. That errs towards "reaches", which costs speed, never correctness.
#pragma once

#include <set>
#include <span>
#include <string>

#include "codegen/text/cpp_tokens.h"

namespace tilewright {

struct Mentions {
  std::set<std::string> defined;  // functions, classes, aliases and macros
  std::set<std::string>
      reaching;  // those from which a target is reached, and the targets themselves
};

// `is_target` says which names are looked for.
Mentions find_mentions(std::span<const CppToken> tokens, bool (*is_target)(std::string_view));

}  // namespace tilewright
