// SPDX-License-Identifier: Apache-2.0
// compiler/triton/argument_key.h — the arguments of a Triton launch in the key of the core: texts,
// types, tuples and descriptors beside values, and which parameters' values matter.
#pragma once

#include "compiler/launch_key.h"
#include "compiler/overlap.h"
#include "compiler/triton/parameters.h"
#include "tilewright/triton.h"

namespace tilewright {

// As specialize.h says.
KeyRules key_rules_of(std::span<const TritonParameter> kernel);

// The argument of a parameter that has none yet.
void add_argument(LaunchKey& key, const KeyRules& rules, std::size_t parameter,
                  const TritonArgument& argument);

// The word of None or a type, and of what has more to say than a word: that it is one.
std::uint64_t word_of_other(const TritonArgument& argument);
bool is_long(const TritonArgument& argument);
Hash128 long_content(const KeyRule& rule, std::size_t parameter, const TritonArgument& argument);

// All pointers among the arguments by parameter (null where there is none) and inside of them.
void add_pointers(Overlaps& overlaps, std::span<const TritonArgument* const> slots);

}  // namespace tilewright
