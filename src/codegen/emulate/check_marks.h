// SPDX-License-Identifier: Apache-2.0
// codegen/emulate/check_marks.h — what the checks of shared memory must be told by the text itself:
// where it is, and what its arrays are called.
//
//   __shared__ float tile[64];              __shared__ float tile[64];
//   tw_emulate::note_shared(...); tile[t] = x[t];                  =>     TW_AT tile[t] = x[t];
//   float* const b = shared + 16;           TW_AT float* const b = shared + 16;
//                                           tw_emulate::name_pointer("b", b);
//
// A statement whose begin is not certain (macros, what follows a directive) goes without a mark;
// messages then name an earlier line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "codegen/text/cpp_tokens.h"

namespace tilewright {

struct TextInsertion {
  std::size_t offset;
  std::string text;
};

// In the order of the text. Parts that a #line directive says to come from "tilewright/" keep the
// line of whoever calls them.
std::vector<TextInsertion> check_marks(std::span<const CppToken> tokens);

}  // namespace tilewright
